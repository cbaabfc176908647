"""Bottom-up beside top-down on the same rows, in the same run: search alone, and the whole command."""

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv

from benchmarks.identity_points import RESERVED, SENSITIVE, SHARES
from benchmarks.identity_runs import Experiment
from benchmarks.jobs import SFUMATO
from benchmarks.measure import Measured, measure
from benchmarks.policies import toml
from benchmarks.tables import table
from sfumato.encode import Encoded, encode
from sfumato.policy import Policy, load
from sfumato.recode import recode
from sfumato.table import from_frame

LIMIT = 5.0
"""How many times as long as top-down bottom-up may take."""
RPI = 1.8
OURS, YARDSTICK = "bottom-up", "top-down"
REQUIREMENTS: tuple[Mapping[str, Any], ...] = (
    {"model": RESERVED, "k": 2},
    {"model": RESERVED, "k": 10},
    {"model": SHARES, "column": SENSITIVE, "alpha": 0.5, "beta": 0.5},
    {"model": SHARES, "column": SENSITIVE, "alpha": 0.2, "beta": 0.2},
)
COMMANDS = REQUIREMENTS[1:3]
_NOTES = """\
Search: both algorithms by themselves, without improvement pass, from the encoded table to a label for every cell, in a
warm process. Command: `sfumato anonymize` with defaults (improvement pass, report, verification), from a CSV file to a
release, a fresh process each. Both take turns; times are medians, of {repeat} searches and of {commands} commands."""


@dataclass(frozen=True)
class Timing:
    """How often searches and commands are timed; commands not at all where it is 0."""

    experiment: Experiment
    repeat: int = 5
    commands: int = 3
    timeout: float = 900

    def cases(self) -> Iterator[dict[str, Any]]:
        """The seconds of both algorithms for each requirement."""
        for model in REQUIREMENTS:
            yield self._told("search", model, self._searches(model))
        for model in COMMANDS if self.commands else ():
            yield self._told("command", model, self._commands(model))

    def _told(self, what: str, model: Mapping[str, Any], seconds: Mapping[str, list[float]]) -> dict[str, Any]:
        ours, yardstick = (statistics.median(seconds[name]) for name in (OURS, YARDSTICK))
        rows = self.experiment.table(RPI).num_rows
        asked = ", ".join(
            [model["model"], *(f"{key} = {model[key]}" for key in ("k", "alpha", "beta") if key in model)]
        )
        return {"what": what, "requirement": asked, "rows": rows, OURS: round(ours, 4), YARDSTICK: round(yardstick, 4)}

    def _searches(self, model: Mapping[str, Any]) -> dict[str, list[float]]:
        table = self.experiment.table(RPI)
        ours, yardstick = (
            load(self.experiment.document(model, {"name": name, "improve": False, "seed": 1}))
            for name in (OURS, YARDSTICK)
        )
        encoded = encode(from_frame(table, ours), ours)
        turns = [(_seconds(encoded, ours), _seconds(encoded, yardstick)) for _ in range(self.repeat + 1)]
        return dict(zip((OURS, YARDSTICK), map(list, zip(*turns[1:], strict=True)), strict=True))  # after a warm one

    def _commands(self, model: Mapping[str, Any]) -> dict[str, list[float]]:
        seconds: dict[str, list[float]] = {OURS: [], YARDSTICK: []}
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as work:
            pyarrow.csv.write_csv(self.experiment.table(RPI), source := Path(work, "table.csv"))
            for _ in range(self.commands):
                for name, found in seconds.items():
                    policy = self.experiment.document(model, {"name": name}) | {"data": {"source": str(source)}}
                    found.append(self._command(policy, Path(work)).seconds)
        return seconds

    def _command(self, policy: Mapping[str, Any], work: Path) -> Measured:
        (path := work / "policy.toml").write_text(
            "\n".join(f"{key} = {toml(value)}" for key, value in policy.items()), encoding="utf-8"
        )
        shutil.rmtree(work / "release", ignore_errors=True)  # replacing it would be measured as well
        done = measure([SFUMATO, "anonymize", path, "--out", work / "release", "--json"], timeout=self.timeout)
        if done.failed:
            raise RuntimeError(f"anonymize did not end well: {done.errors.strip()}")
        return done


def _seconds(encoded: Encoded, policy: Policy) -> float:
    start = time.perf_counter()
    recode(encoded, policy)
    return time.perf_counter() - start


def timings(run: Mapping[str, Any]) -> Iterator[str]:
    """The times on a page."""
    head = ("what", "requirement", "rows", f"{OURS} s", f"{YARDSTICK} s", "ratio", "target", "verdict")
    times = run["times"]
    yield f"## Time: {times['cases'][0]['rows']:,} rows, rpi = {RPI}"
    yield table(head, [_line(one) for one in times["cases"]])
    yield _NOTES.format(**times)


def _line(one: Mapping[str, Any]) -> list[str]:
    ratio = one[OURS] / one[YARDSTICK]
    seconds = (f"{one[OURS]:.2f}", f"{one[YARDSTICK]:.2f}", f"{ratio:.2f}")
    verdict = "met" if ratio <= LIMIT else "missed"
    return [one["what"], one["requirement"], f"{one['rows']:,}", *seconds, f"≤ {LIMIT:g}", verdict]
