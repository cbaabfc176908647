"""Requirements that are hard: `python -m benchmarks.slow_corners [--repeat N] [--out DIR]`.

Four tables of the sizes at which a search once took minutes: a full-domain search with `linked_k` and suppression, a
sequential release whose x has no join column, earlier releases joined with one another, and 44 quasi-identifiers. The
search alone is timed, from the encoded table to a recoding, in processor seconds. Figures and verdicts are reported,
never asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.encode import encode
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.policy import load
from sfumato.previous import join_history, link_releases
from sfumato.recode import recode
from sfumato.table import from_frame

HERE = Path(__file__).parent
LIMIT = 10.0
"""Processor seconds that a corner may take."""

Document = dict[str, Any]


@dataclass(frozen=True)
class Corner:
    """A table and policy that is hard; `before` are the processor seconds that it took before the search was mended.

    `make` gets a folder for earlier releases. Where only the join of these is hard, `join_only` says so. `before` is
    None where it was stopped.
    """

    name: str
    make: Callable[[Path], tuple[Any, Document]]
    before: float | None
    join_only: bool = False


def linked_persons(_: Path) -> tuple[Any, Document]:
    """Persons with two rows each on average, of which a tenth of the values differs: 5^8 generalizations."""
    draw, rows, persons = np.random.default_rng(1), 20_013, 10_000
    person = draw.integers(0, persons, rows)
    values = draw.integers(0, 81, (persons, 8))[person]
    values = np.where(draw.random((rows, 8)) < 0.1, draw.integers(0, 81, (rows, 8)), values)
    names = [f"c{i}" for i in range(8)]
    frame = {name: _texts(column**2 // 81, "{:02d}") for name, column in zip(names, values.T, strict=True)}
    columns: Document = {name: {"role": "quasi", "hierarchy": {"intervals": [3, 9, 27]}} for name in names}
    rule = {"model": "identity-k-anonymity", "k": 5, "linked_k": 5}
    return pa.table(frame | {"person": _texts(person, "p{}")}), {
        "columns": columns | {"person": {"role": "individual"}},
        "privacy": [rule],
        "algorithm": {"name": "optimal", "suppression": 0.05},
    }


def join_without_x(folder: Path) -> tuple[Any, Document]:
    """Three columns that records are matched by, and an x of 5,000 values that they are not."""
    draw, rows = np.random.default_rng(1), 300_000
    age, place, sex = draw.integers(17, 91, rows), draw.integers(0, 1000, rows), draw.integers(0, 2, rows)
    matched = {"age": _texts(age), "zip": _texts(place, "{:03d}"), "sex": _texts(sex)}
    frame = pa.table(matched | {"job": _texts(draw.integers(0, 5000, rows), "j{:04d}")})
    chosen = draw.integers(0, rows, rows)
    before = pa.table(
        {
            "age": [f"{low}-{low + 4}" for low in (age[chosen] // 5 * 5).tolist()],
            "zip": _texts(place[chosen], "{:03d}"),
            "sex": _texts(sex[chosen]),
            "disease": _texts(draw.integers(0, 20, rows), "d{}"),
        }
    )
    pyarrow.csv.write_csv(before, folder / "old.csv")
    rule = {"model": "xy-anonymity", "x": ["job"], "y": ["$row"], "k": 5}
    previous = [{"name": "old", "table": str(folder / "old.csv")}]
    return frame, {"columns": _MATCHED | {"job": {"role": "plain"}}, "previous": previous, "privacy": [rule]}


def several_releases(folder: Path) -> tuple[Any, Document]:
    """Two earlier releases of 100,000 records each, in some 18,500 groups."""
    draw, rows, earlier = np.random.default_rng(1), 20_000, 100_000
    age, place, sex = draw.integers(17, 91, rows), draw.integers(0, 1000, rows), draw.integers(0, 2, rows)
    frame = pa.table({"age": _texts(age), "zip": _texts(place, "{:03d}"), "sex": _texts(sex)})
    previous, x = [], ["age", "zip", "sex"]
    for number in range(2):
        chosen = draw.integers(0, rows, earlier)
        name = f"p{number}"
        table = {"age": _texts(age[chosen]), "zip": _texts(place[chosen], "{:03d}"), "sex": _texts(sex[chosen])}
        pyarrow.csv.write_csv(pa.table(table), folder / f"{name}.csv")
        previous.append({"name": name, "table": str(folder / f"{name}.csv")})
        x += [f"{name}.{column}" for column in table]
    rule = {"model": "xy-anonymity", "x": x, "y": ["$row"], "k": 2}
    return frame, {"columns": _MATCHED, "previous": previous, "privacy": [rule]}


def many_columns(_: Path) -> tuple[Any, Document]:
    """44 quasi-identifiers: counts, dates, scores, groups of a score, codes, durations and flags."""
    draw, rows = np.random.default_rng(1), 7214
    common = draw.normal(size=rows)
    frame: dict[str, list[str]] = {}
    columns: Document = {}

    def add(name: str, values: NDArray[Any], hierarchy: Any) -> None:
        frame[name], columns[name] = _texts(values), {"role": "quasi", "hierarchy": hierarchy}

    def noisy() -> NDArray[np.float64]:
        return 0.7 * common + 0.7 * draw.normal(size=rows)

    add("age", np.clip(18 + draw.gamma(2, 8, rows), 18, 96).astype(int), {"intervals": [5, 10, 20]})
    for i in range(2):
        add(f"group{i}", draw.choice(6, rows, p=[0.51, 0.34, 0.09, 0.05, 0.005, 0.005]), "suppress")
    for i in range(4):
        add(f"count{i}", draw.poisson(np.exp(common * 0.8) * 0.3 * (i + 0.3)), {"intervals": [2, 4, 8]})
    for i in range(8):
        day = np.datetime64("2013-01-01") + draw.integers(0, 700, rows)
        add(f"date{i}", day, {"dates": ["month", "year"]})
    for i in range(6):
        add(f"score{i}", np.clip(np.round(5 + 2.5 * noisy()), 1, 10).astype(int), {"intervals": [2, 4]})
        add(f"text{i}", np.digitize(noisy(), [-0.5, 0.7]), "suppress")
        add(f"days{i}", draw.integers(0, 1200, rows) * (draw.random(rows) < 0.6), {"intervals": [10, 50, 200]})
        add(f"flag{i}", (draw.random(rows) < 0.1 + 0.13 * i).astype(int), "suppress")
    for i in range(5):
        add(f"code{i}", draw.zipf(1.4, rows) % 400, "suppress")
    return pa.table(frame), {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


_MATCHED: Document = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
}
CORNERS = (
    Corner("full-domain search, linked_k = 5, 5 % may be dropped", linked_persons, 30.0),
    Corner("x without a join column, 5,000 values", join_without_x, None),
    Corner("two earlier releases joined", several_releases, None, join_only=True),
    Corner("44 quasi-identifiers, auto", many_columns, 19.9),
)
_NOTES = """\
Processor seconds of the search, from the encoded table to a label for every cell, or of the join of the earlier
releases with one another; the median of {repeat}, in one process. Others worked on the machine at the same time.
*Before* is the same table under the search as it was, measured once; where it says *no end*, it was stopped while it
had hardly begun, after 25 s of processor time and after two minutes by the clock."""


def _texts(values: NDArray[Any], form: str = "{}") -> list[str]:
    return [form.format(value) for value in values.tolist()]


def cases(repeat: int) -> list[dict[str, Any]]:
    """Time each corner."""
    found = []
    for corner in CORNERS:
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            frame, document = corner.make(Path(folder))
            policy = load(document | {"data": {"source": "table.csv"}})
            encoded = encode(from_frame(frame, policy), policy)
            linked = link_releases(encoded, policy) if policy.linkage else None
            seconds = []
            for _ in range(repeat):
                start = time.process_time()
                if corner.join_only and linked is not None:
                    join_history(linked)
                else:
                    recode(encoded, policy, releases=linked)
                seconds.append(time.process_time() - start)
        median = sorted(seconds)[len(seconds) // 2]
        found.append({"corner": corner.name, "rows": frame.num_rows, "before": corner.before, "cpu": median})
    return found


def page(run: Mapping[str, Any]) -> str:
    """Write the page: times and verdicts."""
    head = ("corner", "rows", "before, s", "now, s", "target", "verdict")
    lines = [
        [
            case["corner"],
            f"{case['rows']:,}",
            "no end" if case["before"] is None else f"{case['before']:.1f}",
            f"{case['cpu']:.2f}",
            f"≤ {LIMIT:g}",
            "met" if case["cpu"] <= LIMIT else "missed",
        ]
        for case in run["cases"]
    ]
    notes = _NOTES.format(**run)
    return "\n\n".join(["# Slow corners", setting_line(run), markdown_table(head, lines), notes]) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Time all corners, print the page, and keep it."""
    parser = argparse.ArgumentParser(prog="benchmarks.slow_corners", description="Requirements that are hard.")
    parser.add_argument("--repeat", type=int, default=1, help="how often each is timed; the median is shown (1)")
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks)")
    options = parser.parse_args(arguments)
    run = describe_run(cases(options.repeat), full=True) | {"source": "synthetic", "repeat": options.repeat}
    print(write_run(options.out or HERE, "slow-corners", run, page(run)))


if __name__ == "__main__":
    main()
