"""DuckDB's own reading of a query, a tree: what of SQL can be asked, and a sentence for the rest."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import duckdb

from sfumato.errors import InputError

Node = Mapping[str, Any]

ALLOWED = (
    "a query selects count(*), count(x), sum(x), avg(x) and columns, with WHERE (comparisons, BETWEEN, IN, LIKE, "
    "IS NULL, AND, OR, NOT, + - * / %) and GROUP BY"
)

NAMES = {
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


def refuse(what: str) -> InputError:
    """A refusal that says what can be asked."""
    return InputError(f"{what} cannot be asked of a release; {ALLOWED}")


def read_tree(connection: Any, text: str) -> Node:
    """The one SELECT that a text holds, or a sentence that says why there is none."""
    if "\0" in text or not _is_unicode(text):
        raise InputError("the query holds a character that is none; write it anew")
    (found,) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
    tree = json.loads(found)
    if tree["error"]:
        if "expression depth" in tree["error_message"]:
            raise RecursionError
        if tree.get("error_type") == "parser":
            raise InputError(f"the query cannot be read: {' '.join(tree['error_message'].split())}; {ALLOWED}")
        raise InputError(f"only SELECT can be asked; {ALLOWED}")
    statements = tree.get("statements", [])
    if len(statements) != 1:
        what = "there is no query" if not statements else "one query is answered at a time"
        raise InputError(f"{what}; {ALLOWED}")
    node: Node = _from_duckdb_1(statements[0]["node"]) if _IS_DUCKDB_1 else statements[0]["node"]
    _check(node)
    return node


def mentioned(connection: Any, text: str) -> frozenset[str]:
    """All names in a query that may be those of columns, in lower case; none where it cannot be read at all."""
    try:
        (found,) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
        left, names = [json.loads(found)], set[str]()
    except (duckdb.Error, UnicodeError, RecursionError):
        return frozenset()
    while left:
        part = left.pop()
        names |= {name.casefold() for name in part.get("column_names", [])} if isinstance(part, dict) else set()
        left += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    return frozenset(names)


def _is_unicode(text: str) -> bool:
    """Whether a text has no half of a character, as one from another encoding may have."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


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


def _check(node: Node) -> None:
    """Refuse every clause but SELECT, WHERE and GROUP BY."""
    if node["type"] != "SELECT_NODE":
        raise refuse("UNION and the like")
    if node["cte_map"]["map"]:
        raise refuse("WITH")
    if node["from_table"]["type"] != "EMPTY":
        raise InputError("leave FROM out: the release is what is asked")
    for modifier in node["modifiers"]:
        raise refuse(_MODIFIERS.get(modifier["type"], "this clause"))
    for clause in ("having", "qualify", "sample"):
        if node.get(clause) is not None:
            raise refuse(clause.upper())
    every = [list(range(len(node["group_expressions"])))]
    if node["aggregate_handling"] != "STANDARD_HANDLING" or node["group_sets"] not in ([], every):
        raise InputError("name the columns in GROUP BY one by one; ALL, ROLLUP, CUBE and sets cannot be asked")


def check_call(node: Node) -> None:
    """Refuse a function that is called with more than arguments."""
    extra = node.get("filter") or node.get("distinct") or (node.get("order_bys") or {}).get("orders")
    if extra:
        raise refuse("DISTINCT" if node.get("distinct") else "FILTER or ORDER BY within a function")
    if node.get("schema") or node.get("catalog"):
        raise refuse("a function of a schema")
