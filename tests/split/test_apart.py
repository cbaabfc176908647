"""Anatomy's buckets hold no person twice where that can be had."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from sfumato.core.randomness import Randomness
from sfumato.errors import Infeasible
from sfumato.release import Release, anonymize
from sfumato.split.apart import apart

COLUMNS = {
    "person": {"role": "individual"},
    "code": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
}


def released(persons: int, linked_k: int | None = None, times: int = 2) -> Release:
    """Buckets of four different illnesses, for persons with several rows each."""
    rows = persons * times
    table = pa.table(
        {
            "person": [f"p{row % persons}" for row in range(rows)],
            "code": [str(row % 7) for row in range(rows)],
            "illness": [f"i{row * 7 % 8}" for row in range(rows)],
        }
    )
    rule = {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.25, "beta": 0.25}
    asked = {"linked_k": linked_k} if linked_k else {}
    return anonymize(table, {"columns": COLUMNS, "privacy": [rule | asked], "publish": {"form": "anatomy"}})


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_a_person_change_places(seed: int) -> None:
    """Nobody stands twice in a bucket, and every bucket has the values that it had."""
    draw = np.random.default_rng(seed)
    group, value = np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50)
    person = draw.integers(0, 60, 200)
    found = apart(group, person, value, Randomness(seed))
    assert max(Counter(zip(group.tolist(), person.tolist(), strict=True)).values()) > 1
    assert max(Counter(zip(found.tolist(), person.tolist(), strict=True)).values()) == 1
    assert Counter(zip(found.tolist(), value.tolist(), strict=True)) == Counter(
        zip(group.tolist(), value.tolist(), strict=True)
    )


def test_rows_without_a_bucket_stay_so() -> None:
    """A suppressed row takes no part."""
    found = apart(np.array([-1, 0, 0]), np.array([1, 1, 2]), np.array([0, 0, 1]), Randomness(1))
    assert found.tolist() == [-1, 0, 0]


def test_where_it_cannot_be_had_it_ends() -> None:
    """One person with all rows of a bucket and nobody to change with stays where they are."""
    assert apart(np.array([0, 0]), np.array([1, 1]), np.array([0, 1]), Randomness(1)).tolist() == [0, 0]


def test_anatomy_counts_persons() -> None:
    """A release of many persons with two rows each meets shares of persons, which chance alone would hardly let it."""
    assert released(400).privacy[0]["achieved"]["alpha"] == 0.25


def test_linked_buckets_are_refused() -> None:
    """Buckets are drawn at random, so nobody shares a person's; the error says so and names the way out."""
    with pytest.raises(Infeasible, match=r"fewer than linked_k = 3 persons share theirs; publish by lossy join"):
        released(100, linked_k=3)


def test_with_one_row_each_nothing_is_linked() -> None:
    """A person with one row is shared by all of the bucket."""
    assert released(100, linked_k=3, times=1).privacy[0]["achieved"]["linked_k"] == 4
