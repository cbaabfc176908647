"""What a report says where a person may have several rows: how many hide each other, and what pseudonyms tell."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sfumato.core.classes import EquivalenceClasses
from sfumato.page.markup import Markup, join, name, note, table, tag
from sfumato.page.words import amount, percent, plural
from sfumato.release.threats import PEOPLE
from sfumato.release.warnings import parting, per
from sfumato.risk import DEFAULT_K, PersonRisk, measure_person_risk, required_k

if TYPE_CHECKING:
    from sfumato.release.release import Release

Limit = tuple[str, object]

SEVERAL = (
    "Several rows of one person fill a class without hiding anybody, and the pseudonym ties a person's rows together: "
    "whoever knows enough of them looks for the pseudonym that stands in all their classes. What hides a person then "
    "is the people who stand in exactly the same set of classes, the person among them."
)
ROWS = (
    "What is protected is a row. If one person can have several rows, they count as several people, and the promise "
    'is weaker than it looks: give the column that names the person role = "individual".'
)
FEW = (
    "Whoever knows enough rows of such a person finds the few pseudonyms that stand in all their classes, and with "
    "them everything that is published of these people. "
)
BAGS = (
    "The exact quasi-identifiers tell whose lines they are; what the bags of all these classes have in common is then "
    "told of so few. "
)
NUMBER = " How many rows somebody has in a class is not counted: whoever knows that number may narrow it down further."


def figures(release: "Release", raw: EquivalenceClasses) -> list[Markup]:
    """Persons and their links before and after, where a column names persons."""
    after, k = release.persons, required_k(release.policy.privacy)
    if after is None:
        return []
    how = f" Measured with k = {DEFAULT_K}, since the policy names none." if k is None else f" Measured with k = {k:,}."
    lines = _lines(measure_person_risk(raw, after.k), after)
    return [tag("h3", "Several rows per person"), note(SEVERAL, how), table(("", "Before", "After"), lines)]


def _lines(before: PersonRisk, after: PersonRisk) -> list[tuple[str, str, str]]:
    k, both = after.k, (before, after)
    shown = {
        "Rows per person (rpi)": [f"{one.rpi:,.4g}" for one in both],
        f"Classes of {k:,} rows or more, but fewer than {k:,} people": [
            f"{one.vulnerable:,} ({percent(one.vulnerable_share)})" for one in both
        ],
        "Classes of one person's rows": [f"{one.single:,} ({percent(one.single_share)})" for one in both],
        f"People whose set of classes fewer than {k:,} share": [amount(one.linked, one.persons) for one in both],
        "Fewest people who share their set of classes": [f"{one.linked_fewest:,}" for one in both],
    }
    return [(label, old, new) for label, (old, new) in shown.items()]


def limits(release: "Release") -> Iterable[Limit]:
    """What is protected, and how far pseudonyms narrow people down."""
    if release.persons is None:
        yield "Rows or people", _rows(release)
        return
    yield "Rows or people", PEOPLE
    yield "Rows tied by a pseudonym", f"{_told(release, release.persons)}{_bound(release)}{_parted(release)}{NUMBER}"


def _rows(release: "Release") -> object:
    """Identifiers that repeat make it likely that a person has several rows."""
    found = [join([name(column), f" ({per(rpi)} rows for each value)"]) for column, rpi in release.repeats.items()]
    return join([ROWS, " Identifiers that repeat here: ", join(found, ", "), "."]) if found else ROWS


def _told(release: "Release", persons: PersonRisk) -> str:
    fewest = plural(persons.linked_fewest, "person", "people")
    if not persons.linked:
        return f"Everybody's set of classes is that of {fewest} or more, they themselves among them. "
    few, what = amount(persons.linked, persons.persons), BAGS if release.policy.publish.split else FEW
    return f"Fewer than {persons.k:,} people share the set of classes of {few} people; the fewest: {fewest}. {what}"


def _bound(release: "Release") -> str:
    asked = max(model.linked for model in release.policy.privacy)
    if asked > 1:
        return f"The policy bounds that: linked_k = {asked:,}."
    if release.policy.publish.form == "anatomy":
        return "No requirement bounds that."
    return "No requirement bounds that; linked_k in an identity-reserved requirement would."


def _parted(release: "Release") -> str:
    """Why equal rows of a person may stand in several classes."""
    why = parting(release)
    return f" And {why}." if why else ""
