"""Columns that a policy names by a pattern: ``"lab_*"`` for all that begin so, ``"*"`` for all that nothing else names.

A star stands for any text. A column has the entry of its own name; else that of the longest pattern that it matches;
else none, and a column without a role blocks publication as ever. A table may have a column whose name has a star in
it: an entry of just that name is then the column's, and no pattern. To mean the others as well, write two stars:
``"lab_**"`` matches what ``"lab_*"`` does.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfumato.errors import PolicyError, listing
from sfumato.policy.columns import Column
from sfumato.policy.toml_text import dotted_key

STAR = "*"


def is_pattern(name: str) -> bool:
    """Whether a name may be a pattern.

    >>> is_pattern("lab_*"), is_pattern("age")
    (True, False)
    """
    return STAR in name


def matches_pattern(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern, in which a star stands for any text.

    >>> matches_pattern("lab_na", "lab_*"), matches_pattern("LAB_na", "lab_*"), matches_pattern("x", "*")
    (True, False, True)
    """
    parts = (re.escape(part) for part in re.split(r"\*+", pattern))
    return re.fullmatch(".*".join(parts), name, re.DOTALL) is not None


def find_entry(name: str, patterns: Sequence[str]) -> str | None:
    """Find the pattern that is to describe a column: the longest that matches, stars not counted; or none.

    >>> find_entry("lab_na", ["*", "lab_*"]), find_entry("age", ["lab_*"])
    ('lab_*', None)
    """
    if name in patterns:
        return name
    matching = [pattern for pattern in patterns if matches_pattern(name, pattern)]
    if not matching:
        return None
    longest = max(map(_length, matching))
    best = [pattern for pattern in matching if _length(pattern) == longest]
    if len(best) > 1:
        why = f"column {listing([name])} matches {listing(best)}, which are equally long"
        raise PolicyError(f"{why}; list the column by its own name", key=dotted_key("columns", best[0]))
    return best[0]


def _length(pattern: str) -> int:
    return len(pattern.replace(STAR, ""))


def match_columns(
    columns: Mapping[str, Column], names: Sequence[str], *, whole: bool = True
) -> tuple[dict[str, Column], dict[str, tuple[str, ...]]]:
    """Replace the patterns among the columns of a policy by the columns of a table that they match.

    `names` are those of the table, or, where they are not the `whole` of it, some of them: then a pattern may match
    nothing. Returns the columns, in the order of the policy and then of the table, and for each pattern what it became.

    >>> from sfumato.policy.columns import Role
    >>> lab = Column("lab_*", Role.PLAIN)
    >>> found, became = match_columns({"lab_*": lab}, ["lab_na", "lab_k"])
    >>> list(found), became
    (['lab_na', 'lab_k'], {'lab_*': ('lab_na', 'lab_k')})
    """
    patterns = [name for name in columns if is_pattern(name) and name not in names]
    became: dict[str, list[str]] = {pattern: [] for pattern in patterns}
    for name in names:
        if name not in columns and (pattern := find_entry(name, patterns)) is not None:
            became[pattern].append(name)
    for pattern in patterns:
        if whole and not became[pattern] and pattern.strip("*"):  # a star alone is for what may turn up
            raise PolicyError(_describe_idle(pattern, columns, names), key=dotted_key("columns", pattern))
    found: dict[str, Column] = {}
    for name, column in columns.items():
        if name not in became:
            found[name] = column
        for match in became.get(name, ()):
            found[match] = replace(column, name=match)
    return found, {pattern: tuple(matched) for pattern, matched in became.items()}


def _describe_idle(pattern: str, columns: Mapping[str, Column], names: Sequence[str]) -> str:
    """Say why a pattern is left with no column, and the way out."""
    if not any(matches_pattern(name, pattern) for name in names):
        return (
            f"no column of the table is called so or matches it; leave it out, or mend the pattern {listing([pattern])}"
        )
    taken = [name for name in names if name in columns and matches_pattern(name, pattern)]
    by = "its own entry" if taken else "a longer pattern"
    return f"every column that matches it has {by}; leave it out"
