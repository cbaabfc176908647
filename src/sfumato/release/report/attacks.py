"""Attacks that were tried: what each assumes, how often it is right, and how often one is without the release."""

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from sfumato.attack.result import AttackResult
from sfumato.page.markup import Markup, join, note, paragraph, section, table, tag
from sfumato.page.words import percent, plural

if TYPE_CHECKING:
    from sfumato.release.release import Release

HOW = (
    "Each is tried on what is published, with less effort than the command of its name takes (sfumato attack). Success "
    "is the share that the attack gets right, beside the share that one gets right who has not seen the release; the "
    "bound is what the policy promises of that share, where it promises anything. A promise on shares of a class binds "
    "what a class tells, and not what a learner or one who knows the algorithm makes of all classes."
)

MOST = 10
"""So many lines of one attack are shown."""

BELOW = "It is told at length below."


def attacks(release: "Release") -> Markup:
    """A table of all, then what each assumes and found."""
    every = release.attacks.tried
    groups = [list(group)[:MOST] for _, group in groupby(every, key=lambda one: one.attack)]
    head = ("Attack", "Success", "Without the release", "Promised bound")
    lines = [_line(one) for group in groups for one in group]
    left = len(every) - len(lines)
    more = [note(f"{plural(left, 'line')} more, on further sensitive columns, in audit.json.")] if left else []
    parts = [_part(release, group) for group in groups]
    return section("Attacks that were tried", note(HOW), table(head, lines, "figures attacks"), *more, *parts)


def _line(one: AttackResult) -> tuple[object, ...]:
    return (join([one.attack, tag("small", one.counts)]), _share(one.success, "not tried"), *_beside(one))


def _beside(one: AttackResult) -> tuple[str, str]:
    return _share(one.baseline, "–"), _share(one.bound, "none" if one.success is not None else "–")


def _share(share: float | None, otherwise: str) -> str:
    return otherwise if share is None else percent(share)


def _part(release: "Release", found: list[AttackResult]) -> Markup:
    """What an attack assumes, its chart where it has one, and what it found."""
    title = found[0].attack
    assumed = list(dict.fromkeys(one.assumes for one in found))
    said = [paragraph(" ".join(one.says)) for one in found if one.says] if title != "definetti" else [paragraph(BELOW)]
    drawn = [release.attacks.known.chart()] if title == "known" and _measured(found) else []
    return tag("article", tag("h3", title), note(" ".join(assumed)), *drawn, *said)


def _measured(found: Iterable[AttackResult]) -> bool:
    return any(one.success is not None for one in found)
