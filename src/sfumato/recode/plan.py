"""Recoding: what an algorithm decided, as a plan that can be applied by look-up and described in a manifest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import has_key, number_tuples, pack_tuples
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.recode.evaluate import Evaluator
from sfumato.recode.lattice import Node


@dataclass(frozen=True, eq=False)
class Labels:
    """One quasi-identifier as it is published: a label code per row, and what each code stands for.

    `loss` is the NCP of each label and `climbed` the levels it stands above the leaves; `level` is there where
    all labels are of one level.
    """

    codes: Codes
    texts: tuple[str | None, ...]
    loss: FloatArray
    climbed: FloatArray
    level: int | None


@dataclass(frozen=True, eq=False)
class Recoding:
    """A decision on every row: whether it is published, and under which labels.

    `algorithm` found it, or what it began with where it was `improved`. `levels` is there for full-domain algorithms;
    `kept` is ``None`` where no row is suppressed; `classes` are the published classes as the algorithm counted them.
    `group` is there where two tables are published: the class of each row, -1 where it is suppressed. Labels do not
    tell it then, since they are the values themselves. `cut` says that each column has one cut through its hierarchy,
    and `unmatched` are the rows that match no record of the earlier releases that were looked at.
    """

    algorithm: str
    labels: Mapping[str, Labels]
    kept: BoolArray | None
    classes: EquivalenceClasses
    levels: Mapping[str, int] | None = None
    improved: bool = False
    group: IntArray | None = None
    cut: bool = False
    unmatched: int = 0

    @property
    def local(self) -> bool:
        """Whether each class has its own labels, so that labels of one column may overlap."""
        return self.levels is None and not self.cut

    @property
    def suppressed(self) -> int:
        """Rows that are not published."""
        return 0 if self.kept is None else int((~self.kept).sum())

    @property
    def class_of(self) -> IntArray:
        """The class of each row, by its group or its labels; -1 where it is suppressed."""
        return self.group if self.group is not None else _by_labels(list(self.labels.values()), self.kept)


def _by_labels(labels: list[Labels], kept: BoolArray | None) -> IntArray:
    """The number of each row's labels among those of all published rows."""
    rows = slice(None) if kept is None else np.flatnonzero(kept)
    packed = pack_tuples([column.codes[rows] for column in labels], [len(column.texts) for column in labels])
    owner = np.full(len(labels[0].codes), -1)
    owner[rows] = number_tuples(packed)[0]
    return owner


def full_domain(encoded: EncodedTable, evaluator: Evaluator, node: Node, algorithm: str) -> Recoding:
    """Apply a node: every value goes to its label at the node's level; rows of failing classes go."""
    grouped, passing, _ = evaluator.judge(node)
    labels = {one.name: labels_at(one, level) for one, level in zip(encoded.quasi, node, strict=True)}
    kept = None if passing.all() else ~_failing(labels, grouped.labels(~passing)[: len(node)])
    levels = dict(zip(encoded.names, node, strict=True))
    return Recoding(algorithm, labels, kept, grouped.classes.select(passing), levels)


def raised(recoding: Recoding, encoded: EncodedTable, *, back: bool = False) -> Recoding:
    """A recoding of the table as exactly as it may be told, with its levels counted from the values that came in.

    With `back`, the way back: from there to the table as exactly as it may be told.
    """
    steps = {one.name: -one.least if back else one.least for one in encoded.quasi if one.least}
    if not steps:
        return recoding
    labels = {name: _lifted(one, steps.get(name, 0)) for name, one in recoding.labels.items()}
    levels = recoding.levels and {name: level + steps.get(name, 0) for name, level in recoding.levels.items()}
    return replace(recoding, labels=labels, levels=levels)


def _lifted(labels: Labels, steps: int) -> Labels:
    level = None if labels.level is None else labels.level + steps
    return replace(labels, climbed=labels.climbed + steps, level=level)


def labels_at(attribute: QuasiIdentifier, level: int) -> Labels:
    """A quasi-identifier with every value at its label of one level."""
    texts = attribute.hierarchy.labels[level]
    lift = narrow_codes(attribute.hierarchy.matrix[:, level], len(texts))
    climbed = np.full(len(texts), float(level))
    return Labels(lift.take(attribute.column.codes), texts, attribute.hierarchy.loss[level], climbed, level)


def _failing(labels: Mapping[str, Labels], failing: list[IntArray]) -> BoolArray:
    """Which rows belong to one of the failing classes, given by their label codes."""
    columns = [np.concatenate([chosen, column.codes]) for chosen, column in zip(failing, labels.values(), strict=True)]
    packed = pack_tuples(columns, [len(column.texts) for column in labels.values()])
    chosen, rows = np.split(packed.keys, [len(failing[0])])
    return has_key(replace(packed, keys=rows), chosen)
