"""All releases together: what they leave open of each person, however many there are.

Requirements on the join look at the new release and one earlier one at a time. Three releases can tell together what no
two of them do. So before a release appears, the intersection attack is tried on it and all before it, for every person
of the current table: whoever is left with fewer sensitive values than some of the releases has promised stops it.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.attack.intersect import intersect
from sfumato.errors import Infeasible
from sfumato.ledger.entry import Entry
from sfumato.release import Release
from sfumato.release.promised import requirements


def check_together(release: Release, stage: Path, entries: Sequence[Entry]) -> None:
    """Raise where somebody is left with fewer values of a column than a release about them has promised."""
    for column, least in _promised(release, entries).items():
        found = intersect([stage, *(entry.folder for entry in entries)], release.source, column=column, threshold=least)
        left = found.left[column]
        below = int(((left >= 0) & (left < least)).sum())
        if below:
            names = ", ".join(entry.called for entry in entries)
            raise Infeasible(
                f"together with {names}, the release leaves {below:,} persons with fewer than the {least} values of "
                f"'{column}' that were promised, {int(left[left >= 0].min())} at the least (the intersection attack; "
                "see sfumato attack intersect); publish fewer or coarser quasi-identifiers, or promise less"
            )


def _promised(release: Release, entries: Sequence[Entry]) -> dict[str, int]:
    """The largest number of values that any release has promised, of the sensitive columns that two of them share."""
    sensitive = [{column.name for column in release.policy.sensitive}, *map(_sensitive, entries)]
    found: dict[str, int] = {}
    for rules in (requirements(release.policy), *(entry.promise for entry in entries)):
        for rule in rules:
            column, least = rule.get("column"), _values(rule)
            if least >= 2 and sum(column in each for each in sensitive) >= 2:
                found[str(column)] = max(found.get(str(column), 0), least)
    return found


def _values(rule: Mapping[str, Any]) -> int:
    """How many values a class has at least, by a requirement on its diversity."""
    return 0 if rule.get("l") is None else math.ceil(rule["l"] - 1e-9)


def _sensitive(entry: Entry) -> set[str]:
    return {column["name"] for column in entry.manifest["columns"] if column["role"] == "sensitive"}
