"""From groups of tuples to labels of rows: rows of one tuple that part do so by what is published of them."""

import datetime as dt
import decimal
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.recode.local.local_recoding import apply_partition
from sfumato.recode.local.partition import SUPPRESSED, Partition
from sfumato.recode.local.problem import Problem

Poses = Callable[..., Problem]

PLAIN: dict[str, Any] = {
    "text": pa.array(["x", None, "z", "y", "w"]),
    "numbers": pa.array([3.5, float("nan"), None, 1.0, 2.0]),
    "dictionary": pa.array(["x", None, "z", "y", "w"]).dictionary_encode(),
    "dates": pa.array([dt.date(2020, 1, day) for day in (5, 3, 4, 1, 2)]),
    "decimals": pa.array([decimal.Decimal(text) for text in ("2.5", "1.5", "3.5", "0.5", "9.5")]),
    "flags": pa.array([True, None, False, True, False]),
    "nothing": pa.nulls(5),
    "times": pa.array([dt.time(hour) for hour in (5, 3, 4, 1, 2)]),
    "moments": pa.array([dt.datetime(2020, 1, 1, hour, tzinfo=dt.UTC) for hour in (5, 3, 4, 1, 2)]),
    "large": pa.array(["x", None, "z", "y", "w"], pa.large_string()),
    "small": pa.array([3, None, 5, 1, 2], pa.int8()),
}


def test_rows_of_a_tuple_go_to_several_classes(pose: Poses) -> None:
    """Of five equal rows three stand in a class of their own and two with another row, under the label of both."""
    problem = pose({"code": ["11"] * 5 + ["12"]})
    parts = Partition(np.array([0, 0, 1]), np.array([3, 2, 1]), np.array([0, 1, 1]), 2)
    recoding = apply_partition(problem, parts, "by hand")
    labels = recoding.labels["code"]
    assert Counter(labels.texts[code] for code in labels.codes) == {"11": 3, "1*": 3}
    assert recoding.published is None
    assert recoding.classes.sizes.tolist() == [3, 3]


def test_suppressed_parts_are_not_kept(pose: Poses) -> None:
    """Rows of a part that is suppressed are not published, and the other rows of the tuple are."""
    problem = pose({"code": ["11"] * 5})
    parts = Partition(np.array([0, 0]), np.array([3, 2]), np.array([0, SUPPRESSED]), 1)
    recoding = apply_partition(problem, parts, "by hand")
    assert recoding.suppressed == 2
    assert recoding.classes.sizes.tolist() == [3]


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLAIN)
def test_the_order_of_the_input_decides_nothing(kind: str) -> None:
    """Whatever the plain column holds, the same rows in another order are published alike."""
    alpha = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "s", "values": ["c"]}
    policy = {
        "columns": {
            "q": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "s": {"role": "sensitive"},
            "p": {"role": "plain"},
        },
        "privacy": [alpha],
        "algorithm": {"name": "progressive", "improve": False},
    }
    table = pa.table({"q": ["4351"] * 4 + ["4352"], "s": ["n", "c", "n", "n", "n"], "p": PLAIN[kind]})
    seen = set()
    for seed in range(4):
        order = list(range(5))
        random.Random(seed).shuffle(order)
        release = sf.anonymize(table.take(pa.array(order)), policy)
        seen.add(tuple(sorted(repr(row) for row in release.table.to_pylist())))
        assert release.rows == 5
    assert len(seen) == 1
    labels = {row.split("'q': ")[1].split(",")[0] for row in next(iter(seen))}
    assert len(labels) > 1


def test_rows_of_a_tuple_are_dealt_out_evenly() -> None:
    """Thirty of forty equal rows have flu; a class that takes ten of them does not get the others alone."""
    policy = {
        "columns": {
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 10}],
        "algorithm": {"name": "top-down", "improve": False},
    }
    ill = ["flu"] * 30 + ["zoster"] * 13
    release = sf.anonymize(pa.table({"zip": ["4350"] * 40 + ["4351"] * 3, "ill": ill}), policy)
    found = Counter((row["zip"], row["ill"]) for row in release.table.to_pylist())
    assert found["435*", "flu"] >= 4
    assert sum(found.values()) == 43
