"""Which records of a release and of earlier ones match, found once for all requirements on their join.

Matching is that of Wang and Fung 2006, Sections 3.3 and 7. By the *consistency predicate* two records match where, in
every column that both tables have, one label is on the other's path to the root of the taxonomy. By the *inconsistency
predicate* they do not where a rule says that two labels, or labels below them, cannot be of one person. Records of
several tables match where every two of them do; in a tree, labels of which every two are on one path are all on one.

Records are never joined one by one. Rows of a table that agree in all labels that matter for matching, and in whether a
rule is about them, are of one *kind*. There are few kinds, so matches are found for them, and hold for all their rows:

==================  ======================================================================================
``all_i``           the different lines of table i on all columns that any requirement needs, and how often (``n``)
``kinds_i``         the different lines on the matched columns, and the kind of each (``j``)
``matches``         the combinations of kinds that match, a column for each table: ``j0``, ``j1`` and so on
==================  ======================================================================================

Table 0 is the current one. Columns of lines are ``k0``, ``k1`` and so on. A label here is a text that is never NULL:
``=Male`` is the text Male, and ``NULL`` is none. So labels can be compared as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import InputError, NotVerified, is_lack_of_memory, listing, quote
from sfumato.verifier.duckdb_tables import TableView
from sfumato.verifier.sql import quote_text
from sfumato.verifier.stated_promise import ROW_KEY, TAXONOMY_ROOT, PriorRelease, Taxonomies

MOST_MATCHES = 50_000_000
"""So many combinations of kinds are looked at, and no more."""

_NULL = "NULL"


# The plan: tables, shared columns and rules


@dataclass(frozen=True)
class TableColumn:
    """A column of a table, by the number of the table; its rows where there is no column."""

    table: int
    column: str | None


@dataclass(frozen=True)
class MatchCondition:
    """One side of a rule of inconsistency: a column of a table, with a value at or below which it holds."""

    table: int
    column: str
    value: str


@dataclass(frozen=True)
class JoinPlan:
    """The tables, the current one first, with the columns that each pair of them shares, and the rules.

    `hidden` is the column of the current table that names persons: none of its values gets into a sentence. `columns`
    are those of each table that any requirement needs, in the order that they have in the tables ``all_i``. `tag` is
    the column of table 1 that says which release a row is of, where it holds the rows of several (`alike_joins`).
    """

    tables: tuple[TableView, ...]
    names: tuple[str | None, ...]
    shared: Mapping[tuple[int, int], tuple[str, ...]]
    rules: tuple[tuple[MatchCondition, MatchCondition], ...]
    taxonomies: Taxonomies
    hidden: str | None = None
    columns: tuple[tuple[str, ...], ...] = ()
    tag: str | None = None

    @property
    def connection(self) -> Any:
        """The connection that all tables are on."""
        return self.tables[0].connection

    def find(self, reference: str) -> TableColumn:
        """Find the column that a requirement means by a name."""
        return find_column(reference, self.names, [table.columns for table in self.tables])

    def shared_columns(self, table: int) -> tuple[str, ...]:
        """List the columns that a table shares with any other."""
        pairs = (columns for pair, columns in self.shared.items() if table in pair)
        return tuple(dict.fromkeys(name for columns in pairs for name in columns))

    def conditions(self, table: int) -> dict[int, MatchCondition]:
        """List the sides of rules that are about a table, by the number of the rule."""
        return {i: side for i, rule in enumerate(self.rules) for side in rule if side.table == table}

    def matched_columns(self, table: int) -> tuple[str, ...]:
        """List the columns that decide what a row matches, and of which release it is."""
        ruled = (side.column for side in self.conditions(table).values())
        return tuple(dict.fromkeys([*self.shared_columns(table), *ruled, *self.tag_of(table)]))

    def tag_of(self, table: int) -> tuple[str, ...]:
        """Name the tag of a table, or nothing where it has none."""
        return () if self.tag is None or table != 1 else (self.tag,)

    def count_lines(self, table: int, columns: Sequence[str], target: str) -> None:
        """Make table `target` of the different lines of a table on some columns, from ``all_i``."""
        places = [self.columns[table].index(name) for name in columns]
        keys = "".join(f"k{place} AS k{i}, " for i, place in enumerate(places))
        total = f"SELECT {keys}CAST(sum(n) AS BIGINT) AS n FROM all_{table} GROUP BY ALL HAVING sum(n) > 0"
        execute(self.connection, f"CREATE OR REPLACE TABLE {target} AS {total}")


def plan_join(
    current: TableView,
    earlier: Sequence[TableView],
    releases: Sequence[PriorRelease],
    taxonomies: Taxonomies,
    hidden: str | None,
) -> JoinPlan:
    """Plan the join of the opened tables; `releases` say how each of the earlier ones is joined."""
    tables, names = (current, *earlier), (None, *(release.name for release in releases))
    columns = [table.columns for table in tables]
    rules = [_read_rule(pair, names, columns) for release in releases for pair in release.inconsistent]
    shared = _find_shared(columns, releases, {*current.columns} - {hidden})
    plan = JoinPlan(tables, names, shared, tuple(rules), taxonomies, hidden)
    for number, table in enumerate(tables):
        twice = [name for name in plan.matched_columns(number) if table.columns.count(name) > 1]
        if twice:
            raise NotVerified(f"{table.label} has these columns more than once: {listing(twice)}")
    return plan


def find_column(reference: str, names: Sequence[str | None], columns: Sequence[Sequence[str]]) -> TableColumn:
    """Find the one column that a name may mean: ``race``, ``immigration.race``, ``$row`` or ``immigration.$row``.

    >>> find_column("old.sex", [None, "old"], [["sex"], ["sex", "race"]])
    TableColumn(table=1, column='sex')
    """
    possible: list[TableColumn] = []
    for number, (name, own) in enumerate(zip(names, columns, strict=True)):
        rest = reference if name is None else reference.removeprefix(f"{name}.")
        if name is not None and rest == reference:
            continue
        possible += [TableColumn(number, None)] if rest == ROW_KEY else []
        possible += [TableColumn(number, rest)] * own.count(rest)
    if not possible:
        raise InputError(f"a requirement is about {quote(reference)}, which neither the release nor an earlier one has")
    if len(possible) > 1:
        raise InputError(
            f"a requirement is about {quote(reference)}, which may be one of {len(possible)} columns; rename one"
        )
    return possible[0]


def _find_shared(
    columns: Sequence[Sequence[str]], releases: Sequence[PriorRelease], published: set[str]
) -> dict[tuple[int, int], tuple[str, ...]]:
    """Find the shared columns of each pair: those stated of the current table, and all that two earlier ones have.

    A column that the current table has as well but is not joined on is left out between earlier ones, too.
    """
    unjoined: set[str] = set()
    for own, release in zip(columns[1:], releases, strict=True):
        lacking = [name for name in release.join if name not in own or name not in published]
        if lacking:
            raise NotVerified(
                f"{quote(release.name)} cannot be joined on columns that not both tables have: {listing(lacking)}"
            )
        unjoined |= {*own} & (published - {*release.join})
    unlike = sorted(unjoined & {name for release in releases for name in release.join})
    if unlike:
        raise NotVerified(f"some earlier releases are joined on {listing(unlike)} and others that have it are not")
    shared = {(0, number): release.join for number, release in enumerate(releases, 1)}
    for first, second in combinations(range(1, len(columns)), 2):
        both = (name for name in columns[first] if name in columns[second] and name not in unjoined)
        shared[first, second] = tuple(dict.fromkeys(both))
    return shared


def _read_rule(
    pair: tuple[str, str], names: Sequence[str | None], columns: Sequence[Sequence[str]]
) -> tuple[MatchCondition, MatchCondition]:
    sides = []
    for text in pair:
        reference, _, value = text.partition("=")
        place = find_column(reference, names, columns)
        if place.column is None:
            raise InputError(f"the rule {quote(text)} is about rows; a rule is about a column")
        sides.append(MatchCondition(place.table, place.column, value))
    first, second = sides
    if first.table == second.table:
        raise InputError(
            f"the rule {listing(pair)} is about one table; a rule says what two tables cannot have together"
        )
    return first, second


# Lines: rows that agree in some columns, with a count


def read_lines(table: TableView, columns: Sequence[str], target: str) -> None:
    """Make table `target` of the different lines on these columns, from one pass over the file."""
    raw = "".join(f"{table.column(name)} AS k{i}, " for i, name in enumerate(columns))
    table.read(f"CREATE OR REPLACE TABLE raw_lines AS SELECT {raw}count(*) AS n FROM {table.source} GROUP BY ALL")
    joins, labels = "", ""
    for i, name in enumerate(columns):
        text = table.text_sql(f"r.k{i}")
        if name in table.types:  # a column that is not text: each different value is printed once
            values = table.connection.sql(f"SELECT DISTINCT k{i} AS v FROM raw_lines").to_arrow_table().column("v")
            texts = pa.table({"v": values, "t": pa.array(table.texts(name, values), pa.string())})
            table.connection.register(f"texts_{i}", texts)
            joins += f" JOIN texts_{i} t{i} ON t{i}.v IS NOT DISTINCT FROM r.k{i}"
            text = f"t{i}.t"
        labels += f"coalesce('=' || {text}, '{_NULL}') AS k{i}, "
    execute(
        table.connection,
        f"CREATE OR REPLACE TABLE {target} AS SELECT {labels}CAST(sum(r.n) AS BIGINT) AS n FROM raw_lines r{joins} "
        "GROUP BY ALL HAVING sum(r.n) > 0",
    )
    execute(table.connection, "DROP TABLE raw_lines")


def encode_label(label: str | None) -> str:
    """Write a label as it is in these tables.

    >>> encode_label("Male"), encode_label(None), encode_label("NULL")
    ('=Male', 'NULL', '=NULL')
    """
    return _NULL if label is None else f"={label}"


def decode_label(text: str) -> str | None:
    """Read the label back."""
    return None if text == _NULL else text[1:]


def same_labels(first: str, second: str, columns: Sequence[tuple[int, int]]) -> str:
    """Write the condition that two tables agree in these columns of theirs.

    >>> same_labels("a", "b", [(0, 2)])
    'a.k0 = b.k2'
    """
    return " AND ".join(f"{first}.k{i} = {second}.k{j}" for i, j in columns) or "true"


def execute(connection: Any, statement: str) -> Any:
    """Run a statement and give its lines; numbers that do not fit are refused, never cut."""
    try:
        return connection.execute(statement).fetchall()
    except duckdb.OutOfRangeException:
        raise NotVerified(
            "the join with earlier releases has more lines than numbers of 128 bits can count; nothing was proved"
        ) from None
    except duckdb.Error as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise


# Kinds and their matches


def find_matches(plan: JoinPlan) -> None:
    """Make the tables ``kinds_i`` and ``matches``, from the tables ``all_i``."""
    tables = range(len(plan.tables))
    for table in tables:
        _find_kinds(plan, table)
    for pair in combinations(tables, 2):
        _match_pair(plan, pair)
    execute(plan.connection, "CREATE TABLE matches AS SELECT DISTINCT j AS j0 FROM kinds_0")
    for table in tables[1:]:  # combinations of the tables before with every kind of one more that matches all of them
        joins = f"pairs_0_{table} p0 ON p0.j0 = m.j0" + "".join(
            f" JOIN pairs_{before}_{table} p{before} ON p{before}.j{before} = m.j{before} "
            f"AND p{before}.j{table} = p0.j{table}"
            for before in range(1, table)
        )
        _make_limited(plan, "extended", f"SELECT m.*, p0.j{table} FROM matches m JOIN {joins}")
        execute(plan.connection, "DROP TABLE matches; ALTER TABLE extended RENAME TO matches")


def _find_kinds(plan: JoinPlan, table: int) -> None:
    """Make ``kinds_i``: lines on the matched columns, with what rules say of them (f0, f1, ...) and their kind (j)."""
    columns, conditions = plan.matched_columns(table), plan.conditions(table)
    plan.count_lines(table, columns, "lines")
    for place, name in enumerate(columns):
        _find_paths(plan, table, place, name)
    flags = ""
    for rule, side in conditions.items():  # whether a line has the rule's value, or one below it
        place, value = columns.index(side.column), quote_text(encode_label(side.value))
        flags += f", k{place} IN (SELECT label FROM paths_{table}_{place} WHERE above = {value}) AS f{rule}"
    execute(plan.connection, f"CREATE TABLE flagged AS SELECT *{flags} FROM lines")
    told = (*plan.shared_columns(table), *plan.tag_of(table))
    kind = [f"k{columns.index(name)}" for name in told] + [f"f{rule}" for rule in conditions]
    execute(plan.connection, f"CREATE TABLE kinds_{table} AS SELECT *, {_number_by(kind)} AS j FROM flagged")
    execute(plan.connection, "DROP TABLE flagged")


def _find_paths(plan: JoinPlan, table: int, place: int, name: str) -> None:
    """Make ``paths_table_place``: each label of a column with all labels on its path to the root, itself included.

    A label that the taxonomy does not have is right below the root.
    """
    paths = plan.taxonomies.get(name, ())
    steps = [(encode_label(path[0]), encode_label(label)) for path in paths for label in path]
    ways = {"label": [label for label, _ in steps], "above": [above for _, above in steps]}
    plan.connection.register("ways", pa.table({key: pa.array(texts, pa.string()) for key, texts in ways.items()}))
    labels = f"(SELECT DISTINCT k{place} AS label FROM lines)"
    execute(
        plan.connection,
        f"CREATE TABLE paths_{table}_{place} AS SELECT label, above FROM {labels} JOIN ways USING (label) "
        f"UNION SELECT label, unnest([label, '{encode_label(TAXONOMY_ROOT)}']) FROM {labels} "
        "ANTI JOIN ways USING (label)",
    )


def _match_pair(plan: JoinPlan, pair: tuple[int, int]) -> None:
    """Make ``pairs_i_j``: kinds of two tables that match, by one shared column after the other, then by the rules.

    Table ``step_l`` has the prefixes of the two tables that match on the first l shared columns (``a``, ``b``), a
    prefix being a number for the labels in these columns.
    """
    first, second = pair
    shared = plan.shared[pair]

    def prefix(table: int, length: int) -> str:
        places = map(plan.matched_columns(table).index, shared[:length])
        return _number_by([f"k{place}" for place in places])

    execute(plan.connection, "CREATE TABLE step_0 AS SELECT CAST(1 AS BIGINT) AS a, CAST(1 AS BIGINT) AS b")
    for before, name in enumerate(shared):
        places = [plan.matched_columns(table).index(name) for table in pair]
        here, there = (f"paths_{table}_{place}" for table, place in zip(pair, places, strict=True))
        # the consistency predicate: two labels match where one is on the other's path to the root
        labels = (
            f"SELECT DISTINCT p.label AS a, p.above AS b FROM {here} p SEMI JOIN {there} o ON o.label = p.above "
            f"UNION SELECT DISTINCT p.above, p.label FROM {there} p SEMI JOIN {here} o ON o.label = p.above"
        )
        ends = [
            f"(SELECT DISTINCT {prefix(table, before)} AS p, k{place} AS label, {prefix(table, before + 1)} AS q "
            f"FROM kinds_{table})"
            for table, place in zip(pair, places, strict=True)
        ]
        _make_limited(
            plan,
            f"step_{before + 1}",
            f"SELECT a.q AS a, b.q AS b FROM step_{before} s JOIN {ends[0]} a ON a.p = s.a JOIN ({labels}) l "
            f"ON l.a = a.label JOIN {ends[1]} b ON b.p = s.b AND b.label = l.b",
        )
        execute(plan.connection, f"DROP TABLE step_{before}")
    ends = [
        f"(SELECT DISTINCT j, {prefix(table, len(shared))} AS q"
        f"{''.join(f', f{rule}' for rule in plan.conditions(table))} FROM kinds_{table})"
        for table in pair
    ]
    # the inconsistency predicate: no rule is about both
    both = plan.conditions(first).keys() & plan.conditions(second).keys()
    allowed = "".join(f" AND NOT (a.f{rule} AND b.f{rule})" for rule in both)
    _make_limited(
        plan,
        f"pairs_{first}_{second}",
        f"SELECT DISTINCT a.j AS j{first}, b.j AS j{second} FROM step_{len(shared)} s JOIN {ends[0]} a ON a.q = s.a "
        f"JOIN {ends[1]} b ON b.q = s.b WHERE true{allowed}",
    )
    execute(plan.connection, f"DROP TABLE step_{len(shared)}")


def _number_by(columns: Sequence[str]) -> str:
    return f"dense_rank() OVER (ORDER BY {', '.join(columns)})" if columns else "CAST(1 AS BIGINT)"


def _make_limited(plan: JoinPlan, table: str, query: str) -> None:
    """Make a table, unless it is too large to."""
    execute(plan.connection, f"CREATE TABLE {table} AS SELECT * FROM ({query}) LIMIT {MOST_MATCHES + 1}")
    if execute(plan.connection, f"SELECT count(*) FROM {table}")[0][0] > MOST_MATCHES:
        raise too_large("combinations of labels that match", f"over {MOST_MATCHES:,}", MOST_MATCHES)


def too_large(what: str, size: str, limit: int) -> NotVerified:
    """Say that a join is too large to look at, so that there is no proof."""
    return NotVerified(
        f"the join with earlier releases has {size} {what}, more than the {limit:,} that this version looks at; "
        "nothing was proved: ask for fewer columns in x and y, or for all columns in x that are joined on"
    )
