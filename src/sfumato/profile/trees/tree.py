"""Tree: a proposed hierarchy, as the policy writes it, with its file where it has one."""

from dataclasses import dataclass, replace
from typing import Any

from sfumato.profile.facts import Facts

MOST_LINES = 20_000
"""Columns with more values get no file: nobody would read it."""


@dataclass(frozen=True)
class Tree:
    """What stands after ``hierarchy =``, why, and whether somebody should look at it.

    Where `lines` are given they are the file of the hierarchy, and `written` is not used. `least` is the lowest level
    that may be published.
    """

    written: Any = "suppress"
    why: str = ""
    check: bool = False
    lines: tuple[tuple[str, ...], ...] = ()
    least: int = 0


SUPPRESS = Tree("suppress", "the value or nothing")


def suppressed(why: str) -> Tree:
    """The value or nothing, for a reason that somebody should know."""
    return replace(SUPPRESS, why=f"{SUPPRESS.why}: {why}", check=True)


def may_be_listed(facts: Facts, nulls: tuple[str, ...]) -> bool:
    """Whether a file can hold the values: not too many, and none that a file would take for NULL or for the root."""
    values = facts.values
    if values.distinct > MOST_LINES:
        return False
    return not any(text in {"", *nulls} or "*" in text for text in values.listed())


def unlisted(facts: Facts) -> str:
    """Why no file was written for the column."""
    if facts.values.distinct > MOST_LINES:
        return f"{facts.values.distinct:,} values are too many to group; a file of your own would tell more"
    return "some values are empty, read as missing elsewhere or hold a star, which a file of groups cannot have"
