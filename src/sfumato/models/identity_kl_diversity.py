"""Identity-reserved (k, l)-diversity: Definition 3 of the identity-reserved paper."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.models.base import ColumnEntry, Enough
from sfumato.models.counts import distinct, looked_at
from sfumato.models.identity import IdentityEntry
from sfumato.models.keys import WHOLE


@dataclass(frozen=True)
class IdentityKLDiversity(Enough, IdentityEntry, ColumnEntry):
    """Every class has rows of at least `k` individuals, and at least `l` different sensitive values.

    Guards against singling out and against a class that shares one value. Values are those of the class's own rows:
    what its people have in other classes does not count. It bounds no share, neither of a person nor of a value.

    >>> people, illness = ["mike", "mike", "emily", "tim"], ["flu", "HIV", "flu", "flu"]
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=people, illness=illness)
    >>> IdentityKLDiversity(column="illness", k=2, l=1).holds(classes)
    array([False,  True])
    >>> IdentityKLDiversity(column="illness", k=1, l=2).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "identity-kl-diversity"
    threat: ClassVar[str] = "Someone finds a class in which all rows are a person's, or all hold one sensitive value."

    k: Annotated[int, WHOLE, "the fewest individuals of a class"]
    l: Annotated[int, WHOLE, "the fewest different values of a class"]  # noqa: E741  the field's own name

    @property
    def least(self) -> int:
        """Different individuals stand in different rows, and so do different values."""
        return max(self.k, self.l, self.linked)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class has k individuals and l values."""
        passing: BoolArray = self._crowded(classes, self.k) & (self._values(classes) >= self.l)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The individuals of the smallest class, and the values of the poorest."""
        if not len(classes):
            return {"k": 0, "l": 0, **self._linked(classes)}
        fewest, poorest = int(classes.persons.min()), int(self._values(classes).min())
        return {"k": fewest, "l": poorest, **self._linked(classes)}

    def hint(self, whole: EquivalenceClasses) -> str:
        """The table as one class has everybody and everything."""
        people, values = int(whole.persons.sum()), int(self._values(whole).sum())
        return f"k can be at most {people} and l at most {values} (the values of {self.column}){self._fewer(whole)}"

    def _values(self, classes: EquivalenceClasses) -> IntArray:
        return distinct(looked_at(classes, self.column), len(classes))
