"""Star: the current table, the earlier releases around it, and what ties their records together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from sfumato.coding import Coded, code
from sfumato.encode import Encoded
from sfumato.errors import PolicyError, listing
from sfumato.hierarchy import Spec
from sfumato.hierarchy.base import Label
from sfumato.models import ROW, Linkage
from sfumato.policy import Column, Condition, Policy, Reference, Role, reference
from sfumato.previous.read import Earlier, check_has, read_earlier
from sfumato.previous.taxonomy import Path, Taxonomy, paths_of
from sfumato.table import Table

Rule = tuple[Condition, Condition]


@dataclass(frozen=True, eq=False, repr=False)
class Star:
    """What an adversary has, and how records of different tables are matched.

    `joins` are for each earlier release the columns that it shares with the current table and is matched by;
    `apart` those that are shared but not matched, because they have no taxonomy. `rules` are pairs of values that rule
    a match out. `taxonomies` are those of all columns that matter for it. `known` are the columns of the current table
    that are published as they are, as far as anybody asks for them.
    """

    encoded: Encoded
    earlier: tuple[Earlier, ...]
    joins: tuple[tuple[str, ...], ...]
    apart: tuple[str, ...]
    rules: tuple[Rule, ...]
    taxonomies: Mapping[str, Taxonomy]
    known: Mapping[str, Coded]

    @property
    def names(self) -> list[str]:
        """The names of the earlier releases."""
        return [each.name for each in self.earlier]

    @property
    def matched(self) -> tuple[str, ...]:
        """The columns of the current table that its records are matched by."""
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table is None]
        return tuple(dict.fromkeys([*(name for join in self.joins for name in join), *ruled]))

    def matched_of(self, place: int) -> tuple[str, ...]:
        """The columns of an earlier release that its records are matched by, with those of any other table."""
        name, own = self.earlier[place].name, self.earlier[place].columns
        others = [each.columns for i, each in enumerate(self.earlier) if i != place]
        between = [column for column in own if column not in self.apart and any(column in each for each in others)]
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table == name]
        return tuple(dict.fromkeys([*self.joins[place], *between, *ruled]))

    def only(self, names: Sequence[str] | None) -> "Star":
        """The same with some of the earlier releases; all, where none is named."""
        if names is None:
            return self
        places = [place for place, name in enumerate(self.names) if name in names]
        rules = [rule for rule in self.rules if all(side.reference.table in {None, *names} for side in rule)]
        chosen = tuple(self.earlier[place] for place in places), tuple(self.joins[place] for place in places)
        return replace(self, earlier=chosen[0], joins=chosen[1], rules=tuple(rules))

    def references(self, names: Sequence[str]) -> list[Reference]:
        """The columns that an x or y names."""
        return [reference(name, self.names) for name in names]


def star_of(encoded: Encoded, policy: Policy) -> Star:
    """Read the earlier releases of a policy and tie them to the table."""
    earlier = tuple(read_earlier(previous, policy.source) for previous in policy.previous)
    published = [name for name, column in policy.columns.items() if _is_matched(column)]
    apart = tuple(name for name in published if _untied(policy.columns[name].hierarchy))
    joins = tuple(tuple(c for c in published if c in each.columns and c not in apart) for each in earlier)
    rules = tuple(rule for previous in policy.previous for rule in previous.inconsistent)
    shared = tuple(name for name in apart if any(name in each.columns for each in earlier))
    known = _known(encoded, policy, {*(name for join in joins for name in join), *_asked(policy, rules)})
    star = Star(encoded, earlier, joins, shared, rules, {}, known)
    _check_columns(star, policy)
    _check_individual(star, policy)
    return replace(star, taxonomies=_taxonomies(star, policy))


def _is_matched(column: Column) -> bool:
    return column.role in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}


def _untied(spec: Spec | None) -> bool:
    """Whether a column has ranges or sets: no taxonomy that two tables could have in common."""
    return spec is not None and not spec.levelled


def _asked(policy: Policy, rules: Sequence[Rule]) -> set[str]:
    """The columns of the current table that requirements and rules name."""
    names = [each.name for each in policy.previous]
    found = [reference(name, names) for entry in policy.linkage for name in (*entry.x, *entry.y)]
    found += [side.reference for rule in rules for side in rule]
    return {each.column for each in found if each.table is None and each.column != ROW}


def _known(encoded: Encoded, policy: Policy, asked: set[str]) -> dict[str, Coded]:
    """Those of the asked columns that are published as they are, as codes."""
    known: dict[str, Coded] = {name: column for name, column in encoded.sensitive.items() if name in asked}
    if encoded.individual is not None and encoded.individual.name in asked:
        known[encoded.individual.name] = encoded.individual
    for column in policy.plain:
        if column.name in asked:
            known[column.name] = code(Table(pa.table({column.name: encoded.plain[column.name]})), column.name)
    return known


def _check_columns(star: Star, policy: Policy) -> None:
    """Columns of earlier releases that are there, and shared ones in x on all sides."""
    for place, entry in enumerate(policy.stated):
        for key in ("x", "y") if isinstance(entry, Linkage) else ():
            for found in star.references(getattr(entry, key)):
                if found.table is not None and found.column != ROW:
                    check_has(star.earlier[star.names.index(found.table)], found.column, f"privacy[{place}].{key}")
        if isinstance(entry, Linkage):
            _check_sides(star.only(entry.releases), entry, f"privacy[{place}].x")
    for condition in (side for rule in star.rules for side in rule):
        if (table := condition.reference.table) is not None:
            at = star.names.index(table)
            check_has(star.earlier[at], condition.reference.column, f"previous[{at}].inconsistent")


def _check_sides(star: Star, entry: Linkage, key: str) -> None:
    """A shared column stands in x as it is in every table, unless it is what y asks for: one side may tell more."""
    for found in star.references(entry.x):
        tables = [name for name, join in zip(star.names, star.joins, strict=True) if found.column in join]
        sides = [found.column, *(f"{name}.{found.column}" for name in tables)] if tables else []
        lacking = [side for side in sides if side not in {*entry.x, *entry.y}]
        if lacking and str(found) in sides:
            why = f"{str(found)!r} is shared, and one table may tell more of it than another"
            raise PolicyError(f"{why}; add {listing(lacking)}, or leave it out on all sides", key=key)


def _check_individual(star: Star, policy: Policy) -> None:
    """Pseudonyms under one key in two releases tie them together person by person: nothing is hidden by joining."""
    person = policy.individual
    for earlier in star.earlier:
        if person is not None and person.key is not None and person.name in earlier.columns:
            raise PolicyError(
                f"{person.name!r} has pseudonyms under a key, and {earlier.name} has a column of that name: whoever "
                "joins them has the same persons' rows; leave the key out",
                key=f"columns.{person.name}.key",
            )


def _taxonomies(star: Star, policy: Policy) -> dict[str, Taxonomy]:
    """The taxonomy of every column that records are matched by, over the labels of all tables that have it."""
    names = [*star.matched, *(name for place in range(len(star.earlier)) for name in star.matched_of(place))]
    return {name: _taxonomy(star, policy, name) for name in dict.fromkeys(names)}


def _taxonomy(star: Star, policy: Policy, name: str) -> Taxonomy:
    column = policy.columns.get(name)
    spec = column.hierarchy if column is not None and _is_matched(column) else None
    rules: dict[str, Any] = {"column": name, "nulls": policy.source.null}
    paths: list[Path] = paths_of(_labels(star, name), spec, whose="the table", **rules)
    for place, earlier in enumerate(star.earlier):
        if name in star.matched_of(place):
            paths += paths_of(earlier.coded(name).texts, spec, whose=earlier.name, **rules)
    return Taxonomy.of(paths)


def _labels(star: Star, name: str) -> tuple[Label, ...]:
    """All labels that a column of the current table can be published under."""
    if name in star.known:
        return star.known[name].texts
    quasi = {attribute.name: attribute for attribute in star.encoded.quasi}
    levels = quasi[name].hierarchy.labels if name in quasi else ()
    return tuple(dict.fromkeys(label for level in levels for label in level))
