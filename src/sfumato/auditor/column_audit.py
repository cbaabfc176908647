"""What may still be answered about one protected column: sums, maxima and minima, decided before they are computed.

**Without bounds.** Values may be any numbers. Sums are decided by elimination (`sum_elimination`), maxima and minima by
extreme sets (`extreme_sets`). Mixed, three rules hold:

1. No block has both a maximum and a minimum answered. It has to be so: after the maximum of a set, the minimum of one
   that shares a row with it may come out as the least bound of the shared rows, which gives a row away.
2. The answered sums say nothing about the blocks T of maxima and minima by themselves: no combination of them is of
   blocks of T alone.
3. By these rules, no row of a block below the least size is determined by sums, and no extreme set may become a row.

*Then no value is determined, and none is confined from both sides.* By 2, the values of T can be chosen as if no sum
had been answered, and the others made to fit. With all of T at its bounds, any one row of T may be moved away from its
bound as far as one likes, by 3: so a row of T is half free. The points that arise span all values of T. A row outside
of T is by the answered sums a combination of values, and is not constant, by 3; what is not constant on the solutions
of the sums is not constant on these points either, and grows beyond all bounds along one of the half lines. ∎

So for a column without bounds every interval, however wide, that no value may be confined to is kept to by the same
decisions (`--interval`). And since nothing above depends on the answer to the query at hand, a denial tells nothing.

**With bounds.** Where values are known to be at least 0, or to be 0 or 1, a sum of 0 tells everybody's value, and one
that is denied because it is 0 tells it as well. No rule on queries can prevent that and answer anything. Such columns
get the rules above, and groups of a least size: every answered set, and every difference of two answered sets, has at
least `least_size` rows. What that does not promise is said in the guide.

**Rows that stay alike.** What does help there is that answers leave rows alike. The atoms of the answered sets are the
rows that stood in the same ones of them. With `least_alike` every atom has at least so many rows. *Then whatever
follows from all answers about a row follows of at least so many rows:* exchange the values of two rows of an atom, and
every sum, maximum and minimum is what it was. So a value is known, or confined, only where all values of an atom are. ∎
It takes no assumption on values, and costs more denials than any other rule here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.auditor.extreme_sets import ExtremeSets, Numbers
from sfumato.auditor.sum_elimination import Blocks, SumElimination, Words

KINDS = ("sum", "max", "min")
"""What is asked of a set of rows; an average is a sum, since counts are known."""


@dataclass(frozen=True)
class SetRules:
    """Rules on the sets of rows that are asked about.

    No answered set has fewer than `least_size` rows. With `compared`, no difference of two answered sets has fewer,
    unless it is empty. No two different ones share more than `most_overlap` rows, where that is not None. At least
    `least_alike` rows stand in the same ones of all answered sets as any row does.
    """

    least_size: int = 2
    compared: bool = False
    most_overlap: int | None = None
    least_alike: int = 1

    @property
    def remember_sets(self) -> bool:
        """Whether it takes more to decide than what the answers say together."""
        return self.compared or self.most_overlap is not None or self.least_alike > 1


@dataclass(frozen=True, eq=False)
class SetQuery:
    """A sum, a maximum or a minimum (`kind`) of a protected column over a set of blocks that has rows."""

    column: str
    kind: str
    blocks: Blocks


class ColumnAudit:
    """The answered queries about one protected column; `rows` is the number of values in each block.

    >>> pay = ColumnAudit(np.array([1, 1, 1, 4]), SetRules())
    >>> everybody = np.array([True, True, True, True])
    >>> pay.find_objection([SetQuery("pay", "sum", everybody)])
    >>> pay.record(SetQuery("pay", "sum", everybody), 0)
    >>> print(pay.find_objection([SetQuery("pay", "sum", np.array([False, True, True, True]))]))
    this answer and earlier ones together would give away a single value
    """

    def __init__(self, rows: Numbers, rules: SetRules) -> None:
        self.rows, self.rules = rows.astype(np.int64), rules
        self.sums = SumElimination(len(rows))
        self.high, self.low = ExtremeSets(self.rows), ExtremeSets(self.rows)
        self.sets = _pack(np.zeros((0, len(rows)), np.bool_))
        self.set_count = 0
        self._known_sets: set[bytes] = set()
        self._atoms = np.zeros(len(rows), np.int64)

    def find_objection(self, queries: Sequence[SetQuery]) -> str | None:
        """Say why queries, asked together, are not answered; None where all are.

        It is decided from these queries and from those that were answered, with their answers; not from theirs.
        """
        asked = [(one.kind, self._with_values(one.blocks)) for one in queries]
        objection = self._object_to_sets([blocks for _, blocks in asked])
        if objection:
            return objection
        high, low, sums = ([blocks for kind, blocks in asked if kind == name] for name in ("max", "min", "sum"))
        above, below = self._touched(self.high, high), self._touched(self.low, low)
        if (above & below).any():
            return "a maximum and a minimum are not both answered where they are of the same rows"
        for sets, wanted in ((self.high, high), (self.low, low)):
            if wanted and sets.may_disclose(_distinct(wanted)):
                return "this answer and earlier ones together could give away a single value"
        kept_free = above | below
        if (high or low) and not self.sums.release(kept_free):
            return "a maximum or a minimum is not answered where sums of the same rows were"
        return self._object_to_sums(_distinct(sums), kept_free)

    def _object_to_sums(self, sums: Sequence[Blocks], kept_free: Blocks) -> str | None:
        trial, small = self.sums, (self.rows > 0) & (self.rows < max(self.rules.least_size, 2))
        mixed = bool(kept_free.any())
        for place, blocks in enumerate(sums):
            if mixed and not trial.stays_outside(blocks, kept_free):
                return "a sum is not answered where a maximum or a minimum of the same rows was"
            if (trial.find_determined(blocks) & small).any():
                many = "a single value" if self.rules.least_size <= 2 else "a single value, or those of a small group"
                return f"this answer and earlier ones together would give away {many}"
            if place + 1 < len(sums) and not trial.follows(blocks):
                if trial is self.sums:
                    trial = trial.copy()
                trial.add(blocks, kept_free if mixed else None)
        return None

    def _object_to_sets(self, asked: Sequence[Blocks]) -> str | None:
        """Apply the rules on sets, to those that are asked and those that were answered; in rows that have a value."""
        rules = self.rules
        sizes = [int(self.rows[blocks].sum()) for blocks in asked]
        if min(sizes) < rules.least_size:
            return f"the answer would be about fewer than {rules.least_size} rows"
        if rules.least_alike > 1 and self._count_least_alike(asked) < rules.least_alike:
            return (
                f"this answer and earlier ones together would tell fewer than {rules.least_alike} rows from all others"
            )
        if not rules.compared and rules.most_overlap is None:
            return None
        own = _pack(np.array(list({blocks.tobytes(): blocks for blocks in asked}.values())))
        for words in own:
            for sets in (self.sets[: self.set_count], own):
                if rules.compared and (self._any_few(words & ~sets) or self._any_few(sets & ~words)):
                    return f"fewer than {rules.least_size} rows would tell this set from one that was answered"
                if rules.most_overlap is not None and self._any_many(
                    (sets & words)[(sets != words).any(axis=1)], rules.most_overlap
                ):
                    return f"this set and one that was answered have more than {rules.most_overlap} rows in common"
        return None

    def _any_few(self, words: Words) -> bool:
        """Tell whether a set of some (uint64[m, w]) has rows, and fewer than the least size.

        A block has a row at least: so few rows are few blocks, and not a large one. The others need not be counted.
        """
        least, words = self.rules.least_size, words & _pack(self.rows > 0)
        blocks = np.bitwise_count(words).sum(axis=1)
        possible = (blocks > 0) & (blocks < least) & ~(words & _pack(self.rows >= least)).any(axis=1)
        return bool((self._count_rows(words[possible]) < least).any())

    def _any_many(self, words: Words, most: int) -> bool:
        """Tell whether a set of some (uint64[m, w]) has more than so many rows."""
        words = words & _pack(self.rows > 0)
        blocks = np.bitwise_count(words).sum(axis=1)
        if (blocks > most).any() or (words & _pack(self.rows > most)).any():
            return True
        return bool((self._count_rows(words[blocks > 0]) > most).any())

    def _count_rows(self, words: Words) -> Numbers:
        """Count the rows of each of m sets: int64[m]; floats hold every count, and multiply faster."""
        weights, found = self.rows.astype(np.float64), np.empty(len(words), np.int64)
        for start in range(0, len(words), 512):
            found[start : start + 512] = _unpack(words[start : start + 512], len(weights)) @ weights
        return found

    def _count_least_alike(self, asked: Sequence[Blocks]) -> int:
        """Count the rows of the smallest atom of the answered sets and those that are asked."""
        atoms = self._atoms
        for blocks in asked:
            atoms = _part_atoms(atoms, blocks)
        sizes = np.bincount(atoms[self.rows > 0], weights=self.rows[self.rows > 0])
        return int(sizes[sizes > 0].min())

    def record(self, query: SetQuery, answer: int) -> None:
        """Take a query as answered; `answer` counts where it is a maximum or a minimum."""
        blocks = self._with_values(query.blocks)
        if query.kind == "max":
            self.high.add(blocks, answer)
        elif query.kind == "min":
            self.low.add(blocks, ~answer)
        if query.kind != "sum":
            self.sums.release(self.high.touched | self.low.touched, most=None)
        elif not self.sums.follows(blocks):
            self.sums.add(blocks, self.high.touched | self.low.touched)
        self._remember_set(blocks)

    def _remember_set(self, blocks: Blocks) -> None:
        if not self.rules.remember_sets:
            return
        key = np.packbits(blocks).tobytes()
        if key in self._known_sets:
            return
        self._known_sets.add(key)
        if self.set_count == len(self.sets):
            more = np.zeros((max(16, len(self.sets)), self.sets.shape[1]), np.uint64)
            self.sets = np.concatenate([self.sets, more])
        self.sets[self.set_count] = _pack(blocks)
        self.set_count += 1
        self._atoms = _part_atoms(self._atoms, blocks)

    def change_blocks(self, rounds: Sequence[Sequence[int]], rows: Numbers) -> None:
        """Part blocks in two, round after round, and append new ones; `rows` are the values of all blocks after it."""
        answered = _unpack(self.sets[: self.set_count], len(self.rows))
        for parted in rounds:
            width = len(self.rows) + len(parted)
            self.sums.split(parted)
            for sets in (self.high, self.low):
                sets.split(parted, rows[:width])
            answered = np.concatenate([answered, answered[:, list(parted)]], axis=1)
            self.rows = rows[:width].astype(np.int64)
        more = len(rows) - len(self.rows)
        self.sums.append(more)
        for sets in (self.high, self.low):
            sets.append(rows[len(self.rows) :])
        self._take_sets(np.concatenate([answered, np.zeros((self.set_count, more), np.bool_)], axis=1))
        parts = {block for parted in rounds for block in parted}
        before = len(rows) - more
        self.rows = rows.astype(np.int64)
        self.high.rows = self.low.rows = self.rows
        # A part without a value has the sum 0, which everybody knows: where values are missing is taken as known.
        for block in [*parts, *range(before - sum(map(len, rounds)), before)]:
            if not self.rows[block]:
                self.sums.add(np.arange(len(rows)) == block, self.high.touched | self.low.touched)

    def _with_values(self, blocks: Blocks) -> Blocks:
        return blocks & (self.rows > 0)

    def _touched(self, sets: ExtremeSets, queries: Sequence[Blocks]) -> Blocks:
        touched: Blocks = np.logical_or.reduce([sets.touched, *queries])
        return touched

    def as_arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Give what it is made of, by names that start with a prefix."""
        sets = np.packbits(_unpack(self.sets[: self.set_count], len(self.rows)), axis=1)
        found: dict[str, NDArray[Any]] = {f"{prefix}rows": self.rows, f"{prefix}sets": sets}
        found |= self.sums.as_arrays(f"{prefix}sums.")
        return found | self.high.as_arrays(f"{prefix}high.") | self.low.as_arrays(f"{prefix}low.")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, rules: SetRules) -> "ColumnAudit":
        """Make it of what `as_arrays` gave."""
        self = object.__new__(cls)
        self.rows, self.rules = np.array(arrays[f"{prefix}rows"], np.int64), rules
        self.sums = SumElimination.from_arrays(arrays, f"{prefix}sums.")
        self.high = ExtremeSets.from_arrays(arrays, f"{prefix}high.", self.rows)
        self.low = ExtremeSets.from_arrays(arrays, f"{prefix}low.", self.rows)
        self._take_sets(np.unpackbits(arrays[f"{prefix}sets"], axis=1, count=len(self.rows)).astype(np.bool_))
        return self

    def _take_sets(self, answered: Blocks) -> None:
        """Take the answered sets, bool[sets, blocks], and work out their atoms."""
        self.sets, self.set_count = _pack(answered), len(answered)
        self._known_sets = {np.packbits(line).tobytes() for line in answered}
        self._atoms = np.unique(np.packbits(answered, axis=0), axis=1, return_inverse=True)[1].reshape(-1)


def _distinct(queries: Sequence[Blocks]) -> list[Blocks]:
    return list({blocks.tobytes(): blocks for blocks in queries}.values())


def _part_atoms(atoms: Numbers, blocks: Blocks) -> Numbers:
    """Part each atom in what is in a set and what is not; atoms is int64[blocks], numbered from 0."""
    parted: Numbers = np.unique(2 * atoms + blocks, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return parted


def _pack(blocks: Blocks) -> Words:
    """Pack sets, bool[..., blocks], into words: uint64[..., w]."""
    few = np.packbits(blocks, axis=-1)
    wide = np.zeros((*few.shape[:-1], -(-few.shape[-1] // 8) * 8), np.uint8)
    wide[..., : few.shape[-1]] = few
    return wide.view(np.uint64)


def _unpack(words: Words, blocks: int) -> Blocks:
    """Give sets that were packed: bool[sets, blocks]."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, count=blocks).astype(np.bool_)
