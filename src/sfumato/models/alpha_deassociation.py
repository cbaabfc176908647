"""alpha-deassociation: Definitions 4, 5, 11 and 13 of Wong, Li, Fu and Wang 2006."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.core.numbers import ceil_times, exact_fraction, floor_times, is_number
from sfumato.core.segments import max_by_group
from sfumato.errors import PolicyError, quote
from sfumato.models.model import ClassModel, doomed_share, round_up, sensitive_histogram
from sfumato.models.policy_keys import COLUMN_NAME, FLAG, SHARE, TEXT_LIST


@dataclass(frozen=True)
class AlphaDeassociation(ClassModel):
    """In no class does a protected value hold more than a share `alpha` of the rows.

    Guards against learning a person's sensitive value from their class: nobody can be more than `alpha`
    sure. Each protected value is limited by itself; without `values` every value is, NULL among them.
    Shares are compared exactly. `refined` allows the next whole number of rows, so that one protected
    row fits into the smallest class; two such classes may then unite to one that fails, and a class of
    one row always passes. The column may come first, too: ``AlphaDeassociation("illness", 0.3)``.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "HIV", "HIV"])
    >>> AlphaDeassociation(alpha=0.5, column="illness", values=["HIV"]).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "alpha-deassociation"
    threat: ClassVar[str] = "Someone who finds a person's class is nearly sure of a sensitive value there."
    rules: ClassVar[Mapping[str, object]] = {"oneOf": [{"required": ["column"]}, {"required": ["columns"]}]}

    alpha: Annotated[float, SHARE, "the largest share of a class that one protected value may hold"]
    column: Annotated[str | None, COLUMN_NAME, "the sensitive column"] = None
    columns: Annotated[Sequence[str] | None, TEXT_LIST, "several sensitive columns, each protected"] = None
    values: Annotated[Sequence[str] | None, TEXT_LIST, "the protected values; left out: every value"] = None
    refined: Annotated[bool, FLAG, "allow ⌈alpha·size⌉ rows"] = False

    def __post_init__(self) -> None:
        if isinstance(self.alpha, str) and is_number(self.column):  # the column first, as in all other models of one
            alpha, column = self.column, self.alpha
            object.__setattr__(self, "alpha", alpha)
            object.__setattr__(self, "column", column)
        super().__post_init__()
        if (self.column is None) == (self.columns is None):
            raise PolicyError("give either column or columns", key="column")

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(self.columns or (str(self.column),))

    @property
    def monotone(self) -> bool:
        """A share of a union lies between the shares of its parts (Lemma 2); a ceiling does not."""
        return not self.refined

    def check(self, whole: EquivalenceClasses) -> None:
        """Object to a protected value that occurs in none of the columns, where another spelling of it does."""
        domains = {column: sensitive_histogram(whole, column).domain.values for column in self.looks_at}
        column_of = {value: column for column, values in domains.items() for value in values if value is not None}
        folded = {value.casefold().strip(): value for value in column_of}
        for value in self.values or ():
            near = folded.get(value.casefold().strip())
            if near is not None and value not in column_of:
                raise PolicyError(
                    f"{quote(value)} does not occur in {column_of[near]}; did you mean {quote(near)}?", key="values"
                )

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has few enough rows of every protected value."""
        allowed = (ceil_times if self.refined else floor_times)(self.alpha, classes.sizes)
        passing: BoolArray = self._most_rows(classes) <= allowed
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the largest share of a protected value in a class; the plain share, refined or not."""
        shares = self._most_rows(classes) / np.maximum(classes.sizes, 1)
        return {"alpha": float(shares.max(initial=0.0))}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, for the plain model; nothing for the refined, whose single rows always pass.

        Let a class of n rows have m rows of one protected value. Of it, parts that pass have at most a share alpha of
        their rows, and parts that fail, F rows in all, have at most F: m <= alpha (n - F) + F. So
        F >= (m - alpha n) / (1 - alpha), computed in whole numbers with alpha = a / b.
        """
        if self.refined:
            return np.zeros(len(classes))
        exact = exact_fraction(self.alpha)
        a, b = exact.numerator, exact.denominator
        surplus = self._most_rows(classes) * b - a * classes.sizes
        return doomed_share(surplus > 0, -(-surplus // max(b - a, 1)), classes.sizes)

    def hint(self, whole: EquivalenceClasses) -> str:
        """Lemma 1: alpha is at least the share in the table (refined classes may do with less)."""
        totals = []
        for column in self.looks_at:
            histogram = sensitive_histogram(whole, column)
            rows = np.bincount(histogram.value, self._protected_rows(histogram), len(histogram.domain.values))
            top = int(rows.argmax())
            totals.append((int(rows[top]), histogram.domain.values[top], column))
        rows_of_value, value, column = max(totals, key=lambda total: total[0])
        share = round_up(rows_of_value / max(whole.rows, 1))
        label = "NULL" if value is None else repr(value)
        place = "the table" if self.column else f"column {column} of the table"
        if self.refined:
            return f"alpha of {share} passes with the whole table in one class (the share of {label})"
        return f"alpha must be at least {share} (the share of {label} in {place}; Lemma 1)"

    def _most_rows(self, classes: EquivalenceClasses) -> IntArray:
        """Count the rows of the most frequent protected value of each class, the worst over all columns."""
        histograms = [sensitive_histogram(classes, column) for column in self.looks_at]
        most: IntArray = np.maximum.reduce(
            [max_by_group(each.class_of, self._protected_rows(each), len(classes)) for each in histograms]
        )
        return most

    def _protected_rows(self, histogram: Histogram) -> IntArray:
        """Take the counts of a histogram's lines, 0 where the value of the line is not protected."""
        if self.values is None:
            return histogram.count
        protected = np.array([value in self.values for value in histogram.domain.values], dtype=np.bool_)
        return np.where(protected[histogram.value], histogram.count, 0)
