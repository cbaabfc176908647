"""Rows that are not published: which requirement their classes failed, and how they differ from those that are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn
from sfumato.models import Model
from sfumato.release.seen.column import Seen

if TYPE_CHECKING:
    from sfumato.release.release import Release


@dataclass(frozen=True)
class Failed:
    """A requirement, and the classes of suppressed rows that do not meet it, with their rows."""

    model: Model
    classes: int
    rows: int


@dataclass(frozen=True)
class Reasons:
    """Why rows were suppressed, where whole classes were: all classes and rows, and those that each model fails.

    A class may fail several. `others` are rows of classes that fail none by themselves.
    """

    classes: int
    rows: int
    failed: tuple[Failed, ...]
    others: int


@dataclass(frozen=True, eq=False)
class Apart:
    """A column as it came, in published and in suppressed rows: shares of their bins, and how far they are apart.

    `distance` is half the sum of the differences (total variation): 0 where they are alike, 1 where no bin has both.
    """

    seen: Seen
    published: FloatArray
    suppressed: FloatArray
    distance: float


def reasons(release: "Release") -> Reasons | None:
    """The requirements that suppressed classes fail; nothing where rows were not suppressed by class."""
    if not release.suppressed or release.recoding.local or release.recoding.group is not None:
        return None
    classes = _classes(release)
    held = [(model, model.holds(classes)) for model in release.policy.privacy]
    failed = tuple(Failed(model, int((~held).sum()), int(classes.sizes[~held].sum())) for model, held in held)
    passing = np.logical_and.reduce([held for _, held in held]) if held else np.ones(len(classes), dtype=np.bool_)
    return Reasons(len(classes), classes.rows, failed, int(classes.sizes[passing].sum()))


def differing(release: "Release", columns: Sequence[Seen], most: int = 2) -> list[Apart]:
    """The columns in which suppressed rows differ most from published ones, the most differing first."""
    if not release.suppressed:
        return []
    found = [_apart(one) for one in columns if one.name not in release.encoded.plain]
    return sorted(found, key=lambda one: -one.distance)[:most]


def _apart(seen: Seen) -> Apart:
    kept = np.bincount(seen.before[seen.kept], minlength=len(seen.bins))
    gone = seen.came - kept
    published, suppressed = kept / kept.sum(), gone / gone.sum()
    return Apart(seen, published, suppressed, float(np.abs(published - suppressed).sum() / 2))


def _classes(release: "Release") -> EquivalenceClasses:
    """The classes that suppressed rows would have been in, as the models see them."""
    recoding, encoded = release.recoding, release.encoded
    assert recoding.published is not None  # noqa: S101 - rows were suppressed; this tells the type checker
    rows = np.flatnonzero(~recoding.published)
    labels = list(recoding.labels.values())
    owner, _ = number_tuples(pack_tuples([one.codes.take(rows) for one in labels], [len(one.texts) for one in labels]))

    def counted(column: CodedColumn) -> Histogram:
        ones: IntArray = np.ones(len(rows), dtype=np.int64)
        return count_values(owner, column.codes.take(rows).astype(np.int64), ones, encoded.domains[column.name])

    sensitive = {name: counted(one) for name, one in encoded.sensitive.items() if name in encoded.domains}
    persons = None if encoded.individual is None else counted(encoded.individual)
    return EquivalenceClasses(np.bincount(owner), sensitive, persons)
