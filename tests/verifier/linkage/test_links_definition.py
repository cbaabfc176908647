"""(X, Y)-privacy over the join with earlier releases, against a join that is made row by row."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.verifier import Finding, PriorRelease, Promise, verify_table
from sfumato.verifier.linkage import alike_joins, xy_checks

pytestmark = pytest.mark.slow

Row = dict[str, str | None]
Rows = list[Row]
Rule = dict[str, Any]

TREES: dict[str, list[list[str | None]]] = {
    "a": [["a1", "A", "*"], ["a2", "A", "*"], ["a3", "B", "*"], ["A", "*"], [None, "B", "*"], ["*"]],
    "b": [["b1", "*"], ["b2", "*"], ["*"], [None, "*"]],
}
LABELS: dict[str, tuple[str | None, ...]] = {
    "a": ("a1", "a2", "a3", "A", "B", "*", None, "odd"),
    "b": ("b1", "b2", "*", None, ""),
    "q": ("x", "y", "NULL"),
    "s": ("HIV", "flu", None),
    "c": ("c1", "c2", "*"),
    "r": ("r1", "r2"),
    "v": ("=v", "'v", "a'b"),
}
CURRENT, FIRST, SECOND = ("a", "b", "q", "s"), ("a", "b", "c", "r"), ("a", "c", "v")
RULES = (("a=A", "one.r=r1"), ("one.c=c1", "two.v=a'b"), ("two.a=a1", "s=HIV"), ("b=b1", "two.v='v"))


def way(column: str, label: str | None) -> list[str | None]:
    """The path of a label: that of the tree, or itself and the root."""
    known = next((path for path in TREES.get(column, []) if path[0] == label), None)
    return known or ([label] if label == "*" else [label, "*"])


class Case:
    """A current table and up to two earlier ones; what they share is joined, but for what is left out."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.draw = draw
        self.names = [None, "one", "two"][: draw.choice([1, 2, 2, 2, 3, 3])]
        kinds = [CURRENT, FIRST, SECOND][: len(self.names)]
        few = {name: draw.sample(values, draw.randint(1, len(values))) for name, values in LABELS.items()}
        self.tables = [
            [{name: draw.choice(few[name]) for name in columns} for _ in range(draw.randint(0, 9))] for columns in kinds
        ]
        self.columns = kinds
        self.left = {"b"} if draw.random() < 0.3 else set()
        tables = {"one", "two"} & {*self.names}
        fitting = [rule for rule in RULES if all(side.split(".")[0] in tables or "." not in side for side in rule)]
        self.rules = draw.sample(fitting, draw.randint(0, len(fitting)))

    def shared(self, one: int, other: int) -> set[str]:
        """The columns on which two tables are joined."""
        return ({*self.columns[one]} & {*self.columns[other]}) - self.left

    def place(self, reference: str) -> tuple[int, str]:
        """A column of a table, by its name in a requirement."""
        name, dot, column = reference.partition(".")
        return (self.names.index(name), column) if dot else (0, name)

    def matches(self, rows: Sequence[tuple[int, Row]]) -> bool:
        """The consistency predicate and the rules, for every pair of rows."""
        for (i, (_, one)), (j, (_, other)) in itertools.combinations(enumerate(rows), 2):
            for name in self.shared(i, j):
                if one[name] not in way(name, other[name]) and other[name] not in way(name, one[name]):
                    return False
        return not any(all(self._below(side, rows) for side in rule) for rule in self.rules)

    def _below(self, side: str, rows: Sequence[tuple[int, Row]]) -> bool:
        reference, _, value = side.partition("=")
        table, column = self.place(reference)
        return value in way(column, rows[table][1][column])

    def join(self) -> list[list[tuple[int, Row]]]:
        """Every combination of rows that match, each row with its number."""
        numbered = [list(enumerate(rows)) for rows in self.tables]
        return [list(rows) for rows in itertools.product(*numbered) if self.matches(rows)]

    def values(self, line: Sequence[tuple[int, Row]], references: Sequence[str]) -> tuple[Any, ...]:
        """What a line of the join has in some columns; a row key is the number of the row."""
        places = [self.place(reference) for reference in references]
        return tuple(line[t][0] if column == "$row" else line[t][1][column] for t, column in places)

    def draw_rule(self) -> Rule:
        """A requirement over any of the columns."""
        draw = self.draw
        names = [
            name if of is None else f"{of}.{name}"
            for of, columns in zip(self.names, self.columns, strict=True)
            for name in columns
        ]
        draw.shuffle(names)
        cut = draw.randint(1, min(4, len(names) - 1))
        keys = ["$row" if name is None else f"{name}.$row" for name in self.names]
        y = draw.sample([*names[cut:], *keys, *keys], draw.randint(1, 3))
        x, y = names[:cut], list(dict.fromkeys(y))
        if draw.random() < 0.4:  # all that is joined on stands in x
            joined = [(i, name) for i, own in enumerate(self.columns) for name in own if self._joins(i, name)]
            x = list(dict.fromkeys([*x, *(self._called(i, name) for i, name in joined)]))
            y = [name for name in y if name not in x] or ["$row"]
        if draw.random() < 0.5:
            return {"model": "xy-anonymity", "x": x, "y": y, "k": draw.randint(1, 6)}
        return {"model": "xy-linkability", "x": x, "y": y, **self._bounds(y)}

    def _joins(self, table: int, name: str) -> bool:
        return any(name in self.shared(table, other) for other in range(len(self.tables)) if other != table)

    def _called(self, table: int, name: str) -> str:
        return name if self.names[table] is None else f"{self.names[table]}.{name}"

    def _bounds(self, y: list[str]) -> Rule:
        draw, shares = self.draw, [0.1, 0.25, 1 / 3, 0.5, 0.7, 1]
        k, kind = draw.choice(shares), draw.random()
        if any("$row" in name for name in y) or kind < 0.4:
            return {"k": k}
        texts = [[v for v in LABELS[name.split(".")[-1]] if v is not None] for name in y]
        if len(y) == 1 and kind < 0.7:
            some = draw.sample(texts[0], draw.randint(1, len(texts[0])))
            bounds: Rule = {"values": {value: draw.choice(shares) for value in some}}
            return bounds | draw.choice([{}, {"k": k}])
        named = [[draw.choice(each) for each in texts] for _ in range(2)]
        return {"k": k, "values": [each[0] for each in named] if len(y) == 1 else named}


def expected(case: Case, rule: Rule) -> tuple[int, int | Fraction]:
    """The definition, from the join line by line: how many fail (x, or x and a named y), the figure."""
    found: dict[Any, Counter[Any]] = {}
    for line in case.join():
        found.setdefault(case.values(line, rule["x"]), Counter())[case.values(line, rule["y"])] += 1
    if rule["model"] == "xy-anonymity":
        sizes = [len(values) for values in found.values()]
        return sum(size < rule["k"] for size in sizes), min(sizes, default=0)
    shares = [(x, y, Fraction(n, sum(values.values()))) for x, values in found.items() for y, n in values.items()]
    bounded = [(x, y, share, bound) for x, y, share in shares if (bound := threshold(rule, y)) is not None]
    failing = {(x, y if "values" in rule else None) for x, y, share, bound in bounded if share > bound}
    return len(failing), max((share for _, _, share, _ in bounded), default=Fraction(0))


def threshold(rule: Rule, y: tuple[Any, ...]) -> Fraction | None:
    """The share that a value on y may have; none where it is not protected."""
    values, k = rule.get("values"), rule.get("k")
    if isinstance(values, Mapping):
        return exactly(values[y[0]]) if y[0] in values else None if k is None else exactly(k)
    if values is None or list(y) in [[each] if isinstance(each, str) else list(each) for each in values]:
        assert k is not None
        return exactly(k)
    return None


def exactly(share: float) -> Fraction:
    """A share as it is meant."""
    return Fraction(1, 3) if share == 1 / 3 else Fraction(str(share))


def earlier(case: Case, folder: Path, *, kind: str) -> tuple[PriorRelease, ...]:
    """The earlier tables in files, with what the promise says of them."""
    found = []
    for number in range(1, len(case.tables)):
        path, columns = folder / f"{case.names[number]}.{kind}", case.columns[number]
        write(path, case.tables[number], columns)
        csv = None if kind == "parquet" else {"separator": ",", "null": ["none"], "guarded": False}
        rules = tuple((one, other) for one, other in case.rules) if number == 1 else ()
        join = tuple(name for name in columns if name in case.shared(0, number))
        found.append(PriorRelease(str(case.names[number]), path, None, len(case.tables[number]), csv, join, rules))
    return tuple(found)


def write(path: Path, rows: Rows, columns: Sequence[str]) -> None:
    """A table as Parquet, or as somebody's CSV: texts are quoted, NULL is a word."""
    if path.suffix == ".parquet":
        pq.write_table(arrow(rows, columns), path)
        return
    lines = [",".join(columns), *(",".join(map(cell, row.values())) for row in rows)]
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())


def cell(value: str | None) -> str:
    """A cell of a CSV."""
    return "none" if value is None else '"' + value.replace('"', '""') + '"'


def arrow(rows: Rows, columns: Sequence[str]) -> Any:
    """Rows as an Arrow table."""
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in columns]))


def found(case: Case, rules: Sequence[Rule], folder: Path, *, kind: str = "csv") -> Sequence[Finding]:
    """What the verifier says."""
    previous = earlier(case, folder, kind=kind)
    promise = Promise(("a", "b"), ("s",), None, tuple(rules), previous=previous, taxonomies=TREES)
    return verify_table(arrow(case.tables[0], CURRENT), promise).privacy


def told(failures: Sequence[str]) -> int:
    """How many fail by what is said: a sentence for each, and the number of the others."""
    last = failures[-1].split()[1:] if failures else []
    return len(failures) - 1 + int(last[0]) if last[1:2] == ["more"] else len(failures)


@pytest.mark.parametrize("block", range(5))
def test_the_join_is_that_of_the_rows(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in x and y, figures and verdicts are those of the definition, also a few pairs at a time."""
    if block % 2:
        monkeypatch.setattr("sfumato.verifier.linkage.pivot_join.PAIRS_AT_ONCE", 12)
    for seed in range(block * 10, block * 10 + 6):
        case = Case(seed)
        rules = [case.draw_rule() for _ in range(4)]
        kind = "parquet" if seed % 4 == 0 else "csv"
        for rule, each in zip(rules, found(case, rules, tmp_path, kind=kind), strict=True):
            failing, figure = expected(case, rule)
            assert each.satisfied is (failing == 0), (seed, rule)
            assert each.achieved["k"] == pytest.approx(float(figure), abs=1e-11), (seed, rule)
            assert told(each.failures) == failing, (seed, rule)


def renamed(rule: Rule, name: str) -> Rule:
    """A requirement on the release ``one``, of another release and of it alone."""
    sides = {key: [re.sub("^one[.]", f"{name}.", reference) for reference in rule[key]] for key in ("x", "y")}
    return {**rule, **sides, "releases": [name]}


@pytest.mark.parametrize("block", range(2))
def test_alike_joins_are_those_of_the_rows(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same asked of five earlier releases, each by itself, is checked at once and is what the definition says."""
    together: list[int] = []

    def spy(*arguments: Any, **options: Any) -> Any:
        together.append(1)
        return alike_joins.collect_by_release(*arguments, **options)

    monkeypatch.setattr(xy_checks, "collect_by_release", spy)
    if block % 2:
        monkeypatch.setattr(alike_joins, "ROWS_AT_ONCE", 12)
        monkeypatch.setattr("sfumato.verifier.linkage.pivot_join.PAIRS_AT_ONCE", 12)
    of_two = (case for case in map(Case, itertools.count(block * 1000)) if len(case.names) == 2)
    for place, case in enumerate(itertools.islice(of_two, 8)):
        case.rules, kind = [], "parquet" if place % 4 == 0 else "csv"
        asked = [case.draw_rule() for _ in range(2)]
        names = [f"r{number}" for number in range(5)]
        releases, expectations = [], []
        for name in names:
            rows = case.draw.randint(0, 9)
            case.tables[1] = [{column: case.draw.choice(LABELS[column]) for column in FIRST} for _ in range(rows)]
            (release,) = earlier(case, tmp_path, kind=kind)
            assert release.path is not None
            releases.append(replace(release, name=name, path=release.path.rename(tmp_path / f"{name}.{kind}")))
            expectations += [expected(case, rule) for rule in asked]
        rules = [renamed(rule, name) for name in names for rule in asked]
        promise = Promise(("a", "b"), ("s",), None, tuple(rules), previous=tuple(releases), taxonomies=TREES)
        findings = verify_table(arrow(case.tables[0], CURRENT), promise).privacy
        for rule, each, (failing, figure) in zip(rules, findings, expectations, strict=True):
            assert each.satisfied is (failing == 0), (block, place, rule)
            assert each.achieved["k"] == pytest.approx(float(figure), abs=1e-11), (block, place, rule)
            assert told(each.failures) == failing, (block, place, rule)
    assert together
