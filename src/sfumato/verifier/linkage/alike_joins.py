"""Joins that are alike: the same requirements on many earlier releases, each joined by itself, checked at once.

A ledger asks the same of every earlier release. One join after the other, a hundred small statements each, takes a
minute where the tables take a moment. So earlier tables with the same columns become one table here, in which a column,
the *tag*, says which release a row is of. The tag is in x, so that nothing is counted over two releases, and it is part
of a row's kind, so that each kind is of one release. Figures are then told apart by the tag of x.

Only figures come from here. A release that does not meet a requirement is joined by itself once more, for the words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import InputError
from sfumato.verifier.duckdb_tables import TableView
from sfumato.verifier.linkage.record_matching import (
    JoinPlan,
    decode_label,
    execute,
    find_column,
    find_matches,
    plan_join,
)
from sfumato.verifier.sql import quote_text
from sfumato.verifier.stated_promise import ROW_KEY, PriorRelease, StatedRequirement

ROWS_AT_ONCE = 200_000
"""So many rows of earlier releases become one table, and no more, to spare memory; larger ones are joined singly."""

TOGETHER, TAG = "$together", "$release"
"""What the one table is called in requirements, and its column that says which release a row is of."""


@dataclass(frozen=True)
class AlikeReleases:
    """Earlier releases with equal columns, each with its table, and the requirements that each of them has alone.

    `rules` are the requirements of any of them, with `TOGETHER` for its name and the tag in x. `columns` are those that
    they need, with their Arrow types where they are not text.
    """

    releases: tuple[PriorRelease, ...]
    tables: tuple[TableView, ...]
    rules: tuple[StatedRequirement, ...]
    columns: Mapping[str, Any]

    def make_plan(self, current: TableView, taxonomies: Any, hidden: str | None) -> JoinPlan:
        """Plan the join of the current table with the one table of all."""
        one = replace(self.releases[0], name=TOGETHER)
        plan = plan_join(current, [self._make_table()], [one], taxonomies, hidden)
        return replace(plan, tag=TAG)

    def _make_table(self) -> TableView:
        """Make the view ``together``: the rows of all tables, each with its tag."""
        parts = []
        for release, table in zip(self.releases, self.tables, strict=True):
            cells = ", ".join(
                f"{table.column(name) if name in table.types else table.text_sql(table.column(name))} AS c{i}"
                for i, name in enumerate(self.columns)
            )
            parts.append(f"SELECT {cells}, {quote_text(release.name)} AS c{len(self.columns)} FROM {table.source}")
        connection = self.tables[0].connection
        execute(connection, f"CREATE OR REPLACE VIEW together AS {' UNION ALL '.join(parts)}")
        types = {name: kind for name, kind in self.columns.items() if kind is not None}
        return TableView(connection, (*self.columns, TAG), types, "together", "the earlier releases together")


def find_alike(
    current: TableView,
    releases: Sequence[PriorRelease],
    tables: Sequence[TableView],
    rules: Mapping[str, Sequence[StatedRequirement]],
) -> Iterator[AlikeReleases]:
    """Find the releases that can be looked at together; `rules` are the requirements on each of them alone, by name.

    Releases with rules of what does not match, or of a size that nobody stated, are left to be joined singly.
    """
    alike = defaultdict[str, list[tuple[PriorRelease, TableView]]](list)
    shapes: dict[str, tuple[tuple[StatedRequirement, ...], dict[str, Any]]] = {}
    for release, table in zip(releases, tables, strict=True):
        if release.inconsistent or release.rows is None or not rules.get(release.name):
            continue
        shape = _find_shape(current, release, table, rules[release.name])
        if shape is not None:
            key = repr((release.join, shape))
            shapes[key] = shape
            alike[key].append((release, table))
    for key, members in alike.items():
        for some in _in_portions(members):
            if len(some) > 1:
                yield AlikeReleases(tuple(r for r, _ in some), tuple(t for _, t in some), *shapes[key])


def match_alike(plan: JoinPlan, releases: Sequence[PriorRelease]) -> bool:
    """Find what matches, and tell whether each release has as many rows as were stated of it."""
    find_matches(plan)
    place = plan.matched_columns(1).index(TAG)
    lines = execute(plan.connection, f"SELECT k{place}, CAST(sum(n) AS BIGINT) FROM kinds_1 GROUP BY ALL")
    stated = {release.name: release.rows for release in releases if release.rows}
    return {decode_label(tag): rows for tag, rows in lines} == stated


def collect_by_release(
    plan: JoinPlan, queries: Iterable[str], *, distinct: bool, place: int
) -> dict[str | None, tuple[int | float, int]]:
    """Find the worst figure of each release, and how many values on x fail; `place` is that of the tag in ``xs_1``.

    A line of a query has the number of x in the pivot, the one table of all, as the first number of ``who``. A release
    that nothing matches has no line.
    """
    aggregate, better = ("min", min) if distinct else ("max", max)
    found: dict[str | None, tuple[int | float, int]] = {}
    for query in queries:
        lines = execute(
            plan.connection,
            f"SELECT t.k{place}, {aggregate}(q.figure), CAST(coalesce(sum(q.m) FILTER (NOT q.ok), 0) AS HUGEINT) "
            f"FROM ({query}) q JOIN xs_1 t ON t.id = q.who[1][1] GROUP BY ALL",
        )
        for tag, figure, failing in lines:
            name = decode_label(tag)
            before, failed = found.get(name, (figure, 0))
            found[name] = better(before, figure), failed + int(failing)
    return found


def _find_shape(
    current: TableView, release: PriorRelease, table: TableView, rules: Sequence[StatedRequirement]
) -> tuple[tuple[StatedRequirement, ...], dict[str, Any]] | None:
    """Write the requirements on a release without its name, with the columns that they need; none where they cannot.

    What is wrong with a requirement is said where it is checked by itself.
    """
    taken = any(name.startswith(f"{TOGETHER}.") for name in current.columns) or TAG in table.columns
    names = list(release.join)
    written: list[StatedRequirement] = []
    for rule in rules:
        sides: dict[str, list[str]] = {}
        for key in ("x", "y"):
            try:
                places = [
                    find_column(text, (None, release.name), (current.columns, table.columns)) for text in rule[key]
                ]
            except InputError:
                return None
            names += [place.column for place in places if place.table == 1 and place.column is not None]
            sides[key] = [
                text if place.table == 0 else f"{TOGETHER}.{place.column or ROW_KEY}"
                for text, place in zip(rule[key], places, strict=True)
            ]
        sides["x"].append(f"{TOGETHER}.{TAG}")
        written.append({**{key: value for key, value in rule.items() if key != "releases"}, **sides})
    if taken or any(table.columns.count(name) != 1 for name in names):
        return None
    return tuple(written), {name: table.types.get(name) for name in dict.fromkeys(names)}


def _in_portions(members: Sequence[tuple[PriorRelease, TableView]]) -> Iterator[list[tuple[PriorRelease, TableView]]]:
    """Take releases one after the other, as many at a time as have no more rows together than are looked at at once."""
    some: list[tuple[PriorRelease, TableView]] = []
    rows = 0
    for release, table in members:
        own = release.rows or 0
        if some and rows + own > ROWS_AT_ONCE:
            yield some
            some, rows = [], 0
        some.append((release, table))
        rows += own
    yield some
