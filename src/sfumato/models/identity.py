"""What the identity-reserved models share: they count persons, and may bound how far pseudonyms link their rows."""

from abc import ABC
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from sfumato.core.arrays import BoolArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.models.base import Entry
from sfumato.models.keys import WHOLE

LINKED = Annotated[int | None, WHOLE, "the fewest persons who have to share a person's set of classes"]


@dataclass(frozen=True)
class IdentityEntry(Entry, ABC):
    """An entry that needs a column of individuals.

    `linked_k` is about the table and not about a class: rows of a person in several classes are tied together by the
    pseudonym, and as many persons have to stand in exactly the same classes. `Requirement` asks for that; what each
    class needs for it, as many persons, is asked for here.
    """

    identity: ClassVar[bool] = True

    _: KW_ONLY
    linked_k: LINKED = None

    @property
    def linked(self) -> int:
        """Persons who have to share a person's set of classes."""
        return self.linked_k or 1

    def _crowded(self, classes: EquivalenceClasses, persons: int = 1) -> BoolArray:
        """Classes with so many persons, and as many as share one's classes: each of those is in all of them."""
        crowded: BoolArray = classes.persons >= max(persons, self.linked)
        return crowded

    def _linked(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The fewest persons who share their classes, where it is asked for."""
        return {} if self.linked_k is None else {"linked_k": linked_persons(classes).fewest}

    def _fewer(self, whole: EquivalenceClasses) -> str:
        """What could be met of `linked_k`, as an addition to a hint."""
        people = int(whole.persons.sum())
        return "" if self.linked <= people else f", and linked_k at most {people}"
