"""Hidden rules, counted again from the written file: no sensitive rule reaches the thresholds of mining.

Lines are read by Python, one after the other; tables are counted by DuckDB. A basket that came out empty is a line
without items or a transaction without rows, which some readers count and others do not: a rule has to be hidden from
both.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.errors import NotVerified
from sfumato.verifier.duckdb_tables import open_file


@dataclass(frozen=True)
class StatedRule:
    """A rule that must not be found, as a file has its items: names, or (column, value) in a wide table."""

    antecedent: frozenset[str]
    consequent: frozenset[str]


@dataclass(frozen=True)
class CountedRule:
    """The supports of a rule in the written file: of all its items, and of its antecedent."""

    whole: int
    antecedent: int


@dataclass(frozen=True)
class StatedHiding:
    """What is promised of a file of baskets: its form, how it is mined, and the rules that are not found then.

    support:   a share of the baskets, or a count where it is an `int`
    columns:   of a long table, the names of transaction and item
    """

    form: str
    support: Fraction | int
    confidence: Fraction
    rules: tuple[StatedRule, ...]
    columns: tuple[str, ...] = ()


def verify_hidden_rules(path: Path, stated: StatedHiding) -> list[CountedRule]:
    """Count every rule in a written file; raise `NotVerified` where one is found, and give the counts."""
    if stated.form == "wide":
        total, counted = _count_wide(path, stated.rules)
        return _check(total, 0, counted, stated)
    return verify_hidden_baskets(
        _long_baskets(path, stated.columns) if stated.form == "long" else _line_baskets(path), stated
    )


def verify_hidden_baskets(baskets: Iterable[frozenset[str]], stated: StatedHiding) -> list[CountedRule]:
    """Count every rule in baskets, one after the other; raise `NotVerified` where one is found, and give the counts.

    >>> rule = StatedRule(frozenset({"bread"}), frozenset({"milk"}))
    >>> stated = StatedHiding("lines", 2, Fraction(1, 2), (rule,))
    >>> verify_hidden_baskets([frozenset({"bread", "milk"}), frozenset({"milk"})], stated)
    [CountedRule(whole=1, antecedent=1)]
    >>> verify_hidden_baskets([frozenset({"bread", "milk"})] * 2, stated)
    Traceback (most recent call last):
    sfumato.errors.NotVerified: sensitive rule 1 is found at the thresholds
    """
    sets = [(rule.antecedent, rule.consequent) for rule in stated.rules]
    whole, base = [0] * len(sets), [0] * len(sets)
    total = empty = 0
    for basket in baskets:
        total, empty = total + 1, empty + (not basket)
        for place, (antecedent, consequent) in enumerate(sets):
            if basket >= antecedent:
                base[place] += 1
                whole[place] += basket >= consequent
    return _check(total, empty, [CountedRule(*both) for both in zip(whole, base, strict=True)], stated)


def _check(baskets: int, empty: int, counted: list[CountedRule], stated: StatedHiding) -> list[CountedRule]:
    for number, (rule, count) in enumerate(zip(stated.rules, counted, strict=True), start=1):
        for total in {baskets, baskets - empty}:
            least = stated.support if isinstance(stated.support, int) else math.ceil(stated.support * total)
            confident = not rule.antecedent or (
                count.antecedent > 0 and Fraction(count.whole, count.antecedent) >= stated.confidence
            )
            if count.whole >= max(least, 1) and confident:
                raise NotVerified(f"sensitive rule {number} is found at the thresholds")
    return counted


def _line_baskets(path: Path) -> Iterator[frozenset[str]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield frozenset(line.rstrip("\n").split(" ")) - {""}


def _long_baskets(path: Path, columns: Sequence[str]) -> Iterator[frozenset[str]]:
    view = open_file(path)
    transaction, item = (view.column(name) for name in columns)
    view.read(
        f"CREATE TABLE kinds AS SELECT list({view.text_sql(item)}) AS n FROM {view.source} GROUP BY {transaction}"
    )
    found = view.connection.execute("SELECT n FROM kinds")
    while rows := found.fetchmany(10_000):
        yield from (frozenset(items) for (items,) in rows)


def _count_wide(path: Path, rules: Sequence[StatedRule]) -> tuple[int, list[CountedRule]]:
    """Count rows by the columns that some rule names; a cell is the item ``column=value``."""
    view = open_file(path)
    wanted = {item for rule in rules for item in rule.antecedent | rule.consequent}
    names = [name for name in view.columns if any(item.startswith(f"{name}=") for item in wanted)]
    cells = "".join(f"{view.column(name)}, " for name in names)
    view.read(f"CREATE TABLE kinds AS SELECT {cells}count(*) AS n FROM {view.source} GROUP BY ALL")
    groups = view.connection.sql("SELECT * FROM kinds").to_arrow_table()
    if not names:
        total = sum(groups.column("n").to_pylist())
        return total, [CountedRule(0, 0 if rule.antecedent else total) for rule in rules]
    texts = [view.texts(name, groups.column(place)) for place, name in enumerate(names)]
    rows = groups.column("n").to_pylist()
    kinds = [
        frozenset(f"{name}={text}" for name, text in zip(names, line, strict=True) if text is not None)
        for line in zip(*texts, strict=True)
    ]
    counted = []
    for rule in rules:
        whole = sum(count for kind, count in zip(kinds, rows, strict=True) if kind >= rule.antecedent | rule.consequent)
        base = sum(count for kind, count in zip(kinds, rows, strict=True) if kind >= rule.antecedent)
        counted.append(CountedRule(whole, base))
    return sum(rows), counted
