"""Read a query: DuckDB's own parser makes a tree of its text, and the tree is checked and read as a `ParsedQuery`.

Only what can be answered from a release is read: COUNT, SUM and AVG with WHERE and GROUP BY, over expressions of the
columns. Everything else is refused by a sentence that says what can be asked. Expressions know the kind of their value,
so that what would only look right, such as a number compared with texts, is refused as well.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import duckdb

from sfumato.errors import InputError
from sfumato.queries.query_database import quote_name, quote_text
from sfumato.queries.query_tables import QueryColumn, find_column

Node = Mapping[str, Any]
"""A part of DuckDB's tree, as JSON."""

_ALLOWED = (
    "a query selects count(*), count(x), sum(x), avg(x) and columns, with WHERE (comparisons, BETWEEN, IN, LIKE, "
    "IS NULL, AND, OR, NOT, + - * / %) and GROUP BY"
)
_CLASSES = {
    "SUBQUERY": "a query within a query",
    "WINDOW": "a window function (OVER)",
    "CASE": "CASE",
    "STAR": "*",
    "PARAMETER": "a parameter",
    "LAMBDA": "a lambda",
}
"""What parts of a query are called that cannot be asked, by their class."""
_IS_DUCKDB_1 = duckdb.__version__.startswith("1.")
_MODIFIERS = {
    "ORDER_MODIFIER": "ORDER BY (answers come in the order of their groups)",
    "LIMIT_MODIFIER": "LIMIT",
    "LIMIT_PERCENT_MODIFIER": "LIMIT",
    "DISTINCT_MODIFIER": "DISTINCT",
}
_AGGREGATES = {"count_star": "count", "count": "count", "sum": "sum", "avg": "avg"}
_COMPARISONS = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "<>",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
    "COMPARE_DISTINCT_FROM": "IS DISTINCT FROM",
    "COMPARE_NOT_DISTINCT_FROM": "IS NOT DISTINCT FROM",
}
_LIKE = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}
_ARITHMETIC = {
    "+": "{0} + {1}",
    "-": "{0} - {1}",
    "*": "{0} * {1}",
    "/": "{0} / nullif({1}, 0)",
    "%": "{0} % nullif({1}, 0)",
}
_DATES = frozenset({"date", "timestamp"})

NUMBER, TEXT, CONDITION, NULL = "a number", "a text", "a condition", "NULL"
"""The kinds of values."""
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Expression:
    """A part of a query: `sql` that runs, its `text` as people write it, its `kind`, and the columns it is about.

    `real` says that a number is one of floating point already; `literal` is the text of a constant.
    """

    sql: str
    text: str
    kind: str
    columns: frozenset[int] = frozenset()
    real: bool = False
    literal: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Aggregate:
    """One figure that is asked for: ``count``, ``sum`` or ``avg`` of an argument, under a name."""

    function: str
    argument: Expression | None
    name: str


@dataclass(frozen=True)
class ParsedQuery:
    """A query: figures of the rows for which all conditions hold, for each group of them.

    `names` are what the group columns are called in the answer.
    """

    aggregates: tuple[Aggregate, ...]
    conditions: tuple[Expression, ...]
    groups: tuple[QueryColumn, ...]
    names: tuple[str, ...]


def read_query(connection: Any, text: str, columns: Sequence[QueryColumn]) -> ParsedQuery:
    """Read a query about these columns, or raise a sentence that says what cannot be asked."""
    try:
        return _QueryReader(_parse(connection, text), columns).read()
    except RecursionError:
        raise InputError("the query nests too deeply; write it with fewer parentheses") from None


def find_mentioned_names(connection: Any, text: str) -> frozenset[str]:
    """Find all names in a query that may be those of columns, in lower case; none where it cannot be read at all."""
    check_query_size(text)
    try:
        (tree,) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        parts, names = [json.loads(tree)], set[str]()
    except (duckdb.Error, UnicodeError, RecursionError):
        return frozenset()
    while parts:
        part = parts.pop()
        names |= {name.casefold() for name in part.get("column_names", [])} if isinstance(part, dict) else set()
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    return frozenset(names)


_LONGEST = 100_000
_DEEPEST = 500
_BRACKETS = re.compile(r"""'[^']*'|"[^"]*"|[(\[{)\]}]""")


def check_query_size(text: str) -> None:
    """Refuse a query that is too long or nests too deeply for a parser, which would take gigabytes for it.

    >>> check_query_size("select " + "(" * 501)
    Traceback (most recent call last):
    sfumato.errors.InputError: the query nests too deeply: 500 parentheses may be open at once; ...
    """
    if len(text) > _LONGEST:
        raise InputError(f"the query has {len(text):,} characters, and no more than {_LONGEST:,} are read; shorten it")
    depth = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "([{" else -1 if bracket in ")]}" else 0
        if depth > _DEEPEST:
            fault = f"the query nests too deeply: {_DEEPEST} parentheses may be open at once"
            raise InputError(f"{fault}; write it with fewer parentheses")


def _refuse(what: str) -> InputError:
    return InputError(f"{what} cannot be asked of a release; {_ALLOWED}")


# The tree, and the clauses that it may have.


def _parse(connection: Any, text: str) -> Node:
    """Parse the one SELECT that a text holds, or raise a sentence that says why there is none."""
    check_query_size(text)
    # half of a character, as a text in another encoding may have
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError("the query holds a character that is none; write it anew")
    (serialized,) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
    tree = json.loads(serialized)
    if tree["error"]:
        if "expression depth" in tree["error_message"]:
            raise RecursionError
        if tree.get("error_type") == "parser":
            raise InputError(f"the query cannot be read: {' '.join(tree['error_message'].split())}; {_ALLOWED}")
        raise InputError(f"only SELECT can be asked; {_ALLOWED}")
    statements = tree.get("statements", [])
    if len(statements) != 1:
        what = "there is no query" if not statements else "one query is answered at a time"
        raise InputError(f"{what}; {_ALLOWED}")
    node: Node = _from_duckdb_1(statements[0]["node"]) if _IS_DUCKDB_1 else statements[0]["node"]
    _check_clauses(node)
    return node


def _from_duckdb_1(part: Any) -> Any:
    """Spell the tree of a query that DuckDB 1 writes as DuckDB 2 does.

    DuckDB 2 keeps constants as they were typed, names the arguments of functions, writes NOT IN as NOT of IN, and TRUE
    as a constant; DuckDB 1 has values, children, an operator of its own, and a cast of 't'.

    >>> _from_duckdb_1({"class": "CONSTANT", "value": {"type": {"id": "INTEGER"}, "is_null": False, "value": 37}})
    {'class': 'CONSTANT', 'literal': {'kind': 'INTEGER', 'text': '37'}}
    """
    if isinstance(part, list):
        return [_from_duckdb_1(each) for each in part]
    if not isinstance(part, dict):
        return part
    node = {key: child if key == "value" else _from_duckdb_1(child) for key, child in part.items()}
    match node:
        case {"class": "CONSTANT", "value": value}:
            del node["value"]
            return node | {"literal": _literal(value)}
        case {"class": "FUNCTION", "children": children}:
            del node["children"]
            return node | {"arguments": [{"name": "", "expression": child} for child in children]}
        case {"class": "OPERATOR", "type": "COMPARE_NOT_IN"}:
            return node | {"type": "OPERATOR_NOT", "children": [node | {"type": "COMPARE_IN"}]}
        case {"class": "CAST", "cast_type": {"id": "BOOLEAN"}, "child": {"literal": {"text": "t" | "f" as sign}}}:
            text = "true" if sign == "t" else "false"
            return {"class": "CONSTANT", "type": "VALUE_CONSTANT", "literal": {"kind": "BOOLEAN", "text": text}}
        case {"class": "CAST", "cast_type": {"id": name}}:
            return node | {"type_expr": {"type_name": name}}
    return node


def _literal(value: Mapping[str, Any]) -> dict[str, str]:
    """Spell a value of DuckDB 1 as somebody types it: 1.50 is 150 with a scale of 2, large numbers are two halves."""
    if value["is_null"]:
        return {"kind": "NULL_LITERAL", "text": ""}
    kind, content = value["type"]["id"], value["value"]
    if isinstance(content, dict):
        content = (content["upper"] << 64) + content["lower"]
    if kind == "DECIMAL":
        return {"kind": "NUMERIC", "text": f"{Decimal(content).scaleb(-value['type']['type_info']['scale']):f}"}
    kinds = {"VARCHAR": "STRING", "DOUBLE": "NUMERIC"}
    return {"kind": kinds.get(kind, "INTEGER" if isinstance(content, int) else kind), "text": str(content)}


def _check_clauses(node: Node) -> None:
    """Refuse every clause but SELECT, WHERE and GROUP BY."""
    if node["type"] != "SELECT_NODE":
        raise _refuse("UNION and the like")
    if node["cte_map"]["map"]:
        raise _refuse("WITH")
    if node["from_table"]["type"] != "EMPTY":
        raise InputError("leave FROM out: the release is what is asked")
    for modifier in node["modifiers"]:
        raise _refuse(_MODIFIERS.get(modifier["type"], "this clause"))
    for clause in ("having", "qualify", "sample"):
        if node.get(clause) is not None:
            raise _refuse(clause.upper())
    every = [list(range(len(node["group_expressions"])))]
    if node["aggregate_handling"] != "STANDARD_HANDLING" or node["group_sets"] not in ([], every):
        raise InputError("name the columns in GROUP BY one by one; ALL, ROLLUP, CUBE and sets cannot be asked")


def _check_call(node: Node) -> None:
    """Refuse a function that is called with more than arguments."""
    extra = node.get("filter") or node.get("distinct") or (node.get("order_bys") or {}).get("orders")
    if extra:
        raise _refuse("DISTINCT" if node.get("distinct") else "FILTER or ORDER BY within a function")
    if node.get("schema") or node.get("catalog"):
        raise _refuse("a function of a schema")


class _QueryReader:
    """Reads the clauses of a SELECT over the columns of a release."""

    def __init__(self, node: Node, columns: Sequence[QueryColumn]) -> None:
        self.node, self.expressions = node, _ExpressionReader(columns)
        self.selected: list[Node] = node["select_list"]

    def read(self) -> ParsedQuery:
        """Read all clauses, and the names in the answer."""
        groups = tuple(dict.fromkeys(self._group(item) for item in self.node["group_expressions"]))
        names = {column: column.name for column in groups}
        for item in self.selected:
            if item["class"] == "COLUMN_REF":
                column = self.expressions.find_column(item)
                if column not in groups:
                    raise InputError(f"column {column.name!r} stands in SELECT and not in GROUP BY; group by it")
                names[column] = item["alias"] or column.name
        if len(set(names.values())) < len(names):
            raise InputError("two columns of the answer have one name; give one another name with AS")
        conditions = tuple(self.expressions.conditions(self.node["where_clause"]))
        aggregates: dict[str, Aggregate] = {}
        for aggregate in (self._aggregate(item) for item in self.selected if item["class"] != "COLUMN_REF"):
            if aggregates.setdefault(aggregate.name, aggregate) != aggregate:
                raise InputError(f"two figures are called {aggregate.name!r}; give one another name with AS")
        if not aggregates:
            raise InputError(f"there is nothing to count or to sum; {_ALLOWED}")
        return ParsedQuery(tuple(aggregates.values()), conditions, groups, tuple(names.values()))

    def _group(self, item: Node) -> QueryColumn:
        """Read a column to group by: by its name, by that of the answer, or by its place in SELECT."""
        if item["class"] == "CONSTANT" and item["literal"]["kind"] == "INTEGER":
            place = int(item["literal"]["text"])
            if not 1 <= place <= len(self.selected):
                raise InputError(f"GROUP BY {place} means nothing: SELECT does not have so many columns; name one")
            item = self.selected[place - 1]
        elif item["class"] == "COLUMN_REF":
            same = [each for each in self.selected if each["alias"] and [each["alias"]] == item["column_names"]]
            columns = {column.name for column in self.expressions.columns}
            item = same[0] if same and same[0]["alias"] not in columns else item
        if item["class"] != "COLUMN_REF":
            raise InputError("only columns can be grouped by; name one, as in GROUP BY sex")
        column = self.expressions.find_column(item)
        if column.sampled:
            raise InputError(
                f"column {column.name!r} holds ranges of more numbers than can be told apart, so there is nothing to "
                "group by; ask for parts of it with WHERE"
            )
        return column

    def _aggregate(self, item: Node) -> Aggregate:
        name = item.get("function_name")
        if item["class"] != "FUNCTION" or name not in _AGGREGATES:
            if item["class"] == "FUNCTION" and not item["is_operator"]:
                raise _refuse(f"the function {item['function_name']}")
            raise _refuse(f"{self.expressions.read(item)} in SELECT")  # or by something within it
        _check_call(item)
        arguments = [self.expressions.read(part["expression"]) for part in item["arguments"]]
        function = _AGGREGATES[name]
        if len(arguments) != (name != "count_star"):
            raise InputError(f"{function} takes one argument, as in {function}(x)")
        argument = arguments[0] if arguments else None
        if argument is not None and function != "count" and argument.kind not in {NUMBER, NULL}:
            raise InputError(f"{function} needs numbers, and {argument} is {argument.kind}")
        return Aggregate(function, argument, item["alias"] or f"{function}({argument or '*'})")


class _ExpressionReader:
    """Reads expressions over the columns of a release."""

    def __init__(self, columns: Sequence[QueryColumn]) -> None:
        self.columns = columns

    def read(self, node: Node) -> Expression:
        """Read the expression of a part of the tree."""
        readers: dict[str, Callable[[Node], Expression]] = {
            "COLUMN_REF": self._column,
            "CONSTANT": self._constant,
            "COMPARISON": self._comparison,
            "BETWEEN": self._between,
            "CONJUNCTION": self._conjunction,
            "OPERATOR": self._operator,
            "FUNCTION": self._function,
            "CAST": self._cast,
        }
        kind = str(node.get("class"))
        if kind not in readers:
            raise _refuse(_CLASSES.get(kind, kind.lower().replace("_", " ")))
        return readers[kind](node)

    def conditions(self, node: Node | None, *, negated: bool = False) -> Iterator[Expression]:
        """Read the conditions that must hold all at once."""
        if node is None:
            return
        kind, children = node.get("type"), node.get("children", [])
        if kind == "OPERATOR_NOT":
            yield from self.conditions(children[0], negated=not negated)
        elif kind == ("CONJUNCTION_OR" if negated else "CONJUNCTION_AND"):
            for child in children:
                yield from self.conditions(child, negated=negated)
        else:
            condition = _as_condition(self.read(node))
            yield _combine("NOT {0}", "NOT {0}", CONDITION, [condition]) if negated else condition

    def find_column(self, node: Node) -> QueryColumn:
        """Find the column that a part of the tree names."""
        names = node["column_names"]
        if len(names) != 1:
            raise InputError(f"{'.'.join(names)} has a table in its name; write {names[-1]} alone")
        return find_column(names[0], self.columns)

    def _column(self, node: Node) -> Expression:
        column = self.find_column(node)
        kind = NULL if column.empty else NUMBER if column.number else TEXT
        sql = "NULL" if column.empty else column.value
        return Expression(sql, quote_name(column.name), kind, frozenset({column.place}))

    def _constant(self, node: Node) -> Expression:
        literal = node["literal"]
        return _read_constant(literal["kind"], literal.get("text", ""))

    def _comparison(self, node: Node) -> Expression:
        sign = _COMPARISONS.get(node["type"])
        if sign is None:
            raise _refuse("this comparison")
        parts = _as_one_kind([self.read(node["left"]), self.read(node["right"])])
        return _combine(f"({{0}} {sign} {{1}})", f"{{0}} {sign} {{1}}", CONDITION, parts)

    def _between(self, node: Node) -> Expression:
        parts = _as_one_kind([self.read(node[part]) for part in ("input", "lower", "upper")])
        return _combine("({0} BETWEEN {1} AND {2})", "{0} BETWEEN {1} AND {2}", CONDITION, parts)

    def _conjunction(self, node: Node) -> Expression:
        word = " AND " if node["type"] == "CONJUNCTION_AND" else " OR "
        parts = [_as_condition(self.read(child)) for child in node["children"]]
        shape = f"({word.join(f'{{{place}}}' for place in range(len(parts)))})"
        return _combine(shape, shape, CONDITION, parts)

    def _operator(self, node: Node) -> Expression:
        parts = [self.read(child) for child in node["children"]]
        match node["type"]:
            case "OPERATOR_NOT":
                return _combine("(NOT {0})", "NOT {0}", CONDITION, [_as_condition(parts[0])])
            case "OPERATOR_IS_NULL":
                return _combine("({0} IS NULL)", "{0} IS NULL", CONDITION, parts)
            case "OPERATOR_IS_NOT_NULL":
                return _combine("({0} IS NOT NULL)", "{0} IS NOT NULL", CONDITION, parts)
            case "COMPARE_IN":
                among = ", ".join(f"{{{place}}}" for place in range(1, len(parts)))
                return _combine(f"({{0}} IN ({among}))", f"{{0}} IN ({among})", CONDITION, _as_one_kind(parts))
        raise _refuse(str(node["type"]).removeprefix("OPERATOR_").lower())

    def _function(self, node: Node) -> Expression:
        _check_call(node)
        name, parts = node["function_name"], [self.read(part["expression"]) for part in node["arguments"]]
        if name in _LIKE and len(parts) == 2:
            shape = f"{{0}} {_LIKE[name]} {{1}}"
            return _combine(f"({shape})", shape, CONDITION, [_as_text(part) for part in parts])
        if name in _ARITHMETIC and len(parts) == 2:
            parts = [as_number(part, name) for part in parts]
            return _combine(f"({_ARITHMETIC[name]})", f"({{0}} {name} {{1}})", NUMBER, parts)
        if name in {"-", "+"} and len(parts) == 1:
            return _with_sign(name, parts[0])
        if name in {"count", "count_star", "sum", "avg"}:
            raise InputError(f"{name.removesuffix('_star')} stands by itself in SELECT, and not within something else")
        raise _refuse(f"the {'operator' if node.get('is_operator') else 'function'} {name}")

    def _cast(self, node: Node) -> Expression:
        """Read a date as a text in ISO form: DATE '2020-03-01' is '2020-03-01'."""
        child = node["child"]
        literal = child.get("literal", {}) if child.get("class") == "CONSTANT" else {}
        if str(node["type_expr"].get("type_name", "")).lower() in _DATES and literal.get("kind") == "STRING":
            return _read_constant("STRING", literal["text"])
        raise _refuse("a cast")


# Expressions of other expressions, and as values of some kind.


def _combine(sql: str, text: str, kind: str, parts: Sequence[Expression]) -> Expression:
    """Make an expression of others; `sql` and `text` have a place for each, in order."""
    columns = frozenset().union(*(part.columns for part in parts))
    whole_sql, whole_text = sql.format(*(p.sql for p in parts)), text.format(*(p.text for p in parts))
    return Expression(whole_sql, whole_text, kind, columns, real=kind == NUMBER)


def _read_constant(kind: str, text: str) -> Expression:
    """Read a constant of one of DuckDB's kinds of literals.

    >>> _read_constant("STRING", "it's").sql, _read_constant("NUMERIC", "1.5").sql
    ("'it''s'", 'CAST(1.5 AS DOUBLE)')
    >>> _read_constant("NULL_LITERAL", "").kind
    'NULL'
    """
    match kind:
        case "STRING":
            return Expression(quote_text(text), quote_text(text), TEXT, literal=text)
        case "INTEGER":
            return Expression(text, text, NUMBER, literal=text)
        case "NUMERIC":
            return Expression(f"CAST({text} AS DOUBLE)", text, NUMBER, real=True, literal=text)
        case "BOOLEAN":
            return Expression(text, text, CONDITION, literal=text)
        case "NULL_LITERAL":
            return Expression("NULL", "NULL", NULL, literal="")
    raise InputError(f"{text!r} is no number and no text; a constant is written as 37, 1.5 or 'flu'")


def _with_sign(sign: str, part: Expression) -> Expression:
    if part.kind == NULL:
        return part
    if part.kind == NUMBER and part.literal is not None and part.literal[0] not in "+-":
        literal = f"{sign}{part.literal}"
        return Expression(f"({sign}{part.sql})", literal, NUMBER, real=part.real, literal=literal)
    return _combine(f"({sign}{{0}})", f"{sign}{{0}}", NUMBER, [as_number(part, sign)])


def _as_one_kind(parts: Sequence[Expression]) -> list[Expression]:
    """Take expressions that are compared with each other as values of one kind.

    A constant adapts to what it is compared with where that says the same: '37' is a number beside a column of
    numbers. What would only look right, such as a number beside a column of texts, is refused.
    """
    leading = next((part for part in parts if part.literal is None), parts[0])
    return [_adapt(part, leading) for part in parts]


def _adapt(part: Expression, leading: Expression) -> Expression:
    if NULL in {part.kind, leading.kind} or part.kind == leading.kind:
        return part
    if leading.kind == NUMBER and part.literal is not None and _NUMERAL.fullmatch(part.literal):
        return replace(part, sql=f"CAST({part.literal} AS DOUBLE)", kind=NUMBER, real=True)
    if leading.kind == TEXT and part.kind == CONDITION and part.literal is not None:
        return replace(part, sql=quote_text(part.literal), kind=TEXT)
    if leading.kind == TEXT and part.kind == NUMBER and part.literal is not None:
        raise InputError(f"{leading} holds texts; write {quote_text(part.literal)} in quotes to compare it with them")
    raise InputError(f"{leading} is {leading.kind} and {part} is {part.kind}; compare like with like")


def as_number(part: Expression, why: str) -> Expression:
    """Take an expression as a floating number, or refuse it and say what needs one."""
    if part.kind == NULL:
        return replace(part, sql="CAST(NULL AS DOUBLE)")
    if part.kind != NUMBER:
        raise InputError(f"{why} needs numbers, and {part} is {part.kind}")
    return part if part.real else replace(part, sql=f"CAST({part.sql} AS DOUBLE)", real=True)


def _as_text(part: Expression) -> Expression:
    """Take an expression as a text: a number by its digits."""
    if part.kind == CONDITION:
        raise InputError(f"LIKE compares texts, and {part} is a condition")
    return part if part.kind == TEXT else replace(part, sql=f"CAST({part.sql} AS VARCHAR)", kind=TEXT)


def _as_condition(part: Expression) -> Expression:
    """Take an expression as a condition, or refuse it."""
    if part.kind not in {CONDITION, NULL}:
        raise InputError(f"{part} is {part.kind} and no condition; compare it with something, as in {part} = …")
    return replace(part, sql="CAST(NULL AS BOOLEAN)") if part.kind == NULL else part
