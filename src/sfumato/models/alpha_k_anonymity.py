"""(alpha, k)-anonymity: Definitions 6, 12 and 14 of Wong, Li, Fu and Wang 2006."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.alpha_deassociation import AlphaDeassociation
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.policy_keys import WHOLE_NUMBER


@dataclass(frozen=True)
class AlphaKAnonymity(AlphaDeassociation):
    """Every class has `k` rows, and no protected value holds more than a share `alpha` of them.

    Guards against singling out and against learning a sensitive value, both at once.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1, 2], illness=["HIV", "flu", "flu", "flu", "fever"])
    >>> AlphaKAnonymity(alpha=0.5, k=2, column="illness", values=["HIV"]).holds(classes)
    array([ True,  True, False])
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    threat: ClassVar[str] = "Someone picks out a person's row, or is nearly sure of a person's sensitive value."

    k: Annotated[int, WHOLE_NUMBER, "the fewest rows of a class (people, where rows name individuals)"] = field(
        kw_only=True
    )

    @property
    def _k_anonymity(self) -> KAnonymity:
        return KAnonymity(self.k)

    @property
    def least(self) -> int:
        """As many rows as k-anonymity asks for."""
        return self.k

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it passes both."""
        return super().holds(classes) & self._k_anonymity.holds(classes)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute what each of the two reaches."""
        return super().achieved(classes) | self._k_anonymity.achieved(classes)

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """The larger of the two bounds: a part that fails either of the two fails both together."""
        return np.maximum(super().doomed(classes), self._k_anonymity.doomed(classes))

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say what each of the two could be."""
        return f"{self._k_anonymity.hint(whole)} and {super().hint(whole)}"
