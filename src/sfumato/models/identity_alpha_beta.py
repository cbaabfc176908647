"""Identity-reserved (alpha, beta)-anonymity: Definition 4 of the identity-reserved paper."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.numbers import exact_fraction, floor_times
from sfumato.core.segments import max_by_group
from sfumato.models.base import ColumnEntry
from sfumato.models.counts import doom, looked_at, rounded_up
from sfumato.models.identity import IdentityEntry
from sfumato.models.keys import SHARE


@dataclass(frozen=True)
class IdentityAlphaBeta(IdentityEntry, ColumnEntry):
    """In no class has one individual more than a share `alpha` of the rows, or one value more than a share `beta`.

    Guards against classes that are mostly one person's, and against learning a sensitive value: seen by rows, nobody
    can be surer than `alpha` whose a row is, and nobody surer than `beta` what it holds. Shares are compared exactly.
    Every value is limited, NULL among them.

    >>> people, illness = ["mike", "mike", "emily", "tim"], ["flu", "HIV", "flu", "HIV"]
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=people, illness=illness)
    >>> IdentityAlphaBeta(column="illness", alpha=0.5, beta=0.5).holds(classes)
    array([False,  True])
    >>> IdentityAlphaBeta(column="illness", alpha=0.5, beta=0.5).achieved(classes)
    {'alpha': 1.0, 'beta': 0.5}
    """

    name: ClassVar[str] = "identity-alpha-beta"
    threat: ClassVar[str] = "Someone finds a class that is mostly one person's, or is nearly sure of a sensitive value."

    alpha: Annotated[float, SHARE, "the largest share of a class that one individual may have"]
    beta: Annotated[float, SHARE, "the largest share of a class that one value may hold"]

    @property
    def monotone(self) -> bool:
        """The share of an individual or a value in a union is no larger than the largest in its parts."""
        return True

    @property
    def least(self) -> int:
        """Somebody has a row, and it may be no more than alpha of the class; the same for its value."""
        shares = (exact_fraction(share) for share in (self.alpha, self.beta))
        return max([self.linked, *(-int(-1 // share) for share in shares if share)])

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class has few enough rows of every individual and of every value."""
        passing = self._crowded(classes)
        for rows, share in self._worst(classes):
            passing &= rows <= floor_times(share, classes.sizes)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The largest share of an individual in a class, and that of a value."""
        sizes = np.maximum(classes.sizes, 1)
        alpha, beta = (float((rows / sizes).max(initial=0.0)) for rows, _ in self._worst(classes))
        return {"alpha": alpha, "beta": beta, **self._linked(classes)}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, as for alpha-deassociation.

        Of an individual or a value with m rows of n, with F rows in parts that fail: m <= share (n - F) + F. Where
        there are too few persons, all parts have too few.
        """
        found = (~self._crowded(classes)).astype(np.float64)
        for rows, share in self._worst(classes):
            a, b = exact_fraction(share).as_integer_ratio()
            surplus = rows * b - a * classes.sizes
            found = np.maximum(found, doom(surplus > 0, -(-surplus // max(b - a, 1)), classes.sizes))
        return found

    def hint(self, whole: EquivalenceClasses) -> str:
        """Shares are at least those in the table."""
        alpha, beta = (rounded_up(float(rows.max(initial=0)) / max(whole.rows, 1)) for rows, _ in self._worst(whole))
        return (
            f"alpha must be at least {alpha} (the largest share of an individual in the table) and beta at least {beta}"
            f" (that of a value of {self.column}){self._fewer(whole)}"
        )

    def _worst(self, classes: EquivalenceClasses) -> tuple[tuple[IntArray, float], tuple[IntArray, float]]:
        """The most rows of one individual and of one value in each class, and the share that they may be."""
        people, values = classes.individuals, looked_at(classes, self.column)
        rows = (
            np.minimum(classes.sizes, 1)
            if people is None
            else max_by_group(people.class_of, people.count, len(classes))
        )
        return (rows, self.alpha), (max_by_group(values.class_of, values.count, len(classes)), self.beta)
