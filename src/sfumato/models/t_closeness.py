"""t-closeness (Li, Li and Venkatasubramanian 2007; Definition 20.3.5 of the chapter)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain
from sfumato.core.segments import max_by_group
from sfumato.errors import PolicyError
from sfumato.models.base import ColumnEntry
from sfumato.models.counts import TOLERANCE, doom, looked_at, rounded_up
from sfumato.models.distances import DISTANCES, GENERAL, Costs, Distance, distance
from sfumato.models.keys import LIMIT, Kind

DISTANCE = Kind(
    f"one of {', '.join(DISTANCES)}",
    lambda value: isinstance(value, str) and value in DISTANCES,
    {"enum": list(DISTANCES)},
)
COSTS = Kind(
    "a file of value,value,cost lines",
    lambda value: isinstance(value, Costs),
    {"type": "string", "minLength": 1},
    dump=lambda costs: costs.source,
    load=Costs.read,
)


@dataclass(frozen=True)
class TCloseness(ColumnEntry):
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
        "if": {"properties": {"distance": {"const": GENERAL}}},
        "then": {"required": ["costs"]},
        "else": {"properties": {"costs": False}},
    }

    t: Annotated[float, LIMIT, "the largest distance from the whole table's distribution"]
    distance: Annotated[str, DISTANCE, "how the distance is measured"]
    costs: Annotated[Costs | None, COSTS, "the file of costs (value,value,cost) for distance emd"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance == GENERAL and self.costs is None:
            raise PolicyError("distance emd needs a file of value,value,cost lines", key="costs")
        if self.distance != GENERAL and self.costs is not None:
            raise PolicyError(f"is for distance emd, not for {self.distance}", key="costs")

    @property
    def monotone(self) -> bool:
        """All distances are convex: a union is no farther than its farthest part (Lemma 20.3.4)."""
        return True

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class is close enough."""
        lines = looked_at(classes, self.column)
        return self._measure(lines.domain).within(lines, classes.sizes, self.t)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The distance of the farthest class."""
        lines = looked_at(classes, self.column)
        return {"t": self._measure(lines.domain).largest(lines, classes.sizes)}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, with the distance of the farthest value of the class as the most a part can have.

        The distance d of a class is at most the average of its parts'. Parts that pass have t at most,
        parts that fail, a share f of the rows, have at most D, the largest distance of a single value of
        the class (by convexity): d <= (1 - f) t + f D. So f >= (d - t) / (D - t), and more so with a
        lower bound for d. Both tolerances are taken off, one for passing parts, one for rounding.
        """
        lines = looked_at(classes, self.column)
        measure = self._measure(lines.domain)
        failing = ~measure.within(lines, classes.sizes, self.t)
        worst = max_by_group(lines.class_of, measure.points()[lines.value], len(classes))
        surplus = measure.at_least(lines, classes.sizes) - self.t - 2 * TOLERANCE
        return doom(failing, surplus / np.maximum(worst - self.t, TOLERANCE) * classes.sizes, classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """The table as one class is no farther than any split of it; from itself it is at distance 0."""
        return f"t can be as low as {rounded_up(round(float(self.achieved(whole)['t']), 9))}"

    def _measure(self, domain: SensitiveDomain) -> Distance:
        try:
            return distance(self.distance, domain, self.costs)
        except PolicyError as error:
            raise PolicyError(f"{error.message} (column {self.column!r})", key=error.key) from None
