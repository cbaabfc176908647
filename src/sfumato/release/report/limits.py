"""What the release does not protect against, in plain words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sfumato.attack.minimality import MinimalityFigures
from sfumato.page.markup import Markup, join, name, names, paragraph, section, some, tag
from sfumato.page.words import percent, plural
from sfumato.release import previous
from sfumato.release.key_file import JOINED, is_keyed
from sfumato.release.report import persons, two_tables
from sfumato.release.telling import tellings
from sfumato.release.threats import (
    ALGORITHM,
    APART,
    DOWNCODING,
    DRAWN,
    EXACT,
    HOMOGENEOUS,
    KNOWLEDGE,
    LEARNER,
    MEMBERSHIP,
    PATTERNS,
    TIGHT,
)

if TYPE_CHECKING:
    from sfumato.release.release import Release

Limit = tuple[str, object]

NOTHING_TO_ASK = " There is no sensitive column here of which it could be measured."
LEARNT = " It was tried: see above."


def limits(release: "Release") -> Markup:
    """A list of threats that remain, each with what it means here."""
    opening = paragraph(
        "The release is protected against the adversary named above, as far as the promise goes, and against nobody "
        "else. Call it anonymous only together with what it is anonymous against. What remains:"
    )
    items = [tag("li", tag("strong", title, ". "), said) for title, said in _limits(release)]
    return section("What it does not protect against", opening, tag("ul", *items, class_="limits"))


def _limits(release: "Release") -> Iterable[Limit]:
    yield from _plain(release)
    yield from _unlimited(release)
    yield from persons.limits(release)
    yield "Other releases", previous.limit(release.star) + (f" {JOINED}" if is_keyed(release.policy) else "")
    yield "Knowing the algorithm", _algorithm(release)
    yield "Knowing more", KNOWLEDGE
    if release.policy.publish.split:
        yield "Patterns across classes", LEARNER + LEARNT
        yield from two_tables.limits(release)
        return
    yield "Downcoding", DOWNCODING + (TIGHT if release.recoding.local else "")
    yield from _chosen(release)
    yield "Patterns across classes", PATTERNS
    yield "Being in the table", MEMBERSHIP


def _algorithm(release: "Release") -> object:
    if release.recoding.algorithm == "anatomy":
        return DRAWN
    return join([ALGORITHM, EXACT if release.policy.publish.split else "", *_measured(release)])


def _measured(release: "Release") -> Iterable[object]:
    """How sure such an adversary is, by column, beside the promised bound; or why that is not known."""
    found = release.attacks.minimality
    if not found.columns:
        return [NOTHING_TO_ASK]
    if found.why is not None:
        return [f" How much could not be measured: {found.why}."]
    return [part for column, one in found.columns.items() for part in (" Measured of ", name(column), _sure(one))]


def _sure(one: MinimalityFigures) -> str:
    bound = "no bound is promised" if one.bound is None else f"the promised bound is {percent(one.bound)}"
    surest = f": {percent(one.largest_posterior)} at the surest, where the largest share of a class is "
    beyond = plural(one.beyond_bound.rows, "row is", "rows are")
    return f"{surest}{percent(one.largest_share)} and {bound}; {beyond} beyond that."


def _plain(release: "Release") -> Iterable[Limit]:
    plain = [column.name for column in release.policy.plain]
    if plain:
        said = ["Published as they are, and counted by no figure of risk here: ", some(plain), ".", APART]
        yield "Plain columns", join(said)


def _chosen(release: "Release") -> Iterable[Limit]:
    """Columns whose labels are made from the rows of a class."""
    for told in tellings(release.recoding, release.policy):
        title = "Sets" if told.form == "sets" else f"Ranges (published as {told.form})"
        yield title, join([names(told.columns), ". ", told.reveals])


def _unlimited(release: "Release") -> Iterable[Limit]:
    """Sensitive columns that every requirement passes by."""
    asked = {column for model in release.policy.privacy for column in model.looks_at}
    left = [column.name for column in release.policy.sensitive if column.name not in asked]
    if left:
        said = join(["No requirement limits ", some(left), HOMOGENEOUS])
        yield "Sensitive columns without a requirement", said
