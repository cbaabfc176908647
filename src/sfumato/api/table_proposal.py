"""A policy proposed for a table: ready to use, as the commented text of a file, and column by column."""

import csv
import io
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.errors import DataError
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import plural
from sfumato.policy import Policy
from sfumato.profile import Proposal, TableProfile
from sfumato.profile import propose as propose_file
from sfumato.profile.column_facts import describe_column, describe_unreadable_column
from sfumato.profile.column_values import ColumnValues
from sfumato.table import Table
from sfumato.table.frames import frame_column_names, frame_kind, frame_to_arrow
from sfumato.table.table import cast_text_views, check_rows, check_types


@dataclass(frozen=True, eq=False, repr=False)
class TableProposal(Shown):
    """What ``sfumato init`` would write for a table: a `policy` that runs as it is, and the `text` of its file.

    The text has the reason for every line, and marks what somebody should look at. `columns` says of each column what
    was found and decided, and holds no value of it.
    """

    proposal: Proposal

    @cached_property
    def policy(self) -> Policy:
        """The policy, with its hierarchies inside it; of a frame it names no source."""
        document = dict(self.proposal.document)
        columns = dict(document["columns"])
        for name, entry in columns.items():
            if isinstance(entry.get("hierarchy"), str) and entry["hierarchy"] in self.proposal.files:
                text = self.proposal.files[entry["hierarchy"]]
                columns[name] = {**entry, "hierarchy": {"lines": list(csv.reader(io.StringIO(text, newline="")))}}
        return Policy.read(document | {"columns": columns})

    @property
    def text(self) -> str:
        """The commented text of the policy file, whose hierarchies are in files."""
        return self.proposal.text

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What was found of each column, and decided."""
        described: list[dict[str, Any]] = self.proposal.as_json()["columns"]
        return described

    @property
    def decisions(self) -> int:
        """How many lines somebody should look at."""
        return self.proposal.decisions

    def as_json(self) -> dict[str, Any]:
        """Return the profile and the decisions, and no value of any column."""
        return self.proposal.as_json()

    def display(self) -> Display:
        """Show what was decided of each column, and why."""
        lines = [(one["name"], one["role"], one["reason"], "check" if one["check"] else "") for one in self.columns]
        head = ("column", "role", "why", "")
        said = (
            f"{plural(self.decisions, 'decision needs', 'decisions need')} a human eye; print the text for all reasons"
        )
        return Display("a policy to start from", [FigureTable(head, lines)], (said,))

    def __str__(self) -> str:
        return self.text


def propose_policy(data: Any, preset: str | None = None) -> TableProposal:
    """Profile a table, a path or a frame, and propose a policy for it."""
    if isinstance(data, str | os.PathLike):
        return TableProposal(propose_file(data, preset))
    return TableProposal(propose_file(profile_frame(data), preset))


def profile_frame(frame: Any) -> TableProfile:
    """Look at every column of a frame; the profile of a file looks at the encoding and at missing texts besides."""
    kind, names = frame_kind(frame), frame_column_names(frame)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"column name '{twice[0]}' stands twice in the frame; rename one of them")
    readable = [name for name in names if _is_readable(frame, kind, name)]
    if not readable:
        raise DataError("the frame has no column of text, numbers or dates; turn one into such a type")
    arrow = cast_text_views(frame_to_arrow(frame, kind, readable))
    check_rows(arrow)
    table = Table(arrow, kind=kind)

    def describe(name: str) -> Any:
        if name not in readable:
            return describe_unreadable_column(name, table.rows)
        return describe_column(name, ColumnValues.from_arrow(table.arrow.column(name)))

    with ThreadPoolExecutor(2) as pool:  # Arrow works outside Python's lock
        columns = tuple(pool.map(describe, names))
    return TableProfile(Path("a frame"), table, columns)


def _is_readable(frame: Any, kind: str, name: str) -> bool:
    try:
        check_types(frame_to_arrow(frame, kind, [name]).schema, [name])
    except DataError:
        return False
    return True
