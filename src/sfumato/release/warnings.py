"""What a data holder should know before a release leaves the house: sentences that stop nothing.

They are for the data holder alone, and name columns and numbers but never a value.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sfumato.release.key_file import key_warnings
from sfumato.release.previous import told
from sfumato.release.tables import reveals
from sfumato.risk import PersonRisk, required_k

if TYPE_CHECKING:
    from sfumato.release.release import Release

_COUNT_PERSONS = frozenset(
    {
        "k-anonymity",
        "alpha-k-anonymity",
        "distinct-l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
    }
)
"""Requirements that count persons where a column names them, the identity-reserved ones aside."""


def warnings(release: "Release") -> list[str]:
    """All of them; each is said once, and nothing is said twice."""
    return [
        *_two_tables(release),
        *_unnamed(release),
        *_persons(release),
        *key_warnings(release.policy),
        *_unasked(release),
        *told(release.star, release.recoding.unmatched, release.encoded.rows),
        *_seeded(release),
    ]


def _two_tables(release: "Release") -> Iterator[str]:
    told = reveals(release.policy)
    if told:
        yield told
    alone = int((release.recoding.classes.sizes == 1).sum())
    if release.policy.publish.split and alone:
        why = f"{alone:,} classes have one line, so that the two tables tell whose value it is"
        yield f"{why}; the policy allows that: add k-anonymity, or do without refined"


def _unasked(release: "Release") -> Iterator[str]:
    """Requirements on the join alone promise nothing of the table itself."""
    if release.policy.privacy:
        return
    alone = int((release.recoding.classes.sizes == 1).sum())
    if alone:
        yield (
            f"no requirement is about the table by itself, and {alone:,} rows are alone in their class: whoever knows "
            "their quasi-identifiers picks them out without any join; add k-anonymity, or see sfumato risk"
        )


def _unnamed(release: "Release") -> Iterator[str]:
    """Identifiers that repeat, where no column is said to name persons."""
    if release.repeats:
        found = ", ".join(f"'{name}' (rpi {per(rpi)})" for name, rpi in release.repeats.items())
        yield (
            f"several rows have the same value in identifiers: {found}; rows are counted as if each were another "
            'person\'s, and where such a column names persons, role = "individual" counts persons'
        )


def _persons(release: "Release") -> Iterator[str]:
    """What is not limited where a person has several rows."""
    persons = release.persons
    if persons is None:
        return
    yield from _nameless(release)
    told = _linked(release, persons)
    if persons.rpi > 1 and not any(model.identity for model in release.policy.privacy):
        yield _by_rows(release, persons, linked=told is not None)
    if told:
        yield told


def _nameless(release: "Release") -> Iterator[str]:
    """Rows that name nobody."""
    column = release.encoded.individual
    if column is not None and None in column.texts:
        rows = int((column.codes == column.texts.index(None)).sum())
        yield f"{rows:,} rows have no value in '{column.name}': they count as one person's, who gets one pseudonym"


def _by_rows(release: "Release", persons: PersonRisk, *, linked: bool) -> str:
    """No identity-reserved requirement is asked for; what is said of links, if anything, is not said here."""
    assert release.policy.individual is not None  # noqa: S101 - whoever knows persons has it
    repeated = f"column '{release.policy.individual.name}' has {per(persons.rpi)} rows per person (rpi)"
    if not any(model.name in _COUNT_PERSONS for model in release.policy.privacy):
        return f"{repeated}, and no requirement counts persons: a class may be one person's; add identity-k-anonymity"
    counted = f"{repeated}: k and l count persons here, but no requirement bounds how much of a class one person has"
    if linked:
        return f"{counted}; identity-alpha-beta does"
    return f"{counted}, or how far pseudonyms link rows; identity-alpha-beta and linked_k do"


def _linked(release: "Release", persons: PersonRisk) -> str | None:
    """Persons whom their pseudonym singles out among fewer than k, where nothing bounds it or rows were parted."""
    parted, bound = parting(release), any(model.linked > 1 for model in release.policy.privacy)
    narrower = persons.linked_fewest < int(release.recoding.classes.persons.min(initial=persons.persons))
    told = parted or (not bound and (narrower or required_k(release.policy.privacy)))
    if not persons.linked or not told:
        return None
    who = f"fewer than {persons.k:,} persons share the classes of {persons.linked:,} of {persons.persons:,} persons"
    why = "whoever knows enough of them finds the person among so few"
    if release.policy.publish.split:
        why = "what the bags of all their classes have in common is told of so few"
    return f"{who}: a pseudonym ties a person's rows together, and {why}; {parted or _bounded(persons.k)}"


def parting(release: "Release") -> str | None:
    """Why rows of a person with equal quasi-identifiers may stand in several classes, and the way out."""
    if release.policy.individual is None:
        return None
    if release.policy.publish.form == "anatomy":
        return 'anatomy deals a person\'s rows out one by one: [publish] form = "lossy-join" keeps them together'
    if not release.policy.search.keep_together:
        return "keep_together = false lets equal rows of a person go different ways: leave it out, or ask for linked_k"
    return None


def _bounded(k: int) -> str:
    return f"linked_k = {k} in an identity-reserved requirement bounds it, as does one row per person"


def _seeded(release: "Release") -> Iterator[str]:
    if release.policy.search.seed is not None:
        yield "a seed was used, so whoever guesses it can undo the shuffling: for tests and papers, not to publish"


def per(rpi: float) -> str:
    """Rows per individual, for a sentence.

    >>> per(1.8), per(1.00001)
    ('1.8', 'just above 1')
    """
    short = f"{rpi:,.4g}"
    return "just above 1" if short == "1" and rpi > 1 else short
