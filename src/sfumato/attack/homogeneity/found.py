"""What the two attacks found, column by column."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.attack.homogeneity import words
from sfumato.attack.homogeneity.disclosure import Gain
from sfumato.attack.tried import Tried


@dataclass(frozen=True)
class Homogeneous:
    """How well the most frequent value of a class is a guess about its rows.

    `certain` are rows in classes of one value, in `certain_classes` of `classes`, and `certain_persons` of `persons`
    have such a row, where rows name persons. `similar` are rows in classes whose values all lie under one inner node of
    the sensitive hierarchy, where there is one. `largest_share` is that of `value` in some class; `distinct` and
    `entropy` are the l of the poorest class. `right` is the share of rows whose value is the most frequent of their
    class, `blind` the share that hold the most frequent of the table. `bound` is what the policy promises of the
    largest share: of these `protected` values, or of any.
    """

    rows: int
    classes: int
    certain: int
    certain_classes: int
    persons: int | None
    certain_persons: int | None
    similar: int | None
    largest_share: float
    value: str | None
    distinct: int
    entropy: float
    right: float
    blind: float
    bound: float | None
    protected: tuple[str, ...] | None

    def tried(self, column: str) -> Tried:
        """In one line; a bound on some values alone bounds no guess."""
        bound = self.bound if self.protected is None else None
        said = words.homogeneity(self)
        counts = f"rows whose '{column}' the most frequent value of their class guesses right"
        return Tried("homogeneity", words.FINDS, counts, self.right, self.blind, bound, said)


@dataclass(frozen=True)
class Telling:
    """A class that tells much: its number, its rows, and the value of which it tells most."""

    place: int
    rows: int
    most: Gain

    @property
    def gain(self) -> float:
        """How much surer of the value one is in the class than in the table."""
        return self.most.after - self.most.before


@dataclass(frozen=True)
class Skewed:
    """How much surer of a value one is who finds a person's class than one who knows the table.

    `gain` is the largest difference and `ratio` the largest quotient of the two shares, each with its value.
    `distance` is the variational distance of the farthest class from the table and `average` that of the average row;
    `ordered` and `hierarchical` are the earth mover's distances of the farthest class, where values have an order or a
    hierarchy. `above` are rows in `classes_above` classes where some value gains more than `threshold`; `top` are the
    most telling classes. `bound` is the gain that the policy allows, where it promises a distance that bounds it.
    """

    rows: int
    classes: int
    gain: Gain
    ratio: Gain
    distance: float
    average: float
    ordered: float | None
    hierarchical: float | None
    threshold: float
    above: int
    classes_above: int
    top: tuple[Telling, ...]
    bound: float | None

    def tried(self, column: str) -> Tried:
        """In one line; a gain that is promised to stay below the threshold promises that no row stands above."""
        counts = f"rows in classes that tell more than {100 * self.threshold:.3g} points of a value of '{column}'"
        bound = 0.0 if self.bound is not None and self.bound <= self.threshold else None
        return Tried("skewness", words.FINDS, counts, self.above / self.rows, 0.0, bound, words.skewness(self))


@dataclass(frozen=True)
class Homogeneity:
    """The homogeneity attack on each sensitive column."""

    columns: Mapping[str, Homogeneous]

    def tried(self) -> tuple[Tried, ...]:
        """A line for each column."""
        return tuple(one.tried(name) for name, one in self.columns.items())

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON."""
        return {"assumes": words.FINDS, "columns": {name: asdict(one) for name, one in self.columns.items()}}


@dataclass(frozen=True)
class Skewness:
    """The skewness attack on each sensitive column."""

    columns: Mapping[str, Skewed]

    def tried(self) -> tuple[Tried, ...]:
        """A line for each column."""
        return tuple(one.tried(name) for name, one in self.columns.items())

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON."""
        return {"assumes": words.FINDS, "columns": {name: asdict(one) for name, one in self.columns.items()}}
