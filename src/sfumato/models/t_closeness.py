"""t-closeness (Li, Li and Venkatasubramanian 2007; Definition 20.3.5 of the chapter)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain
from sfumato.core.segments import max_by_group
from sfumato.errors import PolicyError, quote
from sfumato.models.distances import DISTANCES, GENERAL_EARTH_MOVER, Distance, bind_distance
from sfumato.models.earth_mover import Costs, bind_earth_mover
from sfumato.models.model import TOLERANCE, SensitiveColumnModel, doomed_share, round_up, sensitive_histogram
from sfumato.models.policy_keys import AT_LEAST_ZERO, KeyType

DISTANCE_NAME = KeyType(
    f"one of {', '.join(DISTANCES)}",
    lambda value: isinstance(value, str) and value in DISTANCES,
    {"enum": list(DISTANCES)},
)
COSTS_FILE = KeyType(
    "a file of value,value,cost lines",
    lambda value: isinstance(value, Costs),
    {"type": "string", "minLength": 1},
    to_json=lambda costs: costs.source,
    load_file=Costs.read,
)


@dataclass(frozen=True)
class TCloseness(SensitiveColumnModel):
    """In every class the sensitive values are distributed nearly as in the whole table.

    Guards against learning from a class more than the table as a whole tells: a class of half HIV is
    diverse, yet says much where one in a hundred has it. The whole table is the input, rows that get
    suppressed included. A distance within 1e-9 of `t` passes.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "flu", "flu"])
    >>> TCloseness("illness", t=0.25, distance="variational").holds(classes)
    array([ True,  True])
    >>> TCloseness("illness", t=0.2, distance="variational").achieved(classes)
    {'t': 0.25}
    """

    name: ClassVar[str] = "t-closeness"
    threat: ClassVar[str] = "Someone who finds a person's class learns more than the whole table tells anyone."
    rules: ClassVar[Mapping[str, object]] = {
        "if": {"properties": {"distance": {"const": GENERAL_EARTH_MOVER}}},
        "then": {"required": ["costs"]},
        "else": {"properties": {"costs": False}},
    }

    t: Annotated[float, AT_LEAST_ZERO, "the largest distance from the whole table's distribution"]
    distance: Annotated[str, DISTANCE_NAME, "how the distance is measured"]
    costs: Annotated[Costs | None, COSTS_FILE, "the file of costs (value,value,cost) for distance emd"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance == GENERAL_EARTH_MOVER and self.costs is None:
            raise PolicyError("distance emd needs a file of value,value,cost lines", key="costs")
        if self.distance != GENERAL_EARTH_MOVER and self.costs is not None:
            raise PolicyError(f"is for distance emd, not for {self.distance}", key="costs")

    @property
    def monotone(self) -> bool:
        """All distances are convex: a union is no farther than its farthest part (Lemma 20.3.4)."""
        return True

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it is close enough."""
        histogram = sensitive_histogram(classes, self.column)
        return self._bind(histogram.domain).within(histogram, classes.sizes, self.t)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the distance of the farthest class."""
        histogram = sensitive_histogram(classes, self.column)
        return {"t": self._bind(histogram.domain).largest(histogram, classes.sizes)}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, with the distance of the farthest value of the class as the most a part can have.

        The distance d of a class is at most the average of its parts'. Parts that pass have t at most,
        parts that fail, a share f of the rows, have at most D, the largest distance of a single value of
        the class (by convexity): d <= (1 - f) t + f D. So f >= (d - t) / (D - t), and also with a
        lower bound in place of d. Both tolerances are taken off, one for passing parts, one for rounding.
        """
        histogram = sensitive_histogram(classes, self.column)
        distance = self._bind(histogram.domain)
        failing = ~distance.within(histogram, classes.sizes, self.t)
        farthest = max_by_group(histogram.class_of, distance.value_distances()[histogram.value], len(classes))
        surplus = distance.lower_bounds(histogram, classes.sizes) - self.t - 2 * TOLERANCE
        share = surplus / np.maximum(farthest - self.t, TOLERANCE)
        return doomed_share(failing, share * classes.sizes, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say the distance of the table as one class, 0 from itself: no split is closer."""
        return f"t can be as low as {round_up(round(float(self.achieved(whole)['t']), 9))}"

    def _bind(self, domain: SensitiveDomain) -> Distance:
        """Bind the distance to the distribution of the whole table."""
        try:
            return bind_distance(self.distance, domain) if self.costs is None else bind_earth_mover(domain, self.costs)
        except PolicyError as error:
            raise PolicyError(f"{error.message} (column {quote(self.column)})", key=error.key) from None
