"""A thousand queries on a large release: the real commands in fresh processes, beside the copy of the same file."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import input_file, source_of
from benchmarks.jobs import SFUMATO
from benchmarks.lossy_join_points import ALPHA_LOSSY, ANATOMIES, GENERALIZED, SEED, SENSITIVE, Method
from benchmarks.measure import Measured, measure
from benchmarks.policies import toml
from benchmarks.tables import table
from sfumato.datasets import adult_arx_folder, adult_arx_policy, synthetic_adult_policy

LIMIT = 60.0
"""Seconds that a thousand queries may take on a million rows."""
_HERE = Path(__file__).parent
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
    methods: Sequence[Method] = (ALPHA_LOSSY, ANATOMIES[1], GENERALIZED)
    timeout: float = 900

    def cases(self) -> Iterator[dict[str, Any]]:
        """The figures of each method."""
        source = self._input()
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            copy = _done(measure([*_script("copy_file"), source, Path(work, source.name)]), "the copy").seconds
            for method in self.methods:
                figures = self._form(method, source, Path(work)) | {"copy": copy, "source": source_of(source)}
                yield {key: round(one, 4) if isinstance(one, float) else one for key, one in figures.items()}

    def _form(self, method: Method, source: Path, work: Path) -> dict[str, Any]:
        policy, release = work / f"{method.form}.toml", work / method.form
        policy.write_text(_policy(method, source), encoding="utf-8")
        made = self._run("anonymize", policy, "--out", release, "--json")
        plain = self._run("utility", release, "--original", source, "--json", "--queries", "0")
        asked = ("--queries", str(self.queries), "--seed", str(SEED))
        full = self._run("utility", release, "--original", source, "--json", *asked)
        said, told = json.loads(made.output), json.loads(full.output)
        return {
            "method": method.label,
            "form": method.form,
            "rows": said["rows"],
            "classes": said["classes"],
            "queries": self.queries,
            "anonymize": made.seconds,
            "plain": plain.seconds,
            "seconds": full.seconds,
            "cpu": full.cpu,
            "megabytes": full.megabytes,
            "error": told["queries"]["expected"]["average"],
        }

    def _run(self, command: str, *arguments: str | Path) -> Measured:
        return _done(measure([SFUMATO, command, *arguments], timeout=self.timeout), command)

    def _input(self) -> Path:
        path = input_file("like", self.rows, "csv", self.folder)
        if not path.exists():
            _done(measure([*_script("data"), "like", str(self.rows), path]), "the input")
        return path


def _policy(method: Method, source: Path) -> str:
    """Eight quasi-identifiers, the occupation sensitive; the hierarchies are those of the table that was enlarged."""
    folder = None if source_of(source) == "synthetic" else adult_arx_folder()
    shared: dict[str, Any] = {"source": source, "sensitive": SENSITIVE}
    policy = synthetic_adult_policy(**shared) if folder is None else adult_arx_policy(folder, **shared)
    changed = {"privacy": [method.privacy], "algorithm": method.search, "publish": {"form": method.form}}
    return "\n".join(f"{key} = {toml(value)}" for key, value in (policy | changed).items())


def _script(name: str) -> list[str | Path]:
    """A fresh interpreter on one of our files, which finds installed packages only."""
    return [sys.executable, "-P", _HERE / f"{name}.py"]


def _done(measured: Measured, what: str) -> Measured:
    if measured.failed:
        raise RuntimeError(f"{what} did not end well: {measured.errors.strip()}")
    return measured


def timings(run: Mapping[str, Any]) -> Iterator[str]:
    """Seconds and memory of the commands, where a large table was run."""
    if not run["large"]:
        return
    head = (
        "method",
        "rows",
        "classes",
        "anonymize s",
        "without s",
        "queries s",
        "cpu s",
        "copy s",
        "× copy",
        "peak MB",
    )
    rows = [_timed(one) for one in run["large"]]
    made_up = any(one["source"] == "synthetic" for one in run["large"])
    yield f"## {run['large'][0]['rows']:,} rows" + (" (made up)" if made_up else "")
    yield table((*head, "average error", "target", "verdict"), rows)
    yield _NOTES.format(queries=run["large"][0]["queries"])


def _timed(one: Mapping[str, Any]) -> list[str]:
    times = (one["anonymize"], one["plain"], one["seconds"], one["cpu"], one["copy"], one["seconds"] / one["copy"])
    verdict = "met" if one["seconds"] <= LIMIT else "missed"
    counts = (f"{one['rows']:,}", f"{one['classes']:,}")
    rest = (f"{one['megabytes']:,.0f}", f"{one['error']:.4f}", f"≤ {LIMIT:g} s", verdict)
    return [one["method"], *counts, *(f"{x:.2f}" for x in times), *rest]
