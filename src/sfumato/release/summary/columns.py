"""Each column as it is published: which labels or values stand in how many rows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.page.bars import bar
from sfumato.page.markup import Markup, name, note, paragraph, section, some, table, tag
from sfumato.page.words import percent
from sfumato.release.cells import Cells
from sfumato.release.seen.bins import MISSING, bins_of
from sfumato.release.seen.values import binned, values_of

Columns = Mapping[str, Cells | Any]
Bars = list[tuple[str, int]]

MOST = 40
_ANY = "*"
HOW = (
    "Shares of the published rows. Labels and values are those of the files; of columns with many of them the most "
    "frequent are shown, and numbers go to steps of a round width."
)
PERSONS = "rows for each person"


def columns(manifest: Mapping[str, Any], tables: Mapping[str, Columns]) -> Markup:
    """A part for each column, as many as a page can take."""
    found = {key: column for table in tables.values() for key, column in table.items()}
    entries = [(entry, found[entry["name"]]) for entry in manifest["columns"]]
    parts = [_part(entry, column) for entry, column in entries[:MOST]]
    left = [entry["name"] for entry, _ in entries[MOST:]]
    more = [paragraph("Not shown, so that the page has an end: ", some(left), ".")] if left else []
    return section("Columns as published", note(HOW), tag("div", *parts, class_="charts"), *more)


def _part(entry: Mapping[str, Any], column: Any) -> Markup:
    person = entry["role"] == "individual"
    bars = _persons(column) if person else _bars(entry, column)
    head = tag("h3", name(entry["name"]), tag("small", PERSONS if person else _role(entry["role"])))
    whole = sum(rows for _, rows in bars)
    full = max((rows for _, rows in bars), default=1)
    lines = [(label, percent(rows / whole), bar(rows / full)) for label, rows in bars]
    return tag("figure", head, table(("", "", ""), lines, "shares") if lines else paragraph("Not told in a chart."))


def _role(role: str) -> str:
    return {"quasi": "quasi-identifier"}.get(role, role)


def _bars(entry: Mapping[str, Any], column: Any) -> Bars:
    """Labels of a quasi-identifier as they are; other columns in bins."""
    if not isinstance(column, Cells):
        found = values_of(column)
        return [] if found is None else _counted(found.bins.names, found.bins.place, found.counts)
    counts = np.bincount(column.codes, minlength=len(column.values))
    if entry["role"] != "quasi":
        bins = binned(column.values, counts)
        return _counted(bins.names, bins.place, counts)
    labels: list[str | None] = column.values.cast("string").to_pylist()
    bins = bins_of(labels, counts)
    return _ordered(_counted(bins.names, bins.place, counts))


def _counted(names: Sequence[str], place: IntArray, counts: IntArray) -> Bars:
    rows = np.bincount(place, weights=counts, minlength=len(names)).astype(np.int64)
    return list(zip(names, rows.tolist(), strict=True))


def _ordered(bars: Bars) -> Bars:
    """Ranges in the order of numbers, where every label is one; a star and what is missing stay at the end."""
    places = [(_first(label), place) for place, (label, _) in enumerate(bars)]
    if any(first is None for first, _ in places):
        return bars
    return [bars[place] for _, place in sorted((first or (0, 0.0), place) for first, place in places)]


def _first(label: str) -> tuple[int, float] | None:
    """Where a label stands in the order of numbers.

    >>> _first("35-39"), _first("*"), _first("Bern")
    ((0, 35.0), (1, 0.0), None)
    """
    if label in {_ANY, MISSING} or re.fullmatch(r"\d+ others?", label):
        return (1, 0.0)
    found = re.match(r"(<|\[)?(-?\d+(?:\.\d+)?)", label)
    return found and (0 if found[1] != "<" else -1, float(found[2]))


def _persons(column: Cells) -> Bars:
    """How many people have so many rows."""
    held, people = np.unique(np.bincount(column.codes, minlength=len(column.values)), return_counts=True)
    bins = bins_of([str(rows) for rows in held.tolist()], people)
    return list(_unempty(_counted(bins.names, bins.place, people)))


def _unempty(bars: Bars) -> Iterator[tuple[str, int]]:
    yield from (one for one in bars if one[1])
