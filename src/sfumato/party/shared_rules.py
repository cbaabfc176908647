"""Association rules over the baskets of all parties, without showing a basket or a support (chapter, 20.5).

Where parties hold different baskets, this is the protocol of Kantarcioglu and Clifton ("Privacy-preserving distributed
mining of association rules on horizontally partitioned data", TKDE 16(9), 2004), on what Cheung et al. (FDM, PDIS
1996) noticed: a set that is frequent among all baskets is as frequent, as a share, at one party at least. So

1. the numbers of baskets are added by a secure sum;
2. every party mines its own baskets at the same share;
3. a secure union makes one list of the items that are frequent anywhere, and another, of the largest frequent sets: a
   set that is contained in another frequent one follows from it, so that sets which need not be encrypted are not;
4. everybody counts every subset of these in its own baskets; the counts are shared among two parties, who open those
   alone that are frequent (`gated_sums`). With ``hide_infrequent = false`` a secure sum adds them instead.

The result is that of mining all baskets together. Where two parties hold different items of the same transactions,
`vertical_rules` does the same.

Adversary: semi-honest. Beyond the result, all parties learn which sets are frequent at any of them, and not at whom,
and, also if they do not get the result, which of these are frequent among all baskets. With ``hide_infrequent = false``
only those who get the result learn that, and with it the support of these sets among all baskets, which otherwise the
two would learn if they colluded. What a union tells stands in `secure_union`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import DataError, InputError, PolicyError, RunAborted
from sfumato.party.gated_sums import open_large_sums
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.public_domains import read_columns
from sfumato.party.row_linkage import LINKAGE_KEYS, RowLinkage, read_divided_columns, read_partition
from sfumato.party.secure_sum import check_counts, secure_count
from sfumato.party.secure_union import secure_union
from sfumato.party.vertical_rules import HeldItems, hold_items, mine_columns
from sfumato.policy.section import Section
from sfumato.reading.outside_table import check_column_names
from sfumato.rules.association_rules import MinedRules, derive_rules
from sfumato.rules.basket_files import read_baskets
from sfumato.rules.baskets import Baskets, pack_bits
from sfumato.rules.frequent_itemsets import MOST_ITEMSETS, ItemsetTable, mine_itemsets
from sfumato.rules.mining_thresholds import MiningThresholds

Sets = NDArray[np.int32]
"""Sets of one size, int32[n, size]: places in a list of items, ascending in each row, and no row twice."""

_LONGEST_ITEM = 78  # bytes of a name: with these, an item is three points of a union
_LARGEST_SET = 20  # more items make more rules than anybody reads, here and in association_rules
_SET_BYTES = 18
"""Bytes of a set of items that one point of a union holds; larger sets take more points."""
_BUDGET = 1 << 20  # words of bitmaps at a time


@dataclass(frozen=True)
class RulesTask(PartyTask):
    """Mine frequent itemsets and association rules from the baskets of all parties.

    `long` names the columns of transactions and of items; without it, a row is a basket of ``column=value``, and a file
    of lines has a basket a line. `columns` are those of a wide table that are looked at, by party; left out, all are.
    `longest` is the public bound on the bytes of an item's name. `linkage` is there where partition is vertical.
    """

    kind: ClassVar[str] = "rules"
    keys: ClassVar[tuple[str, ...]] = (
        *("min_support", "min_confidence", "max_size", "columns", "long", "hide_infrequent", "longest", "partition"),
        *LINKAGE_KEYS,
    )
    reads_baskets: ClassVar[bool] = True
    result_to: tuple[str, ...]
    thresholds: MiningThresholds
    max_size: int | None = None
    long: tuple[str, ...] | None = None
    hide_infrequent: bool = True
    most_items: int | None = None
    longest: int = _LONGEST_ITEM
    columns: Mapping[str, tuple[str, ...]] | None = None
    linkage: RowLinkage | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        long, longest = section.texts("long"), section.whole_number("longest")
        columns, linkage = None, None
        if long is not None and (len(long) != 2 or long[0] == long[1]):
            raise PolicyError(
                'must name two columns, those of transactions and of items, such as ["receipt", "product"]',
                key=section.path("long"),
            )
        if long is not None and "columns" in section.table:
            raise PolicyError(
                "are those of a wide table, and long names others; leave one out", key=section.path("columns")
            )
        vertical = read_partition(
            section, tuple(name for name in LINKAGE_KEYS if name != "most_items"), ("hide_infrequent", "longest")
        )
        if vertical:
            linkage = RowLinkage.read(
                section if long is None else Section({"link_on": long[0]} | dict(section.table), section.key), parties
            )
            if long is not None and linkage.link_on != long[0]:
                raise PolicyError("must be the column of transactions, the first of long", key=section.path("link_on"))
        if "columns" in section.table:
            columns = (
                read_divided_columns(section, parties) if vertical else dict.fromkeys(parties, read_columns(section))
            )
        size = section.whole_number("max_size")
        if size is not None and not 1 <= size <= _LARGEST_SET:
            raise section.error("max_size", f"must be from 1 to {_LARGEST_SET}")
        return cls(
            result_to,
            read_thresholds(section),
            size,
            long,
            section.flag("hide_infrequent", default=True),
            section.whole_number("most_items"),
            longest or _LONGEST_ITEM,
            columns,
            linkage,
        )

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what mining together protects from whom."""
        if self.linkage is not None:
            return ProtocolStatement(
                SEMI_HONEST,
                "the other of the two parties learns what stands below, and nothing else.",
                f"{self.linkage.sentence()} Both parties learn the frequent sets, whoever gets the result; of a set "
                "that is not frequent nobody learns the support.",
                "Vaidya and Clifton, Privacy preserving association rule mining in vertically partitioned data, KDD "
                "2002, over scalar products by oblivious transfer (Gilboa, CRYPTO 1999) and the comparison of shares",
            )
        learned = (
            "All parties learn how many baskets there are together, which sets of items are frequent at any party, and "
            "about how large the largest such sets are, but not at whose; and each, how many of these sets the lists "
            "of other parties have in common."
        )
        if len(parties) == 2:
            learned += " Of two parties, a set that is not frequent at the one is frequent at the other."
        if self.hide_infrequent:
            one, other = parties[:2]
            learned += (
                " All parties learn which of these sets are frequent among all baskets, whoever gets the result. "
                f"{one} and {other} hold the supports between them, and would learn those of infrequent sets if they "
                "colluded."
            )
        else:
            learned += (
                " Those who get the result learn the supports of sets that are frequent at some party, and not among "
                "all baskets; leave hide_infrequent out to keep these from them."
            )
        if self.most_items is None:
            learned += (
                " Each party tells how many frequent items and largest frequent sets it has, rounded up to a power of "
                "two; most_items hides that."
            )
        return ProtocolStatement(
            SEMI_HONEST,
            "they learn the last party's number of baskets and its supports of all sets that are counted, and which of "
            "their own sets are frequent there.",
            learned,
            "Kantarcioglu and Clifton, TKDE 16(9), 2004, over Cheung et al., A fast distributed algorithm for mining "
            "association rules, PDIS 1996; secure sum by pairwise masks (Bonawitz et al., CCS 2017)",
        )

    def prepare(self, me: str, table: PartyTable) -> Baskets | HeldItems:
        """Make baskets of the table, as ``rules mine`` does, or items by row where rows are linked."""
        columns = None if self.columns is None else self.columns[me]
        if self.linkage is not None:
            return hold_items(table, self.linkage, columns=columns, long=self.long)
        source = table.arrow
        if columns is not None:
            if not isinstance(source, pa.Table):
                raise DataError(f"{table.name}: lines of items have no columns; leave columns out of the task")
            check_column_names(columns, source.column_names, table.name)
            source = source.select(list(columns))
        baskets = read_baskets(source, long=self.long).baskets
        if any(len(name.encode()) > self.longest for name in baskets.items):
            raise DataError(
                f"{table.name}: an item's name has more than {self.longest} bytes; write a larger longest in the task"
            )
        return baskets

    def cautions(self, prepared: Baskets | HeldItems) -> tuple[str, ...]:
        """Say what this party should know of its identifiers."""
        return () if isinstance(prepared, Baskets) else prepared.linked.warnings

    def run(self, session: PartySession, prepared: Baskets | HeldItems) -> Any:
        """Mine together, by rows or by columns."""
        if isinstance(prepared, Baskets):
            return self._run_horizontal(session, prepared)
        if self.linkage is None:
            raise ValueError("items without a linkage")  # a bug of ours
        linked = prepared.take(self.linkage.link(session, prepared.linked, step="rules"))
        least = min(self.thresholds.least_count(linked.count), linked.count + 1)
        items, sets, supports = mine_columns(session, linked, least, max_size=self.max_size, step="rules")
        if session.me not in self.result_to:
            return None
        frequent = np.ones(len(supports), dtype=bool)
        return describe_rules(items, sets, supports, frequent, linked.count, self.thresholds)

    def _run_horizontal(self, session: PartySession, baskets: Baskets) -> Any:
        """Mine, unite, count and add up."""
        counted = secure_count(session, np.array([len(baskets)]), step="rules/baskets")
        total = 0 if counted is None else int(counted[0])
        if not total:
            raise RunAborted("no party has a basket, so that there is nothing to mine; name other files")
        local = self._mine_own(baskets, total)
        items, place_of = self._unite_items(session, baskets, local)
        border = [place_of[members] for members in find_border(local)]
        candidates = close_downwards(self._unite_sets(session, border, len(items)), len(items))
        supports = np.concatenate(
            [count_sets(baskets, items, sets, local) for sets in candidates] or [np.zeros(0, dtype=np.int64)]
        )
        least = min(self.thresholds.least_count(total), total + 1)
        if self.hide_infrequent:
            large, opened = open_large_sums(
                session, supports, supports[:, None], least=least, step="rules/supports", to=self.result_to
            )
            if opened is None:
                return None
            check_counts(opened[:, 0], np.maximum(supports[large], least), total)
            frequent = np.zeros(len(supports), dtype=np.int64)
            frequent[large] = opened[:, 0]
        else:
            added = secure_count(session, supports, step="rules/supports", to=self.result_to, most=total)
            if added is None:
                return None
            frequent, large = added, added >= least
        return describe_rules(items, candidates, frequent, large, total, self.thresholds)

    @classmethod
    def tabulate(cls, result: Any) -> list[dict[str, Any]]:
        """Write a line for each rule; the itemsets are in the result that is not a table."""
        rules: list[dict[str, Any]] = result["rules"]
        return rules

    def _mine_own(self, baskets: Baskets, total: int) -> ItemsetTable:
        """Mine this party's baskets, at the share of them that the least support is of all."""
        share = self.thresholds.support
        if isinstance(share, int):
            share = Fraction(share, total)
        least = max(math.ceil(share * len(baskets)), 1)
        try:
            local = mine_itemsets(baskets, least, max_size=self.max_size or _LARGEST_SET + 1)
        except InputError:
            raise RunAborted(
                f"at a share of {float(share):.2%} this party's baskets have more than {MOST_ITEMSETS:,} frequent "
                "sets; ask for a higher min_support, or a smaller max_size"
            ) from None
        if len(local.members) > _LARGEST_SET:
            raise RunAborted(
                f"a set of more than {_LARGEST_SET} items is that frequent, and makes more rules than anybody reads; "
                "ask for a higher min_support, or name a max_size"
            )
        return local

    def _unite_items(
        self, session: PartySession, baskets: Baskets, local: ItemsetTable
    ) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Unite the names of frequent items; give them in the order of baskets, and the places of this party's own."""
        own = local.members[0][:, 0].tolist() if local.members else []
        union = secure_union(
            session,
            [baskets.items[item].encode() for item in own],
            step="rules/items",
            longest=self.longest,
            most_items=self.most_items,
        )
        items = Baskets.of([[item.decode(errors="replace") for item in union or []]]).items  # sorted as items are
        numbers = {name: place for place, name in enumerate(items)}
        return items, np.array([numbers.get(name, -1) for name in baskets.items], dtype=np.int32)

    def _unite_sets(self, session: PartySession, border: Sequence[Sets], items: int) -> list[Sets]:
        """Unite the parties' largest sets. A set is a number, its items' places one after the other, few bits each."""
        bits = max(items, 1).bit_length()  # 0 stands for no item
        fewest = -(-bits * max((sets.shape[1] for sets in border if len(sets)), default=0) // 8)
        sizes = [_SET_BYTES, *range(_SET_BYTES + 30, bits * _LARGEST_SET // 8 + 31, 30)]  # what whole points hold
        longer = np.array([fewest > size for size in sizes[:-1]], dtype=np.int64)  # the last is enough for all
        needed = secure_count(session, longer, step="rules/largest", most=len(session.parties))
        longest = sizes[int((needed > 0).sum())] if needed is not None else sizes[0]
        packed = [
            sum((item + 1) << (bits * place) for place, item in enumerate(row)).to_bytes(longest, "little")
            for sets in border
            for row in sets.tolist()
        ]
        union = secure_union(session, packed, step="rules/sets", longest=longest, most_items=self.most_items)
        rows: dict[int, list[list[int]]] = {}
        for item in union or []:
            number, row = int.from_bytes(item, "little"), []
            while number:
                row.append((number & ((1 << bits) - 1)) - 1)
                number >>= bits
            ordered = row == sorted(set(row)) and all(0 <= one < items for one in row)
            if not ordered or not 1 <= len(row) <= (self.max_size or _LARGEST_SET):
                raise RunAborted("a party put something into the union that is no set of items; start anew")
            rows.setdefault(len(row), []).append(row)
        largest = max(rows, default=0)
        return [np.array(rows.get(size, []), dtype=np.int32).reshape(-1, size) for size in range(1, largest + 1)]


def read_thresholds(section: Section) -> MiningThresholds:
    """Read ``min_support`` and ``min_confidence`` of a task, as ``rules mine`` reads its options."""
    for name in ("min_support", "min_confidence"):
        if name not in section.table:
            raise PolicyError("must be there; it is a number such as 0.01, or text such as 1%", key=section.path(name))
    try:
        return MiningThresholds.read(section.table["min_support"], section.table["min_confidence"])
    except InputError as error:
        which, _, sentence = str(error).partition(": ")
        raise PolicyError(sentence, key=section.path(which.replace("-", "_"))) from None


def find_border(table: ItemsetTable) -> list[Sets]:
    """Find the sets that no other frequent set contains, by size.

    >>> found = mine_itemsets(Baskets.of([["a", "b", "c"], ["a", "b"], ["c"]]), 2)
    >>> [sets.tolist() for sets in find_border(found)]
    [[[2]], [[0, 1]]]
    """
    border: list[Sets] = []
    for place, sets in enumerate(table.members):
        above = table.members[place + 1] if place + 1 < len(table.members) else np.zeros((0, place + 2), np.int32)
        numbers = _number_rows(np.concatenate([sets, *_drop_one(above)]))
        border.append(sets[~np.isin(numbers[: len(sets)], numbers[len(sets) :])])
    return border


def close_downwards(border: Sequence[Sets], items: int) -> list[Sets]:
    """List all subsets of the sets of a border, by size, and every single item.

    >>> [sets.tolist() for sets in close_downwards([np.zeros((0, 1), np.int32), np.array([[0, 2]], np.int32)], 4)]
    [[[0], [1], [2], [3]], [[0, 2]]]
    """
    levels: list[Sets] = []
    above = np.zeros((0, len(border) + 1), dtype=np.int32)
    total = 0
    for sets in reversed(border[1:]):
        every = np.concatenate([sets, *_drop_one(above)])
        _, first = np.unique(_number_rows(every), return_index=True)
        above = every[first]
        above = above[np.lexsort(above.T[::-1])]
        total += len(above)
        if total > MOST_ITEMSETS:
            raise RunAborted(
                f"more than {MOST_ITEMSETS:,} sets are frequent at some party; ask for a higher min_support"
            )
        levels.append(above)
    singles = np.arange(items, dtype=np.int32)[:, None]
    return [singles, *reversed(levels)] if items else []


def _drop_one(sets: Sets) -> list[Sets]:
    """Give the sets that are one item smaller, with repetitions: all without the first, then the second, and so on."""
    return [np.delete(sets, column, axis=1) for column in range(sets.shape[1])]


def _number_rows(rows: Sets) -> NDArray[np.int64]:
    """Number rows, equal ones alike: prefix by prefix, so that a number and the next item fit into a word."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T.astype(np.int64):
        _, numbers = np.unique(numbers * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    return numbers


def count_sets(baskets: Baskets, items: Sequence[str], sets: Sets, local: ItemsetTable) -> NDArray[np.int64]:
    """Count the baskets that hold each of these sets, int64[n]; `local` has the counts of those that are frequent here.

    The others are counted by bitmaps: a bit for each basket that has an item, and an `and` over the items of a set.
    """
    own = {name: place for place, name in enumerate(baskets.items)}
    places = np.array([own.get(name, -1) for name in items], dtype=np.int32)[sets]
    supports, size = np.zeros(len(sets), dtype=np.int64), sets.shape[1]
    left = np.flatnonzero((places >= 0).all(axis=1))  # a set with an item that no basket here has is in none
    if size <= len(local.members):
        known = local.members[size - 1]
        numbers = _number_rows(np.concatenate([known, places[left]]))
        counts = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
        counts[numbers[: len(known)]] = local.supports[size - 1]
        found = counts[numbers[len(known) :]]
        supports[left[found >= 0]] = found[found >= 0]
        left = left[found < 0]
    wanted = places[left]
    if not len(wanted):
        return supports
    used = np.unique(wanted)
    number = np.full(len(baskets.items), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    held = number[baskets.codes]
    there = held >= 0
    order = np.argsort(held[there], kind="stable")
    maps = pack_bits(held[there][order], baskets.rows[there][order], len(used), len(baskets))
    counted = np.zeros(len(wanted), dtype=np.int64)
    step = max(_BUDGET // max(maps.shape[1], 1), 1)
    for start in range(0, len(wanted), step):
        rows = number[wanted[start : start + step]]
        both = maps[rows[:, 0]]
        for column in range(1, size):
            both &= maps[rows[:, column]]
        counted[start : start + step] = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
    supports[left] = counted
    return supports


def describe_rules(
    items: tuple[str, ...],
    candidates: Sequence[Sets],
    supports: NDArray[np.int64],
    frequent: NDArray[np.bool_],
    total: int,
    thresholds: MiningThresholds,
) -> dict[str, Any]:
    """Keep the frequent sets, derive rules, and give all as ``rules mine --json`` does.

    candidates:  sets by size;  supports, frequent: of all of them, size after size

    A set with a subset that is not frequent, or that fewer baskets have, cannot be, and ends the run.
    """
    members: list[Sets] = []
    counts: list[NDArray[np.int64]] = []
    start = 0
    for sets in candidates:
        stop = start + len(sets)
        kept = frequent[start:stop]
        if not kept.any():
            break
        own = supports[start:stop][kept]
        if members:
            _check_subsets(sets[kept], own, members[-1], counts[-1])
        members.append(sets[kept])
        counts.append(own)
        start = stop
    table = ItemsetTable(tuple(members), tuple(counts))
    # of baskets, a result needs the names of items and their number alone: these are as many, with nothing in them
    nobody = Baskets(items, np.broadcast_to(np.int64(0), total + 1), np.zeros(0, dtype=np.int32))
    try:
        return MinedRules(nobody, thresholds, table, derive_rules(table, thresholds)).as_json()
    except InputError as error:
        raise RunAborted(str(error)) from None


def _check_subsets(sets: Sets, supports: NDArray[np.int64], smaller: Sets, least: NDArray[np.int64]) -> None:
    """End the run unless all that is left of a set without one item is among `smaller`, with as large a support."""
    numbers = _number_rows(np.concatenate([smaller, *_drop_one(sets)]))
    known = np.full(int(numbers.max(initial=-1)) + 1, -1, dtype=np.int64)
    known[numbers[: len(smaller)]] = least
    check_counts(np.tile(-supports, sets.shape[1]), -known[numbers[len(smaller) :]])
