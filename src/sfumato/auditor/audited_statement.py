"""A statement that may be answered: SQL, read by sqlglot and taken over piece by piece, or refused.

Nothing of a statement is ever run. What stands on a short list is turned into an `AuditedStatement`: which figures, of
which cells, by which groups. Whatever is not on the list is refused with a sentence that says so, whatever the table
holds; so a refusal depends on the statement alone. The list is in the guide (docs/guides/auditing.md).

    select dept, avg(pay), count(*) from staff where age >= 40 and not dept in ('IT', 'Law') group by dept
"""

import logging
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import Dialect, exp, parse
from sqlglot.errors import SqlglotError

from sfumato.auditor.audited_table import AuditedTable, CellColumn, exact_number
from sfumato.core.numbers import read_decimal
from sfumato.errors import SfumatoError, did_you_mean, listing, quote

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it would quote statements on standard error

LONGEST_STATEMENT = 20_000
"""Characters of a statement."""
_DEEPEST = 200
"""Conditions within conditions."""
_AGGREGATES: Mapping[type[exp.Expression], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Max: "max",
    exp.Min: "min",
}
_COMPARISONS: Mapping[type[exp.Expression], Callable[[Any, Any], Any]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
_TURNED: Mapping[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
_PARTS = {"expressions", "from", "from_", "where", "group", "having", "order", "limit"}
"""Parts of a SELECT that are read; a statement that has another one is refused."""


class _LargeNulls(Dialect):
    """SQL in which NULL is sorted as if it were larger than all values, unless NULLS FIRST or NULLS LAST is said."""

    NULL_ORDERING = "nulls_are_large"


Truth = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Where a condition is true, and where it is false; where it is neither, it is unknown: bool[cells] each."""


class StatementRefused(SfumatoError):
    """A statement that is not answered whatever the table holds; says why in a sentence."""

    exit_code = 1


@dataclass(frozen=True)
class Figure:
    """What is computed for each group: `kind` is count, sum, avg, max, min, or group for the group's own value."""

    label: str
    kind: str
    column: str | None = None


@dataclass(frozen=True, eq=False)
class AuditedStatement:
    """A statement that was taken over.

    `cells` is bool[cells], where its condition holds. `counted` are values of a protected column: then it is of the
    rows that have one of them, and counts these alone. `kept` says which groups are shown, by their number of rows.
    `order` has the places of group columns, whether they go down and whether NULL comes first; `limit` the number of
    lines, or None.
    """

    figures: tuple[Figure, ...]
    cells: NDArray[np.bool_]
    groups: tuple[str, ...] = ()
    counted: tuple[str, frozenset[str]] | None = None
    kept: tuple[Callable[[int], bool], ...] = ()
    order: tuple[tuple[int, bool, bool], ...] = ()
    limit: int | None = None


def read_statement(sql: str, table: AuditedTable, name: str) -> AuditedStatement:
    """Take a statement over, about a table of some name.

    >>> from sfumato.auditor.audited_table import BlockValues
    >>> dept = CellColumn("dept", ("IT", "Law", None), np.array([0, 1, 2]))
    >>> pay = BlockValues(np.arange(3), np.array([3, 4, 2]), highest=np.array([5, 5, 5]))
    >>> staff = AuditedTable((dept,), np.array([3, 4, 2]), {"pay": pay})
    >>> read_statement("select sum(pay) where dept <> 'IT' -- or not", staff, "staff").cells.tolist()
    [False, True, False]
    >>> read_statement("select sum(pay) where pay > 9", staff, "staff")
    Traceback (most recent call last):
    sfumato.auditor.audited_statement.StatementRefused: a condition is about the protected column 'pay'; conditions may
    be about 'dept'
    """
    if len(sql) > LONGEST_STATEMENT:
        raise StatementRefused(f"a statement has at most {LONGEST_STATEMENT:,} characters")
    way_out = "ask as in: select sum(x) where a = 'b'"
    try:
        parsed = parse(sql, read=_LargeNulls)
    except (SqlglotError, RecursionError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "it cannot be read as SQL"
        raise StatementRefused(f"{reason}; {way_out}") from None
    statements = [one for one in parsed if one is not None and not isinstance(one, exp.Semicolon)]
    if len(statements) != 1:
        raise StatementRefused("one statement is answered at a time; ask with one SELECT")
    statement = statements[0]
    if not isinstance(statement, exp.Select):
        what = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT", exp.Subquery: "a subquery"}
        found = next((word for kind, word in what.items() if isinstance(statement, kind)), "it")
        raise StatementRefused(f"{found} is not answered; ask with one SELECT")
    try:
        return _StatementReader(table, name).read(statement)
    except RecursionError:
        raise StatementRefused(f"it is nested too deeply; {way_out}") from None


@dataclass
class _StatementReader:
    """Reads one statement about a table."""

    table: AuditedTable
    name: str
    counted: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    called: set[str] = field(default_factory=set)
    """What a column's name may have in front: the names of the table, in small letters."""

    def read(self, select: exp.Select) -> AuditedStatement:
        self._refuse_other_parts(select)
        self._check_table(select.args.get("from") or select.args.get("from_"))
        groups = self._groups(select.args.get("group"))
        figures = tuple(self._figure(one, groups) for one in select.expressions)
        if all(one.kind == "group" for one in figures):
            raise StatementRefused("it asks for no figure; ask for count, sum, avg, max or min of something")
        where = select.args.get("where")
        cells = np.ones(self.table.cells, np.bool_) if where is None else self._condition(where.this, top=True)[0]
        counted = self.counted[0] if self.counted else None
        if counted is not None and any(one.kind != "group" and one != _plain_count(one) for one in figures):
            raise StatementRefused(
                "with a value of a protected column in its condition, a statement may count(*) alone"
            )
        having = select.args.get("having")
        kept = () if having is None else tuple(self._having(having.this))
        if counted is not None and kept:
            raise StatementRefused("HAVING is about the number of rows, which is not known here")
        order = self._order(select.args.get("order"), figures, groups)
        return AuditedStatement(figures, cells, groups, counted, kept, order, self._limit(select.args.get("limit")))

    def _refuse_other_parts(self, select: exp.Select) -> None:
        for part, content in select.args.items():
            if part not in _PARTS and content:
                word = {"joins": "JOIN", "with": "WITH", "with_": "WITH", "laterals": "LATERAL"}.get(part, part.upper())
                raise StatementRefused(f"{word.rstrip('_')} is not answered; leave it out")

    def _check_table(self, source: exp.Expression | None) -> None:
        self.called = {self.name.lower(), "data"}
        if source is None:
            return
        table = source.this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            raise StatementRefused("subqueries and functions are no tables here; ask of the one table, or without FROM")
        others = [part for part, content in table.args.items() if content and part not in {"this", "alias"}]
        if others or table.name.lower() not in self.called:
            raise StatementRefused(f"the only table is {quote(self.name)}; FROM can be left out")
        alias = table.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise StatementRefused("columns have the names they have; leave the list of names out")
        self.called.add(table.alias.lower())

    # Which figures are asked for.

    def _groups(self, group: exp.Expression | None) -> tuple[str, ...]:
        if group is None:
            return ()
        if any(content for part, content in group.args.items() if part != "expressions"):
            raise StatementRefused("ROLLUP, CUBE and GROUPING SETS are not answered; name columns after GROUP BY")
        return tuple(dict.fromkeys(self._group_column(one) for one in group.expressions))

    def _group_column(self, node: exp.Expression) -> str:
        name = self._find_column(node)
        if name is None:
            raise StatementRefused("GROUP BY is of columns; name them")
        if name in self.table.protected:
            raise StatementRefused(f"{quote(name)} is protected; group by {self._known()}")
        return name

    def _figure(self, node: exp.Expression, groups: Sequence[str]) -> Figure:
        label = node.alias if isinstance(node, exp.Alias) else ""
        inner = node.this if isinstance(node, exp.Alias) else node
        column = self._find_column(inner)
        if column is not None:
            if column not in groups:
                raise StatementRefused(f"column {quote(column)} stands alone; ask for a figure of it, or GROUP BY it")
            return Figure(label or column, "group", column)
        kind = _AGGREGATES.get(type(inner))
        if kind is None:
            what = "MEDIAN" if isinstance(inner, exp.Median) else "functions, arithmetic, * and constants"
            raise StatementRefused(f"{what} cannot be asked for; ask for count, sum, avg, max or min of a column")
        if any(content for part, content in inner.args.items() if part not in {"this", "big_int"}):
            raise StatementRefused(f"{kind.upper()} is of one column; name that")
        if isinstance(inner.this, exp.Star):
            if kind != "count":
                raise StatementRefused(f"{kind.upper()} is of a column; name one")
            return Figure(label or "count(*)", "count")
        column = self._find_column(inner.this)
        if column is None:
            raise StatementRefused(
                f"{kind.upper()} is of a column as it is: no DISTINCT, no expression; a name with other signs than "
                "letters stands in double quotes"
            )
        if kind != "count":
            self._check_number(column, kind)
        return Figure(label or f"{kind}({column})", kind, column)

    def _check_number(self, column: str, kind: str) -> None:
        values = self.table.protected.get(column)
        if values is not None and not values.is_number:
            written = column if column.isidentifier() else f'"{column}"'
            raise StatementRefused(f"column {quote(column)} is not of numbers; count(*) where {written} = 'a value' is")
        if values is None and self._column(column).numbers is None:
            raise StatementRefused(f"{kind.upper()} is of numbers, and column {quote(column)} is not")

    def _order(
        self, order: exp.Expression | None, figures: Sequence[Figure], groups: Sequence[str]
    ) -> tuple[tuple[int, bool, bool], ...]:
        if order is None:
            return ()
        found = []
        for one in order.expressions:
            inner = one.this if isinstance(one, exp.Ordered) else one
            label = inner.name if isinstance(inner, exp.Column) and not inner.table else None
            named = [figure.column for figure in figures if figure.kind == "group" and figure.label == label]
            column = named[0] if named else self._find_column(inner) if isinstance(inner, exp.Column) else None
            if column not in groups:
                raise StatementRefused(
                    "ORDER BY is of the columns of GROUP BY alone: any other order would tell values"
                )
            if one.args.get("with_fill"):
                raise StatementRefused("WITH FILL is not answered; leave it out")
            down, nulls_first = bool(one.args.get("desc")), bool(one.args.get("nulls_first"))
            found.append((groups.index(str(column)), down, nulls_first))
        return tuple(found)

    def _limit(self, limit: exp.Expression | None) -> int | None:
        if limit is None:
            return None
        number, more = limit.args.get("expression"), limit.args.get("limit_options") or limit.args.get("expressions")
        if more or not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
            raise StatementRefused("LIMIT is a whole number, and nothing else")
        return int(number.this) if len(number.this) < 10 else None  # there are never as many lines

    def _having(self, node: exp.Expression) -> list[Callable[[int], bool]]:
        """Read conditions on the number of rows, which is known; any other would tell something of its column."""
        node = _bare(node)
        if isinstance(node, exp.And):
            return [*self._having(node.this), *self._having(node.expression)]
        compare = _COMPARISONS.get(type(node))
        if compare is not None and isinstance(node.this, exp.Count) and isinstance(node.this.this, exp.Star):
            number = self._constant(node.expression)
            if isinstance(number, Fraction):
                return [lambda rows, compare=compare, number=number: bool(compare(rows, number))]  # type: ignore[misc]
        raise StatementRefused(
            "HAVING is answered for count(*) compared with a number, joined by AND, and nothing else"
        )

    # Conditions, in the three values of SQL.

    def _condition(self, node: exp.Expression, *, top: bool = False, depth: int = 0) -> Truth:
        node = _bare(node)
        if depth > _DEEPEST:
            raise StatementRefused("its conditions are nested too deeply; ask more simply")
        match node:
            case exp.And():
                true, false = self._condition(node.this, top=top, depth=depth + 1)
                also, neither = self._condition(node.expression, top=top, depth=depth + 1)
                return true & also, false | neither
            case exp.Or():
                true, false = self._condition(node.this, depth=depth + 1)
                also, neither = self._condition(node.expression, depth=depth + 1)
                return true | also, false & neither
            case exp.Not():
                true, false = self._condition(node.this, depth=depth + 1)
                return false, true
            case exp.Boolean() | exp.Null():
                return self._same(bool(node.this) if isinstance(node, exp.Boolean) else None)
            case exp.Between() if not node.args.get("symmetric"):
                low, high = node.args["low"], node.args["high"]
                true, false = self._compare(exp.GTE(this=node.this, expression=low))
                also, neither = self._compare(exp.LTE(this=node.this, expression=high))
                return true & also, false | neither
            case exp.In():
                return self._membership(node, top=top)
            case exp.Is():
                return self._is(node)
        if type(node) in _COMPARISONS:
            if top and isinstance(node, exp.EQ) and not isinstance(_bare(node.this), exp.Column):
                node = exp.EQ(this=node.expression, expression=node.this)  # 'flu' = illness
            return self._count_by_value(node) if top and self._is_protected(node.this) else self._compare(node)
        raise StatementRefused(
            "its condition has something that is not answered; conditions compare a column with a constant (=, <>, <, "
            "<=, >, >=, BETWEEN, IN, IS NULL), joined by AND, OR and NOT"
        )

    def _same(self, value: bool | None) -> Truth:
        return np.full(self.table.cells, value is True), np.full(self.table.cells, value is False)

    def _compare(self, node: exp.Expression) -> Truth:
        """Compare a column with a constant, or two constants."""
        left, right, kind = _bare(node.this), _bare(node.expression), type(node)
        name = self._find_column(left)
        if name is None and self._find_column(right) is not None:
            left, right, kind = right, left, _TURNED.get(kind, kind)
            name = self._find_column(left)
        if name is None:
            one, other = self._constant(left), self._constant(right)
            if one is None or other is None:
                return self._same(None)
            if type(one) is not type(other):
                raise StatementRefused("constants of different kinds are compared; write both alike")
            return self._same(bool(_COMPARISONS[kind](one, other)))
        return self._select(self._condition_column(name), kind, self._constant(right))

    def _select(self, column: CellColumn, kind: type[exp.Expression], constant: Fraction | str | bool | None) -> Truth:
        """Compare a column with a constant: of its values in order those below it, equal to it and above it."""
        if constant is None:
            return self._same(None)
        value, places = self._value_like(column, constant, kind), column.places
        below = places < bisect_left(column.ordered, value)
        above = places >= bisect_right(column.ordered, value)
        true: Mapping[type[exp.Expression], NDArray[np.bool_]] = {
            exp.EQ: ~below & ~above,
            exp.NEQ: below | above,
            exp.LT: below,
            exp.LTE: ~above,
            exp.GT: above,
            exp.GTE: ~below,
        }
        known = places >= 0
        return known & true[kind], known & ~true[kind]

    def _value_like(self, column: CellColumn, constant: Fraction | str | bool, kind: type[exp.Expression]) -> Any:
        """Read a constant as a value of a column: a number where the column is of numbers, else a text."""
        if column.numbers is not None:
            number = constant if isinstance(constant, Fraction) else _number_of(constant)
            if number is None:
                raise StatementRefused(f"column {quote(column.name)} is of numbers; compare it with one")
            return number
        if isinstance(constant, Fraction) and kind is not exp.EQ and kind is not exp.NEQ:
            raise StatementRefused(f"column {quote(column.name)} is of texts; compare it with one, in quotes")
        return _write(constant)

    def _membership(self, node: exp.In, *, top: bool) -> Truth:
        if any(content for part, content in node.args.items() if part not in {"this", "expressions"}):
            raise StatementRefused("subqueries are not answered; write the values of IN as a list")
        if top and self._is_protected(node.this):
            return self._count_by_value(node)
        name = self._find_column(_bare(node.this))
        if name is None:
            raise StatementRefused("IN is of a column and a list of constants; name a column")
        column, wanted = self._condition_column(name), {self._constant(one) for one in node.expressions}
        values = {self._value_like(column, one, exp.EQ) for one in wanted if one is not None}
        chosen = [place for place, value in enumerate(column.ordered) if value in values]
        true = np.isin(column.places, chosen)
        return true, np.zeros_like(true) if None in wanted else (column.places >= 0) & ~true

    def _is(self, node: exp.Is) -> Truth:
        name, what = self._find_column(_bare(node.this)), node.expression
        if name is None or not isinstance(what, exp.Null | exp.Boolean):
            raise StatementRefused("IS is answered for a column and NULL; write another comparison")
        column = self._condition_column(name)
        if isinstance(what, exp.Boolean):
            true, _ = self._select(column, exp.EQ, bool(what.this))
            return true, ~true
        missing = column.places < 0
        return missing, ~missing

    # Rows that have a value of a protected column are counted, and nothing else is done with them.

    def _is_protected(self, node: exp.Expression) -> bool:
        return self._find_column(_bare(node)) in self.table.protected

    def _count_by_value(self, node: exp.Expression) -> Truth:
        name = str(self._find_column(_bare(node.this)))
        values = self.table.protected[name]
        constants: Iterable[exp.Expression] = node.expressions if isinstance(node, exp.In) else [node.expression]
        if not isinstance(node, exp.EQ | exp.In) or not values.values:
            raise self._about_protected(name)
        if self.counted:
            raise StatementRefused("one condition on one protected column is answered; leave the others out")
        wanted = [self._constant(_bare(one)) for one in constants]
        if values.is_number:
            asked = {one if isinstance(one, Fraction) else _number_of(one) for one in wanted if one is not None}
            chosen = frozenset(text for text in values.values if exact_number(text) in asked)
        else:
            chosen = frozenset(_write(one) for one in wanted if one is not None)
        self.counted.append((name, chosen))
        return self._same(True)

    def _about_protected(self, name: str) -> StatementRefused:
        return StatementRefused(
            f"a condition is about the protected column {quote(name)}; conditions may be about {self._known()}"
        )

    # Names and constants.

    def _known(self) -> str:
        return listing(one.name for one in self.table.columns)

    def _column(self, name: str) -> CellColumn:
        return next(one for one in self.table.columns if one.name == name)

    def _condition_column(self, name: str) -> CellColumn:
        if name in self.table.protected:
            raise self._about_protected(name)
        return self._column(name)

    def _find_column(self, node: exp.Expression | None) -> str | None:
        """Find the column of a name: as it is written, else without regard to case where it is not quoted."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None
        if node.args.get("db") or (node.table and node.table.lower() not in self.called):
            raise StatementRefused(f"{quote(node.table)} is not the table; leave it out before {quote(node.name)}")
        names = [*(one.name for one in self.table.columns), *self.table.protected]
        if node.name in names:
            return node.name
        alike = [name for name in names if name.lower() == node.name.lower()] if not node.this.quoted else []
        if len(alike) != 1:
            hint = did_you_mean(node.name, names) or f"; there are {listing(names)}"
            said = "; texts stand in single quotes" if node.this.quoted else ""
            raise StatementRefused(f"no column {quote(node.name)} can be asked about{hint}{said}")
        return alike[0]

    def _constant(self, node: exp.Expression) -> Fraction | str | bool | None:
        node = _bare(node)
        match node:
            case exp.Null():
                return None
            case exp.Boolean():
                return bool(node.this)
            case exp.Literal() if node.is_string:
                return str(node.this)
            case exp.Literal():
                return self._number(str(node.this))
            case exp.Neg():
                inner = self._constant(node.this)
                if isinstance(inner, Fraction):
                    return -inner
        raise StatementRefused("a column is compared with a constant alone; write a number, or a text in single quotes")

    def _number(self, text: str) -> Fraction:
        if read_decimal(text) is None:
            raise StatementRefused(f"{quote(text)} is no number that can be compared with")
        return exact_number(text)


def _plain_count(figure: Figure) -> Figure:
    return Figure(figure.label, "count")


def _bare(node: exp.Expression) -> exp.Expression:
    """Take brackets away."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _number_of(constant: str | bool | None) -> Fraction | None:
    if isinstance(constant, str) and read_decimal(constant) is not None:
        return exact_number(constant)
    return None


def _write(constant: Fraction | str | bool) -> str:
    """Write a constant as the text of a cell.

    >>> _write(True), _write(Fraction(5, 2)), _write(Fraction(7)), _write("x")
    ('true', '2.5', '7', 'x')
    """
    if isinstance(constant, bool):
        return "true" if constant else "false"
    if isinstance(constant, Fraction):
        return str(constant.numerator) if constant.denominator == 1 else str(float(constant))
    return constant
