"""What the adversary of the minimality attack knows: who is in which class, the bags, and what was required.

The adversary knows everybody's quasi-identifiers, so that rows are known by number. The sensitive values of a class are
known as a bag, and the attack is about which row of the class has which of them. Rows of a class that no alternative
tells apart have equal chances, and are counted together as a *cell*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import EncodedTable, QuasiIdentifier, value_totals
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.recode.recoding import shift_levels
from sfumato.recode.requirement import Requirement


@dataclass(frozen=True, eq=False)
class AdversaryKnowledge:
    """Published rows, sorted by class: `rows` are their numbers in the original, `class_of` their classes from 0 on.

    Where the original has counted lines, the number of a row is that of its line, and stands there for each row of it.

    `published` is the number of all published rows, of which those of some classes may be here. `columns_together` are
    the sensitive columns that a requirement looks at, in groups that are published side by side, so that the values of
    a row in them are moved as one.
    """

    encoded: EncodedTable
    recoding: Recoding
    requirement: Requirement
    columns_together: tuple[tuple[str, ...], ...]
    rows: IntArray
    class_of: IntArray
    published: int

    @classmethod
    def from_recoding(
        cls, encoded: EncodedTable, recoding: Recoding, policy: Policy, *, most: int, rng: np.random.Generator
    ) -> "AdversaryKnowledge":
        """Take the published rows; of a larger table those of classes drawn at random, `most` rows at most.

        Who knows the policy knows which levels it forbids; these are no alternatives, so the permitted table is taken.

        class_of:  int[n], the class of each row of the original, -1 where it is suppressed
        chosen:    bool[g + 1], the classes that are taken, and a last place for suppressed rows, which -1 leads to
        """
        encoded, recoding = encoded.permitted, shift_levels(recoding, encoded, back=True)
        class_of = recoding.class_of
        sizes = recoding.classes.sizes if recoding.counts is not None else np.bincount(class_of[class_of >= 0])
        order = rng.permutation(np.flatnonzero(sizes <= most))
        chosen = np.zeros(len(sizes) + 1, dtype=np.bool_)
        chosen[order[np.cumsum(sizes[order]) <= most]] = True
        rows = np.flatnonzero(chosen[class_of])
        if encoded.counts is not None:
            rows = np.repeat(rows, encoded.counts.take(rows))
        rows = rows[np.argsort(class_of[rows], kind="stable")]
        looked_at = tuple(name for name in encoded.sensitive if name in encoded.domains)
        together: tuple[tuple[str, ...], ...] = (looked_at,) if looked_at else ()
        if policy.publish.split and policy.publish.ss == "apart":
            together = tuple((name,) for name in looked_at)
        return cls(
            encoded,
            recoding,
            Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression),
            together,
            rows,
            (np.cumsum(chosen) - 1)[class_of[rows]],
            int(sizes.sum()),
        )

    @property
    def is_whole(self) -> bool:
        """Whether all published rows are here."""
        return len(self.rows) == self.published

    @cached_property
    def sizes(self) -> IntArray:
        """The rows of each class."""
        return np.bincount(self.class_of)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def quasi(self) -> tuple[QuasiIdentifier, ...]:
        """The quasi-identifiers."""
        return self.encoded.quasi

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that a requirement looks at."""
        return tuple(name for names in self.columns_together for name in names)

    @property
    def domains(self) -> Mapping[str, SensitiveDomain]:
        """What the models know of these columns."""
        return self.encoded.domains

    @cached_property
    def values(self) -> dict[str, IntArray]:
        """The true value of each row, by column."""
        return {name: self.encoded.sensitive[name].codes[self.rows].astype(np.int64) for name in self.columns}

    @cached_property
    def value_tuples(self) -> IntArray:
        """All true values of each row as one number."""
        widths = [len(self.domains[name].values) for name in self.columns]
        return number_tuples(pack_tuples(list(self.values.values()), widths))[0]

    @cached_property
    def persons(self) -> IntArray | None:
        """The individual of each row, where rows name them."""
        individual = self.encoded.individual
        return None if individual is None else individual.codes[self.rows].astype(np.int64)

    def bag(self, column: str) -> Histogram:
        """Count how often each value of any sensitive column occurs in each class."""
        coded = self.encoded.sensitive[column]
        domain = value_totals(coded, self.encoded.counts)
        return count_values(self.class_of, coded.codes[self.rows].astype(np.int64), np.ones_like(self.class_of), domain)

    def passing_classes(
        self, class_of: IntArray, values: Mapping[str, IntArray], persons: IntArray | None
    ) -> BoolArray:
        """Tell which of any classes meet every requirement, from the class, the values and the person of each row."""
        ones, domains, individual = np.ones_like(class_of), self.domains, self.encoded.individual
        sensitive = {name: count_values(class_of, codes, ones, domains[name]) for name, codes in values.items()}
        people = None
        if persons is not None and individual is not None:
            people = count_values(class_of, persons, ones, domains[individual.name])
        return self.requirement.holds(EquivalenceClasses(np.bincount(class_of), sensitive, people))


@dataclass(frozen=True, eq=False)
class RowCells:
    """Rows of one class that no alternative tells apart, so that they have each value with equal probability.

    cell_of:                   int[n], the cell of each row
    class_of, sizes, any_row:  int[c], the class of each cell, its number of rows, and one of them
    """

    cell_of: IntArray
    class_of: IntArray
    sizes: IntArray
    any_row: IntArray

    @classmethod
    def from_labels(cls, knowledge: AdversaryKnowledge, labels: Sequence[IntArray]) -> "RowCells":
        """Put rows of a class with equal labels into one cell."""
        widths = [knowledge.classes, *(int(label.max(initial=0)) + 1 for label in labels)]
        cell_of, cells = number_tuples(pack_tuples([knowledge.class_of, *labels], widths))
        any_row = np.zeros(cells, dtype=np.int64)
        any_row[cell_of] = np.arange(len(cell_of))
        return cls(cell_of, knowledge.class_of[any_row], np.bincount(cell_of, minlength=cells), any_row)

    def __len__(self) -> int:
        return len(self.sizes)
