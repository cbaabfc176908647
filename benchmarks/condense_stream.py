"""Dynamic condensation beside its yardsticks: `python -m benchmarks.condense_stream [--out DIR] [--small]`.

Rows a second that a stream takes up, at a given number of groups, by processor time, which other programs on the
machine change little; that of several threads is added up, and ``OPENBLAS_NUM_THREADS=1`` leaves one. Beside it, in the
same run, two yardsticks: comparing each row with each mean as numpy does it in one expression of matrices, which every
algorithm without a tree would do at least; and reading the rows as `csv` and `float` do it, for whole streams from a
file into a state. Figures are reported, never asserted. With --out they are kept.
"""

import argparse
import csv
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import MixedPoints
from sfumato.condense.condensation_stream import CondensationStream
from sfumato.condense.dynamic_condensation import DynamicCondensation
from sfumato.condense.group_statistics import GroupStatistics
from sfumato.core.segments import Segments, sort_by_group
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

_HEAD = ("what", "rows a second", "aim", "yardstick", "its rows a second", "ratio", "note")
K, BATCH = 50, 1000
_CASES = ((2_000, 6, 50_000), (2_000, 10, 50_000), (20_000, 3, 15_000), (20_000, 6, 15_000), (20_000, 10, 15_000))
_SMALL = ((50, 3, None),)


def _timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Give the processor time and the time of something."""
    start, begin = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - start, time.perf_counter() - begin


def _rows(draw: np.random.Generator, count: int, width: int) -> Any:
    """Rows like those of measurements: half of what each column has is shared by all."""
    return draw.normal(size=(count, width)) + draw.normal(size=(count, 1))


def _groups(draw: np.random.Generator, count: int, width: int) -> DynamicCondensation:
    """Begin with so many groups, of rows at rest."""
    sizes = draw.integers(K, 2 * K, count)
    points = _rows(draw, int(sizes.sum()), width)
    members = median_cuts(MixedPoints(points), K)
    order, _ = sort_by_group(members, int(members.max()) + 1)
    runs = Segments.from_lengths(sizes)  # of neighbours, so that some are about to be split
    groups = GroupStatistics(width)
    groups.append_all(points[order], runs)
    return DynamicCondensation(groups, K)


def _taking_up(cases: tuple[tuple[int, int, int | None], ...], batches: int) -> Iterator[dict[str, Any]]:
    """Rows that are in memory already: assignment, statistics and splits."""
    for count, width, aim in cases:
        draw = np.random.default_rng(count + width)
        stream = _groups(draw, count, width)
        parts = [_rows(draw, BATCH, width) for _ in range(batches)]
        stream.add(parts[0])  # imports what it needs

        def take(stream: DynamicCondensation = stream, parts: list[Any] = parts) -> None:
            for part in parts[1:]:
                stream.add(part)

        def compare(stream: DynamicCondensation = stream, parts: list[Any] = parts) -> None:
            means = stream.groups.means
            for part in parts[1:4]:
                ((means**2).sum(axis=1) - 2 * part @ means.T).argmin(axis=1)

        ours, waited = _timed(take)
        theirs, _ = _timed(compare)
        rows = BATCH * (batches - 1)
        peer = 3 * BATCH / theirs
        note = f"batches of {BATCH:,}; {stream.groups.count:,} groups in the end; {rows / waited:,.0f} a second waited"
        what = f"take up rows of {width} numbers, {count:,} groups"
        yield _line(what, rows / ours, aim, "each row with each mean, in numpy", peer, note)


def _whole_streams(rows: int) -> Iterator[dict[str, Any]]:
    """From a file of CSV into a state on the disk; what the memory grows by."""
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.csv")
        with source.open("w") as file:
            file.write("a,b,c,d,e,f\n")
            np.savetxt(file, _rows(draw, rows, 6), fmt="%.3f", delimiter=",")

        def read() -> None:
            with source.open(newline="") as text:
                records = csv.reader(text)
                next(records)
                np.array([[float(cell) for cell in record] for record in records])

        theirs, _ = _timed(read)
        for batch in (BATCH, 10 * BATCH):
            with CondensationStream(K, state=Path(folder, f"state-{batch}")) as stream:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                ours, waited = _timed(lambda stream=stream, batch=batch: stream.follow(source, batch=batch))  # type: ignore[misc]
                grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
                groups = stream.figures().groups
            size = Path(folder, f"state-{batch}", "groups.state").stat().st_size
            note = (
                f"{groups:,} groups; {rows / waited:,.0f} a second waited, for the disk, too; the state has "
                f"{size / groups:,.0f} bytes a group, the process has grown by {grown / 1024:,.0f} MB"
            )
            what = f"a CSV file of {rows:,} rows of 6 numbers into a state, batches of {batch:,}"
            yield _line(what, rows / ours, None, "reading it by csv and float", rows / theirs, note)


def _line(*cells: Any) -> dict[str, Any]:
    what, ours, aim, yardstick, peer, note = cells
    return {
        "what": what,
        "ours": ours,
        "aim": aim,
        "yardstick": yardstick,
        "peer": peer,
        "ratio": ours / peer,
        "note": note,
    }


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    """Measure, print, and keep where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--small", action="store_true", help="a run of a second, to see that it runs")
    asked = parser.parse_args(arguments)
    small = bool(asked.small)
    cases = [*_taking_up(_SMALL if small else _CASES, 4 if small else 60), *_whole_streams(2_000 if small else 150_000)]
    run = describe_run(cases, full=not small)
    lines = [
        (
            case["what"],
            f"{case['ours']:,.0f}",
            f"{case['aim']:,}" if case["aim"] else "",
            case["yardstick"],
            f"{case['peer']:,.0f}",
            f"{case['ratio']:.2f}",
            case["note"],
        )
        for case in run["cases"]
    ]
    words = f"k = {K}, rows a second of processor time."
    page = f"# Condensing streams\n\n{setting_line(run)} {words}\n\n{markdown_table(_HEAD, lines)}\n"
    print(page)
    if asked.out is not None:
        write_run(asked.out, "condense-stream", run, page)
    return cases


if __name__ == "__main__":
    main()
