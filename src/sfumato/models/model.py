"""What a privacy model is, and what all of ours share.

A model sees `EquivalenceClasses` and nothing else. It says which classes pass (`holds`), which figures the table
reaches (`achieved`), whether uniting passing classes always passes (`monotone`), and how much of a failing class is
lost however it is split (`doomed`). The last is what searches prune on; each model proves its bound in the docstring.

`Model` is the protocol that the rest of the package relies on. Ours are frozen dataclasses built on the base classes
below it, whose annotated fields are their keys in a [[privacy]] entry. At the end stands what several models compute
with: the histogram of a column, the share of doomed rows, and roundings for hints.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.models.policy_keys import COLUMN_NAME, model_keys

TOLERANCE = 1e-9
"""How far an entropy or a distance may miss its bound: both are sums of rounded logarithms and quotients."""


@runtime_checkable
class Model(Protocol):
    """A requirement on every class of a published table.

    For a table without rows `achieved` gives zeros, and every class passes, because there is none.
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
        """A number of rows that every passing class has at least; 1 is always true."""
        ...

    @property
    def linked(self) -> int:
        """How many persons have to share each person's set of classes, where pseudonyms tie rows together.

        1 is always true: everybody shares their own.
        """
        ...

    @property
    def required(self) -> dict[str, object]:
        """The keys as the policy gives them, fit for JSON."""
        ...

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it passes."""
        ...

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the strongest requirement that all classes meet, by key of the model, fit for JSON."""
        ...

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """Compute for each class a share of its rows that fails however the class is split into parts.

        Of any parts, the whole class as one part included, those that fail have together at least ``doomed * size``
        rows. 0 is always true. A monotone model gives more than 0 for each class that fails: if all parts passed, so
        would their union. A hereditary one gives 1: all parts fail.
        """
        ...

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say what could be met instead, given the table as one class."""
        ...

    def check(self, whole: EquivalenceClasses) -> None:
        """Raise a PolicyError where the requirement cannot be meant for this table, given as one class."""
        ...


@dataclass(frozen=True)
class PrivacyEntry:
    """One [[privacy]] entry of a policy: a frozen dataclass whose fields are its keys, checked when it is made.

    >>> from sfumato.models import KAnonymity
    >>> KAnonymity(0)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: k: must be a whole number of at least 1, not 0
    >>> KAnonymity(3).required
    {'k': 3}
    """

    rules: ClassVar[Mapping[str, object]] = {}
    """What keys ask of one another, as JSON schema."""

    def __post_init__(self) -> None:
        model: Any = type(self)
        for name, key in model_keys(model).items():
            value = getattr(self, name)
            if isinstance(value, np.generic):  # of np.arange, say: a number like any other
                value = value.item()
            if isinstance(value, str) and key.key_type.load_file is not None:
                value = key.key_type.load_file(value, Path())  # the name of a file, from where the program runs
            if value is not None or key.required:
                object.__setattr__(self, name, key.key_type.read(value, key=name))

    @property
    def required(self) -> dict[str, object]:
        """The keys as the policy gives them, fit for JSON; those that have their default are left out."""
        model: Any = type(self)
        return {
            name: key.key_type.to_json(getattr(self, name))
            for name, key in model_keys(model).items()
            if getattr(self, name) != key.default
        }


@dataclass(frozen=True)
class ClassModel(PrivacyEntry, ABC):
    """An entry about every class of the published table, with the answers that are true of any model."""

    identity: ClassVar[bool] = False

    @property
    def looks_at(self) -> tuple[str, ...]:
        """No sensitive column."""
        return ()

    @property
    def hereditary(self) -> bool:
        """False in general: a part of a failing class may pass."""
        return False

    @property
    def least(self) -> int:
        """No class is empty."""
        return 1

    @property
    def linked(self) -> int:
        """Everybody shares their own set of classes."""
        return 1

    def check(self, whole: EquivalenceClasses) -> None:
        """Evaluate the table once: where a distance lacks an order, a hierarchy or a cost, that raises."""
        self.holds(whole)

    @abstractmethod
    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it passes."""


class MinimumCountModel(ClassModel, ABC):
    """A model that asks each class for at least so many rows, persons or values.

    A union has all that its parts have, and a part has nothing that the whole lacks.
    """

    @property
    def monotone(self) -> bool:
        """A union has no fewer than its parts."""
        return True

    @property
    def hereditary(self) -> bool:
        """A part has no more than the whole."""
        return True

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """All of a failing class: its parts have nothing that it lacks."""
        return (~self.holds(classes)).astype(np.float64)


@dataclass(frozen=True)
class SensitiveColumnModel(ClassModel, ABC):
    """A model of one sensitive column."""

    column: Annotated[str, COLUMN_NAME, "the sensitive column"]

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The sensitive column."""
        return (self.column,)


def entry_schema(models: Mapping[str, Any]) -> dict[str, object]:
    """Describe the [[privacy]] entries as JSON schema (draft 2020-12): one of these models, and its keys alone.

    The description of a model is its promise, which is the first line of its docstring, and its threat.
    """
    entries = []
    for name, model in models.items():
        keys = model_keys(model)
        promise = (inspect.getdoc(model) or "").partition("\n")[0].replace("`", "")
        properties = {key: {"description": each.description, **each.key_type.schema} for key, each in keys.items()}
        entry = {
            "title": name,
            "description": f"{promise} Guards against this: {model.threat}",
            "type": "object",
            "properties": {"model": {"const": name}, **properties},
            "required": ["model", *(key for key, each in keys.items() if each.required)],
            "additionalProperties": False,
            **model.rules,
        }
        entries.append(entry)
    return {"oneOf": entries}


def sensitive_histogram(classes: EquivalenceClasses, column: str) -> Histogram:
    """Look up the histogram of a sensitive column.

    >>> sensitive_histogram(EquivalenceClasses.of([0], illness=["flu"]), "ilness")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: column: 'ilness' is not a sensitive column; did you mean illness?
    """
    if column not in classes.sensitive:
        hint = did_you_mean(column, classes.sensitive)
        raise PolicyError(f"{quote(column)} is not a sensitive column{hint}", key="column")
    return classes.sensitive[column]


def count_distinct_values(histogram: Histogram, classes: int) -> IntArray:
    """Count the different values of each class."""
    return np.bincount(histogram.class_of, minlength=classes)


def doomed_share(failing: BoolArray, rows: IntArray | FloatArray, sizes: IntArray) -> FloatArray:
    """Turn a lower bound on the rows of each class that fail in any case into a share of its size.

    Rows are whole, so the bound is rounded up, and it is at least one (models that call this are monotone). A share
    below 1 is lowered by a trillionth, so that share times size never exceeds the whole number it comes from.
    """
    whole = np.clip(np.ceil(rows), 1, np.maximum(sizes, 1))
    share = whole / np.maximum(sizes, 1)
    return np.where(failing, np.where(whole < sizes, share * (1 - 1e-12), 1.0), 0.0)


def round_up(number: float) -> str:
    """Write a number with three digits that are not below it.

    >>> round_up(0.24781), round_up(0.25)
    ('0.248', '0.25')
    """
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(str(number)).normalize():f}"


def round_down(number: float) -> str:
    """Write a number with three digits that are not above it, but for the tolerance.

    >>> round_down(10.39), round_down(2.9999999999999996)
    ('10.3', '3')
    """
    return f"{Context(prec=3, rounding=ROUND_FLOOR).create_decimal(str(round(number, 9))).normalize():f}"
