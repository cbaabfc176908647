"""Frequent itemsets where two parties hold different items of the same transactions (Vaidya and Clifton, KDD 2002).

A transaction holds a set of items of both parties if it holds the first party's part and the second's: so the support
of the set is the scalar product of two vectors of zeros and ones, one at each party. Sets of one party's items alone it
mines by itself, and tells those that are frequent, which are part of the result. Mixed ones go level by level
(Apriori): a set is a candidate if all sets that are one item smaller are frequent, the supports of all candidates of a
level are made as shares by one product of matrices (`shared_products`), compared with the least support
(`compare_shares`), and opened only where they reach it.

Adversary: semi-honest. There are two parties, so each is the only colluder against the other. Both learn the frequent
sets and their supports, which are the result. Candidates follow from it, so that an infrequent set is known to be
infrequent, and its support to nobody.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrow import arrow_texts, numpy_numbers
from sfumato.errors import DataError, InputError, RunAborted, quote
from sfumato.party.party_channel import Channel
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.row_linkage import LinkedRows, RowLinkage
from sfumato.party.scalar_product import shared_products
from sfumato.party.secure_comparison import compare_shares
from sfumato.reading.outside_table import check_column_names
from sfumato.rules.baskets import Baskets, order_items
from sfumato.rules.frequent_itemsets import MOST_ITEMSETS, mine_itemsets

Itemset = tuple[int, ...]
"""Places in the list of all items, ascending."""

_LARGEST_SET = 20
_LARGEST_JSON = 1 << 24  # a list of small things takes thirty times as much memory as it has bytes
_COUNT_BITS = 48
_WORDS = 1 << 24  # of vectors that are multiplied at a time


@dataclass(frozen=True)
class HeldItems:
    """A party's items: their names, and which row holds which, as pairs int64[occurrences] in any order."""

    names: tuple[str, ...]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    count: int
    linked: LinkedRows

    def take(self, rows: NDArray[np.int64]) -> "HeldItems":
        """Give some rows, in this order."""
        place = np.full(self.count, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        kept = place[self.rows] >= 0
        return replace(self, rows=place[self.rows][kept], codes=self.codes[kept], count=len(rows))


def hold_items(
    table: PartyTable, linkage: RowLinkage, *, columns: Sequence[str] | None, long: Sequence[str] | None
) -> HeldItems:
    """Take the items of a table: of each cell ``column=value``, or, of a long one, a row for each item.

    >>> table = PartyTable(pa.table({"id": ["1", "2", "1"], "what": ["tea", "tea", "ale"]}), "a.csv")
    >>> held = hold_items(table, RowLinkage("id"), columns=None, long=["id", "what"])
    >>> held.names, held.rows.tolist(), held.codes.tolist(), held.linked.items
    (('tea', 'ale'), [0, 1, 0], [0, 0, 1], (b'1', b'2'))
    """
    if not isinstance(table.arrow, pa.Table):
        raise DataError(f"{table.name}: lines of items have no rows that could be linked; bring a table, or a long one")
    if long is not None:
        check_column_names(long, table.arrow.column_names, table.name)
        transactions, items = (_number_cells(table.arrow[name]) for name in long)
        if (transactions[1] < 0).any():
            raise DataError(f"{table.name}: a row has no {quote(long[0])}; say which transaction it is of")
        there = items[1] >= 0
        linked = linkage.hold(PartyTable(pa.table({long[0]: arrow_texts(transactions[0])}), table.name))
        return HeldItems(items[0], transactions[1][there], items[1][there], len(transactions[0]), linked)
    names: list[str] = []
    rows: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    codes: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    wanted = [name for name in table.arrow.column_names if name != linkage.link_on] if columns is None else columns
    check_column_names(wanted, table.arrow.column_names, table.name)
    for name in wanted:
        texts, numbers = _number_cells(table.arrow[name])
        held = np.flatnonzero(numbers >= 0)
        rows.append(held)
        codes.append(numbers[held] + len(names))
        names += [f"{name}={text}" for text in texts]
    if len(set(names)) < len(names):
        raise DataError(f"{table.name}: two columns make the same item, since an item is column=value; rename one")
    return HeldItems(
        tuple(names), np.concatenate(rows), np.concatenate(codes), table.arrow.num_rows, linkage.hold(table)
    )


def mine_columns(
    session: PartySession, held: HeldItems, least: int, *, max_size: int | None, step: str
) -> tuple[tuple[str, ...], list[NDArray[np.int32]], NDArray[np.int64]]:
    """Find every set of both parties' items that at least `least` rows hold, and their supports.

    Rows are linked: both have as many, in the same order. Gives the names of all items, in the order of `Baskets`, the
    sets by size, int32[n, size] in places of that list, and the supports of all, size after size.
    """
    (peer,) = session.others
    own = _mine_own(held, least, max_size)
    theirs = _tell_sets(session.channels[peer], own, held.count, least, max_size or _LARGEST_SET, step)
    names = [*(name for (name,) in _singles(own)), *(name for (name,) in _singles(theirs))]
    if len(set(names)) < len(names):
        raise RunAborted(f"party {quote(peer)} has an item of the same name as this one; rename columns", peer=peer)
    items = tuple(names[place] for place in order_items(names))
    place_of = {name: place for place, name in enumerate(items)}
    frequent: dict[Itemset, int] = {
        tuple(sorted(place_of[name] for name in names)): support for names, support in (own | theirs).items()
    }
    vectors = _item_vectors(held, {name: place_of[name] for (name,) in _singles(own)})
    level: dict[Itemset, int] = {one: support for one, support in frequent.items() if len(one) == 1}
    for size in range(2, (max_size or _LARGEST_SET) + 1):
        candidates = _mixed_candidates(level, size, set(vectors))
        found = _count_mixed(session, candidates, vectors, held.count, least, f"{step}/{size}")
        frequent |= found
        if len(frequent) > MOST_ITEMSETS:
            raise RunAborted(f"more than {MOST_ITEMSETS:,} sets are that frequent; ask for a higher min_support")
        level = {one: support for one, support in frequent.items() if len(one) == size}
        if not found:
            break
    sizes = range(1, max(map(len, frequent), default=0) + 1)
    sets = [sorted(one for one in frequent if len(one) == size) for size in sizes]
    members = [np.array(own_size, dtype=np.int32).reshape(-1, size) for own_size, size in zip(sets, sizes, strict=True)]
    return items, members, np.array([frequent[one] for every in sets for one in every], dtype=np.int64)


def _mine_own(held: HeldItems, least: int, max_size: int | None) -> dict[tuple[str, ...], int]:
    """Mine this party's items alone: supports of frequent sets, by names."""
    baskets, _ = Baskets.from_occurrences(held.rows, held.codes, held.names, held.count)
    try:
        table = mine_itemsets(baskets, least, max_size=max_size or _LARGEST_SET + 1)
    except InputError:
        raise RunAborted(
            f"this party alone has more than {MOST_ITEMSETS:,} sets that are that frequent; ask for a higher "
            "min_support, or a smaller max_size"
        ) from None
    if len(table.members) > _LARGEST_SET:
        raise RunAborted(
            f"a set of more than {_LARGEST_SET} items is that frequent, and makes more rules than anybody reads; ask "
            "for a higher min_support, or name a max_size"
        )
    return {tuple(baskets.items[item] for item in one): support for one, support in table.support_of.items()}


def _tell_sets(
    channel: Channel, own: Mapping[tuple[str, ...], int], rows: int, least: int, largest: int, step: str
) -> dict[tuple[str, ...], int]:
    """Tell each other the frequent sets of one party's items, which the result has in any case.

    A peer's sets have at most `largest` items, and with every set there are those that are one item smaller, which at
    least as many rows hold.
    """
    content = json.dumps([[list(names), support] for names, support in own.items()], separators=(",", ":")).encode()
    if len(content) > _LARGEST_JSON:
        raise RunAborted(
            f"this party alone has {len(own):,} sets that are that frequent, more than a message holds; ask for a "
            "higher min_support, or a smaller max_size"
        )
    channel.send(f"{step}/own", content)
    heard = channel.receive_json(f"{step}/own", most=_LARGEST_JSON)
    try:
        theirs = {tuple(names): support for names, support in heard}
        "".join(name for names in theirs for name in names).encode()  # refuses what is no text
        supports = {(): rows} | theirs
        right = len({frozenset(names) for names in theirs}) == len(heard) and all(
            type(support) is int
            and least <= support
            and 0 < len(set(names)) == len(names) <= largest
            and all(support <= supports.get(names[:drop] + names[drop + 1 :], 0) for drop in range(len(names)))
            for names, support in theirs.items()
        )
    except (TypeError, ValueError):
        right = False
    if not right:
        raise channel.refuse(f"{step}/own", "something that is no list of frequent sets")
    return theirs


def _singles(sets: Mapping[tuple[str, ...], int]) -> list[tuple[str, ...]]:
    return [names for names in sets if len(names) == 1]


def _item_vectors(held: HeldItems, wanted: Mapping[str, int]) -> dict[int, NDArray[np.bool_]]:
    """Write items as vectors over rows, bool[n], by their places."""
    code_of = {name: code for code, name in enumerate(held.names)}
    vectors = {}
    order = np.argsort(held.codes, kind="stable")
    ends = np.cumsum(np.bincount(held.codes, minlength=len(held.names)))
    for name, place in wanted.items():
        code = code_of[name]
        start = int(ends[code - 1]) if code else 0
        vectors[place] = np.zeros(held.count, dtype=bool)
        vectors[place][held.rows[order[start : ends[code]]]] = True
    return vectors


def _mixed_candidates(level: Mapping[Itemset, int], size: int, mine: set[int]) -> list[Itemset]:
    """List the sets of both parties' items, one item larger than those of a level, of which all parts are in there."""
    by_prefix: dict[Itemset, list[int]] = {}
    for one in sorted(level):
        by_prefix.setdefault(one[:-1], []).append(one[-1])
    found = []
    for prefix, last in by_prefix.items():
        for pair in combinations(last, 2):
            candidate = (*prefix, *pair)
            held = sum(item in mine for item in candidate)
            if 0 < held < size and all(candidate[:drop] + candidate[drop + 1 :] in level for drop in range(size - 2)):
                found.append(candidate)
    return sorted(found)


def _count_mixed(
    session: PartySession,
    candidates: Sequence[Itemset],
    vectors: Mapping[int, NDArray[np.bool_]],
    rows: int,
    least: int,
    step: str,
) -> dict[Itemset, int]:
    """Count the rows that hold each candidate, and open the counts that reach `least`."""
    (peer,) = session.others
    channel = session.channels[peer]
    found: dict[Itemset, int] = {}
    for number, some in enumerate(_batches(candidates, set(vectors), rows)):
        here = f"{step}/{number}"
        mine = [tuple(item for item in one if item in vectors) for one in some]
        theirs = [tuple(item for item in one if item not in vectors) for one in some]
        own_place = {part: place for place, part in enumerate(sorted(set(mine)))}
        their_place = {part: place for place, part in enumerate(sorted(set(theirs)))}
        columns = np.stack([np.logical_and.reduce([vectors[item] for item in part]) for part in own_place], axis=1)
        shares = shared_products(session, peer, columns.astype(np.uint64), bits=1, step=here, due=len(their_place))
        flat = shares[[own_place[part] for part in mine], [their_place[part] for part in theirs]]
        large = compare_shares(session, peer, flat, least, step=here, bits=_COUNT_BITS)
        channel.send_array(f"{here}/open", flat[large])
        opened = flat[large] + channel.receive_array(f"{here}/open", np.uint64, (int(large.sum()),))
        if ((opened < least) | (opened > rows)).any():
            raise channel.refuse(f"{here}/open", "a support that cannot be right")
        passed = [one for one, kept in zip(some, large.tolist(), strict=True) if kept]
        found |= dict(zip(passed, opened.view(np.int64).tolist(), strict=True))
    return found


def _batches(candidates: Sequence[Itemset], mine: set[int], rows: int) -> Iterator[list[Itemset]]:
    """Divide candidates so that the vectors of each batch fit into memory; both parties divide them alike."""
    most = max(_WORDS // max(rows, 1), 2)
    batch: list[Itemset] = []
    parts: tuple[set[Any], set[Any]] = (set(), set())
    for one in candidates:
        both = (tuple(item for item in one if item in mine), tuple(item for item in one if item not in mine))
        if max(len(held | {part}) for held, part in zip(parts, both, strict=True)) > most:
            yield batch
            batch, parts = [], (set(), set())
        batch.append(one)
        for held, part in zip(parts, both, strict=True):
            held.add(part)
    if batch:
        yield batch


def _number_cells(column: Any) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Number the different texts of a column, -1 for NULL: the texts, and int64[n]."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    encoded = cells.cast(pa.string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    there = numpy_numbers(encoded.indices.is_valid().cast(pa.uint8())) > 0
    codes = np.full(len(there), -1, dtype=np.int64)
    codes[there] = numpy_numbers(encoded.indices.drop_null())
    return tuple(encoded.dictionary.to_pylist()), codes
