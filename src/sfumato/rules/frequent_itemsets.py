"""Frequent itemsets by vertical bitmaps, depth first (Eclat: Zaki 2000), in numpy.

Items are taken from the rarest to the commonest. For each, only the baskets that hold it are looked at: the items that
follow it there are counted at once, and those that are frequent with it become bitmaps over just these baskets, a bit
each, sixty-four to a word. From there on, a set and another that differs in its last item are united by one `and` over
their bitmaps, and counted by the bits that are left. The unions of a block of sets are made at once, as
many as fit into a budget, and are gone into before the next are made, so that memory is bounded by depth and not by the
number of sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import IntArray
from sfumato.errors import InputError
from sfumato.rules.baskets import Baskets, ItemCodes, Words, pack_bits

MOST_ITEMSETS = 5_000_000
"""More than these nobody looks at; mining stops and says what to do, before memory does."""

_BUDGET = 1 << 20
"""Words of bitmaps that are made at a time."""


@dataclass(frozen=True, eq=False)
class ItemsetTable:
    """Frequent itemsets by size: of size k, members int32[n_k, k] with ascending items, and supports int64[n_k].

    >>> table = mine_itemsets(Baskets.of([["a", "b"], ["a", "b"], ["a"]]), 2)
    >>> [(members.tolist(), supports.tolist()) for members, supports in table]
    [([[0], [1]], [3, 2]), ([[0, 1]], [2])]
    """

    members: tuple[ItemCodes, ...]
    supports: tuple[IntArray, ...]

    def __len__(self) -> int:
        return sum(map(len, self.supports))

    def __iter__(self) -> Iterator[tuple[ItemCodes, IntArray]]:
        """Go through the sizes, from 1 on: members and supports of each."""
        return zip(self.members, self.supports, strict=True)

    @cached_property
    def support_of(self) -> dict[tuple[int, ...], int]:
        """The support of each set, by its ascending items."""
        return {
            tuple(items): support
            for members, supports in self
            for items, support in zip(members.tolist(), supports.tolist(), strict=True)
        }


@dataclass(frozen=True, eq=False)
class _Block:
    """Sets of one size whose bitmaps are at hand, sorted so that those with all but the last item in common adjoin.

    members:  int32[n, k];  supports: int64[n];  maps: uint64[n, words];  groups: int64[n], ascending, equal in a class
    """

    members: ItemCodes
    supports: IntArray
    maps: Words
    groups: IntArray


def mine_itemsets(
    baskets: Baskets, least: int, *, max_size: int | None = None, most: int = MOST_ITEMSETS
) -> ItemsetTable:
    """Find every set of items that at least `least` baskets hold, of up to `max_size` items.

    >>> baskets = Baskets.of([["bread", "milk"], ["bread", "milk", "tea"], ["bread"]])
    >>> mine_itemsets(baskets, 2).support_of
    {(0,): 3, (1,): 2, (0, 1): 2}
    """
    frequent = np.flatnonzero(baskets.counts >= max(least, 1))
    singles = frequent[:, None].astype(np.int32)
    found: list[list[tuple[ItemCodes, IntArray]]] = [[(singles, baskets.counts[frequent])]]
    total = len(frequent)
    waiting = [_blocks_by_item(baskets, frequent, least)] if max_size is None or max_size > 1 else []
    while waiting:
        block = next(waiting[-1], None)
        if block is None:
            waiting.pop()
            continue
        size = block.members.shape[1]
        if len(found) < size:
            found.append([])
        found[size - 1].append((block.members, block.supports))
        total += len(block.members)
        if total > most:
            raise InputError(
                f"more than {most:,} sets of items are that frequent; ask for a higher min-support, "
                "or for smaller sets with --max-size"
            )
        if max_size is None or size < max_size:
            waiting.append(_unions(block, least))
    return _sorted_table(found)


def _blocks_by_item(baskets: Baskets, frequent: IntArray, least: int) -> Iterator[_Block]:
    """For each frequent item, the pairs that it begins, with bitmaps over the baskets that hold it.

    An item's followers are the commoner ones. Baskets are rewritten with items numbered from rare to common, so that
    the followers of an item in a basket are what stands behind it: one slice per basket.
    """
    order = frequent[np.argsort(baskets.counts[frequent], kind="stable")]
    rank = np.full(len(baskets.items), -1, dtype=np.int32)
    rank[order] = np.arange(len(order))
    ranks, rows = rank[baskets.codes], baskets.rows
    if len(order) < len(rank):
        ranks, rows = ranks[ranks >= 0], rows[ranks >= 0]
    # sorted by basket, then by rank: one key, since both are small; these stay until the last item, so in half words
    # where places fit into them
    keys = rows * max(len(order), 1)
    keys += ranks
    keys.sort()
    place: type[np.signedinteger[Any]] = np.int32 if len(keys) < 1 << 31 else np.int64
    ranks32 = (keys % max(len(order), 1)).astype(np.int32)
    keys //= max(len(order), 1)
    ends: NDArray[Any] = np.searchsorted(keys, np.arange(len(baskets)), side="right").astype(place)
    behind = ends[keys]  # where each one's basket ends
    behind -= np.arange(1, len(keys) + 1, dtype=place)  # how many follow it there
    del keys, rows, ranks
    by_item = np.argsort(ranks32, kind="stable").astype(place)
    starts = np.concatenate([[0], np.cumsum(np.bincount(ranks32, minlength=len(order)))])
    for item in range(len(order)):
        places = by_item[starts[item] : starts[item + 1]]
        lengths = behind[places]
        held = int((lengths > 0).sum())
        if held < least:
            continue
        places, lengths = places[lengths > 0], lengths[lengths > 0]
        ends_here = np.cumsum(lengths)
        gather = np.arange(ends_here[-1]) + np.repeat(places + 1 - (ends_here - lengths), lengths)
        followers = ranks32[gather]
        counts = np.bincount(followers, minlength=len(order))
        kept = np.flatnonzero(counts >= least)
        if not len(kept):
            continue
        number = np.full(len(order), -1, dtype=np.int64)
        number[kept] = np.arange(len(kept))
        local, bit = number[followers], np.repeat(np.arange(held), lengths)
        local, bit = local[local >= 0], bit[local >= 0]
        turn = np.argsort(local, kind="stable")
        maps = pack_bits(local[turn], bit[turn], len(kept), held)
        members = np.empty((len(kept), 2), dtype=np.int32)
        members[:, 0], members[:, 1] = order[item], order[kept]
        yield _Block(members, counts[kept], maps, np.zeros(len(kept), dtype=np.int64))


def _unions(block: _Block, least: int) -> Iterator[_Block]:
    """Unite the sets of each class, two by two, and give the frequent unions in blocks that fit into the budget.

    A set is united with those of its class that follow it, and these unions are a class of the next size: so a block of
    unions is made of some sets in a row as the first of two, and of all that follow them.
    """
    ends = np.cumsum(np.bincount(block.groups))[block.groups]
    later = ends - np.arange(len(ends)) - 1  # how many of its class follow each set
    before, words = np.concatenate([[0], np.cumsum(later)]), block.maps.shape[1]
    low = 0
    while low < len(later):
        high = max(int(np.searchsorted(before, before[low] + _BUDGET // words, side="right")) - 1, low + 1)
        number = later[low:high]
        first = np.repeat(np.arange(low, high), number)
        second = np.arange(len(first)) - np.repeat(before[low:high] - before[low], number) + first + 1
        low = high
        united = block.maps[first] & block.maps[second]
        supports = np.bitwise_count(united).sum(axis=1, dtype=np.int64)
        kept = np.flatnonzero(supports >= least)
        if not len(kept):
            continue
        first, second = first[kept], second[kept]
        members = np.concatenate([block.members[first], block.members[second, -1:]], axis=1)
        groups = np.cumsum(np.concatenate([[0], first[1:] != first[:-1]]))
        yield _Block(members, supports[kept], united[kept], groups)


def _sorted_table(found: list[list[tuple[ItemCodes, IntArray]]]) -> ItemsetTable:
    """Put the sets of each size together: items ascending, sets in the order of their items."""
    members, supports = [], []
    for size, parts in enumerate(found, start=1):
        if not parts or not sum(len(part) for part, _ in parts):
            break
        sets = np.sort(np.concatenate([part for part, _ in parts]), axis=1)
        counts = np.concatenate([count for _, count in parts])
        order = np.lexsort([sets[:, column] for column in range(size - 1, -1, -1)])
        members.append(sets[order])
        supports.append(counts[order])
    return ItemsetTable(tuple(members), tuple(supports))
