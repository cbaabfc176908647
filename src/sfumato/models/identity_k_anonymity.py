"""Identity-reserved k-anonymity: Definitions 1 and 2 of the identity-reserved paper."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.core.arrays import BoolArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.base import Enough
from sfumato.models.identity import IdentityEntry
from sfumato.models.keys import WHOLE


@dataclass(frozen=True)
class IdentityKAnonymity(Enough, IdentityEntry):
    """Every class has rows of at least `k` different individuals.

    Guards against singling out where a person may have several rows: k rows of one person hide nobody. It does not
    bound how many of a class's rows are one person's; `identity-alpha-beta` does.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=["mike", "mike", "emily", "tim"])
    >>> IdentityKAnonymity(2).holds(classes)
    array([False,  True])
    >>> IdentityKAnonymity(2).achieved(classes)
    {'k': 1}
    """

    name: ClassVar[str] = "identity-k-anonymity"
    threat: ClassVar[str] = "Someone who knows a person's quasi-identifiers finds a class in which all rows are theirs."

    k: Annotated[int, WHOLE, "the fewest individuals of a class"]

    @property
    def least(self) -> int:
        """As many individuals have at least as many rows."""
        return max(self.k, self.linked)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class has k individuals."""
        return self._crowded(classes, self.k)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The individuals of the smallest class."""
        return {"k": int(classes.persons.min()) if len(classes) else 0, **self._linked(classes)}

    def hint(self, whole: EquivalenceClasses) -> str:
        """The table as one class has everybody."""
        return f"the table has {int(whole.persons.sum())} individuals, so k can be at most that{self._fewer(whole)}"
