"""Baskets: sets of items, one per transaction, as sorted whole numbers.

The order of lines and of items within a line says nothing, so both are forgotten when baskets are made: items are
numbered in the order of their names, each basket is sorted and has an item once, and baskets are sorted as words are
in a dictionary. Whatever is worked out from baskets is so a function of the baskets alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.errors import DataError, did_you_mean, quote

ItemCodes = NDArray[np.int32]
Words = NDArray[np.uint64]
"""Bitmaps: bit t of a row, counted from the lowest of its first word, says whether the set is in basket t."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """Sets of items in the compressed form of a sparse matrix.

    items:    the names, in the order of `order_items`; the number of an item is its place
    offsets:  int64[n + 1], where each basket begins in `codes`
    codes:    int32[occurrences], the items of each basket, ascending

    >>> baskets = Baskets.of([["milk", "bread"], [], ["milk", "tea", "milk"]])
    >>> len(baskets), baskets.items, list(baskets)
    (3, ('bread', 'milk', 'tea'), [(), ('bread', 'milk'), ('milk', 'tea')])
    """

    items: tuple[str, ...]
    offsets: IntArray
    codes: ItemCodes

    @classmethod
    def of(cls, baskets: Iterable[Iterable[object]]) -> "Baskets":
        """Make baskets of lists or sets of items; what is no text is written as text."""
        lists = []
        for basket in baskets:
            if isinstance(basket, str | bytes) or not isinstance(basket, Iterable):
                raise DataError("a basket must be a list or a set of items, and one is not; split texts into items")
            lists.append(tuple(basket))
        held: list[object] = list(chain.from_iterable(lists))
        if len(set(map(type, held))) > 1:  # 1, True and 1.0 are equal, and different texts
            held = list(map(str, held))
        try:
            different = list(dict.fromkeys(held))
        except TypeError:
            raise DataError("an item must be a text or a number; give lists of these") from None
        number_of: dict[str, int] = {}
        place = {item: number_of.setdefault(str(item), len(number_of)) for item in different}
        codes = np.fromiter(map(place.__getitem__, held), dtype=np.int64, count=len(held))
        rows = np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
        return cls.from_occurrences(rows, codes, tuple(number_of), len(lists))[0]

    @classmethod
    def from_occurrences(
        cls, rows: IntArray, codes: IntArray, items: Sequence[str], baskets: int
    ) -> tuple["Baskets", IntArray]:
        """Make baskets of (row, item) pairs in any order, repeated or not; give also which row became which basket.

        rows, codes:  int64[occurrences]; codes are places in `items`, which need not be sorted nor all occur
        returns:      the baskets, and int64[baskets], the row of each
        """
        used = np.flatnonzero(np.bincount(codes, minlength=1)) if len(codes) else np.zeros(0, dtype=np.int64)
        names = [items[code] for code in used.tolist()]
        order = order_items(names)
        place = np.zeros(max(len(items), 1), dtype=np.int64)
        place[used[order]] = np.arange(len(used))
        pairs = np.sort(rows * max(len(used), 1) + place[codes])  # by row, then by item
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
        lengths = np.bincount(pairs // max(len(used), 1), minlength=baskets)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        plain = cls(tuple(names[i] for i in order.tolist()), offsets, (pairs % max(len(used), 1)).astype(np.int32))
        sequence = plain.dictionary_order()
        return plain.take(sequence), sequence

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Go through the baskets, each as the names of its items."""
        names = [self.items[code] for code in self.codes.tolist()]
        for start, stop in pairwise(self.offsets.tolist()):
            yield tuple(names[start:stop])

    @cached_property
    def lengths(self) -> IntArray:
        """How many items each basket has."""
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> IntArray:
        """The basket of each occurrence."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def counts(self) -> IntArray:
        """How many baskets hold each item."""
        return np.bincount(self.codes, minlength=len(self.items))

    @cached_property
    def _by_item(self) -> tuple[IntArray, IntArray]:
        """Where each item begins among occurrences sorted by item, and the occurrences in that order."""
        return np.concatenate([[0], np.cumsum(self.counts)]), np.argsort(self.codes, kind="stable")

    def occurrences_of(self, item: int) -> IntArray:
        """Find where an item stands in `codes`, by ascending basket."""
        starts, order = self._by_item
        return order[starts[item] : starts[item + 1]]

    def holders(self, items: Iterable[int]) -> IntArray:
        """Find the baskets that hold all these items, ascending."""
        rarest = sorted(items, key=lambda item: int(self.counts[item]))
        if not rarest:
            return np.arange(len(self))
        found = self.rows[self.occurrences_of(rarest[0])]
        for item in rarest[1:]:
            there = np.zeros(len(self), dtype=bool)
            there[self.rows[self.occurrences_of(item)]] = True
            found = found[there[found]]
        return found

    def find_item(self, name: str) -> int:
        """Find the number of an item; one that no basket has is refused, since a slip would protect nothing."""
        place = self._place_of.get(name)
        if place is None:
            hint = did_you_mean(name, self.items) or "; check how it is spelt"
            raise DataError(f"no basket has the item {quote(name)}{hint}")
        return place

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.items)}

    def take(self, baskets: IntArray) -> "Baskets":
        """Take some baskets, in this order, with the same items."""
        lengths = np.diff(self.offsets)[baskets]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[baskets] - offsets[:-1], lengths)
        return Baskets(self.items, offsets, self.codes[places])

    def without(self, removed: BoolArray, dropped: BoolArray | None = None) -> tuple["Baskets", IntArray]:
        """Take occurrences out, bool[occurrences], and whole baskets, bool[n]; give also which basket became which."""
        gone = np.zeros(len(self), dtype=bool) if dropped is None else dropped
        kept = ~removed
        lengths = np.bincount(self.rows[kept], minlength=len(self))
        left = Baskets(self.items, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), self.codes[kept])
        remaining = np.flatnonzero(~gone)
        part = left.take(remaining)
        order = part.dictionary_order()
        return part.take(order), remaining[order]

    def dictionary_order(self) -> IntArray:
        """Sort baskets by their first item, then by the second, and so on; the shorter first where one begins another.

        Numbers in big-endian bytes compare as the numbers do, so that Python's sort of bytes does it, whatever lengths
        the baskets have.
        """
        content = self.codes.astype(">u4").tobytes()
        ends = (self.offsets * 4).tolist()
        keys = [content[ends[i] : ends[i + 1]] for i in range(len(self))]
        return np.asarray(sorted(range(len(self)), key=keys.__getitem__), dtype=np.int64)


def order_items(names: Sequence[str]) -> IntArray:
    """Sort names of items: whole numbers by their value, before all others, which are sorted as text.

    >>> names = ["10", "9", "tea", "ale"]
    >>> [names[i] for i in order_items(names)]
    ['9', '10', 'ale', 'tea']
    """

    def key(i: int) -> tuple[int, int, str]:
        name = names[i]
        return (0, int(name), name) if name.isascii() and name.isdigit() and len(name) < 19 else (1, 0, name)

    return np.asarray(sorted(range(len(names)), key=key), dtype=np.int64)


def pack_bits(rows: IntArray, places: IntArray, sets: int, baskets: int) -> Words:
    """Make bitmaps uint64[sets, words] from (set, basket) pairs, a block of sets at a time.

    rows:    int64[pairs], ascending: which bitmap;    places: int64[pairs]: which bit
    """
    words = -(-baskets // 64)
    maps = np.zeros((sets, words), dtype=np.uint64)
    step = max((1 << 24) // max(words * 64, 1), 1)
    for start in range(0, sets, step):
        stop = min(start + step, sets)
        low, high = np.searchsorted(rows, [start, stop])
        flags = np.zeros((stop - start, words * 64), dtype=bool)
        flags[rows[low:high] - start, places[low:high]] = True
        maps[start:stop] = np.packbits(flags, axis=1, bitorder="little").view(np.uint64)
    return maps
