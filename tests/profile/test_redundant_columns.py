"""Columns that say what another says are found, and columns that only look alike are not."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.profile import propose
from sfumato.profile.redundant_columns import find_dependencies

Writes = Callable[[str | bytes], Path]


def table(writes: Writes, columns: dict[str, Any]) -> Path:
    """A file of these columns."""
    lines = [",".join(columns), *(",".join(map(str, cells)) for cells in zip(*columns.values(), strict=True))]
    return writes("\n".join(lines) + "\n")


def sources(path: Path) -> dict[str, str]:
    """What each redundant column follows from."""
    return {
        column["name"]: column["follows_from"]
        for column in propose(path).as_json()["columns"]
        if column["follows_from"] is not None
    }


@pytest.fixture
def people(writes: Writes) -> Path:
    """A date of birth, the age, an age group, three copies of a date, a code and its label, and what is unrelated."""
    draw = np.random.default_rng(5)
    born = [date(2020, 1, 1) - timedelta(days=int(days)) for days in draw.integers(7000, 29000, 400)]
    age = [(date(2020, 1, 1) - day).days // 365 for day in born]
    seen = [date(2019, 1, 1) + timedelta(days=int(days)) for days in draw.integers(0, 300, 400)]
    code = draw.integers(0, 7, 400)
    return table(
        writes,
        {
            "dob": born,
            "age": age,
            "age_group": [f"{years // 10 * 10}s" for years in age],
            "seen": seen,
            "seen_again": seen,
            "seen_us": [f"{day:%m/%d/%Y}" for day in seen],
            "region_code": code,
            "region": [["north", "south", "east", "west", "mid", "far", "near"][each] for each in code],
            "eyes": draw.choice(["brown", "blue", "green"], 400),
            "shoes": draw.integers(36, 48, 400),
        },
    )


def test_copies_labels_and_what_follows_are_found(people: Path) -> None:
    """An age follows from a birth, a group from the age, copies from the first, a label from its code; nothing else."""
    assert sources(people) == {
        "age": "dob",
        "age_group": "age",
        "seen_again": "seen",
        "seen_us": "seen",
        "region": "region_code",
    }


def test_it_is_said_in_the_remark_and_at_the_top(people: Path) -> None:
    """Whoever reads the policy finds it beside the column, and in the opening."""
    flat = " ".join(line.removeprefix("#").strip() for line in propose(people).text.splitlines())
    assert "Redundant: 'age' follows from 'dob', 'age_group' follows from 'age'" in flat
    assert "follows from 'age', so that keeping both tells nothing more" in flat
    assert "says the same as 'region_code'" in flat


def test_slips_and_chance(writes: Writes) -> None:
    """A few slips do not hide that one column follows from another; few rows and rare values are no evidence."""
    draw = np.random.default_rng(2)
    code = draw.integers(0, 8, 2000)
    label = np.array(list("abcdefgh"))[code]
    label[:6] = "h"
    rare = np.where(np.arange(2000) % 500 == 0, "yes", "no")
    columns = {"code": list(code), "label": list(label), "rare": list(rare), "coin": list(draw.integers(0, 2, 2000))}
    assert sources(table(writes, columns)) == {"label": "code"}
    assert sources(table(writes, {name: values[:15] for name, values in columns.items()})) == {}


def test_what_tells_a_secret_is_no_quasi_identifier(writes: Writes) -> None:
    """An unknown column that goes with a diagnosis one to one is sensitive too; one that tells it is a danger."""
    draw = np.random.default_rng(3)
    place = draw.integers(0, 4, 300)
    ward = place * 3 + draw.integers(0, 3, 300)
    columns = {
        "age": list(draw.integers(20, 80, 300)),
        "xx": [["p", "q", "r", "s"][each] for each in place],
        "diagnosis": [["flu", "HIV", "cold", "ulcer"][each] for each in place],
        "ward": [f"ward {'abcdefghijkl'[each]}" for each in ward],
    }
    found = {column["name"]: column for column in propose(table(writes, columns)).as_json()["columns"]}
    assert found["xx"]["role"] == "sensitive"
    assert "goes with one of 'diagnosis', which is sensitive" in found["xx"]["reason"]
    assert (found["ward"]["role"], found["ward"]["grade"]) == ("quasi", "danger")


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(60, 300), st.randoms(use_true_random=False))
def test_what_follows_is_always_found(values: int, rows: int, random: object) -> None:
    """Of a column that is computed from another and one that is drawn by itself, the first follows, the other not."""
    draw = np.random.default_rng(getattr(random, "randrange")(2**32))  # noqa: B009 - hypothesis' own type
    first = draw.integers(0, 2 * values, rows)
    codes = np.column_stack([first, first // 2, draw.integers(0, values, rows)])
    follows = find_dependencies(codes)
    assert follows[0, 1]
    assert not follows[[0, 1, 2, 2], [2, 2, 0, 1]].any()
