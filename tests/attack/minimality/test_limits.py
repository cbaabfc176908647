"""Where the algorithm betrays nothing, where that is not known, and where who believes in it errs."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.minimality import THOROUGH, MinimalityEffort, MinimalityResult, minimality
from sfumato.attack.minimality.possible_worlds import count_arrangements, list_arrangements
from sfumato.release import prepare

from .conftest import made

SUPPRESS = {"role": "quasi", "hierarchy": "suppress"}
HIV = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["HIV"]}
K = {"model": "k-anonymity", "k": 3}
ROWS = {"q": ["a"] * 3 + ["b"] * 5, "illness": ["HIV", "HIV", "flu", "HIV", "flu", "flu", "flu", "flu"]}


def _release(rows: Any, columns: Any, **tables: Any) -> MinimalityResult:
    release = prepare(pa.table(rows), {"columns": columns, **tables})
    return minimality(release.encoded, release.recoding, release.policy, effort=THOROUGH)


def _only(found: MinimalityResult) -> str:
    (one,) = found.results()
    return " ".join(one.says)


def test_too_few_rows_tell_nothing() -> None:
    """What fails whoever holds what tells nothing of who holds what: the posterior stays the share."""
    rows = {"q": ["a"] * 2 + ["b"] * 5, "illness": ["HIV", "HIV"] + ["flu"] * 5}
    one = made(rows, {"q": SUPPRESS}, [HIV, K], name="optimal")
    found = minimality(one.encoded, one.recoding, one.policy)
    illness = found.columns["illness"]
    assert (found.looked.open, found.looked.telling, illness.beyond_bound.rows) == (0, 0, 0)
    assert illness.largest_posterior == illness.largest_share == pytest.approx(2 / 7)
    assert illness.attack == illness.bag == pytest.approx(5 / 7)
    assert "Whatever is finer has a class of too few rows" in _only(found)


def test_no_requirement_on_the_column() -> None:
    """Where no requirement looks at a column its values decided nothing, and its shares are all there is."""
    found = _release(ROWS, {"q": SUPPRESS, "illness": {"role": "sensitive"}}, privacy=[K])
    assert found.basis == "nothing"
    assert found.columns["illness"].attack == found.columns["illness"].bag
    assert "No requirement looks at the column" in _only(found)


def test_buckets_betray_nothing() -> None:
    """Buckets are drawn without regard to quasi-identifiers: the attack is as good as the bag."""
    rows = {"q": list("abcdef"), "illness": ["HIV", "flu", "cold"] * 2}
    privacy = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    tables = {"privacy": privacy, "publish": {"form": "anatomy"}, "algorithm": {"name": "anatomy"}}
    found = _release(rows, {"q": SUPPRESS, "illness": {"role": "sensitive"}}, **tables)
    illness = found.columns["illness"]
    assert (found.basis, illness.bound, illness.largest_posterior) == ("drawn", 0.5, 0.5)
    assert illness.attack == illness.bag
    assert "drawn without regard" in _only(found)


def test_the_adversary_errs() -> None:
    """A class that could have been parted misleads who believes that it could not, and counts as no gain."""
    one = made(ROWS, {"q": SUPPRESS}, [HIV, {**K, "k": 8}], name="mondrian")  # one class, whatever it holds
    rows = {**ROWS, "illness": ["HIV", "flu", "flu", "HIV", "flu", "flu", "flu", "flu"]}
    other = made(rows, {"q": SUPPRESS}, [HIV, K], name="mondrian")
    assert (len(one.recoding.classes), len(other.recoding.classes)) == (1, 2)
    found = minimality(other.encoded, one.recoding, other.policy)
    illness = found.columns["illness"]
    assert (found.looked.open, found.looked.misled, found.looked.unfit) == (1, 1, 0)
    assert (illness.beyond_bound.rows, illness.largest_posterior) == (0, illness.largest_share)
    assert illness.attack < illness.bag
    assert "the adversary errs there" in _only(found)


def test_no_world_fits() -> None:
    """Where nothing finer fails in any world the adversary's belief is refuted, and they are left with the shares."""
    rows = {**ROWS, "illness": ["flu", "HIV"] + ["flu"] * 6}
    one = made(rows, {"q": SUPPRESS}, [HIV, {**K, "k": 8}], name="mondrian")
    other = made(rows, {"q": SUPPRESS}, [HIV, K], name="mondrian")
    found = minimality(other.encoded, one.recoding, other.policy)
    (tried,) = found.results()
    assert (found.looked.unfit, found.looked.misled) == (0, 1)
    assert tried.success == found.columns["illness"].bag == 7 / 8
    assert "it tells what is not so" in _only(found)


def test_cuts_with_suppressed_rows_are_not_measured() -> None:
    """What was not measured has no success and says why."""
    one = made(ROWS, {"q": SUPPRESS}, HIV, name="tds", suppression=0.2)
    (tried,) = minimality(one.encoded, one.recoding, one.policy).results()
    assert tried.success is None
    assert tried.says[0].startswith("Not measured: cuts through hierarchies")


def test_persons_with_several_rows() -> None:
    """With individuals, parts are judged by persons: Ann alone would be a part of its own, so that it tells nothing."""
    rows = {"person": ["ann", "ann", "bob", "cid", "dan", "eve"], "q": ["a", "a", "b", "b", "b", "b"]}
    rows["illness"] = ["HIV", "flu", "flu", "HIV", "flu", "flu"]
    columns = {"person": {"role": "individual"}, "q": SUPPRESS, "illness": {"role": "sensitive"}}
    privacy = [{"model": "identity-kl-diversity", "column": "illness", "k": 2, "l": 2}]
    found = _release(rows, columns, privacy=privacy, algorithm={"name": "mondrian"})
    assert (found.looked.open, found.looked.drawn, found.looked.telling) == (1, 1, 0)
    assert found.columns["illness"].attack == found.columns["illness"].bag


@pytest.mark.parametrize("ss", ["together", "apart"])
def test_columns_that_stand_together_move_together(ss: str) -> None:
    """Where the ward stands beside the illness, who is betrayed by one is betrayed by the other; apart, is not."""
    rows = {"q": ["q1"] * 2 + ["q2"] * 5, "illness": ["HIV", "HIV"] + ["flu"] * 5, "ward": ["W", "W"] + ["V"] * 5}
    columns = {"q": SUPPRESS, "illness": {"role": "sensitive"}, "ward": {"role": "sensitive"}}
    ward = {"model": "alpha-deassociation", "column": "ward", "alpha": 1.0, "values": ["W"]}
    tables = {"privacy": [HIV, ward], "publish": {"form": "lossy-join", "ss": ss}, "algorithm": {"name": "mondrian"}}
    found = _release(rows, columns, **tables)
    assert found.columns["illness"].largest_posterior > 0.5
    assert (found.columns["ward"].largest_posterior > 0.5) == (ss == "together")


def test_ranges_are_cut_at_the_median() -> None:
    """A column without levels is parted as Mondrian does: into the three youngest and the four others."""
    ages = ["20", "21", "22", "60", "61", "62", "63"]
    rows = {"age": ages, "illness": ["HIV", "HIV", "HIV", "flu", "flu", "flu", "flu"]}
    one = made(rows, {"age": {"role": "quasi", "hierarchy": {"ranges": True}}}, HIV, name="mondrian", improve=False)
    assert len(one.recoding.classes) == 1
    left, right = 2 * 12 + 3 * 1, 1 * 12 + 3 * 4  # HIV of both sides in the 12 + 1 + 4 worlds where a side fails
    expected = [left / 17 / 3] * 3 + [right / 17 / 4] * 4
    assert [belief["HIV"] for belief in one.believed()] == pytest.approx(expected)


def test_a_part_of_the_rows_is_said_to_be_one() -> None:
    """Of a table that is too large for the effort, classes are drawn, and that is said."""
    draw = np.random.default_rng(1)
    rows = {
        "q": [f"{one:02}" for one in draw.integers(0, 40, 400)],
        "illness": ["HIV" if one < 0.3 else "flu" for one in draw.random(400)],
    }
    one = made(rows, {"q": {"role": "quasi", "hierarchy": {"mask": "right"}}}, [HIV, K], name="mondrian", improve=False)
    found = minimality(one.encoded, one.recoding, one.policy, effort=MinimalityEffort(rows=100, worlds=50, slots=5_000))
    assert found.looked.looked <= 100 < found.looked.rows
    assert "of the rows were looked at, classes drawn at random" in _only(found)


def test_the_seed_decides() -> None:
    """The same seed gives the same figures."""
    draw = np.random.default_rng(2)
    rows = {
        "q": [str(one) for one in draw.integers(10, 30, 300)],
        "illness": [str(one) for one in draw.integers(0, 6, 300)],
    }
    model = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.4}
    column = {"q": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    one = made(rows, column, model, name="mondrian", improve=False)
    twice = [minimality(one.encoded, one.recoding, one.policy, effort=MinimalityEffort(seed=3)) for _ in range(2)]
    assert twice[0] == twice[1]
    assert twice[0].looked.drawn


@pytest.mark.parametrize("counts", [(1,), (2, 1), (2, 2, 1), (3, 3)])
def test_arrangements_are_all_and_different(counts: tuple[int, ...]) -> None:
    """Every sequence stands there once, and there are as many as the formula says."""
    lines = list_arrangements(counts)
    assert len(np.unique(lines, axis=0)) == len(lines) == count_arrangements(counts)
    assert all(np.bincount(line, minlength=len(counts)).tolist() == list(counts) for line in lines)
