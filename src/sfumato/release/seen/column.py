"""Published columns before and after, in the same bins.

A label may cover several bins. A row that is published under it counts in each of them by the share of the label's
values that lie there, as it would for a reader who knows no more than the label; so what is lost shows as flatter bars.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, narrow_codes
from sfumato.encode import CodedColumn, QuasiIdentifier
from sfumato.hierarchy import Ranges
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.labels.covered_values import find_covered_codes
from sfumato.recode import Labels
from sfumato.release.seen.bins import Bins, bins_of
from sfumato.release.seen.values import values_of

if TYPE_CHECKING:
    from sfumato.release.release import Release

MOST = 30
"""Of so many columns at most: a page has an end."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A published column: the bin of each row as it came, the code under which it is published, and codes in bins.

    `spread` has a line per code, and in it the share of the code in each bin. `kept` are the published rows.
    """

    name: str
    bins: Bins
    before: Codes
    after: Codes
    spread: FloatArray
    kept: IntArray | slice

    @cached_property
    def came(self) -> IntArray:
        """Rows in each bin, as they came."""
        return np.bincount(self.before, minlength=len(self.bins))

    @cached_property
    def published(self) -> FloatArray:
        """Published rows in each bin, by what is published of them."""
        rows: FloatArray = np.bincount(self.after[self.kept], minlength=len(self.spread)) @ self.spread
        return rows


def seen(release: "Release", most: int = MOST) -> list[Seen]:
    """The first columns, quasi-identifiers before sensitive ones and these before plain ones.

    Columns that hold lists or the like are left out.
    """
    names = [*release.encoded.names, *release.encoded.sensitive, *release.encoded.plain]
    return [one for name in names[:most] if (one := _seen(release, name))]


def kept_rows(release: "Release") -> IntArray | slice:
    """Where the published rows are among those that came."""
    return slice(None) if release.recoding.published is None else np.flatnonzero(release.recoding.published)


def _seen(release: "Release", name: str) -> Seen | None:
    if name in release.encoded.names:
        return _quasi(release, release.encoded.quasi[release.encoded.names.index(name)])
    if name in release.encoded.plain:
        found = values_of(release.encoded.plain[name], kept_rows(release))
        return None if found is None else _exact(release, name, found.codes, found.bins)
    column = release.encoded.sensitive[name]
    counts = np.bincount(column.codes, minlength=column.width)
    bins = bins_of(column.texts, counts, named=_named(release, column))
    return _exact(release, name, column.codes, bins)


def _named(release: "Release", column: CodedColumn) -> BoolArray | None:
    """Which values some published row has: others are named nowhere, not even here."""
    kept = kept_rows(release)
    return None if isinstance(kept, slice) else np.bincount(column.codes[kept], minlength=column.width) > 0


def _exact(release: "Release", name: str, codes: Codes, bins: Bins) -> Seen:
    """A column that is published as it is: its bins are all there is to spread."""
    rows = narrow_codes(bins.place, len(bins)).take(codes)
    return Seen(name, bins, rows, rows, np.eye(len(bins)), kept_rows(release))


def _quasi(release: "Release", attribute: QuasiIdentifier) -> Seen:
    labels, column = release.recoding.labels[attribute.name], attribute.column
    means = are_means(release, attribute)
    bins = bins_of(column.texts, attribute.frequencies, named=_named(release, column), stepped=means)
    before = narrow_codes(bins.place, len(bins)).take(column.codes)
    spread = _of_means(labels, bins) if means else _spread(attribute, labels, bins)
    return Seen(attribute.name, bins, before, labels.codes, spread, kept_rows(release))


def are_means(release: "Release", attribute: QuasiIdentifier) -> bool:
    """Whether a column is published as means of classes, which do not say what they cover."""
    local = release.recoding.local and release.recoding.group is None
    return local and release.policy.publish.ranges == "means" and isinstance(attribute.spec, Ranges)


def _spread(attribute: QuasiIdentifier, labels: Labels, bins: Bins) -> FloatArray:
    """The share of each label's values that lie in each bin, of those values that the table has."""
    covered = find_covered_codes(attribute, labels.texts, labels.level)
    return np.stack([covered.shares(bins.place == place) for place in range(len(bins))], axis=1)


def _of_means(labels: Labels, bins: Bins) -> FloatArray:
    """A mean lies in one bin; a star in all, as much in each as there are values."""
    spread = np.zeros((len(labels.texts), len(bins)))
    even = np.bincount(bins.place, minlength=len(bins)) / len(bins.place)
    for code, text in enumerate(labels.texts):
        if text == ROOT:
            spread[code] = even
        elif text is None or bins.steps is None:
            spread[code, -1] = 1.0
        else:
            spread[code, bins.steps.places(np.array([float(text)]))[0]] = 1.0
    return spread
