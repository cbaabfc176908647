"""How well the nearest drawn rows tell a column: `python -m benchmarks.inference [--peers PYTHON] [--out DIR]`.

The attack is after anonymeter's inference: somebody knows all columns of a person but one, takes the nearest drawn row
(differences of columns, each divided by its range, added up), and guesses its value; a guess within 5% is right. The
risk is how much more often guesses are right of people who had a part in the rows than of others, as a share of what
was left to gain. anonymeter takes minutes for a few thousand people; here a tree finds the nearest rows, so that all of
the test part of Adult, and as many of the training part, are guessed about in a second, for many k and much noise, in
one run. Beside each risk stands what rows are worth. The aim is SDV's risk, or 0 where that is below, plus 1.96
standard errors. With --peers SDV runs in a Python of its own, see `benchmarks.synthetic`. Figures are reported, never
asserted. With --out they are kept.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import _CLASS, _NUMBERS, _SDV, _condense, _read, _run_peers, _worth
from sfumato.datasets.adult import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

_SETTINGS = ((10, 0.0), (10, 0.2), (10, 0.3), (10, 0.5), (20, 0.2), (30, 0.2), (50, 0.0), (50, 0.1), (50, 0.2))
"""The k and the noise that are tried."""
_WITHIN = 0.05


def main() -> None:
    """Draw, guess, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has sdv")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    folder = adult_folder()
    if folder is None:
        sys.exit("the Adult rows are not here: make adult fetches them")
    train, test = _read(folder, None)
    numbers, control = train[list(_NUMBERS)], test[list(_NUMBERS)]
    own = numbers.sample(len(control), random_state=1)
    cases: list[dict[str, Any]] = []
    if given.peers is not None:
        made = {name: _run_peers(part, given.peers)[_SDV] for name, part in (("rows", numbers), ("classed", train))}
        cases.append({"rows": _SDV} | _measure({key: one["rows"] for key, one in made.items()}, train, test, own))
    for k, noise in _SETTINGS:
        drawn = {"rows": _condense(numbers, k, noise), "classed": _condense(train, k, noise)}
        cases.append({"rows": f"k = {k}, noise {noise:g}"} | _measure(drawn, train, test, own))
    run = describe_run(cases, full=True)
    page = _page(run)
    print(page)
    if given.out is not None:
        write_run(given.out, "inference", run, page)


def _measure(made: dict[str, Any], train: Any, test: Any, own: Any) -> dict[str, Any]:
    worth = _worth({"name": "", "seconds": 0.0, "cpu": 0.0, **made}, train, test)
    lost = {name: worth["original"][name] - right for name, right in worth["drawn"].items()}
    risks = {name: _risk(name, made["rows"], own, test) for name in _NUMBERS}
    return {"correlations": worth["correlations"], "worst_ks": worth["worst_ks"], "lost": lost, "risks": risks}


def _risk(secret: str, drawn: Any, own: Any, control: Any) -> tuple[float, float]:
    """Guess a column of two parts; give the risk, and its standard error."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import

    known = [name for name in _NUMBERS if name != secret]
    rates = []
    for people in (own, control):
        low = np.minimum(people[known].min(), drawn[known].min())
        width = np.maximum(people[known].max(), drawn[known].max()) - low
        sides = [((part[known] - low) / width.replace(0, 1)).to_numpy(dtype=np.float64) for part in (drawn, people)]
        nearest = cKDTree(sides[0]).query(sides[1], p=1)[1]
        guess, truth = drawn[secret].to_numpy(dtype=np.float64)[nearest], people[secret].to_numpy(dtype=np.float64)
        rates.append(float(np.mean(np.abs(guess - truth) <= _WITHIN * np.abs(truth))))
    right, others = rates
    off = (
        right * (1 - right) / len(own) + ((1 - right) / (1 - others)) ** 2 * others * (1 - others) / len(control)
    ) ** 0.5
    return (right - others) / (1 - others), off / (1 - others)


def _page(run: dict[str, Any]) -> str:
    aims = {}
    if run["cases"][0]["rows"] == _SDV:
        aims = {name: max(risk, 0.0) + 1.96 * off for name, (risk, off) in run["cases"][0]["risks"].items()}
    lines = []
    for one in run["cases"]:
        risks = [
            f"{risk:.3f} ± {off:.3f}{' ✗' if one['rows'] != _SDV and risk > aims.get(name, np.inf) else ''}"
            for name, (risk, off) in one["risks"].items()
        ]
        lost = [f"{100 * one['lost'][name]:+.1f}" for name in ("tree", "grown tree")]
        lines.append((one["rows"], f"{one['correlations']:.4f}", f"{one['worst_ks']:.3f}", *lost, *risks))
    head = ("rows", "correlations", "worst KS", "tree", "grown tree", *_NUMBERS)
    what = (
        "Six numeric columns of Adult, drawn of its training part by MDAV. Each column is guessed from the others, of "
        "15,060 people who had a part in the rows and of as many who had none, in the way of anonymeter's "
        "inference, by code of ours that was not held against anonymeter on the same rows: the risk, ± its standard "
        "error. One draw each. A ✗ marks a risk above that of SDV's Gaussian copula plus 1.96 standard errors. Beside "
        "it what rows are worth: correlation of correlations, worst KS distance, and the points that a tree of up to 8 "
        f"levels and a fully grown one lose that learn the {_CLASS} from drawn rows."
    )
    return f"# Inference from drawn rows\n\n{setting_line(run)}\n\n{what}\n\n{markdown_table(head, lines)}\n"


if __name__ == "__main__":
    main()
