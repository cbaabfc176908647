"""Association rules X ⇒ Y from frequent itemsets (Agrawal and Srikant 1994), all at once.

The support of a rule is that of X and Y together, its confidence that support divided by the support of X, its lift the
confidence divided by the share of baskets that hold Y. Every antecedent of a frequent set is frequent, so that nothing
has to be counted again: supports are looked up. For that each item has a 64-bit number, and a set the sum of those of
its items, which are all different (if two were equal, other numbers would be taken).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import IntArray
from sfumato.errors import InputError
from sfumato.rules.baskets import Baskets
from sfumato.rules.frequent_itemsets import ItemsetTable, mine_itemsets
from sfumato.rules.mining_thresholds import MiningThresholds

Keys = NDArray[np.uint64]

MOST_RULES = 5_000_000
"""More than these nobody reads."""
_LARGEST_SET = 20
"""A set of so many items makes a million rules by itself."""
_AT_A_TIME = 1 << 20
_WRITTEN = 4096
"""Rules that are written out at a time."""


@dataclass(frozen=True)
class MinedItemset:
    """Items that are together in `support` baskets."""

    items: tuple[str, ...]
    support: int


@dataclass(frozen=True)
class MinedRule:
    """Baskets that hold `antecedent` hold `consequent`, too, in a share `confidence` of the cases.

    `support` counts the baskets that hold both. `sensitive` says that a policy makes the rule one that gives away a
    sensitive value to those who know quasi-identifiers.
    """

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    support: int
    confidence: float
    lift: float
    sensitive: bool = False

    def __str__(self) -> str:
        return f"{', '.join(self.antecedent)} ⇒ {', '.join(self.consequent)}"


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules as arrays, each of one line per rule; in half words, since there are many more rules than sets.

    size, place:   the itemset of size `size` at `place` in its table has all items of the rule
    mask:          bit b is set where the set's item b belongs to the antecedent
    whole, antecedent, consequent:  supports;  names: uint64[n], by which rules of two tables are compared
    """

    size: NDArray[np.int32]
    place: NDArray[np.int32]
    mask: NDArray[np.int32]
    whole: NDArray[np.int32]
    antecedent: NDArray[np.int32]
    consequent: NDArray[np.int32]
    names: Keys

    def __len__(self) -> int:
        return len(self.size)


def derive_rules(itemsets: ItemsetTable, thresholds: MiningThresholds, salt: int = 0) -> RuleTable:
    """Find all rules of frequent itemsets that reach the least confidence.

    >>> table = mine_itemsets(Baskets.of([["a", "b"], ["a", "b"], ["b"]]), 1)
    >>> rules = derive_rules(table, MiningThresholds.read(1, 0.9))
    >>> len(rules), rules.mask.tolist(), rules.whole.tolist()
    (1, [1], [2])
    """
    if len(itemsets.members) > _LARGEST_SET:
        raise InputError(
            f"a set of {len(itemsets.members)} items is that frequent, and makes more rules than anybody reads; ask "
            "for a higher min-support, or for smaller sets with --max-size"
        )
    keys = itemset_keys(itemsets, salt)
    every = np.concatenate([np.zeros(0, dtype=np.uint64), *keys])
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    if (ordered[1:] == ordered[:-1]).any():
        return derive_rules(itemsets, thresholds, salt + 1)
    supports = np.concatenate([np.zeros(0, dtype=np.int64), *itemsets.supports])[order]
    parts: list[tuple[NDArray[np.int32], ...]] = []
    names: list[Keys] = []
    found = 0
    for members, whole in itemsets:
        size = members.shape[1]
        if size < 2:
            continue
        step = max(_AT_A_TIME >> size, 1)
        for start in range(0, len(members), step):
            own = item_keys(members[start : start + step], salt)
            sums = np.zeros((len(own), 1), dtype=np.uint64)
            for column in range(size):  # sums[:, mask] has the items of the bits of mask
                sums = np.concatenate([sums, sums + own[:, column : column + 1]], axis=1)
            base = supports[np.searchsorted(ordered, sums[:, 1:-1])]  # every antecedent, as every subset is in there
            both = whole[start : start + step, None]
            place, mask = np.nonzero(thresholds.is_confident(both, base))
            columns: tuple[NDArray[Any], ...] = (
                np.full(len(place), size),
                place + start,
                mask + 1,
                both[place, 0],
                base[place, mask],
                base[place, base.shape[1] - 1 - mask],  # what is left over is the mask's complement
            )
            parts.append(tuple(column.astype(np.int32) for column in columns))
            names.append(rule_keys(sums[place, -1], sums[place, mask + 1]))
            found += len(place)
            if found > MOST_RULES:
                raise InputError(
                    f"more than {MOST_RULES:,} rules reach these thresholds; ask for a higher min-support or "
                    "min-confidence, or for smaller sets with --max-size"
                )
    empty = (np.zeros(0, dtype=np.int32),) * 6
    table = [np.concatenate(column) for column in zip(empty, *parts, strict=True)]
    return RuleTable(
        table[0], table[1], table[2], table[3], table[4], table[5], np.concatenate([np.zeros(0, np.uint64), *names])
    )


@dataclass(frozen=True, eq=False)
class MinedRules:
    """What was found in baskets at given thresholds: frequent itemsets and rules.

    >>> found = mine_rules(Baskets.of([["bread", "milk"]] * 3 + [["milk"]] * 2), MiningThresholds.read("50%", 0.9))
    >>> print(found)
    5 baskets, 3 itemsets in at least 3 of them, 1 rule
    bread ⇒ milk   in 3, confidence 1.000, lift 1.000
    """

    baskets: Baskets
    thresholds: MiningThresholds
    itemset_table: ItemsetTable
    rule_table: RuleTable
    sensitive_columns: "QuasiToSensitive | None" = field(default=None)

    @property
    def transactions(self) -> int:
        """The number of baskets, empty ones included."""
        return len(self.baskets)

    @cached_property
    def itemsets(self) -> list[MinedItemset]:
        """The frequent itemsets by size, the most frequent first."""
        names = self.baskets.items
        return [
            MinedItemset(tuple(names[item] for item in members[i].tolist()), int(supports[i]))
            for members, supports in self.itemset_table
            for i in np.argsort(-supports, kind="stable").tolist()
        ]

    @cached_property
    def rules(self) -> list[MinedRule]:
        """The rules, the most confident first, then the most frequent; then by the names of their items."""
        return list(self._rules(self._order))

    @cached_property
    def _order(self) -> IntArray:
        table = self.rule_table
        confidence = table.whole / np.maximum(table.antecedent, 1)
        return np.lexsort((-table.whole, -confidence))

    def _rules(self, places: IntArray) -> Iterator[MinedRule]:
        """Give the rules at some places, one by one."""
        table, total, names = self.rule_table, self.transactions, self.baskets.items
        members, sensitive = self.itemset_table.members, self.sensitive_columns
        for start in range(0, len(places), _WRITTEN):
            some = places[start : start + _WRITTEN]
            columns = (table.size, table.place, table.mask, table.whole, table.antecedent, table.consequent)
            for size, place, mask, whole, base, other in zip(*(one[some].tolist() for one in columns), strict=True):
                items = members[size - 1][place].tolist()
                antecedent = [item for bit, item in enumerate(items) if mask >> bit & 1]
                consequent = [item for bit, item in enumerate(items) if not mask >> bit & 1]
                yield MinedRule(
                    tuple([names[item] for item in antecedent]),
                    tuple([names[item] for item in consequent]),
                    whole,
                    whole / base,
                    whole * total / (base * other),
                    sensitive is not None and sensitive.flags(antecedent, consequent),
                )

    def as_json(self) -> dict[str, Any]:
        """Give all as JSON can hold it."""
        return {
            "transactions": self.transactions,
            "itemsets": [{"items": list(found.items), "support": found.support} for found in self.itemsets],
            "rules": [self._plain_rule(rule) for rule in self.rules],
        }

    def _plain_rule(self, rule: MinedRule) -> dict[str, Any]:
        found: dict[str, Any] = {
            "if": list(rule.antecedent),
            "then": list(rule.consequent),
            "support": rule.support,
            "confidence": rule.confidence,
            "lift": rule.lift,
        }
        return found if self.sensitive_columns is None else found | {"sensitive": rule.sensitive}

    def json_parts(self, *, ascii_only: bool = True) -> Iterator[str]:
        """Write `as_json` as text, piece by piece: a million rules at once would take a gigabyte.

        >>> found = mine_rules(Baskets.of([["bread", "milk"]]), MiningThresholds.read(1, 1))
        >>> "".join(found.json_parts()) == json.dumps(found.as_json())
        True
        """
        encoder = json.JSONEncoder(allow_nan=False, ensure_ascii=ascii_only)
        yield f'{{"transactions": {self.transactions}, "itemsets": ['
        sets = ({"items": found.items, "support": found.support} for found in self.itemsets)
        yield from _in_pieces(sets, encoder)
        yield '], "rules": ['
        yield from _in_pieces(map(self._plain_rule, self._rules(self._order)), encoder)
        yield "]}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, most: int = 20) -> Iterator[str]:
        """Tell it in lines, sensitive rules first, and up to `most` rules."""
        least = self.thresholds.least_count(self.transactions)
        sets, rules = len(self.itemset_table), len(self.rule_table)
        yield (
            f"{self.transactions:,} baskets, {sets:,} itemset{'s' * (sets != 1)} in at least {least:,} of them, "
            f"{rules:,} rule{'s' * (rules != 1)}"
        )
        if self.sensitive_columns is None:
            shown = list(self._rules(self._order[:most]))
        else:
            shown = sorted(self.rules, key=lambda rule: not rule.sensitive)
            flagged = sum(rule.sensitive for rule in shown)
            yield f"{flagged:,} of the rules lead{'s' * (flagged == 1)} from quasi-identifiers to a sensitive value"
        width = max((len(str(rule)) for rule in shown[:most]), default=0)
        for rule in shown[:most]:
            mark = "  sensitive" if rule.sensitive else ""
            yield (
                f"{rule!s:<{width}}   in {rule.support:,}, confidence {rule.confidence:.3f}, lift {rule.lift:.3f}{mark}"
            )
        if rules > most:
            yield f"and {rules - most:,} more; --json and --out have all"


@dataclass(frozen=True)
class QuasiToSensitive:
    """Which items are of quasi-identifiers and which of sensitive columns, by number."""

    quasi: frozenset[int]
    sensitive: frozenset[int]

    def flags(self, antecedent: list[int], consequent: list[int]) -> bool:
        """Tell whether a rule leads from quasi-identifiers alone to sensitive values alone."""
        return self.quasi.issuperset(antecedent) and self.sensitive.issuperset(consequent)


def mine_rules(
    baskets: Baskets,
    thresholds: MiningThresholds,
    *,
    max_size: int | None = None,
    sensitive_columns: QuasiToSensitive | None = None,
) -> MinedRules:
    """Mine frequent itemsets and rules from baskets; `sensitive_columns` flags rules of a table."""
    itemsets = mine_itemsets(baskets, thresholds.least_count(len(baskets)), max_size=max_size)
    return MinedRules(baskets, thresholds, itemsets, derive_rules(itemsets, thresholds), sensitive_columns)


def _in_pieces(entries: Iterable[Any], encoder: json.JSONEncoder) -> Iterator[str]:
    """Write entries of a list, without its brackets, so many at a time."""
    comma, waiting = "", iter(entries)
    while some := list(islice(waiting, _WRITTEN)):
        yield comma + encoder.encode(some)[1:-1]
        comma = ", "


def item_keys(items: NDArray[Any], salt: int = 0) -> Keys:
    """Give each item a 64-bit number, the same in every run (the finalizer of splitmix64)."""
    mixed = (items.astype(np.uint64) + np.uint64(1 + (salt << 32))) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def rule_keys(whole: Keys, antecedent: Keys) -> Keys:
    """Give each rule a number, from those of all its items and of its antecedent."""
    return item_keys(whole) + antecedent


def itemset_keys(itemsets: ItemsetTable, salt: int = 0) -> list[Keys]:
    """Give each set the sum of its items' numbers, by size."""
    return [item_keys(members, salt).sum(axis=1, dtype=np.uint64) for members in itemsets.members]
