"""How well the nearest drawn rows tell a column: `python -m benchmarks.inference [--peers PYTHON] [--out DIR]`.

The attack is after anonymeter's inference: somebody knows all columns of a person but one, takes the nearest drawn row
(differences of columns, each divided by its range, added up), and guesses its value; a guess within 5% is right. The
risk is how much more often guesses are right of people who had a part in the rows than of others, as a share of what
was left to gain. anonymeter takes minutes for a few thousand people; here a tree finds the nearest rows, so that all of
the test part of Adult, and as many of the training part, are guessed about in a second, for many k and much noise, in
one run. Beside each risk stands what rows are worth. The aim is SDV's risk, or 0 where that is below, plus 1.96
standard errors.

Beside drawn rows stand the means of groups alone, one row for each group, which every drawing keeps: what they give
away, whoever can tell groups apart has. And rows of strangers, of the training part but of nobody who is guessed about:
they give nothing away, and show what chance does. Chance does much with one parting of people into those who had a part
and those who had none, so some settings are tried with several, of all rows of Adult: their mean has an error that is
seen, not computed.

With --peers SDV runs in a Python of its own, see `benchmarks.synthetic`; without it the kept figures of SDV stand in,
where there are any. Figures are reported, never asserted. With --out they are kept.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import _CLASS, _NUMBERS, _SDV, _read, _release, _run_peers, _worth
from sfumato.datasets.adult import adult_folder
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

_MEANS = (5, 10, 20, 50)
"""The k of which means alone are tried."""
_SETTINGS = (
    *((5, 0.0, 1), (10, 0.0, 1), (10, 0.2, 1), (10, 0.3, 1), (10, 0.5, 1), (20, 0.0, 1), (20, 0.2, 1), (30, 0.2, 1)),
    *((50, 0.0, 1), (50, 0.1, 1), (50, 0.2, 1), (5, 0.0, 40), (10, 0.0, 5), (10, 0.0, 10), (10, 0.0, 20)),
    *((10, 0.0, 30), (10, 0.0, 40), (10, 0.0, 60), (20, 0.0, 20), (50, 0.0, 10)),
)
"""The k, the noise and the neighbours that are tried."""
_PARTED = ((10, 0.0, 1), (10, 0.3, 1), (50, 0.0, 1), (10, 0.0, 20), (10, 0.0, 30), (10, 0.0, 40))
"""Those that are tried with several partings of people, too."""
_STRANGERS = "rows of strangers"
_WITHIN = 0.05


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, guess, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="the Python that has sdv")
    parser.add_argument("--rows", type=int, help="only so many rows of each part, and fewer settings")
    parser.add_argument("--draws", type=int, default=3, help="how often rows are drawn by each setting")
    parser.add_argument("--partings", type=int, default=10, help="how often people are parted anew")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    folder = adult_folder()
    if folder is None:
        sys.exit("the Adult rows are not here: make adult fetches them")
    train, test = _read(folder, given.rows)
    numbers, control = train[list(_NUMBERS)], test[list(_NUMBERS)]
    own = numbers.sample(min(len(control), len(numbers) // 2), random_state=1)
    cases: list[dict[str, Any]] = []
    peer = None  # when the figures of SDV were measured, if not in this run
    kept = Path(__file__).with_name("results-inference.json")
    if given.peers is not None:
        made = {
            name: _run_peers(part, given.peers, _SDV)[_SDV] for name, part in (("rows", numbers), ("classed", train))
        }
        cases.append({"rows": _SDV} | _measure([{key: one["rows"] for key, one in made.items()}], train, test, own))
    elif given.rows is None and kept.exists():
        before = json.loads(kept.read_text(encoding="utf-8"))
        cases += [_as_measured(one) for one in before["cases"] if one["rows"] == _SDV]
        peer = before.get("peer") or before["date"]
    strangers = numbers.drop(own.index)
    cases.append({"rows": _STRANGERS, "risks": _risks([strangers], own, control)})
    for k in _MEANS if given.rows is None else _MEANS[:2]:
        members = _release(numbers, k).publication.condensed.members
        means = numbers.groupby(members).mean().reset_index(drop=True)
        cases.append({"rows": f"k = {k}, means alone", "risks": _risks([means], own, control)})
    for setting in _SETTINGS if given.rows is None else _SETTINGS[-2:]:
        parts = {"rows": numbers, "classed": train}
        drawn = [{name: _release(part, *setting).synthetic for name, part in parts.items()} for _ in range(given.draws)]
        cases.append({"rows": _name(*setting)} | _measure(drawn, train, test, own))
    run = describe_run(cases, full=given.rows is None) | {
        "draws": given.draws,
        "people": [len(own), len(control)],
        "peer": peer,
        "everybody": len(numbers) + len(control),
        "partings": given.partings,
        "parted": _part_anew(numbers, control, given.partings),
    }
    page = _page(run)
    print(page)
    if given.out is not None:
        write_run(given.out, "inference", run, page)


def _as_measured(kept: dict[str, Any]) -> dict[str, Any]:
    """A case of a file, with pairs where it has lists: they keep all their digits."""
    return kept | {"risks": {name: tuple(pair) for name, pair in kept["risks"].items()}}


def _name(k: int, noise: float, neighbours: int) -> str:
    return f"k = {k}, noise {noise:g}" + (f", neighbours {neighbours}" if neighbours > 1 else "")


def _part_anew(numbers: Any, control: Any, partings: int) -> list[dict[str, Any]]:
    """The risks of some settings with people parted anew, each time at random: their mean, and its standard error."""
    import pandas as pd  # noqa: PLC0415 - as in benchmarks.synthetic

    everybody, random = pd.concat([numbers, control], ignore_index=True), np.random.default_rng(1)
    found: dict[str, list[list[float]]] = {}
    for _ in range(partings):
        order = random.permutation(len(everybody))
        part, others = (everybody.iloc[order[some]] for some in (slice(len(numbers)), slice(len(numbers), None)))
        part, others = part.reset_index(drop=True), others.reset_index(drop=True)
        own = part.sample(min(len(others), len(part) // 2), random_state=1)
        kinds = {_STRANGERS: part.drop(own.index)}
        plain = _release(part, 10)
        kinds["k = 10, means alone"] = part.groupby(plain.publication.condensed.members).mean().reset_index(drop=True)
        kinds |= {_name(*setting): _release(part, *setting).synthetic for setting in _PARTED}
        for name, drawn in kinds.items():
            found.setdefault(name, []).append([_risk(column, drawn, own, others)[0] for column in _NUMBERS])
    return [
        {
            "rows": name,
            "risks": {
                column: (float(np.mean(risks)), float(np.std(risks, ddof=1) / len(risks) ** 0.5))
                for column, risks in zip(_NUMBERS, zip(*each, strict=True), strict=True)
            },
        }
        for name, each in found.items()
    ]


def _measure(made: list[dict[str, Any]], train: Any, test: Any, own: Any) -> dict[str, Any]:
    """What rows of several draws are worth, the worst likeness and the mean loss; and their risks."""
    worth = [_worth({"name": "", "seconds": 0.0, "cpu": 0.0, **one}, train, test) for one in made]
    return {
        "correlations": min(one["correlations"] for one in worth),
        "worst_ks": max(one["worst_ks"] for one in worth),
        "lost": {
            name: float(np.mean([one["original"][name] - one["drawn"][name] for one in worth]))
            for name in worth[0]["drawn"]
        },
        "risks": _risks([one["rows"] for one in made], own, test),
    }


def _risks(draws: list[Any], own: Any, control: Any) -> dict[str, tuple[float, float]]:
    """The risk of each column, the mean of several draws; and its standard error, that of one.

    The people are the same in all draws, so that more draws take little away of it.
    """
    found = {name: [_risk(name, drawn, own, control) for drawn in draws] for name in _NUMBERS}
    return {name: (float(np.mean([risk for risk, _ in one])), one[0][1]) for name, one in found.items()}


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
        worth = ["", "", "", ""]
        if "lost" in one:
            lost = (f"{100 * one['lost'][name]:+.1f}" for name in ("tree", "grown tree"))
            worth = [f"{one['correlations']:.4f}", f"{one['worst_ks']:.3f}", *lost]
        lines.append((one["rows"], *worth, *_marked(one, aims)))
    head = ("rows", "correlations", "worst KS", "tree", "grown tree", *_NUMBERS)
    own, others = run["people"]
    what = (
        "Six numeric columns of Adult, drawn of its training part by MDAV. Each column is guessed from the others, of "
        f"{own:,} people who had a part in the rows and of {others:,} who had none, in the way of anonymeter's "
        "inference, by code of ours that was not held against anonymeter on the same rows: the risk, ± its standard "
        f"error, the mean of {run['draws']} draws by each setting, and of one by SDV. A ✗ marks a risk above the aim, "
        "that of SDV's Gaussian copula, or 0 where that is below, plus 1.96 standard errors of it. Beside it what rows "
        "are worth: correlation of correlations and KS distance of the worst column, both of the worst draw, and the "
        f"points that a tree of up to 8 levels and a fully grown one lose that learn the {_CLASS} from drawn rows, on "
        "average. Means alone are a row for each group, its mean, which all drawn rows of these groups keep to "
        "rounding. Rows of strangers are real ones, of nobody who is guessed about: what is there is chance."
    )
    if run["peer"]:
        what += f" The line of SDV is of an earlier run, of {run['peer']}, on the same people."
    page = f"# Inference from drawn rows\n\n{setting_line(run)}\n\n{what}\n\n{markdown_table(head, lines)}\n"
    if not run["parted"]:
        return page
    aimed = [("aim, of the table above", *(f"{aims[name]:.3f}" for name in _NUMBERS))] if aims else []
    parted = [(one["rows"], *_marked(one, aims)) for one in run["parted"]]
    why = (
        f"The same, with all {run['everybody']:,} people parted at random into those who had a part and those who had "
        f"none, {run['partings']} times, one draw each: the mean, ± its standard error as seen among them."
    )
    return f"{page}\n## Other partings\n\n{why}\n\n{markdown_table(('rows', *_NUMBERS), [*aimed, *parted])}\n"


def _marked(one: dict[str, Any], aims: dict[str, float]) -> list[str]:
    return [
        f"{risk:.3f} ± {off:.3f}{' ✗' if one['rows'] != _SDV and risk > aims.get(name, np.inf) else ''}"
        for name, (risk, off) in one["risks"].items()
    ]


if __name__ == "__main__":
    main()
