"""The intersection attack on a release and those before it, as far as their folders are at hand."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.attack.result import AttackResult
from sfumato.errors import InputError
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.previous.linked_releases import EarlierRelease
    from sfumato.release.release import Release

ASSUMES = "The adversary has this release and earlier ones about the same people, and knows their quasi-identifiers."
NONE = (
    "Not tried: no earlier release is named. Where there is one, sfumato attack intersect holds them together, and a "
    "ledger does so before each release appears."
)
FILES = (
    "Not tried: of {names} there is a table, but no release folder that says what its labels stand for. The "
    "requirements on the join with it were checked."
)
WAITS = "Not tried yet: it is tried on the files, once they are written."
_PEOPLE = 2_000
"""So many persons of the table are looked up for a report; `sfumato attack intersect` takes all."""


def unwritten(release: "Release") -> tuple[AttackResult, ...]:
    """The line of a release whose files are not there yet."""
    return (_untried(WAITS if _earlier(release) else NONE),)


def intersected(release: "Release", stage: Path) -> tuple[AttackResult, ...]:
    """What the written release and its forerunners leave open together, or a line that says why that is not known."""
    earlier = _earlier(release)
    if not earlier:
        return unwritten(release)
    folders = {one.path.parent: one.name for one in earlier if (one.path.parent / "manifest.json").exists()}
    if not folders:
        return (_untried(FILES.format(names=", ".join(one.name for one in earlier))),)
    from sfumato.attack.intersect import intersect  # noqa: PLC0415 - only where there are earlier releases

    try:
        found = intersect([stage, *folders], _people(release), policy=release.policy)
    except InputError as error:
        return (_untried(f"Not tried: {str(error).replace(str(stage), 'this release')}."),)
    called = zip(found.releases, ["this release", *folders.values()], strict=True)
    return replace(found, releases=tuple(replace(one, release=name) for one, name in called)).results()


def _earlier(release: "Release") -> "tuple[EarlierRelease, ...]":
    return () if release.star is None else release.star.earlier


def _people(release: "Release") -> Table:
    """Some persons of the table, those of evenly spaced rows."""
    rows = release.source.rows
    chosen = np.linspace(0, rows - 1, min(rows, _PEOPLE)).astype(np.int64)
    return Table(release.source.arrow.take(chosen))


def _untried(why: str) -> AttackResult:
    return AttackResult("intersect", ASSUMES, "persons exposed", None, None, says=(why,))
