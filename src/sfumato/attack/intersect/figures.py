"""From what is left to each person to the figures of a column, and of rows."""

from collections.abc import Sequence

import numpy as np

from sfumato.attack.intersect.compose import Composed
from sfumato.attack.intersect.found import Narrowed, Rows, Share
from sfumato.core.arrays import BoolArray, IntArray
from sfumato.matching.people import People


def narrowed(found: Composed, people: People, threshold: int) -> Narrowed:
    """The figures of one column, in persons."""
    left = found.left[people.tuples]
    counted = left >= 0
    possible = _possible(found, people)
    exposed = possible & (left < threshold)
    by_one = [_exposed_alone(found, people, place, threshold) for place in range(len(found.alone))]
    truth = found.values.true is not None
    sizes, persons = np.unique(left[counted], return_counts=True)
    return Narrowed(
        persons=int(counted.sum()),
        apart=int((~counted).sum()),
        smallest=int(left[possible].min()) if possible.any() else None,
        threshold=threshold,
        below=int(((left > 0) & (left < threshold)).sum()),
        exposed=int(exposed.sum()),
        alone=tuple(None if one is None else int(one.sum()) for one in by_one),
        added=int((exposed & ~np.any([one for one in by_one if one is not None], axis=0)).sum()),
        empty=int((left == 0).sum()),
        right=int((possible & (left == 1)).sum()) if truth else None,
        contradicted=int((counted & ~found.true_left).sum()) if truth else None,
        histogram=dict(zip(sizes.tolist(), persons.tolist(), strict=True)),
        share=_share(found, people, possible),
    )


def rows_left(found: Sequence[Composed], people: People, needed: Sequence[int | None]) -> Rows:
    """The rows left to persons who have a value left of every column; `needed` is the k of each release."""
    possible = np.all([_possible(one, people) for one in found], axis=0)
    fewest = np.array([_fewest([one.rows[place] for one in found]) for place in range(len(needed))])[:, people.tuples]
    every = np.array([_fewest([one.rows_alone[place] for one in found]) for place in range(len(needed))])
    alone = [None if k is None else int((every[place] < k)[people.tuples].sum()) for place, k in enumerate(needed)]
    few = [fewest[place] < k for place, k in enumerate(needed) if k is not None]
    return Rows(
        int(fewest[:, possible].min()) if possible.any() else None,
        int((possible & np.any(few, axis=0)).sum()) if few else None,
        tuple(alone),
    )


def _fewest(rows: Sequence[IntArray]) -> IntArray:
    """The fewest rows by any column; as many as there can be where a release is not fit, or lacks all columns."""
    found = np.where(np.array(rows) > 0, rows, np.iinfo(np.int64).max)
    fewest: IntArray = found.min(axis=0)
    return fewest


def _possible(found: Composed, people: People) -> BoolArray:
    """Persons who have a value left, and the true one among them where it is known."""
    some: BoolArray = found.left[people.tuples] > 0
    return some if found.values.true is None else some & found.true_left


def _exposed_alone(found: Composed, people: People, place: int, threshold: int) -> BoolArray | None:
    """Persons who have fewer values than the threshold in one release; nothing where it lacks the column."""
    if place not in found.values.places:
        return None
    values = found.alone[place, people.tuples]
    few: BoolArray = (values > 0) & (values < threshold)
    return few if found.values.true is None else few & found.true_alone[place]


def _share(found: Composed, people: People, possible: BoolArray) -> Share:
    """How sure somebody may be who counts the rows that are left."""
    best = found.share.max(axis=0)[people.tuples][possible]
    alone = [found.share_alone[place, people.tuples] for place in range(len(found.alone))]
    averages = [float(one[one > 0].mean()) if (one > 0).any() else None for one in alone]
    if not len(best):
        return Share(None, None, tuple(averages))
    return Share(float(best.max()), float(best.mean()), tuple(averages))
