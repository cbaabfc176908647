"""The data dictionary, and how labels are to be read."""

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.page.markup import Markup, join, name, note, section, some, table, tag
from sfumato.page.words import plural

Entry = Mapping[str, Any]
MOST = 200
_LISTED = 8

TYPES = "Types are those of Apache Arrow; a CSV file holds all of them as text."
STAR = "* stands for any value of its column, missing ones included."
WHOLE = "35-39 is a whole number from 35 to 39, 65+ one of 65 or more, <20 one below 20."
BROKEN = "[1.5, 2) is a number from 1.5 up to, but not with, 2; with ] the end is one of them."
MASKED = "A star in place of a character stands for any character there: 43** is 4300 to 4399."
DATED = "2024-03 is a day of that month, 2024 one of that year, 2020-2029 one of these ten years."
SETS = "{Bern, Thun} is one of the values in braces."
MEANS = "A number may be the mean of a class, and the value of no row."
COVERED = "What a label of a hierarchy stands for is listed in manifest.json, under “covers” of its column."


def dictionary(manifest: Mapping[str, Any]) -> Markup:
    """Every column with its role and type, and what its labels mean."""
    entries = manifest["columns"]
    lines = [(_called(entry), _role(entry["role"]), entry["type"]) for entry in entries[:MOST]]
    left = f" {plural(len(entries) - MOST, 'column')} more: see manifest.json." if len(entries) > MOST else ""
    reading = tag("ul", *[tag("li", said) for said in _reading(manifest)], class_="limits")
    head = ("Column", "Role", "Type")
    parts = (table(head, lines, "figures words"), note(TYPES + left), tag("h3", "How to read labels"), reading)
    return section("Data dictionary", *parts)


def _called(entry: Entry) -> Markup:
    said = _labels(entry)
    return join([name(entry["name"]), tag("small", said)]) if said else name(entry["name"])


def _role(role: str) -> str:
    return {"quasi": "quasi-identifier", "individual": "person (pseudonym)"}.get(role, role)


def _labels(entry: Entry) -> str:
    """How many labels there are, and from where to where they may go."""
    many = len(entry["labels"]) if "labels" in entry else entry.get("different_labels")
    parts = [
        *([plural(many, "label")] if many is not None else []),
        *([f"level {entry['level']} of its hierarchy"] if entry.get("level") else []),
        *([f"never told below level {entry['least']}"] if "least" in entry else []),
        *(["declared from {} to {}".format(*entry["domain"])] if "domain" in entry else []),
        *([f"in table {entry['table']}"] if "table" in entry else []),
    ]
    return ", ".join(parts)


def _reading(manifest: Mapping[str, Any]) -> Iterator[object]:
    """A line for each kind of label that there is."""
    entries = [entry for entry in manifest["columns"] if entry["role"] == "quasi"]
    kinds = {
        WHOLE: [one["name"] for one in entries if one.get("integers") and one.get("form") != "means"],
        BROKEN: [one["name"] for one in entries if one.get("integers") is False and one.get("form") != "means"],
        MASKED: [one["name"] for one in entries if "mask" in one],
        DATED: [one["name"] for one in entries if "dates" in one],
        SETS: [one["name"] for one in entries if one.get("form") == "sets"],
        MEANS: [one["name"] for one in entries if one.get("form") == "means"],
        COVERED: [one["name"] for one in entries if "covers" in one or "different_leaves" in one],
    }
    for said, columns in kinds.items():
        if columns:
            yield join([some(columns, _LISTED), ": ", said])
    yield STAR
    if "csv" in manifest:
        null = manifest["csv"]["null"]
        yield f"A missing value is {'an empty cell' if not null else f'written as {null}'}; empty text has quotes."
        yield manifest["csv"]["guard"]
