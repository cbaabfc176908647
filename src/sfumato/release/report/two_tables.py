"""What a report says of two tables in place of one: what is lost, and what else they tell."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.page.bars import bar
from sfumato.page.markup import Markup, facts, join, name, note, section, table
from sfumato.page.words import amount, percent, plural
from sfumato.release.tables import class_id, reveals
from sfumato.release.threats import SHOWN
from sfumato.split import common_values

if TYPE_CHECKING:
    from sfumato.release.release import Release

Limit = tuple[str, object]

GENERALIZE = " Where being in the table is itself a secret, publish generalized."
PLAIN = (
    "Plain columns stand beside exact quasi-identifiers: whoever finds a person's line reads them. Give a column that "
    "nobody may learn the role sensitive."
)
BAGS = (
    "All rows of a person carry one pseudonym beside exact quasi-identifiers: whoever finds one finds the bags of all. "
    "Where a value stays the same for a person, it is one that all those bags hold. No requirement limits that; leave "
    "the column of persons out as an identifier, or publish one row per person."
)
ALONE = (
    "There the two tables tell whose value it is, as the original does. The policy allows it: ask for k-anonymity, or "
    "for a share of α that is not refined."
)
SEVERAL = (
    "Equal quasi-identifiers may stand in several classes. The person is then somebody on one of those lines, and the "
    "chance of a value is that over all of them together, which is never above that of the class that tells most."
)


def tables(release: "Release") -> Markup:
    """What each file holds, and what ties them."""
    key, kind = class_id(release.policy), release.policy.publish.format
    lines: list[tuple[object, object]] = [
        (f"{file}.{kind}", join([name(column) for column in one.columns], ", ")) for file, one in release.tables.items()
    ]
    how = note(
        "Each line of each table is one record. ",
        name(key),
        " is the class, numbered at random; each table is in a "
        "random order of its own. Their join is not the original table.",
    )
    return section("The tables", facts(lines), how)


def cost(release: "Release") -> Markup:
    """No value is changed; what is lost is which sensitive value belongs to which row."""
    how = note(
        "Quasi-identifiers and sensitive values are as they were. Lost is which belong together: the share of rows "
        "that get their own value back, on average, if the values of each class are dealt out at random in it."
    )
    lines = [
        (name(column), percent(tie.kept), bar(tie.kept), percent(tie.chance)) for column, tie in release.ties.items()
    ]
    head = ("Sensitive column", "Told right, by class", "", "By the whole table")
    asked = note("How far counts from the two tables are off is measured by sfumato utility.")
    return section("What it cost", how, table(head, lines, "losses"), asked)


def limits(release: "Release") -> Iterable[Limit]:
    """What two tables tell besides what one generalized table would."""
    yield "Being in the table", SHOWN + GENERALIZE
    if release.policy.plain:
        yield "Beside the quasi-identifiers", PLAIN
    told = reveals(release.policy)
    if told:
        yield "Sensitive columns together", told
    yield from _persons(release)
    alone = int((release.recoding.classes.sizes == 1).sum())
    if alone:
        yield "Classes of one line", f"{plural(alone, 'class has', 'classes have')} one line. {ALONE}"
    spread, rows = spanning(release)
    if spread:
        yield "In several classes", f"{amount(spread, rows)} of the published rows. {SEVERAL}"


def _persons(release: "Release") -> Iterable[Limit]:
    """What the bags of a person's classes have in common, where rows name persons."""
    for column, found in common_values(release.encoded, release.recoding).items():
        if found.several_classes:
            many = plural(found.several_classes, "person has", "people have")
            left = (
                ""
                if found.single_value is None
                else f", and for {found.single_value:,} of them these have one value in common"
            )
            said = f"{many} rows in several classes, each with its bag{left}. {BAGS}"
            yield "A person's bags together", join([name(column), ". ", said])


def spanning(release: "Release") -> tuple[int, int]:
    """Published rows whose quasi-identifiers stand in several classes, and all published rows."""
    owner = release.recoding.class_of
    kept = np.flatnonzero(owner >= 0)
    columns = [attribute.column for attribute in release.encoded.quasi]
    alike, people = number_tuples(
        pack_tuples([one.codes.take(kept) for one in columns], [one.width for one in columns])
    )
    low, high = np.full(people, len(owner)), np.full(people, -1)
    np.minimum.at(low, alike, owner[kept])
    np.maximum.at(high, alike, owner[kept])
    return int((low < high).take(alike).sum()), len(kept)
