"""k-anonymity (Samarati and Sweeney 1998; Definition 3 of Wong et al. 2006)."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.core.arrays import BoolArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.model import MinimumCountModel
from sfumato.models.policy_keys import WHOLE_NUMBER


@dataclass(frozen=True)
class KAnonymity(MinimumCountModel):
    """Every published row looks like at least `k` rows, itself among them.

    Guards against singling out. Says nothing of sensitive values: a class that shares one illness
    discloses it, so pair it with a model that looks at them. Where rows name individuals, `k` counts
    people, because five rows of one person hide nobody.

    >>> KAnonymity(3).holds(EquivalenceClasses(sizes=[5, 2, 3]))
    array([ True, False,  True])
    >>> KAnonymity(3).achieved(EquivalenceClasses(sizes=[5, 2, 3]))
    {'k': 2}
    """

    name: ClassVar[str] = "k-anonymity"
    threat: ClassVar[str] = "Someone who knows a person's quasi-identifiers picks out that person's row."

    k: Annotated[int, WHOLE_NUMBER, "the fewest rows of a class (people, where rows name individuals)"]

    @property
    def least(self) -> int:
        """As many persons have at least as many rows."""
        return self.k

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has k rows, or k people."""
        passing: BoolArray = classes.persons >= self.k
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Count the rows, or people, of the smallest class."""
        return {"k": int(classes.persons.min()) if len(classes) else 0}

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say the size of the table: no class is larger."""
        return f"k can be at most {int(whole.persons.sum())}"
