"""Bottom-up beside top-down on the same rows: `python -m benchmarks.bottom_up [--repeat N] [--commands N] [--out DIR]`.

Search alone, and the whole command, on the table of the identity-reserved paper with the most rows per person. Figures
and verdicts are reported, never asserted. A full run is kept beside this file; another only where --out says so.
"""

import argparse
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
from sfumato.encode import encode
from sfumato.papers.experiment import ADULT_ROWS, SENSITIVE, AdultOccupations, RowSource, describe_run, write_run
from sfumato.papers.identity_paper import PEOPLE, RESERVED, SHARES, IdentityExperiment
from sfumato.papers.markdown_tables import markdown_table, setting_line
from sfumato.papers.process_measurement import measure_anonymize
from sfumato.policy import load
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

    experiment: IdentityExperiment
    repeat: int = 5
    commands: int = 3
    timeout: float = 900

    def cases(self) -> Iterator[dict[str, Any]]:
        """Time both algorithms for each requirement."""
        for model in REQUIREMENTS:
            yield self._case("search", model, self._time_searches(model))
        for model in COMMANDS if self.commands else ():
            yield self._case("command", model, self._time_commands(model))

    def _case(self, what: str, model: Mapping[str, Any], seconds: Mapping[str, list[float]]) -> dict[str, Any]:
        asked = [model["model"], *(f"{key} = {model[key]}" for key in ("k", "alpha", "beta") if key in model)]
        medians = {name: round(statistics.median(times), 4) for name, times in seconds.items()}
        rows = self.experiment.table(RPI).num_rows
        return {"what": what, "requirement": ", ".join(asked), "rows": rows, **medians}

    def _time_searches(self, model: Mapping[str, Any]) -> dict[str, list[float]]:
        policies = {
            name: load(self.experiment.policy(model, {"name": name, "improve": False, "seed": 1}))
            for name in (OURS, YARDSTICK)
        }
        encoded = encode(from_frame(self.experiment.table(RPI), policies[OURS]), policies[OURS])
        seconds: dict[str, list[float]] = {OURS: [], YARDSTICK: []}
        for _ in range(self.repeat + 1):
            for name, policy in policies.items():
                start = time.perf_counter()
                recode(encoded, policy)
                seconds[name].append(time.perf_counter() - start)
        return {name: times[1:] for name, times in seconds.items()}  # the first one warms up

    def _time_commands(self, model: Mapping[str, Any]) -> dict[str, list[float]]:
        seconds: dict[str, list[float]] = {OURS: [], YARDSTICK: []}
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            source, path = Path(folder, "table.csv"), Path(folder, "policy.toml")
            pyarrow.csv.write_csv(self.experiment.table(RPI), source)
            for _ in range(self.commands):
                for name, times in seconds.items():
                    policy = self.experiment.policy(model, {"name": name}) | {"data": {"source": str(source)}}
                    path.write_text(write_toml(policy), encoding="utf-8")
                    measured = measure_anonymize(path, timeout=self.timeout)
                    if measured.failed:
                        raise RuntimeError(f"anonymize did not end well: {measured.errors.strip()}")
                    times.append(measured.seconds)
        return seconds


def page(run: Mapping[str, Any]) -> str:
    """Write the page: times, ratios and verdicts."""
    head = ("what", "requirement", "rows", f"{OURS} s", f"{YARDSTICK} s", "ratio", "target", "verdict")
    title = f"# Bottom-up beside top-down: {run['cases'][0]['rows']:,} rows, {RPI} a person"
    made_up = ["**Made-up rows.**"] if run["source"] == "synthetic" else []
    lines = markdown_table(head, map(_line, run["cases"]))
    return "\n\n".join([title, setting_line(run), *made_up, lines, _NOTES.format(**run)]) + "\n"


def _line(case: Mapping[str, Any]) -> list[str]:
    ratio = case[OURS] / case[YARDSTICK]
    seconds = (f"{case[OURS]:.2f}", f"{case[YARDSTICK]:.2f}", f"{ratio:.2f}")
    verdict = "met" if ratio <= LIMIT else "missed"
    return [case["what"], case["requirement"], f"{case['rows']:,}", *seconds, f"≤ {LIMIT:g}", verdict]


def main(arguments: Sequence[str] | None = None) -> None:
    """Time both, print the page, and keep it."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is being measured is stopped as well
    source = RowSource(adult_folder(), options.rows)
    adult = AdultOccupations.from_source(source)
    experiment = IdentityExperiment(adult, min(PEOPLE, adult.frame.num_rows))
    cases = list(Timing(experiment, options.repeat, options.commands).cases())
    full = source.folder is not None and options.commands > 0
    times = {"source": source.kind, "repeat": options.repeat, "commands": options.commands}
    run, out = describe_run(cases, full=full) | times, options.out or (HERE if full else None)
    print(page(run) if out is None else write_run(out, "bottom-up", run, page(run)))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.bottom_up", description="Bottom-up beside top-down.")
    parser.add_argument("--repeat", type=int, default=5, help="how often a search is timed; the median is shown (5)")
    parser.add_argument("--commands", type=int, default=3, help="how often a command is timed; 0 for none (3)")
    parser.add_argument(
        "--rows", type=int, default=ADULT_ROWS, help="made-up rows, where the real ones are not at hand"
    )
    parser.add_argument("--out", type=Path, help="the folder for page and figures (benchmarks)")
    return parser


if __name__ == "__main__":
    main()
