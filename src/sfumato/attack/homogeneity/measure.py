"""Homogeneity and skewness: what the bag of a class tells of whoever stands in it."""

from collections.abc import Mapping

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.attack.homogeneity.disclosure import Gain, disclosed
from sfumato.attack.homogeneity.found import Homogeneity, Homogeneous, Skewed, Skewness, Telling
from sfumato.attack.homogeneity.told import Told
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import max_by_group, run_starts
from sfumato.models import TCloseness
from sfumato.models.distances import bind_distance
from sfumato.models.model import count_distinct_values
from sfumato.policy import Policy

THRESHOLD = 0.3
_TOP = 5
_BOUNDING = ("variational", "emd-equal")
"""Distances that no gain of a value exceeds."""


def homogeneity(told: Mapping[str, Told], bounds: Mapping[str, Bound] | None = None) -> Homogeneity:
    """How often the most frequent value of a class is right, and where it is certain.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["flu", "flu", "HIV", "flu"])
    >>> found = homogeneity({"illness": Told(classes.sensitive["illness"], classes.sizes)}).columns["illness"]
    >>> found.certain, found.right, found.blind
    (2, 0.75, 0.75)
    """
    promised = bounds or {}
    return Homogeneity({name: _homogeneous(one, promised.get(name)) for name, one in told.items()})


def skewness(
    told: Mapping[str, Told], *, threshold: float = THRESHOLD, promised: Mapping[str, float] | None = None
) -> Skewness:
    """How much more of a value a class tells than the table; `promised` are bounds on that, see `allowed`.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 0, 1], illness=["flu", "flu", "flu", "HIV"])
    >>> found = skewness({"illness": Told(classes.sensitive["illness"], classes.sizes)}).columns["illness"]
    >>> found.gain
    Gain(value='HIV', before=0.25, after=1.0)
    """
    bounds = promised or {}
    return Skewness({name: _skewed(one, threshold, bounds.get(name)) for name, one in told.items()})


def allowed(policy: Policy) -> dict[str, float]:
    """The largest gain of a value that t-closeness allows, by column: a variational distance bounds every gain."""
    close = [model for model in policy.privacy if isinstance(model, TCloseness) and model.distance in _BOUNDING]
    limits: dict[str, float] = {}
    for model in close:
        limits[model.column] = min(float(model.t), limits.get(model.column, 1.0))
    return limits


def _homogeneous(told: Told, bound: Bound | None) -> Homogeneous:
    bag, sizes = told.bag, told.sizes
    rows, every = int(sizes.sum()), disclosed(bag, sizes)
    single = count_distinct_values(bag, len(sizes)) == 1
    held = np.bincount(bag.value, weights=bag.count, minlength=len(bag.domain.values))
    return Homogeneous(
        rows=rows,
        classes=len(sizes),
        certain=every.certain,
        certain_classes=int(single.sum()),
        persons=None if told.persons is None else len(np.unique(told.persons.value)),
        certain_persons=None if told.persons is None else _standing(told.persons, single),
        similar=_similar(bag, sizes),
        largest_share=every.share.worst,
        value=every.top,
        distinct=int(every.distinct.worst),
        entropy=every.entropy.worst,
        right=float(max_by_group(bag.class_of, bag.count, len(sizes)).sum()) / rows,
        blind=float(held[bag.domain.totals.argmax()]) / rows,
        bound=None if bound is None else bound.share,
        protected=None if bound is None or bound.values is None else tuple(bound.values),
    )


def _skewed(told: Told, threshold: float, bound: float | None) -> Skewed:
    bag, sizes = told.bag, told.sizes
    every, prior = disclosed(bag, sizes), bag.domain.shares
    share = bag.count / sizes[bag.class_of]
    gain, line = _peaks(bag, share - prior[bag.value])
    above = gain > threshold
    top = np.lexsort((np.arange(len(gain)), -sizes, -gain))[:_TOP].tolist()
    return Skewed(
        rows=int(sizes.sum()),
        classes=len(sizes),
        gain=every.most,
        ratio=_gain(bag, share, int((share / prior[bag.value]).argmax())),
        distance=every.distance.worst,
        average=every.distance.average,
        ordered=None if bag.domain.ranks is None else bind_distance("emd-ordered", bag.domain).largest(bag, sizes),
        hierarchical=_hierarchical(bag, sizes),
        threshold=threshold,
        above=int(sizes[above].sum()),
        classes_above=int(above.sum()),
        top=tuple(Telling(place, int(sizes[place]), _gain(bag, share, int(line[place]))) for place in top),
        bound=bound,
    )


def _peaks(bag: Histogram, gain: FloatArray) -> tuple[FloatArray, IntArray]:
    """The largest gain of each class, and the line that has it: the first of equals."""
    first = run_starts(bag.class_of)
    largest: FloatArray = np.maximum.reduceat(gain, first)
    lines = np.where(gain == largest[bag.class_of], np.arange(len(gain)), len(gain))
    return largest, np.minimum.reduceat(lines, first)


def _gain(bag: Histogram, share: FloatArray, line: int) -> Gain:
    code = int(bag.value[line])
    return Gain(bag.domain.values[code], float(bag.domain.shares[code]), float(share[line]))


def _similar(bag: Histogram, sizes: IntArray) -> int | None:
    """Rows in classes whose values share an ancestor below the root; none where the hierarchy has no inner node."""
    tree = bag.domain.ancestors
    if tree is None or tree.shape[1] < 3:
        return None
    kind, first = (
        tree[bag.value, -2],
        run_starts(bag.class_of),
    )  # below the root the levels nest, so the last one is enough
    alike: BoolArray = np.minimum.reduceat(kind, first) == np.maximum.reduceat(kind, first)
    return int(sizes[alike].sum())


def _standing(persons: Histogram, chosen: BoolArray) -> int:
    """Persons with a row in one of the chosen classes."""
    return len(np.unique(persons.value[chosen[persons.class_of]]))


def _hierarchical(bag: Histogram, sizes: IntArray) -> float | None:
    if bag.domain.ancestors is None:
        return None
    return bind_distance("emd-hierarchical", bag.domain).largest(bag, sizes)
