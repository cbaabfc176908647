"""(X, Y)-anonymity and (X, Y)-linkability over the join (Definitions 3.1 and 3.2 of Wang and Fung 2006).

(X, Y)-anonymity: each value on x is linked to at least k different values on y, in the records of the join that contain
x. (X, Y)-linkability: of the records that contain x, at most a share k contains any one protected value on y. Section 7
has both for the join of several releases.

Both are counted from the groups of `pivot_join`, exactly, in integers of 128 bits.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, NotVerified, quote
from sfumato.verifier.accounts import are_taxonomies
from sfumato.verifier.counts import MOST_NAMED, ClassCounts, OneTableCounts
from sfumato.verifier.duckdb_tables import TableView, describe_cells
from sfumato.verifier.linkage.alike_joins import (
    TAG,
    AlikeReleases,
    collect_by_release,
    find_alike,
    match_alike,
)
from sfumato.verifier.linkage.pivot_join import PivotJoin, choose_pivot, count_groups, read_tables
from sfumato.verifier.linkage.record_matching import (
    JoinPlan,
    decode_label,
    encode_label,
    execute,
    find_matches,
    plan_join,
)
from sfumato.verifier.sql import exact_ratio
from sfumato.verifier.stated_promise import XY_ANONYMITY, StatedRequirement, is_xy
from sfumato.verifier.verdict import Finding

_LARGEST = 2**126
"""Numbers up to here fit into 128 bits, with their sign and one bit to spare."""

_PLAN_TABLES = re.compile(
    r"(all|kinds|groups|xs|ys|step)_\d+|(paths|pairs)_\d+_\d+|matches|lines|raw_lines|flagged|extended"
)
"""The tables that a plan leaves behind, also one that was given up."""

_EACH_WITH_EACH = "flatten([[a_who || b_who FOR b_who IN b.who] FOR a_who IN a.who])"
"""In SQL, some values on x of two tables ``a`` and ``b``, each with each."""


class LinkageChecks:
    """A release and the earlier ones, for all requirements about their join.

    What matches what is found once for all requirements on the same earlier releases that follow one another, and at
    once for all earlier releases of which the same is asked (`alike_joins`).
    """

    def __init__(self, counts: ClassCounts, earlier: Sequence[TableView]) -> None:
        self.counts, self.earlier = counts, earlier
        self._plan: tuple[tuple[str, ...], JoinPlan] | None = None
        self._found: dict[int, Finding] | None = None

    def check(self, rule: StatedRequirement) -> Finding:
        """Check one requirement."""
        names = self._joined_names(rule)
        if self._found is None:
            self._found = dict(self._check_alike())
        if id(rule) in self._found:
            return self._found[id(rule)]
        if self._plan is None or self._plan[0] != names:
            self._forget_plan()
            self._plan = names, self._match(names)
        return check_xy_privacy(self._plan[1], rule)

    def _forget_plan(self) -> None:
        """Drop what matched in another join."""
        for (table,) in execute(self.counts.connection, "SELECT table_name FROM duckdb_tables()"):
            if _PLAN_TABLES.fullmatch(table):
                execute(self.counts.connection, f"DROP TABLE {table}")

    def _check_alike(self) -> Iterator[tuple[int, Finding]]:
        """Check what is asked of many releases alike; give the findings that hold, by the `id` of the requirement.

        Whatever does not hold, or cannot be looked at together, is left to be looked at by itself.
        """
        promise = self.counts.promise
        if not isinstance(self.counts, OneTableCounts) or not are_taxonomies(promise.taxonomies):
            return
        rules: dict[str, list[StatedRequirement]] = {release.name: [] for release in promise.joined_releases}
        for rule in filter(is_xy, promise.requirements):
            names = self._joined_names(rule)
            if len(names) == 1:
                rules[names[0]].append(rule)
        for alike in find_alike(self.counts.table, promise.joined_releases, self.earlier, rules):
            with suppress(NotVerified):  # too large together, or not readable: said of the release that it is
                yield from self._check_together(self.counts.table, alike, rules)

    def _check_together(
        self, table: TableView, alike: AlikeReleases, rules: Mapping[str, Sequence[StatedRequirement]]
    ) -> Iterator[tuple[int, Finding]]:
        promise = self.counts.promise
        self._forget_plan()
        plan = alike.make_plan(table, promise.taxonomies, promise.individual)
        plan = read_tables(plan, alike.rules)
        if not match_alike(plan, alike.releases):
            return
        for place, asked in enumerate(alike.rules):
            join, queries, _ = _plan_queries(plan, asked)
            figures = collect_by_release(plan, queries, distinct=join.distinct, place=join.columns[1].x.index(TAG))
            for release in alike.releases:
                figure, failing = figures.get(release.name, (0, 0))
                rule = rules[release.name][place]
                if not failing:
                    yield id(rule), _finding(rule, figure, [])

    def _joined_names(self, rule: StatedRequirement) -> tuple[str, ...]:
        """List the earlier releases that a requirement is joined with, in their own order: those it names, or all."""
        known = [release.name for release in self.counts.promise.joined_releases]
        wanted = rule.get("releases") or known
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InputError(
                f"{rule['model']} is about the release {quote(unknown[0])}, which is none of the earlier ones"
            )
        return tuple(name for name in known if name in wanted)

    def _match(self, names: tuple[str, ...]) -> JoinPlan:
        """Plan the join with these releases, read the tables, and find what matches."""
        promise = self.counts.promise
        if not isinstance(self.counts, OneTableCounts) or not are_taxonomies(promise.taxonomies):
            raise InputError("a join with earlier releases needs a generalized table, and taxonomies that are trees")
        others = {release.name for release in promise.joined_releases} - {*names}
        releases, tables = [], []
        for release, table in zip(promise.joined_releases, self.earlier, strict=True):
            if release.name in names:
                pairs = release.inconsistent  # but for those about a release that is left out
                rules = [pair for pair in pairs if not any(side.partition(".")[0] in others for side in pair)]
                releases.append(replace(release, inconsistent=tuple(rules)))
                tables.append(table)
        plan = plan_join(self.counts.table, tables, releases, promise.taxonomies, promise.individual)
        about = [rule for rule in promise.requirements if is_xy(rule) and self._joined_names(rule) == names]
        plan = read_tables(plan, about)
        find_matches(plan)
        for number, release in enumerate(releases, 1):
            rows = int(execute(plan.connection, f"SELECT coalesce(sum(n), 0) FROM kinds_{number}")[0][0])
            if release.rows not in {None, rows}:
                raise NotVerified(
                    f"the earlier release {quote(release.name)} has {rows:,} rows where {release.rows:,} are stated"
                )
        return plan


def check_xy_privacy(plan: JoinPlan, rule: StatedRequirement) -> Finding:
    """Check a requirement over a join; the tables of `find_matches` must be there."""
    join, queries, describe = _plan_queries(plan, rule)
    figure, failures = _collect(join, queries, describe)
    return _finding(rule, figure, failures)


def _plan_queries(plan: JoinPlan, rule: StatedRequirement) -> tuple[PivotJoin, Iterator[str], Callable[[Any], str]]:
    """Count groups and choose the pivot; write the queries of a requirement, and what says a line of them in words."""
    columns, distinct = count_groups(plan, rule), rule["model"] == XY_ANONYMITY
    join = choose_pivot(plan, columns, distinct=distinct)
    if distinct:
        _check_size(plan, 1)
        return join, _anonymity_queries(join, rule["k"]), _describe_few(join, rule)
    thresholds = find_thresholds(join, rule)
    _check_size(plan, thresholds.largest)
    return join, _linkability_queries(join, thresholds), _describe_close(join, rule, thresholds)


def _finding(rule: StatedRequirement, figure: float, failures: Sequence[str]) -> Finding:
    figure = figure if isinstance(figure, int) else round(float(figure), 12)
    required = {key: value for key, value in rule.items() if key != "model"}
    sentences = tuple(f"{rule['model']}: {failure}" for failure in failures)
    return Finding(rule["model"], required, {"k": figure}, not failures, sentences)


def _check_size(plan: JoinPlan, factor: int) -> None:
    """Refuse a join whose lines, times a factor, no number of 128 bits can count: no sum below goes beyond that."""
    tables = range(len(plan.tables))
    rows = [int(execute(plan.connection, f"SELECT sum(n) FROM groups_{table}")[0][0] or 0) for table in tables]
    if math.prod(rows) * factor >= _LARGEST:
        raise NotVerified(
            f"the join of tables with {', '.join(f'{number:,}' for number in rows)} rows may have more lines than can "
            "be counted exactly; nothing was proved: write k with fewer digits, or join earlier releases beforehand"
        )


def _collect(join: PivotJoin, queries: Iterable[str], describe: Callable[[Any], str]) -> tuple[int | float, list[str]]:
    """Find the worst figure of all queries, and what fails: the worst in words, and how many more there are."""
    best, order = ("min", "ASC") if join.distinct else ("max", "DESC")
    figures, worst, failing = [], [], 0
    for query in queries:
        figure, number = execute(
            join.plan.connection, f"SELECT {best}(figure), coalesce(sum(m) FILTER (NOT ok), 0) FROM ({query})"
        )[0]
        figures += [] if figure is None else [figure]
        if number:
            failing += int(number)
            some = f"SELECT * FROM ({query}) WHERE NOT ok ORDER BY figure {order}, who LIMIT {MOST_NAMED}"
            each = (
                f"SELECT * REPLACE (unnest(who) AS who) FROM ({some}) ORDER BY figure {order}, who LIMIT {MOST_NAMED}"
            )
            worst += [(line[1], line[0], describe(line)) for line in execute(join.plan.connection, each)]
    worst.sort(key=lambda line: (line[0] if join.distinct else -line[0], line[1]))
    sentences = [sentence for _, _, sentence in worst[:MOST_NAMED]]
    more = failing - len(sentences)
    figure = (min if join.distinct else max)(figures, default=0)
    return figure, sentences + ([f"{more:,} more are linked too closely"] if more else [])


# (X, Y)-anonymity: how many different values on y each value on x is linked to


def _anonymity_queries(join: PivotJoin, k: int) -> Iterator[str]:
    """Write queries that together give a line for each value on x, or for `m` that are alike: (who, figure, ok, m).

    `who` lists some of them, each as the number of x in the pivot and in each of the others.
    """
    for condition in join.make_batches():
        yield _anonymity_single(join, k) if join.single else _anonymity_several(join, k, condition)


def _anonymity_single(join: PivotJoin, k: int) -> str:
    """Count where each x of the pivot is of one kind j: all its units are linked to all units of others that match j.

    So there are as many different combinations as units here times units there. Where one factor is k or more, the
    product is; of such x the smallest will do, since it gives the smallest product.
    """
    here = f"SELECT any_value(j) AS j, x, CAST(sum(w) AS HUGEINT) AS f FROM groups_{join.pivot} GROUP BY x"
    there = f"SELECT j{join.xs}, sum(w) AS f FROM others GROUP BY j{join.xs}"
    for table, query, who in (("here", here, "[x]"), ("there", there, join.list_sql("x"))):
        execute(
            join.plan.connection,
            f"CREATE OR REPLACE TABLE {table} AS SELECT j, CASE WHEN f < {k} THEN f END AS step, min(f) AS f, "
            f"count(*) AS m, min({who}, {MOST_NAMED}) AS who FROM ({query}) GROUP BY j, step",
        )
    join.count_pairs("here", "there")
    return (
        f"SELECT {_EACH_WITH_EACH} AS who, a.f * b.f AS figure, figure >= {k} AS ok, CAST(a.m AS HUGEINT) * b.m AS m "
        "FROM here a JOIN there b ON b.j = a.j"
    )


def _anonymity_several(join: PivotJoin, k: int, condition: str) -> str:
    """Count where an x of the pivot is of several kinds, and the same combination of units may come from several.

    Where the pivot's rows are counted they differ from kind to kind, and nothing comes twice.
    """
    x, joins = f"g.x{join.xs}", f"FROM groups_{join.pivot} g JOIN others o ON o.j = g.j WHERE {condition}"
    if join.columns[join.pivot].keyed:
        values = f"SELECT {x}, sum(g.w * o.w) AS f {joins} GROUP BY {x}"
    else:
        units = f"{x}, g.u{join.us}"
        once = f"SELECT {units}, max(o.w) AS w {joins} GROUP BY {units}"
        values = f"SELECT x{join.xs}, sum(w) AS f FROM ({once}) GROUP BY x{join.xs}"
    return f"SELECT [[x] || {join.list_sql('x')}] AS who, f AS figure, f >= {k} AS ok, 1 AS m FROM ({values})"


# (X, Y)-linkability: the share of each protected value on y among the lines of the join that have a value on x


@dataclass(frozen=True)
class Thresholds:
    """How large the share of a protected value on y may be.

    `each` says that values differ in it: then table ``thresholds`` has the units (t0, t1, ...) with the fraction
    over / under of each. `lowest` is the lowest fraction, and `largest` the largest number of all fractions.
    """

    each: bool
    lowest: tuple[int, int]
    largest: int

    def join_sql(self, join: PivotJoin, own: str, others: str) -> str:
        """Write the join with the thresholds of a query's units: `own` is the pivot's, `others` a prefix of u1, ..."""
        if not self.each:
            over, under = self.lowest
            return f"CROSS JOIN (SELECT CAST({over} AS HUGEINT) AS over, CAST({under} AS HUGEINT) AS under)"
        agree = [
            f"h.t{table} = {own if table == join.pivot else f'{others}u{table}'}" for table in range(len(join.columns))
        ]
        return f"JOIN thresholds h ON {' AND '.join(agree)}"


def find_thresholds(join: PivotJoin, rule: StatedRequirement) -> Thresholds:
    """Read the thresholds of a requirement; make their table where not all values are protected alike."""
    values, bound = rule.get("values"), rule.get("k")
    if values is None:
        ratio = exact_ratio(rule["k"])
        return Thresholds(False, ratio, max(ratio))
    shares: Mapping[Any, Any] = values if isinstance(values, Mapping) else {_as_tuple(value): bound for value in values}
    ratios = {_as_tuple(value): exact_ratio(share) for value, share in shares.items()}
    _make_thresholds(join, rule, ratios)
    pairs = [*ratios.values()]
    if isinstance(values, Mapping) and bound is not None:
        pairs.append(exact_ratio(bound))
        _make_other_thresholds(join, pairs[-1])
    return Thresholds(True, min(pairs, key=lambda pair: Fraction(*pair)), max(map(max, pairs)))


def _as_tuple(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _make_thresholds(
    join: PivotJoin, rule: StatedRequirement, ratios: Mapping[tuple[str, ...], tuple[int, int]]
) -> None:
    """Find the units that are named, by their labels: a unit of a table is its columns of y, in their order."""
    columns = {
        f"v{i}": pa.array([encode_label(value[i]) for value in ratios], pa.string()) for i in range(len(rule["y"]))
    }
    for place, name in enumerate(("over", "under")):
        columns[name] = pa.array([str(pair[place]) for pair in ratios.values()], pa.string())
    join.plan.connection.register("protected", pa.table(columns))
    places = [join.plan.find(reference) for reference in rule["y"]]
    joins, units = "", ""
    for table, own in enumerate(join.columns):
        same = [
            f"y{table}.k{own.y.index(place.column)} = p.v{i}" for i, place in enumerate(places) if place.table == table
        ]
        joins += f" JOIN ys_{table} y{table} ON {' AND '.join(same) or 'true'}"
        units += f"y{table}.id AS t{table}, "
    numbers = "CAST(over AS HUGEINT) AS over, CAST(under AS HUGEINT) AS under"
    select = f"SELECT {units}{numbers} FROM protected p{joins}"
    execute(join.plan.connection, f"CREATE OR REPLACE TABLE thresholds AS {select}")


def _make_other_thresholds(join: PivotJoin, bound: tuple[int, int]) -> None:
    """Give all units that are not named one bound; only one table has a column in y."""
    tables = range(len(join.columns))
    units = "".join(f"y{table}.id AS t{table}, " for table in tables)
    product = " CROSS JOIN ".join(f"ys_{table} y{table}" for table in tables)
    same = " AND ".join(f"h.t{table} = a.t{table}" for table in tables)
    over, under = bound
    execute(
        join.plan.connection,
        f"INSERT INTO thresholds SELECT a.* FROM (SELECT {units}CAST({over} AS HUGEINT), CAST({under} AS HUGEINT) "
        f"FROM {product}) a ANTI JOIN thresholds h ON {same}",
    )


def _linkability_queries(join: PivotJoin, thresholds: Thresholds) -> Iterator[str]:
    """Write queries that give a line for each value on x, or for `m` alike: (who, figure, ok, m, over, under).

    The share is to be at most over / under. `who` lists some, each as the number of x in the pivot and in each of the
    others. Where every value is protected alike, the largest share of an x is that of all; or else there is a line for
    each unit, and `who` has x and unit of the pivot, x of each of the others, and the unit of each.
    """
    for condition in join.make_batches():
        if join.single:
            yield _linkability_single(join, thresholds)
        else:
            yield _linkability_several(join, thresholds, condition)


def _linkability_single(join: PivotJoin, thresholds: Thresholds) -> str:
    """Count where each x of the pivot is of one kind j, so that all its rows match the same.

    So a share in the join is a share here times a share there. One that is not above the lowest threshold stays below
    it, whatever it is multiplied with; only the largest of these matters, and only as a figure.
    """
    each, pivot = thresholds.each, f"groups_{join.pivot}"
    own = ", g.u" if each else ""  # how much of an x of the pivot each unit has, or the largest
    whole = f"SELECT x, CAST(sum(n) AS HUGEINT) AS whole FROM {pivot} GROUP BY x"
    here = (
        f"SELECT g.x{own}, any_value(g.j) AS j, any_value(t.whole) AS whole, CAST(max(g.w) AS HUGEINT) AS part "
        f"FROM {pivot} g JOIN ({whole}) t ON t.x = g.x GROUP BY g.x{own}"
    )
    # the same of the others, for each kind of the pivot that they match
    same = "".join(f" AND t.x{table} = o.x{table}" for table in join.others)
    keys = "".join(f", o.x{table}" for table in join.others) + (join.us if each else "")
    there = (
        f"SELECT o.j{keys}, any_value(t.n) AS whole, max(o.w) AS part FROM others o JOIN totals t ON t.j = o.j{same} "
        f"GROUP BY o.j{keys}"
    )
    _make_shares(join, "here", here, ", u" if each else "", f"[x{', u' if each else ''}]", thresholds.lowest)
    who = join.list_sql("x", "u") if each else join.list_sql("x")
    _make_shares(join, "there", there, join.us if each else "", who, thresholds.lowest)
    join.count_pairs("here", "there")
    fits = "coalesce(a.part * b.part * under <= a.whole * b.whole * over, true)"
    return (
        f"SELECT {_EACH_WITH_EACH} AS who, a.f * b.f AS figure, {fits} AS ok, CAST(a.m AS HUGEINT) * b.m AS m, over, "
        f"under FROM here a JOIN there b ON b.j = a.j {thresholds.join_sql(join, 'a.u', 'b.')}"
    )


def _make_shares(join: PivotJoin, table: str, query: str, units: str, who: str, lowest: tuple[int, int]) -> None:
    """Make a table of the different shares of a kind, with how often there is each (m).

    A share is part / whole in lowest terms; NULL where it is not above the lowest threshold.
    """
    over, under = lowest
    high = f"CASE WHEN CAST({under} AS HUGEINT) * part > CAST({over} AS HUGEINT) * whole THEN"
    execute(
        join.plan.connection,
        f"CREATE OR REPLACE TABLE {table} AS SELECT j{units}, {high} part // gcd(part, whole) END AS part, "
        f"{high} whole // gcd(part, whole) END AS whole, max(q.part / q.whole) AS f, count(*) AS m, "
        f"min({who}, {MOST_NAMED}) AS who FROM ({query}) q GROUP BY ALL",
    )


def _linkability_several(join: PivotJoin, thresholds: Thresholds, condition: str) -> str:
    """Count where an x of the pivot is of several kinds: lines are added up over all of them."""
    x = f"g.x{join.xs}"
    rows = f"(SELECT x, j, sum(n) AS n FROM groups_{join.pivot} GROUP BY x, j)"
    joined = f"{rows} g JOIN totals t ON t.j = g.j WHERE {condition}"
    wholes = f"SELECT {x}, sum(g.n * t.n) AS whole FROM {joined} GROUP BY {x}"
    parts, who = _unit_lines(join, condition), f"[x, u] || {join.list_sql('x', 'u')}"
    if not thresholds.each:
        parts = f"SELECT x{join.xs}, max(part) AS part FROM ({parts}) GROUP BY ALL"
        who = f"[x] || {join.list_sql('x')}"
    return (
        f"SELECT [{who}] AS who, part / whole AS figure, part * under <= whole * over AS ok, 1 AS m, over, under "
        f"FROM ({parts}) JOIN ({wholes}) USING (x{join.xs}) {thresholds.join_sql(join, 'u', '')}"
    )


def _unit_lines(join: PivotJoin, condition: str) -> str:
    """Count the lines of each x and unit: a(y, x) of Definition 3.2."""
    keys = f"g.x{join.xs}, g.u{join.us}"
    return (
        f"SELECT {keys}, sum(g.w * o.w) AS part FROM groups_{join.pivot} g JOIN others o ON o.j = g.j "
        f"WHERE {condition} GROUP BY {keys}"
    )


# Sentences about the few values on x that are linked too closely


def _describe_few(join: PivotJoin, rule: StatedRequirement) -> Callable[[Any], str]:
    """Say of a line of (X, Y)-anonymity which x is linked to how few values."""
    y = rule["y"]

    def describe(line: Any) -> str:
        who, figure = line[0], int(line[1])
        values = f"{figure:,} different {y[0]}" if len(y) == 1 else f"{figure:,} different values of {', '.join(y)}"
        return f"{_describe_x(join, rule, who)} is linked to {values}, fewer than {rule['k']:,}"

    return describe


def _describe_close(join: PivotJoin, rule: StatedRequirement, thresholds: Thresholds) -> Callable[[Any], str]:
    """Say of a line of (X, Y)-linkability which x is linked to which value with how large a share."""
    others = len(join.others)

    def describe(line: Any) -> str:
        who, share, allowed = line[0], line[1], line[4] / line[5]
        if thresholds.each:
            x, units = [who[0], *who[2 : 2 + others]], [who[1], *who[2 + others :]]
        else:
            x, units = who, _closest_units(join, who)
        y = _describe_y(join, rule, units)
        return f"{_describe_x(join, rule, x)} is linked to {y} with a share of {round(share, 4)}, above {allowed:.12g}"

    return describe


def _closest_units(join: PivotJoin, x: Sequence[int]) -> list[int]:
    """Find the units to which an x has the largest share, the pivot's first."""
    pairs = zip(join.others, x[1:], strict=True)
    condition = " AND ".join([f"g.x = {x[0]}", *(f"o.x{table} = {number}" for table, number in pairs)])
    lines = f"SELECT * FROM ({_unit_lines(join, condition)}) ORDER BY part DESC, u{join.us} LIMIT 1"
    return list(execute(join.plan.connection, lines)[0][1 + len(join.others) : -1])


def _describe_x(join: PivotJoin, rule: StatedRequirement, x: Sequence[int]) -> str:
    """Name a value on x by its numbers in the pivot and in the others; persons have no name."""
    cells = []
    for reference in rule["x"]:
        place = join.plan.find(reference)
        column = str(place.column)
        own = join.columns[place.table].x.index(column)
        cells.append("…" if _is_hidden(join, place.table, column) else _find_label(join, "xs", place.table, own, x))
    return describe_cells(rule["x"], cells)


def _describe_y(join: PivotJoin, rule: StatedRequirement, units: Sequence[int]) -> str:
    """Name a value on y by its numbers; rows and persons have no name."""
    parts = []
    for reference in rule["y"]:
        place = join.plan.find(reference)
        own = join.columns[place.table]
        if own.keyed or place.column is None or _is_hidden(join, place.table, place.column):
            parts.append(f"one {reference}")
        else:
            label = _find_label(join, "ys", place.table, own.y.index(place.column), units)
            parts.append(describe_cells([reference], [label]))
    return ", ".join(parts)


def _is_hidden(join: PivotJoin, table: int, column: str) -> bool:
    return table == 0 and column == join.plan.hidden


def _find_label(join: PivotJoin, kind: str, table: int, column: int, numbers: Sequence[int]) -> str | None:
    """Find a label in ``xs_i`` or ``ys_i``; `numbers` are those of the pivot and of the others, in their order."""
    number = numbers[[join.pivot, *join.others].index(table)]
    lines = execute(join.plan.connection, f"SELECT k{column} FROM {kind}_{table} WHERE id = {number}")
    return decode_label(lines[0][0])
