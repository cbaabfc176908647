"""Time and memory against rows, for each engine: `python -m benchmarks.engines [--quick] [--rows N] [--out DIR]`.

Adult-like rows with nine quasi-identifiers, k = 5, two per cent suppressed, `optimal`: each size a cold run of the
command, from start to verified release and report, beside DuckDB's copy of the same file in the same run. A wide table
of 25 columns goes beside, and Spark's jobs stand beside Spark's own copy (`engines_spark`). Inputs are made part by
part, kept in --data, and removed if --remove says so. Figures and verdicts are reported, never asserted; a full run is
kept beside this file.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.cases import Case, M, Method
from benchmarks.jobs import write_policy
from sfumato.datasets import adult_arx_folder, enlarge, synthetic_adult
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.plots import Panel, PlotLine, draw_panels
from sfumato.papers.process_measurement import COPY, SFUMATO, measure_process
from sfumato.policy.toml_text import write_toml

HERE = Path(__file__).parent
_PART = 5 * M
"""Rows of an input that are made at a time."""
_WIDE = 25


@dataclass(frozen=True)
class Job:
    """A table of so many rows in a format, an engine with the memory it is allowed, and what we want of it."""

    engine: str
    rows: int
    kind: str
    memory: str | None = None
    copies: float | None = None
    megabytes: float | None = None
    wide: bool = False
    options: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of its input."""
        return f"{'wide' if self.wide else 'like'}-{self.rows}.{self.kind}"

    @property
    def wanted(self) -> str:
        """What we want, in words."""
        parts = [f"≤ {self.copies:g} × copy"] if self.copies else []
        return ", ".join(parts + ([f"≤ {self.megabytes:g} MB"] if self.megabytes else []))

    def verdict(self, figures: Mapping[str, Any]) -> str:
        """Say whether it was met; nothing where nothing was wanted."""
        if figures["code"] != 0:
            return "failed"
        checks = [(figures["megabytes"], self.megabytes), (figures["seconds"] / figures["copy"], self.copies)]
        missed = [f"{found:.3g} > {wanted:g}" for found, wanted in checks if wanted is not None and found > wanted]
        return "missed: " + ", ".join(missed) if missed else "met" if self.wanted else ""


def every_job(*, everything: bool = False) -> Iterator[Job]:
    """Give all jobs, small ones first; what takes twelve gigabytes or many minutes only if it is to be `everything`."""
    limits = {10 * M: 1000, 50 * M: 2500}
    for rows in (M, 10 * M, 50 * M):
        for kind in ("parquet", "csv"):
            if rows <= 10 * M or everything:
                yield Job("memory", rows, kind)
            limit = limits.get(rows)
            memory = None if limit is None else f"{limit}MB"
            yield Job("stream", rows, kind, memory, 3 if limit else None, limit)
            if rows <= 10 * M or (everything and kind == "parquet"):
                yield Job("spark", rows, kind, copies=5 if rows == 10 * M else None)
    yield Job("stream", 31 * M, "parquet", "3500MB", None, 3500, wide=True)
    if everything:
        yield Job("stream", 200 * M, "parquet", "12GB")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the jobs, print the page, and keep it with its plot where --out says so."""
    options = _options().parse_args(arguments)
    jobs = [
        job
        for job in every_job(everything=options.all)
        if (not options.rows or job.rows in options.rows)
        and (not options.engine or job.engine in options.engine)
        and (not options.kind or job.kind == options.kind)
        and (not options.quick or job.rows <= M)
    ]
    measured = [_measure_any(job, options.data, remove=options.remove, timeout=options.timeout) for job in jobs]
    run = describe_run(measured, full=not options.quick)
    text = page(run, jobs, None if options.out is None else plot(run, options.out / "figures"))
    print(text)
    if options.out is not None:
        print(write_run(options.out, "engines", run, text))


def _measure_any(job: Job, folder: Path, *, remove: bool, timeout: float) -> dict[str, Any]:
    """Measure a job of any engine, Spark's with all the processes that it starts."""
    if job.engine != "spark":
        return measure(job, folder, remove=remove, timeout=timeout)
    from benchmarks.engines_spark import measure_spark  # noqa: PLC0415 - it takes jobs and inputs from here

    print(f"spark {job.file} …", end=" ", flush=True, file=sys.stderr)
    figures = measure_spark(job, folder, timeout=timeout)
    print(f"{figures['seconds']:.1f} s, {figures['megabytes']:,.0f} MB", file=sys.stderr)
    if remove:
        (folder / job.file).unlink()
    return figures


def measure(job: Job, folder: Path, *, remove: bool = False, timeout: float = 3600) -> dict[str, Any]:
    """Measure a job and the copy of its input; a word on the terminal says so while others are waited for."""
    print(f"{job.engine} {job.file} …", end=" ", flush=True, file=sys.stderr)
    source = make_input(job, folder)
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-", dir=folder) as work:
        copy = measure_process([*COPY, source, Path(work, source.name)], timeout=timeout)
        Path(work, source.name).unlink(missing_ok=True)
        policy = _policy(job, source, Path(work, "policy.toml"))
        command: list[str | Path] = [*SFUMATO, "anonymize", policy, "--out", Path(work, "release"), "--json"]
        memory = ["--memory", job.memory] if job.memory else []
        found = measure_process([*command, "--engine", job.engine, *memory, *job.options], timeout=timeout)
    if remove:
        source.unlink()
    print(f"{found.seconds:.1f} s, {found.megabytes:,.0f} MB" if not found.failed else found.errors, file=sys.stderr)
    figures: dict[str, Any] = {"engine": job.engine, "rows": job.rows, "kind": job.kind, "wide": job.wide}
    figures |= {"code": found.code, "seconds": found.seconds, "cpu": found.cpu, "megabytes": found.megabytes}
    if not found.failed:
        summary = json.loads(found.output)
        figures |= {"phases": summary["seconds"], "classes": summary["classes"], "suppressed": summary["suppressed"]}
    return figures | {"copy": copy.seconds, "copy_megabytes": copy.megabytes, "case": job.file}


def make_input(job: Job, folder: Path) -> Path:
    """Make the input of a job, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / job.file
    if path.exists():
        return path
    if job.kind == "csv":
        parquet = make_input(Job(job.engine, job.rows, "parquet", wide=job.wide), folder)
        with duckdb.connect() as connection:
            connection.execute(f"COPY (FROM '{parquet}') TO '{path}' (FORMAT csv, HEADER)")
        return path
    part = path.with_name(f"part-{path.name}")
    parts = _wide_parts(job.rows) if job.wide else _like_parts(job.rows)
    first = next(parts)
    with pq.ParquetWriter(part, first.schema, store_schema=False) as writer:
        writer.write_table(first)
        for piece in parts:
            writer.write_table(piece)
    part.rename(path)
    return path


def _like_parts(rows: int) -> Iterator[Any]:
    """Adult-like rows, a part at a time, each drawn anew."""
    folder = adult_arx_folder()
    small = (
        synthetic_adult(30_162)
        if folder is None
        else pyarrow.csv.read_csv(folder / "adult.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    )
    for number, start in enumerate(range(0, rows, _PART)):
        yield enlarge(small, min(_PART, rows - start), seed=number + 1)


def _wide_parts(rows: int) -> Iterator[Any]:
    """Rows of 25 columns: the Adult-like ones, numbers and texts beside."""
    for number, part in enumerate(_like_parts(rows)):
        draw = np.random.default_rng(number)
        columns = dict(zip(part.column_names, part.columns, strict=True))
        while len(columns) < _WIDE:
            place = len(columns)
            drawn = draw.integers(0, 4 + 3 * (place % 5), part.num_rows, dtype=np.int16)
            columns[f"x{place}"] = pa.array(drawn)
        yield pa.table(columns)


def _policy(job: Job, source: Path, path: Path) -> Path:
    """Write the policy: nine quasi-identifiers; the further columns of a wide table are sensitive or plain."""
    case = Case(job.file, "", "like", job.rows, 0.02, job.kind, method=Method("optimal"))
    write_policy(case, source, path)
    if not job.wide:
        return path
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    known = len(document["columns"])
    for place in range(known, _WIDE):
        document["columns"][f"x{place}"] = {"role": "sensitive" if place < known + 2 else "plain"}
    path.write_text(write_toml(document), encoding="utf-8")
    return path


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.engines", description="Engines against the size of a table.")
    parser.add_argument("--quick", action="store_true", help="a million rows at most")
    parser.add_argument(
        "--all", action="store_true", help="50 million rows in memory, and 200 million streamed, besides"
    )
    parser.add_argument("--rows", type=int, action="append", help="this size, and others only if given too")
    parser.add_argument("--engine", action="append", help="this engine, and others only if given too")
    parser.add_argument("--kind", choices=("csv", "parquet"), help="this format alone")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where inputs are made and kept")
    parser.add_argument("--remove", action="store_true", help="remove each input when it has been measured")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds after which a run is stopped (3600)")
    parser.add_argument("--out", type=Path, help="the folder for page, figures and plot")
    return parser


# The page.

_HEAD = (
    *("engine", "table", "rows", "seconds", "copy s", "× copy", "peak MB", "read s", "search s", "write s", "verify s"),
    *("CPU s", "wanted", "verdict"),
)
_NOTES = """\
Adult-like rows (copies with two attributes redrawn), nine quasi-identifiers, k = 5, at most 2 % of the rows dropped,
`optimal`; the wide table has 25 columns. A cold run of the command each, from start to verified release with its
report. Copy: a fresh DuckDB process reads the same file and writes it again, in the same run. Peak: the most memory
that was resident at a time. The stream engine was given the memory that is wanted as `--memory`. Spark has
`local[2]`: its copy is a cold run of Spark that reads the file and writes it again, its seconds of processors and its
memory are those of Java and of Python together."""


def page(run: Mapping[str, Any], jobs: Sequence[Job], picture: str | None) -> str:
    """Write the page; `picture` is the plot."""
    lines = [_line(job, figures) for job, figures in zip(jobs, run["cases"], strict=True)]
    parts = ["# Engines: time and memory against rows", setting_line(run)]
    parts += [f"![Seconds and memory against rows](figures/{picture})"] if picture else []
    return "\n\n".join([*parts, markdown_table(_HEAD, lines), _NOTES]) + "\n"


def _line(job: Job, figures: Mapping[str, Any]) -> list[str]:
    table = f"{'wide ' if job.wide else ''}{job.kind}"
    if figures["code"] != 0:
        return [job.engine, table, f"{job.rows:,}", *[""] * 9, job.wanted, job.verdict(figures)]
    phases = figures["phases"]
    return [
        *(job.engine, table, f"{job.rows:,}", f"{figures['seconds']:.1f}", f"{figures['copy']:.1f}"),
        *(f"{figures['seconds'] / figures['copy']:.2f}", f"{figures['megabytes']:,.0f}"),
        *(f"{phases[name]:.1f}" for name in ("read", "search", "write", "verify")),
        *(f"{figures['cpu']:.1f}", job.wanted, job.verdict(figures)),
    ]


def plot(run: Mapping[str, Any], folder: Path) -> str | None:
    """Draw seconds and memory against rows, a line for each engine and format; give the name of the file."""
    done = [figures for figures in run["cases"] if figures["code"] == 0 and not figures["wide"]]
    if not done:
        return None
    names = dict.fromkeys((figures["engine"], figures["kind"]) for figures in done)

    def lines(key: str) -> list[PlotLine]:
        drawn = []
        for engine, kind in names:
            own = [figures for figures in done if (figures["engine"], figures["kind"]) == (engine, kind)]
            drawn.append(PlotLine(f"{engine}, {kind}", [one["rows"] for one in own], [one[key] for one in own]))
        return drawn

    panels = [
        Panel("From cold start to verified release", "rows", "seconds", lines("seconds"), "xy"),
        Panel("Peak memory", "rows", "MB", lines("megabytes"), "xy"),
    ]
    return draw_panels(panels, folder / "engines.svg").name


if __name__ == "__main__":
    main()
