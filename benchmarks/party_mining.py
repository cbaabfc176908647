"""Mining among parties: `python -m benchmarks.party_mining [--baskets N] [--rows N] [--out DIR]`.

Association rules over a hundred thousand baskets after Quest (T10.I4) at three sites, beside the plain run on all of
them; and rules, naive Bayes and k-means on Adult, its rows among three or its columns among two parties, beside the
same with one holder of all. Parties are processes that are connected by sockets, without TLS. Every party is measured
from its file, or its table, to the result, in seconds of its processor, since machines are shared; what counts are
ratios within one run. Figures are reported, never asserted.
"""

import argparse
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.socket_parties import Part, measure_parties
from sfumato.datasets import adult_folder, quest_baskets, synthetic_adult
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.party.party_run import read_party_table
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.shared_k_means import KMeansTask
from sfumato.party.shared_naive_bayes import NaiveBayesTask
from sfumato.party.shared_rules import RulesTask
from sfumato.policy.section import Section
from sfumato.rules import mine

HERE = Path(__file__).parent
NAME = "party-mining"
BASKETS, ROWS = 100_000, 45_222
CASES = (("1%", "50%"), ("0.1%", "100%"), ("0.1%", "50%"))
"""Least support and confidence. At the last there are a million rules, and most of the time goes into writing them."""
_CATEGORIES = ("workclass", "education", "marital-status", "sex", "race")
_LEFT, _RIGHT = ("workclass", "education"), ("marital-status", "sex", "race", "salary-class")
_BOUNDS = {"age": [0, 100], "education-num": [0, 20], "hours-per-week": [0, 100]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and keep a page and the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--baskets", type=int, default=BASKETS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        cases = _measure_baskets(Path(folder), asked.baskets)
    cases += _measure_people(_people(asked.rows))
    run = describe_run(cases, full=(asked.baskets, asked.rows) == (BASKETS, ROWS)) | {"baskets": asked.baskets}
    print(write_run(asked.out, NAME, run | {"rows": asked.rows}, page(run | {"rows": asked.rows})))


def _measure_baskets(folder: Path, baskets: int) -> list[dict[str, Any]]:
    lines = [" ".join(map(str, basket)) + "\n" for basket in quest_baskets(baskets, seed=1)]
    files = {"all": folder / "all.dat"} | {name: folder / f"{name}.dat" for name in "abc"}
    files["all"].write_text("".join(lines), encoding="utf-8")
    for place, name in enumerate("abc"):
        files[name].write_text("".join(lines[place::3]), encoding="utf-8")
    cases = []
    # one in a thousand of few baskets is any basket
    for support, confidence in CASES if baskets == BASKETS else CASES[:1]:
        plain = _plain_rules(files["all"], support, confidence)
        for hide in (True,) if (support, confidence) == CASES[-1] else (True, False):
            task = _read(RulesTask, "abc", min_support=support, min_confidence=confidence, hide_infrequent=hide)
            parts = {name: _from_file(task, name, files[name]) for name in "abc"}
            what = f"rules at {support} and confidence {confidence}, baskets at three"
            hidden = "" if hide else ", all supports told"
            cases.append(_compare(what + hidden, parts, {"plain": plain}))
    return cases


def _measure_people(table: pa.Table) -> list[dict[str, Any]]:
    values = {name: sorted(set(table[name].to_pylist())) for name in (*_CATEGORIES, "salary-class")}
    bayes = {"class": "salary-class", "values": values}
    numbers = {"bounds": _BOUNDS, "scale": "bounds", "k": 4, "seed": 1, "iterations": 10}
    third = -(-len(table) // 3)
    rows = {name: table.slice(place * third, third) for place, name in enumerate("abc")}
    people = table.append_column("person", pa.array([f"p{number:06}" for number in range(len(table))]))
    left = people.select(["person", *_LEFT, "age", "hours-per-week"])
    order = np.random.default_rng(1).permutation(len(table))
    right = people.select(["person", *_RIGHT, "education-num"]).take(pa.array(order))
    columns = {"a": left, "b": right}
    cases = []

    def compare(
        what: str, kind: type[PartyTask], settings: Mapping[str, Any], divided: Mapping[str, Any] | None
    ) -> None:
        names = "abc" if divided is None else "ab"
        tables = rows if divided is None else columns
        shared = (
            settings
            if divided is None
            else {**settings, "columns": divided, "partition": "vertical", "link_on": "person"}
        )
        task, own = _read(kind, names, **shared), _read(kind, "a", **settings)
        parts = {name: _from_table(task, name, tables[name]) for name in names}
        cases.append(_compare(what, parts, {"a": _from_table(own, "a", table)}))

    every = [*_CATEGORIES, "age", "hours-per-week"]
    compare(
        "naive Bayes, rows at three",
        NaiveBayesTask,
        bayes | {"columns": every, "bounds": _some("age", "hours-per-week")},
        None,
    )
    compare("k-means, rows at three", KMeansTask, numbers | {"columns": list(_BOUNDS)}, None)
    wide = {"min_support": "5%", "min_confidence": 0.5}
    task = _read(
        RulesTask, "ab", partition="vertical", link_on="person", columns={"a": list(_LEFT), "b": list(_RIGHT)}, **wide
    )
    joined = table.select([*_LEFT, *_RIGHT])
    cases.append(
        _compare(
            "rules at 5%, columns at two",
            {name: _from_table(task, name, columns[name]) for name in "ab"},
            {"plain": lambda _: _digest(mine(joined, min_support="5%", min_confidence=0.5).as_json())},
        )
    )
    divided = {"a": [*_LEFT, "age", "hours-per-week"], "b": list(_RIGHT)}
    compare(
        "naive Bayes, columns at two",
        NaiveBayesTask,
        bayes | {"columns": [*_LEFT, "age", "hours-per-week", *_RIGHT[:-1]], "bounds": _some("age", "hours-per-week")},
        divided,
    )
    halves = {"a": ["age", "hours-per-week"], "b": ["education-num"]}
    compare(
        "k-means, columns at two",
        KMeansTask,
        numbers | {"columns": ["age", "hours-per-week", "education-num"]},
        halves,
    )
    return cases


def _some(*names: str) -> dict[str, Any]:
    return {name: _BOUNDS[name] for name in names}


def _read(kind: type[PartyTask], names: str, **settings: Any) -> PartyTask:
    return kind.read(Section.from_value(settings, "task", kind.keys), tuple(names), tuple(names))


def _from_file(task: PartyTask, name: str, path: Path) -> Part:
    def part(session: PartySession) -> str:
        return _digest(task.run(session, task.prepare(name, read_party_table(path, baskets=True))))

    return part


def _from_table(task: PartyTask, name: str, table: pa.Table) -> Part:
    def part(session: PartySession) -> str:
        return _digest(task.run(session, task.prepare(name, PartyTable(table, name))))

    return part


def _plain_rules(path: Path, support: str, confidence: str) -> Part:
    return lambda _: _digest(mine(path, min_support=support, min_confidence=confidence).as_json())


def _digest(result: Any) -> str:
    """Name a result, so that results of different runs can be compared without being kept.

    The cost of clusters is left out: each party rounds its part of it.
    """
    result = {name: value for name, value in result.items() if name != "cost"}
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16]


def _compare(
    what: str, parts: Mapping[str, Part], alone: Mapping[str, Callable[[PartySession], Any]]
) -> dict[str, Any]:
    """Measure a task among parties, and the same with one holder of all."""
    together, one = measure_parties(parts), next(iter(measure_parties(alone).values()))
    every = list(together.values())
    return {
        "what": what,
        "cpu": max(own["cpu"] for own in every),
        "seconds": max(own["seconds"] for own in every),
        "bytes": max(own["bytes"] for own in every),
        "memory": max(own["memory"] for own in every),
        "alone": one["cpu"],
        "equal": all(own["result"] == one["result"] for own in every),
    }


def _people(rows: int) -> pa.Table:
    """Take Adult, the real rows where they are at hand; made-up rows get the numbers that they lack."""
    folder = adult_folder()
    if folder is not None:
        table = pa.csv.read_csv(folder / "adult.csv")
        return table.slice(0, rows)
    draw = np.random.default_rng(1)
    table = synthetic_adult(rows)
    for name, (_, most) in list(_BOUNDS.items())[1:]:
        table = table.append_column(name, pa.array(draw.integers(0, most, rows)))
    return table


_ABOUT = (
    "`cpu s` are seconds of the processor, of the party that has most to do, and `alone s` those of one holder of all "
    "the data; both from the file or the table to the result. `equal`: whether the results are the same to the last "
    "bit; of k-means over columns each party gets its own coordinates, which the tests compare."
)


def page(run: Mapping[str, Any]) -> str:
    """Write the page on a run."""
    lines = [
        (
            case["what"],
            f"{case['cpu']:.2f}",
            f"{case['alone']:.2f}",
            f"{case['cpu'] / case['alone']:.1f}",
            f"{case['bytes'] / 1e6:.2f}",
            f"{case['memory']:.0f}",
            "yes" if case["equal"] else "",
        )
        for case in run["cases"]
    ]
    head = ("task", "cpu s", "alone s", "× alone", "MB sent", "peak MB", "equal")
    return "\n\n".join(
        [
            "# Mining among parties",
            (
                f"`python -m benchmarks.party_mining`: {run['baskets']:,} baskets of T10.I4, seed 1, and "
                f"{run['rows']:,} rows of Adult. {setting_line(run)}"
            ),
            _ABOUT,
            markdown_table(head, lines),
            "Target: rules over 100,000 baskets at three sites within 10 × the plain run.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
