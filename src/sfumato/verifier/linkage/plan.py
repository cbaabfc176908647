"""Plan: which tables are joined, on which columns, and which matches common sense rules out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.linkage.earlier import Earlier, Taxonomies
from sfumato.verifier.linkage.lines import regroup
from sfumato.verifier.linkage.rules import ROW
from sfumato.verifier.published import Published


@dataclass(frozen=True)
class Place:
    """A column of a table by its number, or its rows where there is no column."""

    table: int
    column: str | None


@dataclass(frozen=True)
class Side:
    """One side of a rule: a column of a table, with a value at or below which it holds."""

    table: int
    column: str
    value: str


@dataclass(frozen=True)
class Plan:
    """The tables, the current one first, with the columns that each pair of them shares, and the rules."""

    tables: tuple[Published, ...]
    names: tuple[str | None, ...]
    shared: Mapping[tuple[int, int], tuple[str, ...]]
    rules: tuple[tuple[Side, Side], ...]
    taxonomies: Taxonomies
    hidden: str | None = None
    """The column of the current table that names persons: none of its values gets into a sentence."""
    columns: tuple[tuple[str, ...], ...] = ()
    """The columns of each table that any requirement looks at, as they stand in the tables ``all_i``."""

    @property
    def connection(self) -> Any:
        """Where the tables are."""
        return self.tables[0].connection

    def find(self, reference: str) -> Place:
        """What a requirement means by a name."""
        return find(reference, self.names, [table.columns for table in self.tables])

    def count(self, table: int, columns: Sequence[str], target: str) -> None:
        """Make table `target` of the different lines of a table on some columns."""
        regroup(self.connection, f"all_{table}", [self.columns[table].index(name) for name in columns], target)

    def joins(self, table: int) -> tuple[str, ...]:
        """The columns on which a table is joined with any other."""
        pairs = (columns for pair, columns in self.shared.items() if table in pair)
        return tuple(dict.fromkeys(name for columns in pairs for name in columns))

    def sides(self, table: int) -> dict[int, Side]:
        """The sides of rules that are about a table, by the number of the rule."""
        return {i: side for i, rule in enumerate(self.rules) for side in rule if side.table == table}

    def matched(self, table: int) -> tuple[str, ...]:
        """The columns that decide what a row matches."""
        return tuple(dict.fromkeys([*self.joins(table), *(side.column for side in self.sides(table).values())]))


def plan(
    current: Published,
    earlier: Sequence[Published],
    about: Sequence[Earlier],
    taxonomies: Taxonomies,
    hidden: str | None,
) -> Plan:
    """From the opened files and what is said about them."""
    tables, names = (current, *earlier), (None, *(each.name for each in about))
    columns = [table.columns for table in tables]
    rules = [_rule(pair, names, columns) for each in about for pair in each.inconsistent]
    shared = _shared(columns, about, {*current.columns} - {hidden})
    made = Plan(tables, names, shared, tuple(rules), taxonomies, hidden)
    for number, table in enumerate(tables):
        twice = [name for name in made.matched(number) if table.columns.count(name) > 1]
        if twice:
            raise NotVerified(f"{table.label} has these columns more than once: {listing(twice)}")
    return made


def find(reference: str, names: Sequence[str | None], columns: Sequence[Sequence[str]]) -> Place:
    """The one place that a name may stand for: ``race``, ``immigration.race``, ``$row`` or ``immigration.$row``.

    >>> find("old.sex", [None, "old"], [["sex"], ["sex", "race"]])
    Place(table=1, column='sex')
    """
    found: list[Place] = []
    for number, (name, own) in enumerate(zip(names, columns, strict=True)):
        rest = reference if name is None else reference.removeprefix(f"{name}.")
        if name is not None and rest == reference:
            continue
        found += [Place(number, None)] if rest == ROW else []
        found += [Place(number, rest)] * own.count(rest)
    if not found:
        raise InputError(f"a requirement is about {reference!r}, which neither the release nor an earlier one has")
    if len(found) > 1:
        raise InputError(f"a requirement is about {reference!r}, which may be one of {len(found)} columns; rename one")
    return found[0]


def _shared(
    columns: Sequence[Sequence[str]], about: Sequence[Earlier], published: set[str]
) -> dict[tuple[int, int], tuple[str, ...]]:
    """Columns of each pair: those that are said of the current table, and all that two earlier ones have in common.

    A column that the current table has as well but is not joined on is left out between earlier ones, too.
    """
    for own, each in zip(columns[1:], about, strict=True):
        strange = [name for name in each.join if name not in own or name not in published]
        if strange:
            raise NotVerified(
                f"'{each.name}' cannot be joined on columns that not both tables have: {listing(strange)}"
            )
    left = {
        name for own, each in zip(columns[1:], about, strict=True) for name in own if name in published - {*each.join}
    }
    unlike = sorted(left & {name for each in about for name in each.join})
    if unlike:
        raise NotVerified(f"some earlier releases are joined on {listing(unlike)} and others that have it are not")
    shared = {(0, number): each.join for number, each in enumerate(about, 1)}
    for one, other in combinations(range(1, len(columns)), 2):
        both = (name for name in columns[one] if name in columns[other] and name not in left)
        shared[one, other] = tuple(dict.fromkeys(both))
    return shared


def _rule(pair: tuple[str, str], names: Sequence[str | None], columns: Sequence[Sequence[str]]) -> tuple[Side, Side]:
    sides = []
    for text in pair:
        reference, _, value = text.partition("=")
        place = find(reference, names, columns)
        if place.column is None:
            raise InputError(f"the rule {text!r} is about rows; a rule is about a column")
        sides.append(Side(place.table, place.column, value))
    one, other = sides
    if one.table == other.table:
        raise InputError(
            f"the rule {listing(pair)} is about one table; a rule says what two tables cannot have together"
        )
    return one, other
