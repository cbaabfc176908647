"""A thousand queries on a large release: `python -m benchmarks.queries [--rows N] [--queries N] [--out DIR]`.

The real commands in fresh processes, beside the copy of the same file. Figures and verdicts are reported, never
asserted. A run with a million rows is kept beside this file; another only where --out says so.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.input_files import MAKE, input_file, source_of
from sfumato.datasets import adult_arx_folder, adult_arx_policy, synthetic_adult_policy
from sfumato.papers.experiment import SENSITIVE, describe_run, write_run
from sfumato.papers.lossy_join_paper import ALPHA_LOSSY, ANATOMIES, GENERALIZED, SEED, LossyJoinMethod
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.process_measurement import COPY, SFUMATO, Measurement, measure_process
from sfumato.policy.toml_text import write_toml

LIMIT = 60.0
"""Seconds that a thousand queries may take on a million rows."""
HERE = Path(__file__).parent
_MILLION, _THOUSAND = 1_000_000, 1000
_HEAD = ("method", "rows", "classes", "anonymize s", "without s", "queries s", "cpu s", "copy s", "× copy", "peak MB")
_NOTES = """\
Adult-like rows (ARX's Adult, copied with two attributes redrawn), CSV, cold commands. Queries: `sfumato utility` with
{queries:,} queries, both estimates, reading of all files and losses included; "without" is the same command without
queries. Copy: a fresh DuckDB process reads the original and writes it again, in the same run."""


@dataclass(frozen=True)
class Large:
    """So many Adult-like rows, and so many queries; inputs are kept in `folder`."""

    rows: int
    queries: int
    folder: Path
    methods: Sequence[LossyJoinMethod] = (ALPHA_LOSSY, ANATOMIES[1], GENERALIZED)
    timeout: float = 900

    def cases(self) -> Iterator[dict[str, Any]]:
        """Measure each method."""
        source = input_file("like", self.rows, "csv", self.folder)
        if not source.exists():
            _check(measure_process([*MAKE, "like", str(self.rows), source]), "the input")
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            copy = _check(measure_process([*COPY, source, Path(work, source.name)]), "the copy").seconds
            for method in self.methods:
                figures = self._measure(method, source, Path(work)) | {"copy": copy, "source": source_of(source)}
                yield {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}

    def _measure(self, method: LossyJoinMethod, source: Path, work: Path) -> dict[str, Any]:
        policy, release = work / f"{method.form}.toml", work / method.form
        policy.write_text(_policy(method, source), encoding="utf-8")
        made = self._run("anonymize", policy, "--out", release, "--json")
        plain = self._run("utility", release, "--original", source, "--json", "--queries", "0")
        asked = ("--queries", str(self.queries), "--seed", str(SEED))
        full = self._run("utility", release, "--original", source, "--json", *asked)
        summary = json.loads(made.output)
        return {
            "method": method.label,
            "form": method.form,
            "rows": summary["rows"],
            "classes": summary["classes"],
            "queries": self.queries,
            "anonymize": made.seconds,
            "plain": plain.seconds,
            "seconds": full.seconds,
            "cpu": full.cpu,
            "megabytes": full.megabytes,
            "error": json.loads(full.output)["queries"]["expected"]["average"],
        }

    def _run(self, command: str, *arguments: str | Path) -> Measurement:
        measured = measure_process([*SFUMATO, command, *arguments], timeout=self.timeout)
        return _check(measured, command)


def _policy(method: LossyJoinMethod, source: Path) -> str:
    """Write a policy of eight quasi-identifiers with the hierarchies of the table that was enlarged."""
    folder = None if source_of(source) == "synthetic" else adult_arx_folder()
    shared: dict[str, Any] = {"source": source, "sensitive": SENSITIVE}
    policy = synthetic_adult_policy(**shared) if folder is None else adult_arx_policy(folder, **shared)
    changed = {"privacy": [method.privacy], "algorithm": method.search, "publish": {"form": method.form}}
    return write_toml(policy | changed)


def _check(measured: Measurement, what: str) -> Measurement:
    if measured.failed:
        raise RuntimeError(f"{what} did not end well: {measured.errors.strip()}")
    return measured


def page(run: Mapping[str, Any]) -> str:
    """Write the page: seconds and memory of the commands."""
    first, *_ = run["cases"]
    made_up = " (made up)" if first["source"] == "synthetic" else ""
    parts = [f"# {first['queries']:,} queries, {first['rows']:,} rows{made_up}", setting_line(run)]
    lines = markdown_table((*_HEAD, "average error", "target", "verdict"), map(_line, run["cases"]))
    return "\n\n".join([*parts, lines, _NOTES.format(queries=first["queries"])]) + "\n"


def _line(case: Mapping[str, Any]) -> list[str]:
    times = [case[key] for key in ("anonymize", "plain", "seconds", "cpu", "copy")] + [case["seconds"] / case["copy"]]
    verdict = "met" if case["seconds"] <= LIMIT else "missed"
    counts = (f"{case['rows']:,}", f"{case['classes']:,}")
    rest = (f"{case['megabytes']:,.0f}", f"{case['error']:.4f}", f"≤ {LIMIT:g} s", verdict)
    return [case["method"], *counts, *(f"{time:.2f}" for time in times), *rest]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every method, print the page, and keep it."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    cases = list(Large(options.rows, options.queries, options.data).cases())
    full = (options.rows, options.queries) == (_MILLION, _THOUSAND) and cases[0]["source"] != "synthetic"
    run, out = describe_run(cases, full=full), options.out or (HERE if full else None)
    print(page(run) if out is None else write_run(out, "queries", run, page(run)))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.queries", description="Queries on a large release.")
    parser.add_argument("--rows", type=int, default=_MILLION, help="rows of the table (1000000)")
    parser.add_argument("--queries", type=int, default=_THOUSAND, help="how many are asked (1000)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where made-up inputs are kept")
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
