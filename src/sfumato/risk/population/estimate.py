"""What estimators are given, and what they give."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Sample:
    """Class sizes of a sample: the different `sizes` in order, how many classes have each, and the sampling fraction.

    >>> sample = sample_of(np.array([1, 3, 1]), 0.1)
    >>> sample.sizes, sample.counts, sample.rows, sample.classes, sample.people
    (array([1, 3]), array([2, 1]), 5, 3, 50)
    """

    sizes: IntArray
    counts: IntArray
    fraction: float

    @property
    def rows(self) -> int:
        """Rows of the sample."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """Classes of the sample."""
        return int(self.counts.sum())

    @property
    def people(self) -> int:
        """The population's size."""
        return round(self.rows / self.fraction)

    def of_size(self, size: int) -> int:
        """How many classes have this size."""
        return int(self.counts[self.sizes == size].sum())


def sample_of(sizes: IntArray, fraction: float) -> Sample:
    """The sample whose classes have these sizes."""
    return Sample(*np.unique(sizes, return_counts=True), fraction)


@dataclass(frozen=True)
class Estimate:
    """How many of the population are alone in their class, and their share of it; none where no estimate exists.

    `reason` says why there is none, or what is special about it; `parameters` are those of the fitted model.
    """

    uniques: float | None
    share: float | None
    reason: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def estimated(sample: Sample, uniques: float, reason: str = "", **parameters: float) -> Estimate:
    """An estimate of so many uniques, of whom there are no more than people."""
    bounded = min(max(float(uniques), 0.0), float(sample.people))
    return Estimate(bounded, bounded / sample.people, reason, parameters)


def failed(reason: str) -> Estimate:
    """No estimate, and why."""
    return Estimate(None, None, reason)
