"""The verifier on local recodings: labels of several levels in one column, and many classes."""

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.policy.options import LOCAL
from sfumato.verifier import Promise, verify, verify_table

Rows = list[dict[str, Any]]
KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
K = 4


def patients(rows: int = 400) -> pa.Table:
    """Made-up patients of many towns, some of whom have few others nearby."""
    draw = random.Random(3)
    towns = [f"{first}{draw.randrange(10)}{draw.randrange(10)}" for first in "44445567" for _ in range(4)]
    return pa.table(
        {
            "sex": [draw.choice("fm") for _ in range(rows)],
            "zip": [draw.choice(towns) for _ in range(rows)],
            "illness": [draw.choice(["flu", "cold", "ulcer", None]) for _ in range(rows)],
            "visits": pa.array([draw.randrange(9) for _ in range(rows)], pa.int64()),
        }
    )


def labels(row: dict[str, Any]) -> tuple[Any, Any]:
    """What makes the class of a row."""
    return row["sex"], row["zip"]


def smallest(rows: Rows) -> Rows:
    """The rows of the smallest class."""
    sizes = Counter(map(labels, rows))
    least = min(sizes, key=lambda one: (sizes[one], one))
    return [row for row in rows if labels(row) == least]


def legal_label(rows: Rows) -> Rows:
    """Some rows of a class under a label that other rows have, on another level."""
    some, sizes = smallest(rows), Counter(map(labels, rows))
    other = next(row["zip"] for row in rows if len(row["zip"]) and row["zip"] != some[0]["zip"])
    for row in some[: len(some) - K + 1]:
        row["zip"] = other
    assert Counter(map(labels, rows)) != sizes
    return rows


def moved_rows(rows: Rows) -> Rows:
    """Some rows of a class moved to another one that is there."""
    some = smallest(rows)
    other = max(rows, key=lambda row: Counter(map(labels, rows))[labels(row)])
    for row in some[: len(some) - K + 1]:
        row["sex"], row["zip"] = labels(other)
    return rows


def swapped(rows: Rows) -> Rows:
    """The sensitive values of two classes exchanged until one of them has a single value."""
    some = smallest(rows)
    for row in some:
        giver = next(other for other in rows if other["illness"] == "flu" and labels(other) != labels(row))
        row["illness"], giver["illness"] = giver["illness"], row["illness"]
    return rows


CHANGES: list[tuple[Callable[[Rows], Rows], str]] = [
    (legal_label, rf"k-anonymity: the class .* has {K - 1} rows, fewer than {K}"),
    (moved_rows, rf"k-anonymity: the class .* has {K - 1} rows, fewer than {K}"),
    (swapped, "distinct-l-diversity: the class .* has 1 different sensitive values, fewer than 2"),
]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LOCAL)
@KINDS
def test_a_local_release_holds(made: Any, kind: str, algorithm: str) -> None:
    """The whole folder and its public part; classes of several levels are classes like any other."""
    release = made(patients(), kind=kind, algorithm={"name": algorithm})
    rows = release.load()
    assert len({row["zip"].count("*") for row in rows}) > 1
    verdict = verify(release.folder)
    assert verdict.complaints == ()
    assert (verdict.rows, verdict.classes) == (400, len(set(map(labels, rows))))
    assert verify(release.public).satisfied


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(("change", "complaint"), CHANGES, ids=lambda value: getattr(value, "__name__", ""))
def test_legal_labels_in_the_wrong_place_are_found_out(
    made: Any, kind: str, change: Callable[[Rows], Rows], complaint: str
) -> None:
    """Every label is one that was published; that they stand in other rows shows in the classes, and in the hash."""
    release = made(patients(), kind=kind, algorithm={"name": "top-down"})
    release.store(change(release.load()))
    assert "SHA-256" in "\n".join(verify(release.folder).complaints)
    release.sign()
    verdict = verify(release.folder)
    assert not verdict.satisfied
    assert re.search(complaint, "\n".join(verdict.complaints))


def test_a_hundred_thousand_classes() -> None:
    """Classes are counted by their labels, however many there are, and the one that fails is named."""
    pairs = 100_000
    names = [f"c{i}" for i in range(pairs) for _ in range(2)]
    table = pa.table({"q": [name[:4] for name in names], "r": names})
    promise = Promise(("q", "r"), (), None, ({"model": "k-anonymity", "k": 2},))
    assert verify_table(table, promise).classes == pairs
    verdict = verify_table(table.slice(1), promise)
    assert verdict.privacy[0].failures == ("k-anonymity: the class q = c0, r = c0 has 1 rows, fewer than 2",)
