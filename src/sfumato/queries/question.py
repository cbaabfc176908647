"""Questions: what is asked of a release, read by DuckDB's own parser and checked for what can be answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import InputError
from sfumato.queries.column import Column
from sfumato.queries.expression import NOTHING, NUMBER, Expression
from sfumato.queries.tree import ALLOWED, Node, check_call, read_tree, refuse
from sfumato.queries.walk import Walker

_FUNCTIONS = {"count_star": "count", "count": "count", "sum": "sum", "avg": "avg"}


@dataclass(frozen=True)
class Aggregate:
    """One figure that is asked for: ``count``, ``sum`` or ``avg`` of an argument, under a name."""

    function: str
    argument: Expression | None
    name: str


@dataclass(frozen=True)
class Question:
    """A query: figures of the rows for which all conditions hold, for each group of them.

    `names` are what the group columns are called in the answer.
    """

    aggregates: tuple[Aggregate, ...]
    conditions: tuple[Expression, ...]
    groups: tuple[Column, ...]
    names: tuple[str, ...]


def read_question(connection: Any, text: str, columns: Sequence[Column]) -> Question:
    """The question that a text asks of these columns, or a sentence that says what cannot be asked."""
    try:
        return _Reader(read_tree(connection, text), Walker(columns)).question()
    except RecursionError:
        raise InputError("the query nests too deeply; write it with fewer parentheses") from None


class _Reader:
    def __init__(self, node: Node, walker: Walker) -> None:
        self.node, self.walker = node, walker
        self.selected: list[Node] = node["select_list"]

    def question(self) -> Question:
        """All parts of the question, and the names in its answer."""
        groups = tuple(dict.fromkeys(self._group(item) for item in self.node["group_expressions"]))
        names = {column: column.name for column in groups} | self._named(groups)
        if len(set(names.values())) < len(names):
            raise InputError("two columns of the answer have one name; give one another name with AS")
        conditions = tuple(self.walker.conditions(self.node["where_clause"]))
        return Question(self._aggregates(), conditions, groups, tuple(names.values()))

    def _named(self, groups: Sequence[Column]) -> dict[Column, str]:
        """The columns in SELECT, with their names in the answer."""
        found = {}
        for item in self.selected:
            if item["class"] == "COLUMN_REF":
                column = self.walker.column(item)
                if column not in groups:
                    raise InputError(f"column {column.name!r} stands in SELECT and not in GROUP BY; group by it")
                found[column] = item["alias"] or column.name
        return found

    def _aggregates(self) -> tuple[Aggregate, ...]:
        """The figures in SELECT, each name once."""
        found: dict[str, Aggregate] = {}
        for one in (self._aggregate(item) for item in self.selected if item["class"] != "COLUMN_REF"):
            if found.setdefault(one.name, one) != one:
                raise InputError(f"two figures are called {one.name!r}; give one another name with AS")
        if not found:
            raise InputError(f"there is nothing to count or to sum; {ALLOWED}")
        return tuple(found.values())

    def _group(self, item: Node) -> Column:
        """A column to group by: by its name, by that of the answer, or by its place in SELECT."""
        if item["class"] == "CONSTANT" and item["literal"]["kind"] == "INTEGER":
            place = int(item["literal"]["text"])
            if not 1 <= place <= len(self.selected):
                raise InputError(f"GROUP BY {place} means nothing: SELECT does not have so many columns; name one")
            item = self.selected[place - 1]
        elif item["class"] == "COLUMN_REF":
            named = [each for each in self.selected if each["alias"] and [each["alias"]] == item["column_names"]]
            known = {column.name for column in self.walker.columns}
            item = named[0] if named and named[0]["alias"] not in known else item
        if item["class"] != "COLUMN_REF":
            raise InputError("only columns can be grouped by; name one, as in GROUP BY sex")
        column = self.walker.column(item)
        if column.sampled:
            raise InputError(
                f"column {column.name!r} holds ranges of more numbers than can be told apart, so there is nothing to "
                "group by; ask for parts of it with WHERE"
            )
        return column

    def _aggregate(self, item: Node) -> Aggregate:
        name = item.get("function_name")
        if item["class"] != "FUNCTION" or name not in _FUNCTIONS:
            raise self._refusal(item)
        check_call(item)
        parts = [self.walker.read(part["expression"]) for part in item["arguments"]]
        function = _FUNCTIONS[name]
        if len(parts) != (name != "count_star"):
            raise InputError(f"{function} takes one argument, as in {function}(x)")
        argument = parts[0] if parts else None
        if argument is not None and function != "count" and argument.kind not in {NUMBER, NOTHING}:
            raise InputError(f"{function} needs numbers, and {argument} is {argument.kind}")
        return Aggregate(function, argument, item["alias"] or f"{function}({argument or '*'})")

    def _refusal(self, item: Node) -> InputError:
        """Why something in SELECT cannot be asked: by what is in it, or else by what it is."""
        if item["class"] == "FUNCTION" and not item["is_operator"]:
            return refuse(f"the function {item['function_name']}")
        return refuse(f"{self.walker.read(item)} in SELECT")
