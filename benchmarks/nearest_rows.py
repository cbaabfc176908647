"""Condensation beside SDV under two attacks by nearest rows: `python -m benchmarks.nearest_rows --peers PYTHON`.

Both are after anonymeter, by code of ours, so that everybody can be attacked and not a thousand: all numeric columns of
Adult, 15,060 people who had a part in the rows and 15,060 who had none.

- *Linkability*: somebody knows one half of the columns of a person from one place and the other half from another. For
  each half the ten nearest drawn rows are found (differences of columns, each divided by its range, added up); a row
  among both tens links the halves.
- *Inference*: see `benchmarks.inference`.

The risk is how much more often that succeeds with people who had a part than with others, as a share of what was left
to gain. People are parted anew several times into those who had a part and those who had none, and every program draws
its rows anew each time, SDV included: so all stand in one run, and errors are seen among the partings. The aim is SDV's
risk, or 0 where that is below, plus 1.96 times the standard error that SDV's risk has in one parting.

With --peers SDV runs in a Python of its own, see `benchmarks.synthetic`; without it there is no aim. Figures are
reported, never asserted. With --out they are kept.

Held against anonymeter 1.1.0 on one drawing (k = 10) and the same 1,500 people of either part: linkability 0.002 by
both, inference of age 0.019 (anonymeter 0.027), of education 0.038 (0.038), of hours per week 0.035 (0.036).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.inference import _STRANGERS, _name, _risk
from benchmarks.synthetic import _NUMBERS, _SDV, _read, _release, _run_peers
from sfumato.datasets.adult import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

_SETTINGS = ((10, 0.0, 1), (10, 0.0, 5), (10, 0.0, 40), (50, 0.0, 1))
"""The k, the noise and the neighbours that are tried."""
_LINKED = "linkability"
_ATTACKS = (_LINKED, *_NUMBERS)
_NEAREST = 10


def main(arguments: Sequence[str] | None = None) -> None:
    """Part, draw, attack, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has sdv")
    parser.add_argument("--rows", type=int, help="only so many rows of each part of Adult")
    parser.add_argument("--partings", type=int, default=6, help="how often people are parted anew")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    folder = adult_folder()
    if folder is None:
        sys.exit("the Adult rows are not here: make adult fetches them")
    train, test = _read(folder, given.rows)
    everybody, random = pd.concat([train, test], ignore_index=True)[list(_NUMBERS)], np.random.default_rng(1)
    found: dict[str, list[list[tuple[float, float]]]] = {}
    for _ in range(given.partings):
        order = random.permutation(len(everybody))
        part, others = (
            everybody.iloc[some].reset_index(drop=True) for some in (order[: len(train)], order[len(train) :])
        )
        own = part.sample(min(len(others), len(part) // 2), random_state=1)
        for name, rows in _drawn(part, own, given.peers):
            found.setdefault(name, []).append([_attack(attack, rows, own, others) for attack in _ATTACKS])
    cases = [{"rows": name, "risks": _summary(each)} for name, each in found.items()]
    run = describe_run(cases, full=given.rows is None) | {"partings": given.partings, "people": [len(own), len(others)]}
    page = _page(run)
    print(page)
    if given.out is not None:
        write_run(given.out, "nearest-rows", run, page)


def _drawn(part: Any, own: Any, python: str | None) -> Iterator[tuple[str, Any]]:
    """Rows by every program, of those who have a part."""
    if python is not None:
        yield _SDV, _run_peers(part, python, _SDV)[_SDV]["rows"]
    yield _STRANGERS, part.drop(own.index)
    for setting in _SETTINGS:
        yield _name(*setting), _release(part, *setting).synthetic


def _attack(attack: str, drawn: Any, own: Any, control: Any) -> tuple[float, float]:
    """The risk of an attack, and its standard error."""
    return _link_risk(drawn, own, control) if attack == _LINKED else _risk(attack, drawn, own, control)


def _link_risk(drawn: Any, own: Any, control: Any) -> tuple[float, float]:
    """Link halves of the columns of two parts; give the risk, and its standard error."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to import

    rates = []
    for people in (own, control):
        near = []
        for known in (list(_NUMBERS[::2]), list(_NUMBERS[1::2])):
            low = np.minimum(people[known].min(), drawn[known].min())
            width = np.maximum(people[known].max(), drawn[known].max()) - low
            sides = [((part[known] - low) / width.replace(0, 1)).to_numpy(dtype=np.float64) for part in (drawn, people)]
            near.append(cKDTree(sides[0]).query(sides[1], k=_NEAREST, p=1)[1])
        rates.append(float(np.mean([bool(set(one) & set(two)) for one, two in zip(*near, strict=True)])))
    right, others = rates
    off = right * (1 - right) / len(own) + ((1 - right) / (1 - others)) ** 2 * others * (1 - others) / len(control)
    return (right - others) / (1 - others), off**0.5 / (1 - others)


def _summary(partings: list[list[tuple[float, float]]]) -> dict[str, dict[str, float]]:
    """Of each attack the mean risk, its standard error as seen among partings, and that of one parting."""
    risks, single = (np.array([[pair[place] for pair in one] for one in partings]) for place in (0, 1))
    seen = risks.std(axis=0, ddof=1) / len(partings) ** 0.5 if len(partings) > 1 else single[0]
    columns = zip(_ATTACKS, risks.mean(axis=0), seen, single.mean(axis=0), strict=True)
    return {name: {"risk": float(a), "error": float(b), "single": float(c)} for name, a, b, c in columns}


def _page(run: dict[str, Any]) -> str:
    sdv = next((one["risks"] for one in run["cases"] if one["rows"] == _SDV), None)
    aims = {} if sdv is None else {name: max(one["risk"], 0) + 1.96 * one["single"] for name, one in sdv.items()}
    lines = [] if sdv is None else [("aim", *(f"{aims[name]:.4f}" for name in _ATTACKS))]
    for case in run["cases"]:
        cells = (
            f"{one['risk']:.4f} ± {one['error']:.4f}"
            f"{' ✗' if case['rows'] != _SDV and one['risk'] > aims.get(name, np.inf) else ''}"
            for name, one in case["risks"].items()
        )
        lines.append((case["rows"], *cells))
    own, others = run["people"]
    what = (
        f"Six numeric columns of Adult. Of {own:,} people who had a part in the drawn rows and {others:,} who had none "
        "halves of columns are linked by the nearest drawn rows, and each column is inferred from the others, in the "
        "way of anonymeter, by code of ours: how much more often that succeeds with those who had a part, as a share "
        f"of what was left to gain. The mean of {run['partings']} partings of people at random, one draw by each "
        "program in each, ± its standard error as seen among them. A ✗ marks a risk above the aim: SDV's, or 0 where "
        "that is below, plus 1.96 standard errors that it has in one parting. Rows of strangers are real ones, of "
        "nobody who is attacked: what is there is chance."
    )
    head = ("rows", *_ATTACKS)
    return f"# Attacks by nearest rows\n\n{setting_line(run)}\n\n{what}\n\n{markdown_table(head, lines)}\n"


if __name__ == "__main__":
    main()
