"""What a privacy model is, and the little that all of ours share.

A model sees `EquivalenceClasses` and nothing else. It says which classes pass (`holds`), what the table reaches
(`achieved`), whether uniting passing classes always passes (`monotone`), and how much of a failing class
is lost however it is split (`doomed`), which is what searches prune on.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.errors import PolicyError
from sfumato.models.keys import TEXT, keys_of

COLUMN = Annotated[str, TEXT, "the sensitive column"]


@runtime_checkable
class Model(Protocol):
    """A requirement on every class of a published table.

    Of a table without rows `achieved` gives zeros: every class passes, because there is none.
    """

    name: ClassVar[str]
    threat: ClassVar[str]
    identity: ClassVar[bool]
    """Whether it is about individuals, and needs a column of them."""

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The sensitive columns it looks at."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether a union of passing classes always passes."""
        ...

    @property
    def hereditary(self) -> bool:
        """Whether every part of a failing class fails, so that suppressing rows keeps searches monotone."""
        ...

    @property
    def least(self) -> int:
        """A number of rows that no passing class is below; 1 is always true."""
        ...

    @property
    def linked(self) -> int:
        """Persons who have to share a person's set of classes, where pseudonyms tie rows together; 1 is always true."""
        ...

    @property
    def required(self) -> dict[str, object]:
        """The policy's keys as given, fit for JSON."""
        ...

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class passes."""
        ...

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The strongest requirement that all classes meet, by key of the model, fit for JSON."""
        ...

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """For each class a share of its rows that fails however the class is split into parts.

        Of any parts, the whole class as one part included, those that fail hold together at least
        ``doomed * size`` rows. 0 is always true. A monotone model gives more than 0 for each class that
        fails: if all parts passed, so would their union. A hereditary one gives 1: all parts fail.
        """
        ...

    def hint(self, whole: EquivalenceClasses) -> str:
        """What could be met instead, given the table as one class."""
        ...

    def check(self, whole: EquivalenceClasses) -> None:
        """Object with a PolicyError where the requirement cannot be meant for this table, given as one class."""
        ...


@dataclass(frozen=True)
class Stated:
    """One [[privacy]] entry of a policy: a frozen dataclass whose fields are its keys.

    >>> from sfumato.models import KAnonymity
    >>> KAnonymity(0)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: k: must be a whole number of at least 1, not 0
    >>> KAnonymity(3).required
    {'k': 3}
    """

    rules: ClassVar[Mapping[str, object]] = {}  # JSON schema of what keys mean together

    def __post_init__(self) -> None:
        for name, key in keys_of(self._kind).items():
            given = getattr(self, name)
            if given is not None or key.needed:
                object.__setattr__(self, name, key.kind.read(given, key=name))

    @property
    def _kind(self) -> Any:
        return type(self)

    @property
    def required(self) -> dict[str, object]:
        """The keys as given; those left at what they mean anyway are left out."""
        keys = keys_of(self._kind)
        given = {name: (key, getattr(self, name)) for name, key in keys.items()}
        return {name: key.kind.dump(value) for name, (key, value) in given.items() if value != key.default}


@dataclass(frozen=True)
class Entry(Stated, ABC):
    """An entry about every class of the published table."""

    identity: ClassVar[bool] = False

    @property
    def looks_at(self) -> tuple[str, ...]:
        """No sensitive column."""
        return ()

    @property
    def hereditary(self) -> bool:
        """Not in general: a part of a failing class may pass."""
        return False

    @property
    def least(self) -> int:
        """No class is empty."""
        return 1

    @property
    def linked(self) -> int:
        """Every person has their own."""
        return 1

    def check(self, whole: EquivalenceClasses) -> None:
        """Measure once: what a distance lacks, an order or a cost, shows then."""
        self.holds(whole)

    @abstractmethod
    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class passes."""


class Enough(Entry, ABC):
    """An entry that asks for enough of something: rows, persons, values. A union has all that its parts have."""

    @property
    def monotone(self) -> bool:
        """A union has no less than its parts."""
        return True

    @property
    def hereditary(self) -> bool:
        """A part has no more than the whole."""
        return True

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """All of a failing class: its parts have nothing that it lacks."""
        return (~self.holds(classes)).astype(np.float64)


@dataclass(frozen=True)
class ColumnEntry(Entry, ABC):
    """An entry about one sensitive column."""

    column: COLUMN

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)


def exactly_one(first: object, second: object, *, keys: tuple[str, str]) -> None:
    """Object unless one of two keys, and only one, is given."""
    if (first is None) == (second is None):
        raise PolicyError(f"give either {keys[0]} or {keys[1]}", key=keys[0])
