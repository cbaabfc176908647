"""Anatomy: buckets of different values, the largest piles first, every row in one and no person twice."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.randomness import Randomness
from sfumato.encode import EncodedTable, encode
from sfumato.errors import Infeasible
from sfumato.policy import Policy, load
from sfumato.recode import Recoding
from sfumato.recode.requirement import Requirement
from sfumato.release import Release, anonymize, prepare
from sfumato.split import anatomy
from sfumato.split.anatomy import Piles, bucket_size, bucket_values, separate_persons
from sfumato.table import from_frame

DISTINCT = {"model": "distinct-l-diversity", "column": "s"}
PERSON_COLUMNS = {
    "person": {"role": "individual"},
    "code": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
}


def _policy(*privacy: dict[str, Any], suppression: float = 0.0, **more: Any) -> Policy:
    columns = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}, **more}
    search = {"suppression": suppression}
    rules = {"columns": columns, "privacy": list(privacy), "algorithm": search, "publish": {"form": "anatomy"}}
    return load(rules)


def _made(values: list[str | None], policy: Policy, **more: list[str]) -> tuple[EncodedTable, Recoding]:
    table = pa.table({"q": [str(i) for i in range(len(values))], "s": values, **more})
    encoded = encode(from_frame(table, policy), policy)
    return encoded, anatomy(encoded, policy)


def _buckets(values: list[str | None], recoding: Recoding) -> list[list[str | None]]:
    assert recoding.group is not None
    found: dict[int, list[str | None]] = {}
    for value, bucket in zip(values, recoding.group.tolist(), strict=True):
        found.setdefault(bucket, []).append(value)
    found.pop(-1, None)
    return list(found.values())


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=1, max_size=40), st.integers(1, 5))
def test_every_row_in_a_bucket_of_different_values(values: list[str | None], size: int) -> None:
    """Where no value has more than its share every row is placed, in buckets of l different values or a few more."""
    eligible = max(Counter(values).values()) * size <= len(values)
    policy = _policy({**DISTINCT, "l": size})
    if not eligible:
        with pytest.raises(Infeasible):
            _made(values, policy)
        return
    buckets = _buckets(values, _made(values, policy)[1])
    assert len(buckets) == len(values) // size
    assert sum(map(len, buckets)) == len(values)
    assert all(len(bucket) == len(set(bucket)) >= size for bucket in buckets)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 4))
def test_the_largest_piles_come_first(counts: list[int], size: int) -> None:
    """Each bucket takes one of each of the largest piles that are left, one bucket at a time."""
    left = list(counts)
    for chosen in bucket_values(np.array(counts), size).tolist():
        largest = sorted(left, reverse=True)[:size]
        assert sorted((left[value] for value in chosen), reverse=True) == largest
        assert largest[-1] > 0
        for value in chosen:
            left[value] -= 1
    assert sum(1 for count in left if count) < size


def test_what_is_left_goes_to_a_random_bucket_that_lacks_it() -> None:
    """The last row of a value may come to any bucket without that value, and over many runs comes to all of them."""
    counts, seen = np.array([3, 3, 1]), set()
    for seed in range(60):
        piles = Piles(np.arange(7), counts, Randomness(seed))
        group = piles.deal(2, 3)
        seen.add(tuple(sorted(Counter(group.tolist()).values())))
        assert (group >= 0).all()
    assert seen == {(2, 2, 3)}
    homes = {int(Piles(np.arange(7), counts, Randomness(seed)).deal(2, 3)[6]) for seed in range(60)}
    assert len(homes) >= 2


def test_rows_of_a_pile_are_drawn_at_random() -> None:
    """Which rows stand together is another matter each time, and the same for the same seed."""
    values: list[str | None] = list("abcabcabcabc")
    policy = _policy({**DISTINCT, "l": 3})

    def groups(seed: int | None) -> list[int]:
        found = _made(values, policy.replace(seed=seed) if seed is not None else policy)[1].group
        assert found is not None
        return [int(group) for group in found]

    assert groups(1) == groups(1)
    assert len({tuple(groups(None)) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("rule", "size"),
    [
        ({"model": "k-anonymity", "k": 3}, 3),
        ({"model": "alpha-deassociation", "column": "s", "alpha": 0.33}, 4),
        ({"model": "alpha-deassociation", "column": "s", "alpha": 0.5, "values": ["a"]}, 2),
        ({"model": "alpha-k-anonymity", "column": "s", "alpha": 0.5, "k": 3}, 3),
        ({"model": "entropy-l-diversity", "column": "s", "l": 2.5}, 3),
        ({"model": "recursive-l-diversity", "column": "s", "c": 0.6, "l": 3}, 4),
    ],
)
def test_buckets_are_as_large_as_the_policy_asks(rule: dict[str, Any], size: int) -> None:
    """The number of different values follows from every kind of requirement, and no more than needed is taken."""
    values: list[str | None] = [*"abcdef"] * 4
    buckets = _buckets(values, _made(values, _policy(rule))[1])
    assert {len(bucket) for bucket in buckets} == {size}


def test_too_frequent_a_value_is_an_error_or_is_cut() -> None:
    """A value above its share is named in figures; where rows may be suppressed, as few of its rows as needed go."""
    values: list[str | None] = [*"aaaaaabc"]
    with pytest.raises(Infeasible, match="the most frequent value of 's' stands in 6 of 8 rows, above the share of 1"):
        _made(values, _policy({**DISTINCT, "l": 2}))
    with pytest.raises(Infeasible, match="suppressing 2 rows is not enough"):
        _made(values, _policy({**DISTINCT, "l": 2}, suppression=0.25))
    _, recoding = _made(values, _policy({**DISTINCT, "l": 2}, suppression=0.5))
    assert recoding.suppressed == 4
    assert {frozenset(bucket) for bucket in _buckets(values, recoding)} == {frozenset("ab"), frozenset("ac")}


def test_too_few_values_are_an_error() -> None:
    """A column of two values makes no buckets of three."""
    with pytest.raises(Infeasible, match="no bucket of different values of 's', which has 2, meets the policy"):
        _made(list("abab"), _policy({**DISTINCT, "l": 3}))


def test_what_buckets_cannot_promise_is_refused() -> None:
    """Rows of one person may come together in a bucket, which k persons are not: the way out is named."""
    rules = _policy({"model": "k-anonymity", "k": 2}, person={"role": "individual"})
    with pytest.raises(Infeasible, match="do not meet the policy, though dealt 8 times; publish by lossy join instead"):
        _made(list("abab"), rules, person=["one"] * 4)
    _, recoding = _made(list("abab"), rules, person=["1", "2", "3", "4"])
    assert recoding.classes.persons.tolist() == [2, 2]


def test_a_value_that_is_not_there_is_named() -> None:
    """Requirements look at the table first, as with every other algorithm."""
    rule = {"model": "alpha-deassociation", "column": "s", "alpha": 0.5, "values": ["A"]}
    with pytest.raises(Exception, match="privacy\\[0\\]"):
        _made(list("abab"), _policy(rule))


def test_a_seed_does_not_tie_the_order_to_the_buckets() -> None:
    """With a seed, too, the order of the first table says nothing of how the piles were dealt out."""
    rows, size = 3000, 3
    values: list[str | None] = [*"abcabd"] * (rows // 6)
    policy = _policy({**DISTINCT, "l": size}).replace(seed=7)
    release = prepare(pa.table({"q": [str(i) for i in range(rows)], "s": values}), policy)
    codes, group = release.encoded.sensitive["s"].codes, release.recoding.class_of
    order = release.tables["nss"].order
    dealt = bucket_values(np.bincount(codes), size).ravel()
    guess = np.empty(rows, dtype=np.int64)
    guess[order[np.argsort(codes[order], kind="stable")]] = np.argsort(dealt, kind="stable") // size
    assert (guess == group).mean() < 0.02  # one in a thousand buckets is right by chance; all were, once


def test_a_refined_share_makes_no_bucket_of_one() -> None:
    """Rounded up, a share of a half would be all of one row: buckets are as large as the share itself asks for."""
    values: list[str | None] = [*"abcdef"] * 4
    rule = {"model": "alpha-deassociation", "column": "s", "alpha": 0.5, "refined": True}
    assert {len(bucket) for bucket in _buckets(values, _made(values, _policy(rule))[1])} == {2}


@pytest.mark.slow
def test_columns_of_many_values_end_soon() -> None:
    """Few sizes are tried, however many values there are, until one does or none can."""
    values: list[str | None] = [str(number) for number in range(1500)]
    rule = {"model": "t-closeness", "column": "s", "t": 0.2, "distance": "emd-equal"}
    assert bucket_size(*_asked(values, rule)) == 1200
    assert _made(values, _policy(rule))[1].classes.sizes.tolist() == [1500]


def _asked(values: list[str | None], rule: dict[str, Any]) -> tuple[EncodedTable, Requirement, str]:
    policy = _policy(rule)
    table = pa.table({"q": ["x"] * len(values), "s": values})
    return (
        encode(from_frame(table, policy), policy),
        Requirement.from_share(policy.privacy, len(values), Fraction(0)),
        "s",
    )


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
    return anonymize(table, {"columns": PERSON_COLUMNS, "privacy": [rule | asked], "publish": {"form": "anatomy"}})


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_a_person_change_places(seed: int) -> None:
    """Nobody stands twice in a bucket, and every bucket has the values that it had."""
    draw = np.random.default_rng(seed)
    group, value = np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50)
    person = draw.integers(0, 60, 200)
    found = separate_persons(group, person, value, Randomness(seed))
    assert max(Counter(zip(group.tolist(), person.tolist(), strict=True)).values()) > 1
    assert max(Counter(zip(found.tolist(), person.tolist(), strict=True)).values()) == 1
    assert Counter(zip(found.tolist(), value.tolist(), strict=True)) == Counter(
        zip(group.tolist(), value.tolist(), strict=True)
    )


def test_rows_without_a_bucket_stay_so() -> None:
    """A suppressed row takes no part."""
    found = separate_persons(np.array([-1, 0, 0]), np.array([1, 1, 2]), np.array([0, 0, 1]), Randomness(1))
    assert found.tolist() == [-1, 0, 0]


def test_where_it_cannot_be_had_it_ends() -> None:
    """One person with all rows of a bucket and nobody to change with stays where they are."""
    assert separate_persons(np.array([0, 0]), np.array([1, 1]), np.array([0, 1]), Randomness(1)).tolist() == [0, 0]


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
