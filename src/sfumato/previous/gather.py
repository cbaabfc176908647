"""Gather: read the earlier releases of a policy and tie them to the current table."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sfumato.encode import EncodedTable
from sfumato.hierarchy import Spec
from sfumato.hierarchy.base import Label
from sfumato.models import ROW
from sfumato.policy import Column, Policy, Role, read_reference
from sfumato.previous.checking import check_rules, check_star
from sfumato.previous.read import read_earlier
from sfumato.previous.star import Rule, Star
from sfumato.previous.taxonomy import Path, Taxonomy, paths_of


def star_of(encoded: EncodedTable, policy: Policy) -> Star:
    """Read the earlier releases of a policy and tie them to the table, as exactly as that may be told."""
    encoded = encoded.permitted
    earlier = tuple(read_earlier(previous, policy.source) for previous in policy.previous)
    published = [name for name, column in policy.columns.items() if _is_matched(column)]
    apart = tuple(name for name in published if _untied(policy.columns[name].hierarchy))
    joins = tuple(tuple(c for c in published if c in each.columns and c not in apart) for each in earlier)
    rules = tuple(rule for previous in policy.previous for rule in previous.inconsistent)
    shared = tuple(name for name in apart if any(name in each.columns for each in earlier))
    asked = {*(name for join in joins for name in join), *_asked(policy, rules)}
    known = {name: encoded.coded(name) for name in policy.columns if name in asked and name not in encoded.names}
    star = Star(encoded, earlier, joins, shared, rules, {}, known)
    check_star(star, policy)
    found = _taxonomies(star, policy)
    specs = {name: _spec(policy, name) for name in found}
    check_rules(star, found, specs)
    return replace(star, taxonomies=found, declared=tuple(name for name, spec in specs.items() if spec is not None))


def _is_matched(column: Column) -> bool:
    return column.role in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}


def _untied(spec: Spec | None) -> bool:
    """Whether a column has ranges or sets: no taxonomy that two tables could have in common."""
    return spec is not None and not spec.levelled


def _asked(policy: Policy, rules: Sequence[Rule]) -> set[str]:
    """The columns of the current table that requirements and rules name."""
    names = [each.name for each in policy.previous]
    found = [read_reference(name, names) for entry in policy.linkage for name in (*entry.x, *entry.y)]
    found += [side.reference for rule in rules for side in rule]
    return {each.column for each in found if each.table is None and each.column != ROW}


def _taxonomies(star: Star, policy: Policy) -> dict[str, Taxonomy]:
    """The taxonomy of every column that records are matched by, over the labels of all tables that have it."""
    names = [*star.matched, *(name for place in range(len(star.earlier)) for name in star.matched_of(place))]
    return {name: _taxonomy(star, policy, name) for name in dict.fromkeys(names)}


def _taxonomy(star: Star, policy: Policy, name: str) -> Taxonomy:
    spec = _spec(policy, name)
    rules: dict[str, Any] = {"column": name, "nulls": policy.source.null}
    paths: list[Path] = []
    if name not in star.apart:
        paths += paths_of(_labels(star, name), spec, whose="the table", **rules)
    for place, earlier in enumerate(star.earlier):
        if name in star.matched_of(place):
            paths += paths_of(earlier.coded(name).texts, spec, whose=earlier.name, **rules)
    return Taxonomy.of(paths)


def _spec(policy: Policy, name: str) -> Spec | None:
    """The hierarchy of a column that is published; none where labels of two tables have none in common."""
    column = policy.columns.get(name)
    if column is None or not _is_matched(column) or _untied(column.hierarchy):
        return None
    return column.hierarchy


def _labels(star: Star, name: str) -> tuple[Label, ...]:
    """All labels that a column of the current table can be published under."""
    if name in star.known:
        return star.known[name].texts
    quasi = {attribute.name: attribute for attribute in star.encoded.quasi}
    levels = quasi[name].hierarchy.labels if name in quasi else ()
    return tuple(dict.fromkeys(label for level in levels for label in level))
