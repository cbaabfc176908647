"""What the adversary has to go on: who stands in which class, what the bags hold, and what was required."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.recode.recoding import shift_levels
from sfumato.recode.requirement import Requirement

Sheets = tuple[tuple[str, ...], ...]
"""Sensitive columns that are published side by side, so that a row of theirs is moved as one."""


@dataclass(frozen=True, eq=False)
class Situation:
    """Published rows, class by class: `rows` are their numbers in the original, `owner` their classes from 0.

    `published` is how many there are, of which those of some classes may be here; `values` are the codes of the
    sensitive columns that a requirement looks at, and `persons` those of individuals.
    """

    encoded: EncodedTable
    recoding: Recoding
    requirement: Requirement
    sheets: Sheets
    rows: IntArray
    class_of: IntArray
    published: int

    @classmethod
    def of(
        cls, encoded: EncodedTable, recoding: Recoding, policy: Policy, *, most: int, rng: np.random.Generator
    ) -> "Situation":
        """The published rows; of a larger table those of classes drawn at random, `most` rows at most.

        Whoever knows the policy knows what could not have been told more exactly, so that it is no alternative.
        """
        encoded, recoding = encoded.permitted, shift_levels(recoding, encoded, back=True)
        owner = recoding.class_of
        sizes = np.bincount(owner[owner >= 0])
        drawn = rng.permutation(np.flatnonzero(sizes <= most))
        chosen = np.zeros(len(sizes) + 1, dtype=np.bool_)  # the last one for those that are suppressed
        chosen[drawn[np.cumsum(sizes[drawn]) <= most]] = True
        rows = np.flatnonzero(chosen[owner])
        rows = rows[np.argsort(owner[rows], kind="stable")]
        numbers = (np.cumsum(chosen) - 1)[owner[rows]]
        requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
        published, sheets = int(sizes.sum()), _sheets(encoded, policy)
        return cls(encoded, recoding, requirement, sheets, rows, numbers, published)

    @property
    def whole(self) -> bool:
        """Whether all published rows are here."""
        return len(self.rows) == self.published

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of each class."""
        return np.bincount(self.class_of)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def quasi(self) -> tuple[QuasiIdentifier, ...]:
        """The quasi-identifiers."""
        return self.encoded.quasi

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that a requirement looks at."""
        return tuple(name for sheet in self.sheets for name in sheet)

    @property
    def domains(self) -> Mapping[str, SensitiveDomain]:
        """What the models know of these columns."""
        return self.encoded.domains

    @cached_property
    def values(self) -> dict[str, IntArray]:
        """The true value of each row, by column."""
        return {name: self.encoded.sensitive[name].codes[self.rows].astype(np.int64) for name in self.columns}

    @cached_property
    def contents(self) -> IntArray:
        """All true values of a row as one number."""
        widths = [len(self.domains[name].values) for name in self.columns]
        return number_tuples(pack_tuples(list(self.values.values()), widths))[0]

    @cached_property
    def persons(self) -> IntArray | None:
        """The individual of each row, where rows name them."""
        one = self.encoded.individual
        return None if one is None else one.codes[self.rows].astype(np.int64)

    def bag(self, column: str) -> Histogram:
        """How often each value of any sensitive column stands in each class."""
        there = self.encoded.sensitive[column]
        domain = SensitiveDomain(there.texts, np.bincount(there.codes, minlength=there.width))
        return count_values(self.class_of, there.codes[self.rows].astype(np.int64), np.ones_like(self.class_of), domain)

    def of_classes(self, chosen: BoolArray) -> IntArray:
        """The places of the rows of some classes."""
        return np.flatnonzero(chosen[self.class_of])


def _sheets(encoded: EncodedTable, policy: Policy) -> Sheets:
    asked = [name for name in encoded.sensitive if name in encoded.domains]
    if policy.publish.split and policy.publish.ss == "apart":
        return tuple((name,) for name in asked)
    return (tuple(asked),) if asked else ()
