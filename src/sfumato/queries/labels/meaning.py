"""From a column's entry in the manifest and its published labels to what they stand for.

A label that does not say it by itself, such as ``*`` or ``435*``, stands for what the manifest declares. Where nothing
is declared it stands for the values that the column itself shows elsewhere, as far as they fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.set_labels import parse_set
from sfumato.queries.entry import Entry
from sfumato.queries.labels.calendar import Calendar
from sfumato.queries.labels.leaves import Leaf, Leaves, of_texts
from sfumato.queries.labels.masks import masked
from sfumato.queries.labels.ranges import read_ranges

Told = Callable[[Leaf], Sequence[Leaf]]
"""What a label says that it stands for; nothing, if it does not say it by itself."""
Fits = Callable[[str, Leaf], bool]
"""Whether a label that does not say it may stand for a value."""


def read_labels(entry: Entry, labels: Sequence[Leaf]) -> Leaves:
    """What each label stands for.

    >>> read_labels({"covers": {"service": ["cook", "porter"]}}, ["nurse", "service"]).values.to_pylist()
    ['nurse', 'cook', 'porter']
    >>> read_labels({}, ["f", "m", "*"]).values.to_pylist()
    ['f', 'm', 'f', 'm']
    >>> read_labels({}, ["*"]).unclear
    '*'
    """
    if "integers" in entry:
        return read_ranges(labels, entry.get("domain"), whole=bool(entry["integers"]))
    told, fits = _reader(entry)
    found = [told(label) for label in labels]
    pool = list(dict.fromkeys(leaf for leaves in found for leaf in leaves))
    found = [leaves or _fitting(label, pool, fits) for label, leaves in zip(labels, found, strict=True)]
    unclear = next((label for label, leaves in zip(labels, found, strict=True) if not leaves), None)
    return replace(of_texts(found), unclear=unclear)


def _reader(entry: Entry) -> tuple[Told, Fits]:
    """How labels of a column are read, by what its entry declares."""
    if "dates" in entry:
        return Calendar(tuple(entry["dates"]), entry.get("date_format")).told, _any
    if "mask" in entry:
        return _unmasked, lambda label, leaf: masked(entry["mask"], label, leaf)
    if entry.get("form") == "sets":
        return parse_set, _any
    covers = entry.get("covers", {})
    return lambda label: covers.get(label) or ([] if label == ROOT or "different_leaves" in entry else [label]), _any


def _fitting(label: Leaf, pool: Sequence[Leaf], fits: Fits) -> list[Leaf]:
    return [leaf for leaf in pool if label is not None and fits(label, leaf)]


def _any(label: str, leaf: Leaf) -> bool:
    """A star may be any value of the column; any other label that says nothing is not told at all."""
    del leaf
    return label == ROOT


def _unmasked(label: Leaf) -> list[Leaf]:
    return [] if label is not None and ROOT in label else [label]
