"""What the experiments of all papers share: the rows they run on, what a paper is, and the results that are kept.

Papers and benchmarks keep a run in two files: ``results-NAME.json`` has its figures, ``RESULTS-NAME.md`` is the page
that is written from them and from nothing else.
"""

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from sfumato._version import __version__
from sfumato.core.regular_file import read_regular_file
from sfumato.datasets import adult_folder, adult_policy, synthetic_adult, synthetic_adult_policy
from sfumato.errors import DataError, InputError, UnreadableFile
from sfumato.papers.claims import Claim, Run
from sfumato.papers.plots import Panel
from sfumato.policy import load
from sfumato.table import read_table

ADULT_ROWS = 45_222
"""Complete rows of the Adult table."""
SENSITIVE = "occupation"
_DIGITS = 4

Tell = Callable[[int, int, str], None]
"""Called with how many cases are done, of how many, and a line about the last one."""


@dataclass(frozen=True)
class RowSource:
    """Where the rows of an experiment come from: the folder of the real Adult table, or so many made-up rows."""

    folder: Path | None = None
    made_up: int = ADULT_ROWS

    @property
    def kind(self) -> str:
        """What results call it: ``real`` or ``synthetic``."""
        return "real" if self.folder else "synthetic"


def find_real_rows(named: Path | None = None) -> RowSource:
    """Take the Adult rows in the folder that is named, or else where they are usually found."""
    folder = adult_folder() if named is None else named
    if folder is None:
        raise InputError(
            "the Adult rows are not at hand; name their folder with --adult or SFUMATO_ADULT, get them with make adult "
            "in a checkout of sfumato, or run on made-up rows with --synthetic"
        )
    if not (folder / "adult.csv").is_file() or not (folder / "hierarchies").is_dir():
        raise InputError(f"{folder} has no adult.csv with a folder hierarchies beside it; make adult makes both")
    return RowSource(folder)


@dataclass(frozen=True)
class AdultOccupations:
    """Adult with the occupation sensitive and eight quasi-identifiers, as two of the papers have it.

    `columns` has the role of each column of the frame and the hierarchy of each quasi-identifier, as in a policy.
    """

    frame: Any
    columns: dict[str, Any]

    @classmethod
    def from_source(cls, source: RowSource) -> "AdultOccupations":
        """Read the real rows, or make rows up."""
        if source.folder is None:
            return cls(synthetic_adult(source.made_up), synthetic_adult_policy(sensitive=SENSITIVE)["columns"])
        policy = adult_policy(source.folder)
        salary = {"role": "quasi", "hierarchy": str(source.folder / "hierarchies" / "salary-class.csv")}
        columns = policy["columns"] | {"salary-class": salary, SENSITIVE: {"role": "sensitive"}}
        frame = read_table(source.folder / "adult.csv", load(policy | {"columns": columns})).arrow
        return cls(frame, {name: columns[name] for name in frame.column_names})


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run again.

    `name` is that of the command line, `section` the words of a link to the page, and `needs` are libraries that do
    not come with sfumato. `run` takes the rows, whether to be quick, and whom to tell of progress. `plots` gives the
    panels of each picture by the name of its file; `terms` explains short names that claims use.
    """

    name: str
    title: str
    section: str
    needs: tuple[str, ...]
    run: Callable[[RowSource, bool, Tell], dict[str, Any]]
    claims: Callable[[Run], list[Claim]]
    page: Callable[[Run], str]
    plots: Callable[[Run], Mapping[str, Sequence[Panel]]]
    terms: str = ""


def report_progress(
    cases: Iterable[dict[str, Any]], total: int, tell: Tell, describe: Callable[[Mapping[str, Any]], str]
) -> Iterator[dict[str, Any]]:
    """Pass the cases on as they are measured, `total` of them, and tell of each.

    >>> list(report_progress([{"k": 2}], 1, print, lambda case: f"k = {case['k']}"))
    0 1
    1 1 k = 2
    [{'k': 2}]
    """
    tell(0, total, "")
    for done, case in enumerate(cases, 1):
        tell(done, total, describe(case))
        yield case


def describe_run(cases: Sequence[Mapping[str, Any]], *, full: bool) -> dict[str, Any]:
    """Make a run of its cases: with the day, the software and the machine, but nothing that names the machine."""
    return {
        **describe_moment(full=full),
        "sfumato": __version__,
        "python": platform.python_version(),
        "duckdb": duckdb.__version__,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "cases": round_floats(list(cases)),
    }


def describe_moment(*, full: bool) -> dict[str, Any]:
    """Say when something was run, whether in full, and how busy the machine was."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "full": full,
        "load": round(os.getloadavg()[2], 1),  # of the last quarter of an hour: other people's work slows ours
    }


def round_floats(value: Any) -> Any:
    """Round every float, however deep in lists and dictionaries: more digits are noise.

    >>> round_floats({"loss": [0.123456, 2]})
    {'loss': [0.1235, 2]}
    """
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return [round_floats(member) for member in value]
    if isinstance(value, dict):
        return {key: round_floats(member) for key, member in value.items()}
    return value


_LARGEST_RUN = 1 << 26


def results_file(name: str) -> str:
    """Name the file with the figures of an experiment."""
    return f"results-{name}.json"


def page_file(name: str) -> str:
    """Name the page on an experiment."""
    return f"RESULTS-{name}.md"


def write_run(folder: Path, name: str, run: Run, page: str) -> str:
    """Write the figures of an experiment and the page on it, and give the page back."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
    (folder / results_file(name)).write_text(figures, encoding="utf-8")
    (folder / page_file(name)).write_text(page, encoding="utf-8")
    return page


def read_run(folder: Path, name: str) -> Run | None:
    """Read the run of an experiment that is kept in a folder; None where there is none."""
    path = folder / results_file(name)
    if not path.exists():
        return None
    try:
        run = json.loads(read_regular_file(path, most=_LARGEST_RUN, what="a file of results"))
    except (UnreadableFile, ValueError, RecursionError):
        run = None
    if not isinstance(run, dict) or not {"cases", "date"} <= run.keys():
        raise DataError(f"{path} does not hold the results of an experiment; move it away, or use another --out")
    return run
