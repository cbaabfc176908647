"""alpha-deassociation: Definitions 4, 5, 11 and 13 of Wong, Li, Fu and Wang 2006."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.numbers import ceil_times, exact_fraction, floor_times
from sfumato.core.segments import max_by_group
from sfumato.errors import PolicyError
from sfumato.models.base import Entry, exactly_one
from sfumato.models.counts import doom, looked_at, rounded_up
from sfumato.models.keys import FLAG, SHARE, TEXT, TEXTS


@dataclass(frozen=True)
class AlphaDeassociation(Entry):
    """In no class does a protected value hold more than a share `alpha` of the rows.

    Guards against learning a person's sensitive value from their class: nobody can be more than `alpha`
    sure. Each protected value is limited by itself; without `values` every value is, NULL among them.
    Shares are compared exactly. `refined` allows the next whole number of rows, so that one protected
    row fits into the smallest class; two such classes may then unite to one that fails, and a class of
    one row always passes.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "HIV", "HIV"])
    >>> AlphaDeassociation(alpha=0.5, column="illness", values=["HIV"]).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "alpha-deassociation"
    threat: ClassVar[str] = "Someone who finds a person's class is nearly sure of a sensitive value there."
    rules: ClassVar[Mapping[str, object]] = {"oneOf": [{"required": ["column"]}, {"required": ["columns"]}]}

    alpha: Annotated[float, SHARE, "the largest share of a class that one protected value may hold"]
    column: Annotated[str | None, TEXT, "the sensitive column"] = None
    columns: Annotated[Sequence[str] | None, TEXTS, "several sensitive columns, each protected"] = None
    values: Annotated[Sequence[str] | None, TEXTS, "the protected values; left out: every value"] = None
    refined: Annotated[bool, FLAG, "allow ⌈alpha·size⌉ rows"] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        exactly_one(self.column, self.columns, keys=("column", "columns"))

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(self.columns or (str(self.column),))

    @property
    def monotone(self) -> bool:
        """A share of a union lies between the shares of its parts (Lemma 2); a ceiling does not."""
        return not self.refined

    def check(self, whole: EquivalenceClasses) -> None:
        """Object to a protected value that no row holds where another spelling of it is held, in any of the columns."""
        domains = {column: looked_at(whole, column).domain.values for column in self.looks_at}
        held = {value: column for column, values in domains.items() for value in values if value is not None}
        folded = {value.casefold().strip(): value for value in held}
        for value in self.values or ():
            near = folded.get(value.casefold().strip())
            if near is not None and value not in held:
                raise PolicyError(f"{value!r} does not occur in {held[near]}; did you mean {near!r}?", key="values")

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Whether each class has few enough rows of every protected value."""
        allowed = (ceil_times if self.refined else floor_times)(self.alpha, classes.sizes)
        passing: BoolArray = self._worst(classes) <= allowed
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """The largest share of a protected value in a class; the plain share, refined or not."""
        shares = self._worst(classes) / np.maximum(classes.sizes, 1)
        return {"alpha": float(shares.max(initial=0.0))}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, for the plain model; nothing for the refined, whose single rows always pass.

        Let a class of n rows have m rows of one protected value. Parts that pass hold at most alpha of
        it, parts that fail, F rows in all, hold at most F: m <= alpha (n - F) + F. So
        F >= (m - alpha n) / (1 - alpha), computed in whole numbers with alpha = a / b.
        """
        if self.refined:
            return np.zeros(len(classes))
        exact = exact_fraction(self.alpha)
        a, b = exact.numerator, exact.denominator
        surplus = self._worst(classes) * b - a * classes.sizes
        return doom(surplus > 0, -(-surplus // max(b - a, 1)), classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """Lemma 1: alpha is at least the share in the table (refined classes may do with less)."""
        hints = [(*self._frequent(looked_at(whole, column)), column) for column in self.looks_at]
        rows, value, column = max(hints, key=lambda hint: hint[0])
        share = rounded_up(rows / max(whole.rows, 1))
        shown = "NULL" if value is None else repr(value)
        place = "the table" if self.column else f"column {column} of the table"
        if self.refined:
            return f"alpha of {share} passes with the whole table in one class (the share of {shown})"
        return f"alpha must be at least {share} (the share of {shown} in {place}; Lemma 1)"

    def _worst(self, classes: EquivalenceClasses) -> IntArray:
        found = [looked_at(classes, column) for column in self.looks_at]
        each = [max_by_group(lines.class_of, self._protected(lines), len(classes)) for lines in found]
        worst: IntArray = np.maximum.reduce(each)
        return worst

    def _protected(self, lines: Histogram) -> IntArray:
        if self.values is None:
            return lines.count
        protected = np.array([value in self.values for value in lines.domain.values], dtype=np.bool_)
        return np.where(protected[lines.value], lines.count, 0)

    def _frequent(self, lines: Histogram) -> tuple[int, str | None]:
        totals = np.bincount(lines.value, self._protected(lines), len(lines.domain.values))
        top = int(totals.argmax())
        return int(totals[top]), lines.domain.values[top]
