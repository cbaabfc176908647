"""Waiting: the lines that have no class yet, and how to find those that agree at a node.

Tuples are told apart by sums of hashes, one per attribute and step. Should two different ones collide, they are tried
as one group under labels that cover both: dearer, never wrong, since labels are always those of the members.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.keys import mix_bits
from sfumato.core.segments import run_starts
from sfumato.recode.lattice import Node
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem

_SORTED = 1024
"""With fewer lines than this, sorting them is quicker than counting them roughly first."""

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Runs:
    """Lines in runs, one after the other: where each begins, and how many lines it has."""

    lines: IntArray
    starts: IntArray
    lengths: IntArray

    @classmethod
    def of_words(cls, lines: IntArray, words: Hashes) -> "Runs":
        """Runs of equal words, which are in order."""
        begin = run_starts(words) if len(lines) else np.zeros(0, dtype=np.int64)
        ends = np.empty_like(begin)
        ends[:-1], ends[-1:] = begin[1:], len(lines)
        return cls(lines, begin, ends - begin)

    @property
    def heads(self) -> IntArray:
        """The first line of each run."""
        return self.lines.take(self.starts)

    @property
    def owner(self) -> IntArray:
        """The run of each line."""
        return np.repeat(np.arange(len(self.starts)), self.lengths)

    def only(self, runs: IntArray) -> "Runs":
        """Some of the runs, packed together."""
        lengths = self.lengths.take(runs)
        begin = np.cumsum(lengths) - lengths
        places = np.repeat(self.starts.take(runs) - begin, lengths)
        places += np.arange(len(places))
        return Runs(self.lines.take(places), begin, lengths)


@dataclass(frozen=True, eq=False)
class Waiting:
    """Lines without a class: tuples, rows, and codes per axis."""

    of: IntArray
    rows: IntArray
    codes: list[Codes]

    def __len__(self) -> int:
        return len(self.of)

    @classmethod
    def of_parts(cls, problem: Problem, parts: Parts) -> "Waiting":
        """All lines of a grouping."""
        # wide codes: numpy looks up by machine words, and would widen narrow ones at every look
        return cls(parts.of, parts.rows, [codes[parts.of].astype(np.intp) for codes in problem.encoded.tuples.quasi])

    def without(self, taken: IntArray) -> "Waiting":
        """The same without some lines."""
        stay = np.ones(len(self.of), dtype=np.bool_)
        stay[taken] = False
        return Waiting(self.of[stay], self.rows[stay], [codes[stay] for codes in self.codes])

    def keys(self, hashes: list[Hashes], node: Node) -> Hashes:
        """A number for each line: equal for those that agree at the node."""
        keys: Hashes = hashes[0][node[0]].take(self.codes[0])
        for table, step, codes in zip(hashes[1:], node[1:], self.codes[1:], strict=True):
            keys += table[step].take(codes)
        return keys

    def near(self, keys: Hashes, least: int) -> IntArray:
        """Lines that may be in a group of enough rows: hashes that share their first bits are counted together."""
        if len(keys) < _SORTED:
            return np.arange(len(keys))
        bits = len(keys).bit_length() + 1
        buckets = (keys >> np.uint64(64 - bits)).astype(np.int64)
        counts = np.bincount(buckets, weights=self.rows, minlength=1 << bits)
        return np.flatnonzero(counts.take(buckets) >= least)

    def runs(self, keys: Hashes, lines: IntArray) -> Runs:
        """Lines in runs of equal keys. Key and place share a word, which sorts quicker than places by key."""
        bits = np.uint64(len(lines).bit_length())
        words = np.sort((keys.take(lines) >> bits << bits) | np.arange(len(lines), dtype=np.uint64))
        places = (words & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
        return Runs.of_words(lines.take(places), words >> bits)

    def crowded(self, hashes: list[Hashes], nodes: IntArray, least: int) -> BoolArray:
        """At which nodes some group has enough rows."""
        every = np.repeat(np.arange(len(self)), np.minimum(self.rows, least))
        if len(every) < least:
            return np.zeros(len(nodes), dtype=np.bool_)
        keys = np.zeros((len(nodes), len(self)), dtype=np.uint64)
        for table, steps, codes in zip(hashes, nodes.T, self.codes, strict=True):
            keys += table[steps].take(codes, axis=1)
        ordered = np.sort(keys.take(every, axis=1), axis=1)
        found: BoolArray = (ordered[:, least - 1 :] == ordered[:, : len(every) - least + 1]).any(axis=1)
        return found


def stacked(steps: list[IntArray], axis: int) -> Hashes:
    """Per step and leaf a hash, the same for leaves that are one at that step."""
    return np.stack([mix_bits(step, (axis << 40) + (place << 32) + 1) for place, step in enumerate(steps)])
