"""What the release does not protect against, in plain words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sfumato.page.markup import Markup, join, names, paragraph, section, tag
from sfumato.release import previous
from sfumato.release.key_file import JOINED, is_keyed
from sfumato.release.report import persons, two_tables
from sfumato.release.telling import tellings

if TYPE_CHECKING:
    from sfumato.release.release import Release

Limit = tuple[str, object]

ALGORITHM = (
    "The algorithm takes the least loss it finds that meets the promise. Who knows this can rule out some inputs and "
    "grow surer of a sensitive value than the promised bound says (minimality). How much was not measured here."
)
EXACT = " The quasi-identifiers of all rows are published as they were: the adversary can run the algorithm on them."
DRAWN = (
    "Buckets are drawn at random among rows of the most frequent sensitive values left, without regard to the "
    "quasi-identifiers. Who knows this learns nothing of a person from which bucket it is; rows that went to a bucket "
    "as the last ones are of the values that were left over."
)
LEARNER = (
    "A learner can pick up from all classes how sensitive values go with quasi-identifiers, and tell within a class "
    "which assignment is likelier: the deFinetti attack, measured above. It is surer than the shares of a class say."
)
DOWNCODING = (
    "Generalization that is no coarser than it must be can be partly undone by someone who knows how such data "
    "are distributed (downcoding). A label is a limit on what is shown, not on what can be guessed."
)
TIGHT = (
    " Here every class has the tightest label that covers its rows: one that is told as 30–39 holds rows of two "
    "narrower labels at least."
)
PATTERNS = (
    "A learner trained on the release can pick up how sensitive values go with quasi-identifiers, and guess better "
    "than a class's own shares. It can do so for people outside the table as well."
)
KNOWLEDGE = (
    "Who knows sensitive values of others in a class, or that a person does not hold some value, can strike these "
    "out and be surer of the rest."
)
MEMBERSHIP = (
    "The promise is for people known to be in the table; it does not hide whether someone is. It is not "
    "differential privacy."
)


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
        yield "Patterns across classes", LEARNER
        yield from two_tables.limits(release)
        return
    yield "Downcoding", DOWNCODING + (TIGHT if release.recoding.local else "")
    yield from _chosen(release)
    yield "Patterns across classes", PATTERNS
    yield "Being in the table", MEMBERSHIP


def _algorithm(release: "Release") -> str:
    if release.recoding.algorithm == "anatomy":
        return DRAWN
    return ALGORITHM + (EXACT if release.policy.publish.split else "")


def _plain(release: "Release") -> Iterable[Limit]:
    plain = [column.name for column in release.policy.plain]
    if plain:
        why = " Someone who knows such a value of a person can tell rows of one class apart."
        yield "Plain columns", join(["Published as they are, and counted by no figure here: ", names(plain), ".", why])


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
        why = ". A class whose rows agree there discloses it, however large it is."
        yield "Sensitive columns without a requirement", join(["No requirement limits ", names(left), why])
