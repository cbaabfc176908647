"""Frequent itemsets and rules from flipped baskets, with standard errors.

Of a set of k items, each of the 2^k ways in which a basket can hold some of them is reported by chances that the noise
states: a transition matrix of 2^k by 2^k. Its inverse gives the share of baskets that truly hold all k (Evfimievski,
Srikant, Agrawal and Gehrke 2002). As items are flipped one by one, the matrix is a product of k small ones, and so is
its inverse: a reported basket counts as the product over the items of

    keep / (2 keep - 1)  where the item is in it,    -(1 - keep) / (2 keep - 1)  where it is not,

whose mean over the baskets is the support, without bias, and whose spread gives the standard error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import Noise
from sfumato.errors import DataError, InputError, listing, quote

Floats = NDArray[np.float64]

_CERTAIN = 2.0
"""An itemset whose support is not so many standard errors above 0 may be one that nobody has."""
_SLACK = 1.0
"""Sets grow from those that are at most so many standard errors below the least support: they may well reach it."""


@dataclass(frozen=True)
class FrequentItemset:
    """Items that many have together: the estimated share of baskets, and its standard error."""

    items: tuple[str, ...]
    support: float
    standard_error: float


@dataclass(frozen=True)
class AssociationRule:
    """Who has `antecedent` has `consequent`, too: with chance `confidence`, `lift` times the share among all."""

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    support: float
    confidence: float
    standard_error: float
    lift: float


@dataclass(frozen=True)
class FlippedBaskets:
    """Reported baskets as what each item counts: float[n, items], the entries of the inverse of one item's matrix."""

    items: tuple[str, ...]
    counts: Floats

    @classmethod
    def read(cls, baskets: Any, noise: FlipNoise) -> "FlippedBaskets":
        """Take n baskets: bool[n, items] in the order of the noise, or n texts such as ``bread|milk``, or n sets."""
        array = baskets if isinstance(baskets, np.ndarray) else None
        if array is not None and array.ndim == 2:
            if array.shape[1] != len(noise.items):
                raise DataError(
                    f"the baskets have {array.shape[1]} columns and the noise has {len(noise.items)} items; give a "
                    "column for each item, in the order of the noise"
                )
            held = array.astype(bool)
        else:
            held = _read_sets(baskets, noise.items)
        if not len(held):
            raise DataError("there is no basket, so that nothing can be recovered; give some")
        scale = 2 * noise.keep - 1
        return cls(noise.items, np.where(held, noise.keep / scale, -(1 - noise.keep) / scale))

    def together(self, places: Sequence[int]) -> Floats:
        """Give what each basket counts for items taken together, float[n]."""
        return np.asarray(self.counts[:, list(places)].prod(axis=1))


def frequent_itemsets(
    baskets: Any,
    noise: FlipNoise | Noise | Mapping[str, Any] | str | Path,
    column: str | None = None,
    *,
    min_support: float = 0.1,
    max_items: int = 6,
) -> list[FrequentItemset]:
    """Find the sets of items that at least a share `min_support` of all persons truly have, from flipped baskets.

    baskets: bool[n, items], or texts such as ``bread|milk``, or sets of names
    noise:   the noise of the column, or that of the collection together with the name of the `column`

    Sets grow item by item (Agrawal and Srikant 1994). What is found has an estimated support of at least `min_support`
    that is also two standard errors above 0: with many items noise alone makes some rare set look frequent. Sorted by
    size, then by support.

    >>> kept = FlipNoise(("bread", "milk", "tea"), 0.999)
    >>> found = frequent_itemsets(["bread|milk"] * 60 + ["tea"] * 40, kept, min_support=0.5)
    >>> [(itemset.items, round(itemset.support, 2)) for itemset in found]
    [(('bread',), 0.6), (('milk',), 0.6), (('bread', 'milk'), 0.6)]
    """
    if not 0 < min_support <= 1:
        raise InputError(f"min_support must be a number above 0 and at most 1, not {quote(min_support)}")
    data = FlippedBaskets.read(baskets, flip_noise(noise, column))
    rows = len(data.counts)
    squares = data.counts**2
    found: list[FrequentItemset] = []
    level: list[tuple[int, ...]] = [()]
    for _ in range(min(max_items, len(data.items))):
        alive = set(level)
        grown = []
        for prefix in level:
            lasts = [
                last
                for last in range(prefix[-1] + 1 if prefix else 0, len(data.items))
                if all((*prefix[:skip], *prefix[skip + 1 :], last) in alive for skip in range(len(prefix)))
            ]
            if not lasts:
                continue
            # all sets that share a prefix at once: its product over the rows, times each further item
            product = data.together(prefix)
            supports = product @ data.counts[:, lasts] / rows
            errors = np.sqrt(np.maximum(product**2 @ squares[:, lasts] / rows - supports**2, 0) / rows)
            for last, support, error in zip(lasts, supports.tolist(), errors.tolist(), strict=True):
                if support + _SLACK * error >= min_support and support >= _CERTAIN * error:
                    grown.append((*prefix, last))
                    if support >= min_support:
                        names = tuple(data.items[place] for place in grown[-1])
                        found.append(FrequentItemset(names, support, error))
        level = grown
        if not level:
            break
    return sorted(found, key=lambda itemset: (len(itemset.items), -itemset.support, itemset.items))


def association_rules(
    baskets: Any,
    noise: FlipNoise | Noise | Mapping[str, Any] | str | Path,
    column: str | None = None,
    *,
    min_support: float = 0.1,
    min_confidence: float = 0.5,
    max_items: int = 6,
) -> list[AssociationRule]:
    """Find rules between the items of frequent itemsets, with the standard error of their confidence.

    The confidence is a ratio of two supports that are estimated from the same baskets, so that its error is that of
    the mean of (what a basket counts for the whole set - confidence · what it counts for the antecedent) / support of
    the antecedent. Sorted by confidence.

    >>> kept = FlipNoise(("bread", "milk", "tea"), 0.999)
    >>> rules = association_rules(["bread|milk"] * 60 + ["milk"] * 40, kept, min_confidence=0.9)
    >>> [(rule.antecedent, rule.consequent, round(rule.confidence, 2)) for rule in rules]
    [(('bread',), ('milk',), 1.0)]
    """
    if not 0 <= min_confidence <= 1:
        raise InputError(f"min_confidence must be a number from 0 to 1, not {quote(min_confidence)}")
    flips = flip_noise(noise, column)
    data = FlippedBaskets.read(baskets, flips)
    place_of = {item: place for place, item in enumerate(data.items)}
    itemsets = frequent_itemsets(baskets, flips, min_support=min_support, max_items=max_items)
    support_of = {itemset.items: itemset.support for itemset in itemsets}
    rules = []
    for itemset in itemsets:
        whole = data.together([place_of[item] for item in itemset.items])
        for size in range(1, len(itemset.items)):
            for antecedent in combinations(itemset.items, size):
                consequent = tuple(item for item in itemset.items if item not in antecedent)
                if antecedent not in support_of or consequent not in support_of:
                    continue  # by chance it seems rarer than the set that holds it
                base = support_of[antecedent]
                confidence = itemset.support / base
                if confidence < min_confidence:
                    continue
                given = data.together([place_of[item] for item in antecedent])
                error = float((whole - confidence * given).std() / base / np.sqrt(len(whole)))
                lift = confidence / support_of[consequent]
                rules.append(AssociationRule(antecedent, consequent, itemset.support, confidence, error, lift))
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.support, rule.antecedent, rule.consequent))


def flip_noise(noise: FlipNoise | Noise | Mapping[str, Any] | str | Path, column: str | None) -> FlipNoise:
    """Find the noise of a column of baskets."""
    if isinstance(noise, FlipNoise):
        return noise
    known = Noise.load(noise)
    if column is None:
        flipped = [name for name, kind in known.columns.items() if isinstance(kind, FlipNoise)]
        if len(flipped) != 1:
            raise InputError(f"the noise has {len(flipped)} columns of baskets; name the one that is meant with column")
        column = flipped[0]
    kind = known.column(column)
    if not isinstance(kind, FlipNoise):
        raise InputError(f"column {quote(column)} holds no baskets: its noise is of the kind {kind.kind} and not flip")
    return kind


def _read_sets(baskets: Iterable[Any], items: tuple[str, ...]) -> NDArray[np.bool_]:
    place_of = {item: place for place, item in enumerate(items)}
    every = list(baskets)
    held = np.zeros((len(every), len(items)), dtype=bool)
    for number, basket in enumerate(every):
        names = (basket.split("|") if basket else ()) if isinstance(basket, str) else basket
        for name in names:
            if name not in place_of:
                raise DataError(f"basket {number + 1:,} has an item that is none of {listing(items)}; correct it")
            held[number, place_of[name]] = True
    return held
