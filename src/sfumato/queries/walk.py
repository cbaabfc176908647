"""From DuckDB's own reading of a query, a tree, to expressions: what is allowed, and a sentence for the rest."""

from collections.abc import Callable, Iterator, Sequence

from sfumato.errors import InputError
from sfumato.queries.column import Column, find
from sfumato.queries.expression import (
    CONDITION,
    NOTHING,
    NUMBER,
    Expression,
    alike,
    condition,
    constant,
    made,
    number,
    of_column,
    text,
)
from sfumato.queries.tree import NAMES, Node, check_call, refuse

_COMPARED = {
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
_SUMS = {"+": "{0} + {1}", "-": "{0} - {1}", "*": "{0} * {1}", "/": "{0} / nullif({1}, 0)", "%": "{0} % nullif({1}, 0)"}
_DATES = frozenset({"date", "timestamp"})


class Walker:
    """Reads expressions over the columns of a release."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    def read(self, node: Node) -> Expression:
        """The expression that a part of the tree says."""
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
            raise refuse(NAMES.get(kind, kind.lower().replace("_", " ")))
        return readers[kind](node)

    def conditions(self, node: Node | None, *, negated: bool = False) -> Iterator[Expression]:
        """The conditions that must hold all at once."""
        if node is None:
            return
        kind, children = node.get("type"), node.get("children", [])
        if kind == "OPERATOR_NOT":
            yield from self.conditions(children[0], negated=not negated)
        elif kind == ("CONJUNCTION_OR" if negated else "CONJUNCTION_AND"):
            for child in children:
                yield from self.conditions(child, negated=negated)
        else:
            found = condition(self.read(node))
            yield made("NOT {0}", "NOT {0}", CONDITION, [found]) if negated else found

    def column(self, node: Node) -> Column:
        """The column that a part of the tree names."""
        names = node["column_names"]
        if len(names) != 1:
            raise InputError(f"{'.'.join(names)} has a table in its name; write {names[-1]} alone")
        return find(names[0], self.columns)

    def _column(self, node: Node) -> Expression:
        return of_column(self.column(node))

    def _constant(self, node: Node) -> Expression:
        literal = node["literal"]
        return constant(literal["kind"], literal.get("text", ""))

    def _comparison(self, node: Node) -> Expression:
        sign = _COMPARED.get(node["type"])
        if sign is None:
            raise refuse("this comparison")
        parts = alike([self.read(node["left"]), self.read(node["right"])])
        return made(f"({{0}} {sign} {{1}})", f"{{0}} {sign} {{1}}", CONDITION, parts)

    def _between(self, node: Node) -> Expression:
        parts = alike([self.read(node[part]) for part in ("input", "lower", "upper")])
        return made("({0} BETWEEN {1} AND {2})", "{0} BETWEEN {1} AND {2}", CONDITION, parts)

    def _conjunction(self, node: Node) -> Expression:
        word = " AND " if node["type"] == "CONJUNCTION_AND" else " OR "
        parts = [condition(self.read(child)) for child in node["children"]]
        shape = f"({word.join(f'{{{place}}}' for place in range(len(parts)))})"
        return made(shape, shape, CONDITION, parts)

    def _operator(self, node: Node) -> Expression:
        parts = [self.read(child) for child in node["children"]]
        match node["type"]:
            case "OPERATOR_NOT":
                return made("(NOT {0})", "NOT {0}", CONDITION, [condition(parts[0])])
            case "OPERATOR_IS_NULL":
                return made("({0} IS NULL)", "{0} IS NULL", CONDITION, parts)
            case "OPERATOR_IS_NOT_NULL":
                return made("({0} IS NOT NULL)", "{0} IS NOT NULL", CONDITION, parts)
            case "COMPARE_IN":
                among = ", ".join(f"{{{place}}}" for place in range(1, len(parts)))
                return made(f"({{0}} IN ({among}))", f"{{0}} IN ({among})", CONDITION, alike(parts))
        raise refuse(str(node["type"]).removeprefix("OPERATOR_").lower())

    def _function(self, node: Node) -> Expression:
        check_call(node)
        name, parts = node["function_name"], [self.read(part["expression"]) for part in node["arguments"]]
        if name in _LIKE and len(parts) == 2:
            shape = f"{{0}} {_LIKE[name]} {{1}}"
            return made(f"({shape})", shape, CONDITION, [text(part) for part in parts])
        if name in _SUMS and len(parts) == 2:
            parts = [number(part, name) for part in parts]
            return made(f"({_SUMS[name]})", f"({{0}} {name} {{1}})", NUMBER, parts)
        if name in {"-", "+"} and len(parts) == 1:
            return _signed(name, parts[0])
        if name in {"count", "count_star", "sum", "avg"}:
            raise InputError(f"{name.removesuffix('_star')} stands by itself in SELECT, and not within something else")
        raise refuse(f"the {'operator' if node.get('is_operator') else 'function'} {name}")

    def _cast(self, node: Node) -> Expression:
        """A date is a text in ISO form: DATE '2020-03-01' is '2020-03-01'."""
        child = node["child"]
        text_of = child.get("literal", {}) if child.get("class") == "CONSTANT" else {}
        if str(node["type_expr"].get("type_name", "")).lower() in _DATES and text_of.get("kind") == "STRING":
            return constant("STRING", text_of["text"])
        raise refuse("a cast")


def _signed(sign: str, part: Expression) -> Expression:
    if part.kind == NOTHING:
        return part
    if part.kind == NUMBER and part.literal is not None and part.literal[0] not in "+-":
        literal = f"{sign}{part.literal}"
        return Expression(f"({sign}{part.sql})", literal, NUMBER, real=part.real, literal=literal)
    return made(f"({sign}{{0}})", f"{sign}{{0}}", NUMBER, [number(part, sign)])
