"""Bottom-up beside top-down on the same rows: `python -m benchmarks.bottom_up [--repeat N] [--commands N] [--out DIR]`.

Search alone, and the whole command, on the table of the identity-reserved paper with the most rows per person. Figures
and verdicts are reported, never asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.csv

from sfumato.datasets import adult_folder
from sfumato.encode import EncodedTable, encode
from sfumato.papers.identity.points import RESERVED, SHARES
from sfumato.papers.identity.runs import PEOPLE, Experiment
from sfumato.papers.measure import SFUMATO, Measured, measure
from sfumato.papers.occupations import SENSITIVE, Occupations
from sfumato.papers.record import described, keep_experiment
from sfumato.papers.rows import ADULT, Rows
from sfumato.papers.tables import setting, table
from sfumato.policy import Policy, load
from sfumato.policy.toml_text import write_toml
from sfumato.recode import recode
from sfumato.table import from_frame

HERE = Path(__file__).parent
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
        (path := work / "policy.toml").write_text(write_toml(policy), encoding="utf-8")
        shutil.rmtree(work / "release", ignore_errors=True)  # replacing it would be measured as well
        done = measure([*SFUMATO, "anonymize", path, "--out", work / "release", "--json"], timeout=self.timeout)
        if done.failed:
            raise RuntimeError(f"anonymize did not end well: {done.errors.strip()}")
        return done


def _seconds(encoded: EncodedTable, policy: Policy) -> float:
    start = time.perf_counter()
    recode(encoded, policy)
    return time.perf_counter() - start


def page(run: Mapping[str, Any]) -> str:
    """Times, ratios and verdicts."""
    head = ("what", "requirement", "rows", f"{OURS} s", f"{YARDSTICK} s", "ratio", "target", "verdict")
    title = f"# Bottom-up beside top-down: {run['cases'][0]['rows']:,} rows, {RPI} a person"
    made_up = ["**Made-up rows.**"] if run["source"] == "synthetic" else []
    lines = table(head, map(_line, run["cases"]))
    return "\n\n".join([title, setting(run), *made_up, lines, _NOTES.format(**run)]) + "\n"


def _line(one: Mapping[str, Any]) -> list[str]:
    ratio = one[OURS] / one[YARDSTICK]
    seconds = (f"{one[OURS]:.2f}", f"{one[YARDSTICK]:.2f}", f"{ratio:.2f}")
    verdict = "met" if ratio <= LIMIT else "missed"
    return [one["what"], one["requirement"], f"{one['rows']:,}", *seconds, f"≤ {LIMIT:g}", verdict]


def main(arguments: Sequence[str] | None = None) -> None:
    """Time both, print the page, and keep it."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    rows = Rows(adult_folder(), options.rows)
    adult = Occupations.of(rows)
    experiment = Experiment(adult, min(PEOPLE, adult.frame.num_rows))
    found = list(Timing(experiment, options.repeat, options.commands).cases())
    full = rows.folder is not None and options.commands > 0
    times = {"source": rows.source, "repeat": options.repeat, "commands": options.commands}
    run, out = described(found, full=full) | times, options.out or (HERE if full else None)
    print(page(run) if out is None else keep_experiment(out, "bottom-up", run, page(run)))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.bottom_up", description="Bottom-up beside top-down.")
    parser.add_argument("--repeat", type=int, default=5, help="how often a search is timed; the median is shown (5)")
    parser.add_argument("--commands", type=int, default=3, help="how often a command is timed; 0 for none (3)")
    parser.add_argument("--rows", type=int, default=ADULT, help="made-up rows, where the real ones are not at hand")
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
