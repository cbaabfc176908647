"""Columns before and after against counts row by row, for every kind of label."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.release import Release, prepare
from sfumato.report.before_after import compare_columns

from .conftest import report

Pages = Callable[[str], Any]

AGES = {"intervals": [5, 10, 20], "domain": [0, 99]}


def _table(rows: int = 120, seed: int = 3) -> dict[str, list[Any]]:
    draw = np.random.default_rng(seed)
    return {
        "age": [None if one % 17 == 0 else str(20 + int(draw.integers(0, 50))) for one in range(rows)],
        "town": draw.choice(["Bern", "Thun", "Genf", "Sion"], rows, p=[0.55, 0.23, 0.2, 0.02]).tolist(),
        "illness": draw.choice(["flu", "HIV", "ulcer", "cold", "gout"], rows).tolist(),
        "nights": draw.integers(0, 4, rows).tolist(),
    }


def _release(age: Any, town: Any, algorithm: dict[str, Any], **publish: Any) -> tuple[Release, dict[str, list[Any]]]:
    rows = _table()
    columns = {
        "age": {"role": "quasi", "hierarchy": age},
        "town": {"role": "quasi", "hierarchy": town},
        "illness": {"role": "sensitive"},
        "nights": {"role": "plain"},
    }
    privacy = [{"model": "alpha-k-anonymity", "k": 4, "alpha": 0.6, "column": "illness"}]
    policy = {"columns": columns, "privacy": privacy, "algorithm": algorithm, "publish": publish}
    return prepare(pa.table(rows), policy), rows


def _covered(label: str | None, values: set[str | None]) -> set[str | None]:
    """The values of the table that a label stands for, read from the label alone."""
    if label == "*":
        return values
    if label is None:
        return {None}
    if label.startswith("{"):
        return set(label.strip("{}").split(", "))
    if not (found := re.fullmatch(r"\[?(\d*)(-|, |\+|<)(\d*)\)?", label)):
        return {label}
    low, high = int(found[1] or 0), int(found[3] or 10**9) + (found[2] == "-")
    return {one for one in values if one is not None and low <= int(one) < high}


CASES: dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]] = {
    "full domain": (AGES, "suppress", {"name": "optimal", "suppression": 0.1}, {}),
    "local": (AGES, "suppress", {"name": "top-down"}, {}),
    "tds": (AGES, "suppress", {"name": "tds"}, {}),
    "ranges": ({"ranges": True}, "sets", {"name": "mondrian"}, {}),
    "two tables": (AGES, "suppress", {"name": "top-down"}, {"form": "lossy-join"}),
    "buckets": (AGES, "suppress", {"suppression": 0.2}, {"form": "anatomy"}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_bin_is_what_rows_add_up_to(case: str) -> None:
    """Before: rows in each bin. After: each published cell, spread evenly over the values of its label."""
    age, town, algorithm, publish = CASES[case]
    release, rows = _release(age, town, algorithm, **publish)
    table = {
        name: release.tables[file].arrow[name].to_pylist()
        for file in release.tables
        for name in rows
        if name in release.tables[file].columns
    }
    for one in compare_columns(release.publication):
        source = [None if value is None else str(value) for value in rows[one.name]]
        place = dict(zip(_values(release, one.name), one.bins.place.tolist(), strict=True))
        before = Counter(place[value] for value in source)
        after: dict[int, float] = defaultdict(float)
        for cell in table[one.name]:
            told = _covered(None if cell is None else str(cell), {*source})
            for value in told:
                after[place[value]] += 1 / len(told)
        assert one.rows_before.tolist() == [before[bin_] for bin_ in range(len(one.bins))]
        assert one.rows_after.tolist() == pytest.approx([after[bin_] for bin_ in range(len(one.bins))])
        assert one.rows_after.sum() == pytest.approx(release.rows)


def _values(release: Release, name: str) -> list[str | None]:
    """The values of a column in the order of their codes."""
    if name in release.encoded.names:
        return list(release.encoded.quasi[release.encoded.names.index(name)].column.texts)
    if name in release.encoded.sensitive:
        return list(release.encoded.sensitive[name].texts)
    found = release.encoded.plain[name].combine_chunks().dictionary_encode(null_encoding="encode").dictionary
    return [None if one is None else str(one) for one in found.to_pylist()]


def test_means_stand_where_they_are() -> None:
    """A mean counts in the step that it lies in; a class without a number is missing."""
    release, rows = _release({"ranges": True}, "suppress", {"name": "mondrian"}, ranges="means")
    (age,) = [one for one in compare_columns(release.publication) if one.name == "age"]
    cells = release.tables["table"].arrow["age"].to_pylist()
    steps = [re.fullmatch(r"(\d+)–(\d+)", name) for name in age.bins.names]
    for place, step in enumerate(steps):
        if step is not None:
            inside = [one for one in cells if one not in {None, "*"} and int(step[1]) <= float(one) < int(step[2]) + 1]
            stars = cells.count("*") * sum(int(step[1]) <= int(one) <= int(step[2]) for one in {*rows["age"]} - {None})
            assert age.rows_after[place] == pytest.approx(len(inside) + stars / len({*rows["age"]}))
    assert age.rows_after.sum() == pytest.approx(release.rows)


def test_suppressed_rows_have_a_bar(page: Pages) -> None:
    """What is not published is shown as such, beside what is."""
    release, _ = _release(*CASES["full domain"][:3])
    assert release.suppressed
    text = page(report(release)).text
    assert f"not published 0% {100 * release.suppressed / 120:.1f}%" in text
    assert text.count("before after") == 4
    full, _ = _release(*CASES["local"][:3])
    assert "not published 0%" not in page(report(full)).text


def test_hundreds_of_columns_are_cut(page: Pages) -> None:
    """A page has an end: columns beyond the first are named, or counted."""
    rows = {f"c{place:03}": ["a", "b"] * 3 for place in range(150)}
    columns = {name: {"role": "plain"} for name in rows} | {"c000": {"role": "quasi", "hierarchy": "suppress"}}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    html = report(prepare(pa.table(rows), policy))
    text = page(html).text
    assert "Not shown, so that the page has an end: c030 , c031 ," in text
    assert "and 108 more" in text
    assert "The first 12 columns are shown, of 30 above." in text
    assert len(html) < 400_000
