"""Releases made by hand, with labels of every kind and what they stand for."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

Value = str | None
Label = tuple[Value, frozenset[Value]]
"""A label, and the values that it stands for."""
Widens = Callable[[str, str, Random], tuple[str, Sequence[Value]]]
"""From a column, a value and a source of randomness to a label that the value lies under."""

UNIVERSE: dict[str, list[Value]] = {
    "age": [*map(str, range(20)), None],
    "weight": [*(f"{number / 2:g}" for number in range(20)), None],
    "town": ["Bern", "Thun", "Chur", None],
    "job": ["cook", "porter", "nurse", "doctor"],
    "zip": [*(a + b + c for a in "01" for b in "01" for c in "01"), *(a + b for a in "01" for b in "01"), None],
    "day": [*((date(2020, 1, 1) + timedelta(days=day)).isoformat() for day in range(91)), None],
}
ILLNESSES: list[Value] = ["flu", "HIV", "cold", "ulcer", "=gout", None]
COVERS: dict[str, list[Value]] = {"service": ["cook", "porter"], "health": ["nurse", "doctor"]}


def _range(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
    low, high = int(Fraction(value)) - draw.randrange(4), int(Fraction(value)) + draw.randrange(1, 5)
    forms: list[tuple[str, Callable[[Fraction], bool]]] = [
        (f"<{high}", lambda number: number < high),
        (f"{max(low, 0)}+", lambda number: number >= low),
        (f"[{low}, {high})", lambda number: low <= number < high),
        (f"[{low}, {high}]", lambda number: low <= number <= high),
        (f"[{abs(low)}.5, {high}]", lambda number: abs(low) + Fraction(1, 2) <= number <= high),
    ]
    label, test = draw.choice([(label, test) for label, test in forms if test(Fraction(value))])
    return label, [text for text in UNIVERSE[name] if text is not None and test(Fraction(text))]


def _set(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
    rest = [one for one in UNIVERSE[name] if one != value]
    members = sorted([value, *draw.sample(rest, draw.randrange(1, 3))], key=lambda one: (one is None, one or ""))
    return "{" + ", ".join("NULL" if one is None else one for one in members) + "}", members


def _group(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
    del name, draw
    return next((label, leaves) for label, leaves in COVERS.items() if value in leaves)


def _mask(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
    kept = value[: draw.randrange(1, len(value))]
    return kept.ljust(len(value), "*"), [one for one in UNIVERSE[name] if _fits(one, kept, {len(value)})]


def _padded(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
    kept = value[: draw.randrange(1, 3)]
    return kept.ljust(3, "*"), [one for one in UNIVERSE[name] if _fits(one, kept, {2, 3})]


def _fits(text: Value, kept: str, lengths: set[int]) -> bool:
    return text is not None and text.startswith(kept) and len(text) in lengths


def _unit(form: str) -> Widens:
    def label(name: str, value: str, draw: Random) -> tuple[str, list[Value]]:
        del draw
        written = date.fromisoformat(value).strftime(form)
        return written, [day for day in UNIVERSE[name] if day and date.fromisoformat(day).strftime(form) == written]

    return label


STYLES: dict[str, list[tuple[dict[str, Any], Widens]]] = {
    "age": [({"integers": True}, _range), ({"form": "sets"}, _set)],
    "weight": [({"integers": False, "domain": [0, 10]}, _range), ({"form": "sets"}, _set)],
    "town": [({"form": "sets"}, _set)],
    "job": [({"covers": COVERS}, _group)],
    "zip": [
        ({"mask": {"side": "right"}}, _mask),
        ({"mask": {"side": "right", "length": 3}}, _padded),
        ({"form": "sets"}, _set),
    ],
    "day": [({"dates": ["week"]}, _unit("%G-W%V")), ({"dates": ["month"]}, _unit("%Y-%m")), ({"form": "sets"}, _set)],
}


@dataclass(frozen=True)
class Line:
    """A published line: its labels with what they stand for, its sensitive values, and the number of its class."""

    labels: Mapping[str, Label]
    sensitive: Mapping[str, Value]
    number: int


@dataclass(frozen=True)
class Drawn:
    """Lines of a release, and the entries of their columns; `split` into two tables or not."""

    lines: Sequence[Line]
    entries: Mapping[str, Mapping[str, Any]]
    split: bool


@dataclass(frozen=True)
class Case:
    """Persons, with quasi-identifiers and sensitive values, and releases about some of them."""

    people: Sequence[Mapping[str, Value]]
    releases: Sequence[Drawn]


@pytest.fixture(scope="session")
def draws() -> Callable[..., Case]:
    """Draws persons, and releases of samples of them with random columns; some people change their illness between."""

    def drawn(seed: int, split: Sequence[bool]) -> Case:
        draw = Random(seed)
        pools = {name: draw.sample(values, min(len(values), 6)) for name, values in UNIVERSE.items()}
        people: list[dict[str, Value]] = [
            {name: draw.choice(pool) for name, pool in pools.items()}
            | {"illness": draw.choice(ILLNESSES), "pay": draw.choice(["low", "high", "top"])}
            for _ in range(40)
        ]
        return Case(people, [_release(people, draw, split=one) for one in split])

    return drawn


def _release(people: Sequence[Mapping[str, Value]], draw: Random, *, split: bool) -> Drawn:
    columns = draw.sample(sorted(UNIVERSE), draw.randrange(2, 6))
    styles = {name: draw.choice(STYLES[name]) for name in columns}
    lines = []
    for place, person in enumerate(draw.sample(people, 30)):
        labels = {name: _label(name, person[name], None if split else styles[name][1], draw) for name in columns}
        illness = draw.choice(ILLNESSES) if draw.random() < 0.1 else person["illness"]
        lines.append(Line(labels, {"illness": illness, "pay": person["pay"]}, place // 3))
    return Drawn(lines, {name: {} if split else entry for name, (entry, _) in styles.items()}, split)


def _label(name: str, value: Value, widens: Widens | None, draw: Random) -> Label:
    """A random label that a value lies under, with all values of the column that do."""
    if widens is not None and draw.random() < 0.1:
        return "*", frozenset(UNIVERSE[name])
    if widens is None or value is None or draw.random() < 0.2:
        return value, frozenset([value])
    label, among = widens(name, value, draw)
    return label, frozenset(among)


@pytest.fixture
def publishes(tmp_path: Path) -> Callable[..., Path]:
    """Writes drawn lines as a release of one table, or of two, whose second is in another order."""
    count = 0

    def publish(drawn: Drawn, k: int) -> Path:
        nonlocal count
        count += 1
        public = tmp_path / f"drawn{count}" / "public"
        public.mkdir(parents=True)
        shown = [{name: label for name, (label, _) in line.labels.items()} for line in drawn.lines]
        held = [dict(line.sensitive) for line in drawn.lines]
        numbers: list[dict[str, Value]] = [{"class": str(line.number)} for line in drawn.lines]
        if drawn.split:
            _write(public / "nss.csv", [a | b for a, b in zip(numbers, shown, strict=True)])
            _write(public / "ss.csv", [a | b for a, b in zip(numbers, held, strict=True)][::-1])
        else:
            _write(public / "table.csv", [a | b for a, b in zip(shown, held, strict=True)])
        (public / "manifest.json").write_text(json.dumps(_manifest(drawn, k)))
        return public.parent

    return publish


def _manifest(drawn: Drawn, k: int) -> dict[str, Any]:
    one = {"form": "generalized", "table": "table.csv"}
    two = {"form": "lossy-join", "nss": "nss.csv", "ss": ["ss.csv"], "class_id": "class"}
    entries = [{"name": name, "role": "quasi", "table": "nss.csv", **entry} for name, entry in drawn.entries.items()]
    entries += [{"name": name, "role": "sensitive", "table": "ss.csv"} for name in ("illness", "pay")]
    promise = [{"model": "k-anonymity", "k": k}]
    return {**(two if drawn.split else one), "columns": entries, "csv": {"null": "?"}, "promise": promise}


def _write(path: Path, rows: Sequence[Mapping[str, Value]]) -> None:
    """As a release writes: NULL as a text, and an apostrophe before what a spreadsheet would run."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: _cell(cell) for name, cell in row.items()} for row in rows)


def _cell(cell: Value) -> str:
    return "?" if cell is None else f"'{cell}" if cell.startswith("=") else cell
