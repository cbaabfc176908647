"""The Spark engine beside Spark's own copy: `python -m benchmarks.engines_spark [--rows N] [--kind csv] [--data DIR]`.

The jobs are those of `benchmarks.engines`: Adult-like rows, nine quasi-identifiers, k = 5, two per cent suppressed,
`optimal`. A cold run of the command on ``local[2]`` stands beside a cold run of Spark that reads the same file and
writes it again in the same format, in the same run. Seconds are of the wall; processor seconds and memory are those of
all processes of a run, Java's and Python's. `measure_spark` gives the figures of one job, as `engines.measure` does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, M, Method
from benchmarks.engines import Job, make_input
from benchmarks.jobs import write_policy
from sfumato.papers.markdown_tables import markdown_table
from sfumato.papers.process_measurement import SFUMATO, Measurement

MASTER = "local[2]"
_COPY = """
import sys
from pyspark.sql import SparkSession
source, target, kind, master = sys.argv[1:]
spark = SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
reader, options = spark.read, {"header": "true"} if kind == "csv" else {}
reader.options(**options).format(kind).load(source).write.options(**options).format(kind).save(target)
spark.stop()
"""
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def measure_spark(job: Job, folder: Path, *, timeout: float = 3600) -> dict[str, Any]:
    """Measure a job of the Spark engine, and Spark's copy of its input."""
    source = make_input(job, folder)
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-", dir=folder) as work:
        copied = Path(work, "copy")
        copy = measure_session([sys.executable, "-c", _COPY, source, copied, job.kind, MASTER], timeout=timeout)
        case = Case(job.file, "", "like", job.rows, 0.02, job.kind, method=Method("optimal"))
        policy = Path(work, "policy.toml")
        write_policy(case, source, policy)
        command: list[str | Path] = [*SFUMATO, "anonymize", policy, "--out", Path(work, "release"), "--json"]
        found = measure_session([*command, "--engine", "spark", "--master", MASTER, *job.options], timeout=timeout)
    figures: dict[str, Any] = {"engine": "spark", "rows": job.rows, "kind": job.kind, "wide": job.wide}
    figures |= {"code": found.code, "seconds": found.seconds, "cpu": found.cpu, "megabytes": found.megabytes}
    if not found.failed:
        summary = json.loads(found.output)
        figures |= {"phases": summary["seconds"], "classes": summary["classes"], "suppressed": summary["suppressed"]}
    else:
        print(found.errors[-2000:], file=sys.stderr)
    figures |= {"copy": copy.seconds, "copy_cpu": copy.cpu, "copy_megabytes": copy.megabytes, "case": job.file}
    return figures


def measure_session(command: Sequence[str | Path], *, timeout: float) -> Measurement:
    """Run a command in a session of its own, and add up what all its processes take, five times a second."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen([*map(str, command)], stdout=output, stderr=errors, start_new_session=True)
        spent: dict[int, float] = {}
        peak = 0.0
        while process.poll() is None and time.monotonic() - start < timeout:
            resident = 0
            for pid, ticks, pages in _of_session(process.pid):
                spent[pid] = ticks / _TICK
                resident += pages * _PAGE
            peak = max(peak, resident / 1e6)
            time.sleep(0.2)
        seconds = time.monotonic() - start
        if process.poll() is None:
            for pid, *_ in _of_session(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            process.wait()
            return Measurement(timeout, sum(spent.values()), peak, None, errors=f"stopped after {timeout:g} s")
        output.seek(0)
        errors.seek(0)
        return Measurement(seconds, sum(spent.values()), peak, process.returncode, output.read(), errors.read())


def _of_session(session: int) -> list[tuple[int, int, int]]:
    """The processes of a session: number, ticks of the processor, resident pages."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError, IndexError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session:
                found.append((int(folder.name), int(fields[11]) + int(fields[12]), int(fields[21])))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each size."""
    parser = argparse.ArgumentParser(prog="benchmarks.engines_spark", description="Spark beside its own copy.")
    parser.add_argument("--rows", type=int, action="append", help="this size, and others only if given too")
    parser.add_argument("--kind", choices=("csv", "parquet"), action="append", help="this format alone")
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="where inputs are kept")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds after which a run is stopped (3600)")
    options = parser.parse_args(arguments)
    lines = []
    for rows in options.rows or [M, 10 * M]:
        for kind in options.kind or ["parquet", "csv"]:
            figures = measure_spark(Job("spark", rows, kind), options.data, timeout=options.timeout)
            print(json.dumps(figures), file=sys.stderr, flush=True)
            lines.append(_line(figures))
    print(markdown_table(_HEAD, lines))


_HEAD = ("table", "rows", "seconds", "copy s", "× copy", "CPU s", "copy CPU s", "× copy CPU", "µs CPU/row", "peak MB")


def _line(figures: Mapping[str, Any]) -> list[str]:
    rows, seconds, copy = figures["rows"], figures["seconds"], figures["copy"]
    cpu, copy_cpu = figures["cpu"], figures["copy_cpu"]
    return [
        *(figures["kind"], f"{rows:,}", f"{seconds:.1f}", f"{copy:.1f}", f"{seconds / copy:.2f}", f"{cpu:.1f}"),
        *(f"{copy_cpu:.1f}", f"{cpu / copy_cpu:.2f}", f"{cpu / rows * 1e6:.2f}", f"{figures['megabytes']:,.0f}"),
    ]


if __name__ == "__main__":
    main()
