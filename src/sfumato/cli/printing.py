"""How commands print: to people, to programs, and while somebody waits."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sfumato.policy.options import CUTS, FULL_DOMAIN, LOCAL

if TYPE_CHECKING:
    from rich.table import Column, Table


Progress = Callable[[int, int], None]


class WorkBar:
    """A bar on a terminal: called with what is done of what there is to do; `note` says how many rows are read."""

    def __init__(self, bar: Any, unit: str) -> None:
        self._bar, self._unit, self._task = bar, unit, bar.add_task("", total=None)

    def __call__(self, done: int, every: int) -> None:
        """Say what is done of what there is to do."""
        left = f"{done:,} of {every:,} {self._unit}, {every - done:,} left"
        self._bar.update(self._task, completed=done, total=every, description=left)

    def note(self, rows: int) -> None:
        """Say how many rows are read."""
        self._bar.update(self._task, description=f"{rows:,} rows read")


UNITS = dict.fromkeys(FULL_DOMAIN, "generalizations") | dict.fromkeys(LOCAL, "rows") | {"queries": "queries"}
UNITS |= dict.fromkeys(CUTS, "specializations")
"""What an algorithm counts while it works."""


@contextmanager
def progress(
    algorithm: str, *, quiet: bool, verb: str = "searching", limit: float | None = None
) -> Iterator[WorkBar | None]:
    """A progress bar on a terminal, with what is done, what is left and how long that may take; none in a pipe.

    `limit` are the seconds after which the work ends in any case.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    most = "to go" if limit is None else f"to go, {limit:g} s in all at most"
    times = (TimeElapsedColumn(), TextColumn("gone,"), TimeRemainingColumn(), TextColumn(most))
    columns = (TextColumn(verb), BarColumn(20), TextColumn("{task.description}"), *times)
    with Bar(*columns, console=console_of(stderr=True), transient=True) as bar:
        yield WorkBar(bar, UNITS.get(algorithm, "steps"))


def warn(sentence: str) -> None:
    """One sentence on standard error that stops nothing, nor does it where nobody can take it."""
    with suppress(OSError):
        print(f"warning: {sentence}", file=sys.stderr)  # noqa: T201 - this is where warnings go


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(content, allow_nan=False))  # noqa: T201 - this is where output goes


def console_of(*, stderr: bool = False) -> Console:
    """Names and values are printed as they are: a column called [red] or :boom: is not decoration."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    r"""Replace what would move a terminal's cursor or colour it, in texts from a file or from somebody else.

    >>> printable("B\x1b[31mern")
    'B�[31mern'
    """
    return "".join(sign if sign.isprintable() else "�" for sign in text)


def findings_table(findings: Iterable[Mapping[str, Any]]) -> "Table":
    """Each requirement with what holds, as the verifier found it."""
    from rich.table import Table

    from sfumato.page.wording import found_keys

    table = Table("promised", "required", "holds", "")
    for finding in findings:
        mark = "✓" if finding["satisfied"] else "✗"
        found = found_keys(finding["model"], finding.get("achieved", {}))
        table.add_row(finding["model"], _keys(finding["required"]), found, mark)
    return table


def _keys(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value:.4g}" if isinstance(value, float) else f"{key} = {value}" for key, value in values.items()
    )


_LEAST_NAME, _NAME_END = 32, re.compile(r"(?<=[_./:-])|(?<=[a-z0-9])(?=[A-Z])|(?<=\s)")
"""Names up to this long stay in one line; longer ones go on in the next behind a sign that ends a word."""


def name_column(title: str, names: Iterable[str], width: int = _LEAST_NAME) -> "Column":
    """Head a table's column of names: it is as wide as they are, so that others give way and no name is broken.

    It takes no more than `width`, which has to leave room for the other columns: a table that is too wide is cut off.
    """
    from rich.table import Column

    lines = [line for name in (title, *names) for line in break_name(name, width).split("\n")]
    return Column(break_name(title, width), min_width=min(max(map(len, lines)), width), overflow="fold")


def break_name(name: str, width: int = _LEAST_NAME) -> str:
    """Break a long name into lines between its words, and only a word that is longer than a line within it.

    >>> print(break_name("days_between_screening_and_first_arrest"))
    days_between_screening_and_
    first_arrest
    """
    lines = [""]
    for word in filter(None, _NAME_END.split(name)):
        if lines[-1] and len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
