"""Tables drawn at random, with labels of every kind and what they stand for; published in every form."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

Value = str | None
Label = tuple[Value, frozenset[Value]]
"""A label, and the values that it stands for."""

UNIVERSE: dict[str, list[Value]] = {
    "age": [*map(str, range(12)), None],
    "zip": [a + b + c for a in "12" for b in "12" for c in "12"],
    "job": ["cook", "porter", "nurse", "doctor"],
    "sex": ["f", "m", None],
}
JOBS: dict[str, list[Value]] = {"service": ["cook", "porter"], "health": ["nurse", "doctor"]}
ENTRIES: dict[str, dict[str, Any]] = {
    "age": {"integers": True},
    "zip": {"mask": {"side": "right"}},
    "job": {"covers": JOBS},
    "sex": {},
}
POLICY = """
[data]
null = ["?"]
[columns]
age = { role = "quasi", hierarchy = { intervals = [2, 4] } }
zip = { role = "quasi", hierarchy = { mask = "right" } }
job = { role = "quasi", hierarchy = "job.csv" }
sex = { role = "quasi", hierarchy = "suppress" }
illness = { role = "sensitive" }
pay = { role = "sensitive" }
visits = { role = "plain" }
who = { role = "individual" }
[[privacy]]
model = "k-anonymity"
k = 2
"""


@dataclass(frozen=True)
class Line:
    """A published row: labels with what they stand for, other values, the number of its class, and whose it is."""

    labels: Mapping[str, Label]
    others: Mapping[str, Value]
    number: int
    who: str


def _widened(name: str, value: Value, draw: Random) -> Label:
    """A random label that a value lies under, with all values of the column that do."""
    if draw.random() < 0.1:
        return "*", frozenset(UNIVERSE[name])
    if value is None or name == "sex" or draw.random() < 0.3:
        return value, frozenset([value])
    if name == "job":
        label = next(label for label, leaves in JOBS.items() if value in leaves)
        return label, frozenset(JOBS[label])
    if name == "zip":
        kept = value[: draw.randrange(1, 3)]
        return kept.ljust(3, "*"), frozenset(one for one in UNIVERSE["zip"] if one and one.startswith(kept))
    low, high = max(int(value) - draw.randrange(3), 0), int(value) + draw.randrange(3)
    inside = frozenset(str(number) for number in range(low, high + 1)) & frozenset(UNIVERSE["age"])
    return draw.choice([f"[{low}, {high}]", f"[{low}, {high + 1})"]), inside


@pytest.fixture(scope="session")
def draws() -> Callable[..., Any]:
    """People, and lines about some of them: with labels, or with values as they are where there are two tables."""

    def drawn(seed: int, *, split: bool) -> tuple[list[dict[str, Value]], list[Line]]:
        draw = Random(seed)
        people: list[dict[str, Value]] = [
            {name: draw.choice(values) for name, values in UNIVERSE.items()}
            | {"illness": draw.choice(["flu", "HIV", "=gout", None]), "pay": draw.choice(["low", "high"])}
            | {"visits": draw.choice("123")}
            for _ in range(draw.randrange(5, 40))
        ]
        chosen = [draw.choice(people) for _ in range(draw.randrange(4, 30))]
        lines = []
        for place, one in enumerate(chosen):
            labels = {
                name: (one[name], frozenset([one[name]])) if split else _widened(name, one[name], draw)
                for name in UNIVERSE
            }
            others = {name: one[name] for name in ("illness", "pay", "visits")}
            lines.append(Line(labels, others, place // 3, f"p{draw.randrange(9)}"))
        return people, lines

    return drawn


@pytest.fixture
def publishes(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines as a release of one table or of two, or as a file with a policy beside it."""

    def publish(lines: Sequence[Line], form: str, *, pseudonyms: bool = False) -> Path:
        public = tmp_path / form / "public"
        public.mkdir(parents=True, exist_ok=True)
        shown: list[dict[str, Value]] = [
            {name: label for name, (label, _) in line.labels.items()}
            | {"visits": line.others["visits"]}
            | ({"who": line.who} if pseudonyms else {})
            for line in lines
        ]
        held: list[dict[str, Value]] = [{name: line.others[name] for name in ("illness", "pay")} for line in lines]
        classes: list[dict[str, Value]] = [{"class": str(line.number)} for line in lines]
        if form == "split":
            _write(public / "nss.csv", [a | b for a, b in zip(shown, classes, strict=True)])
            _write(public / "ss.csv", [a | b for a, b in zip(classes, held, strict=True)][::-1])
        else:
            name = "others.csv" if form == "file" else "table.csv"
            _write(public / name, [a | b for a, b in zip(shown, held, strict=True)])
        if form == "file":
            (public / "job.csv").write_text("".join(f"{v},{k},*\n" for k, leaves in JOBS.items() for v in leaves))
            (public / "policy.toml").write_text(POLICY)
            return public / "others.csv"
        (public / "manifest.json").write_text(json.dumps(_manifest(form, pseudonyms=pseudonyms)))
        return public.parent

    return publish


@pytest.fixture
def knows(tmp_path: Path) -> Callable[..., Path]:
    """Writes people as an outside table, with other columns beside."""

    def written(people: Sequence[Mapping[str, Value]]) -> Path:
        _write(tmp_path / "known.csv", [{"name": f"n{place}", **one} for place, one in enumerate(people)])
        return tmp_path / "known.csv"

    return written


def _manifest(form: str, *, pseudonyms: bool) -> dict[str, Any]:
    split = form == "split"
    two = {"form": "lossy-join", "nss": "nss.csv", "ss": ["ss.csv"], "class_id": "class"}
    first, second = ({"table": "nss.csv"}, {"table": "ss.csv"}) if split else ({}, {})
    columns = [{"name": name, "role": "quasi", **first, **({} if split else entry)} for name, entry in ENTRIES.items()]
    columns += [{"name": name, "role": "sensitive", **second} for name in ("illness", "pay")]
    columns.append({"name": "visits", "role": "plain", **first})
    if pseudonyms:
        columns.append({"name": "who", "role": "individual", **first})
    named = two if split else {"form": "generalized", "table": "table.csv"}
    return {**named, "columns": columns, "csv": {"null": "?"}, "promise": [{"model": "k-anonymity", "k": 2}]}


def _write(path: Path, rows: Sequence[Mapping[str, Value]]) -> None:
    """NULL as a text, and an apostrophe before what a spreadsheet would run, as a release writes."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        guard = path.name not in {"known.csv", "others.csv"}
        writer.writerows({name: _cell(cell, guard=guard) for name, cell in row.items()} for row in rows)


def _cell(cell: Value, *, guard: bool) -> str:
    return "?" if cell is None else f"'{cell}" if guard and cell.startswith("=") else cell
