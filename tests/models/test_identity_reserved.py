"""The identity-reserved models: what they count, by hand and by brute force, and what they say when they say no."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses
from sfumato.errors import PolicyError
from sfumato.models import IdentityAlphaBeta, IdentityKAnonymity, IdentityKLDiversity
from sfumato.policy import load

ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde"), st.sampled_from("xyz")), min_size=1, max_size=40)
Rows = list[tuple[int, str, str]]


def classes_of(rows: Rows) -> EquivalenceClasses:
    """Rows of class, person and value."""
    owner, person, value = zip(*rows, strict=True)
    return EquivalenceClasses.of(owner, individuals=person, illness=value)


def by_class(rows: Rows) -> list[Rows]:
    """The rows of each class."""
    return [[row for row in rows if row[0] == owner] for owner in sorted({row[0] for row in rows})]


@given(ROWS)
def test_k_counts_individuals(rows: Rows) -> None:
    """Definition 2: a class passes with k different individuals, whatever the number of their rows."""
    people = [len({person for _, person, _ in part}) for part in by_class(rows)]
    for k in range(1, 6):
        assert IdentityKAnonymity(k).holds(classes_of(rows)).tolist() == [number >= k for number in people]
    assert IdentityKAnonymity(1).achieved(classes_of(rows)) == {"k": min(people)}


@given(ROWS)
def test_kl_counts_individuals_and_values(rows: Rows) -> None:
    """Definition 3: both counts, over the class's own rows."""
    found = [(len({row[1] for row in part}), len({row[2] for row in part})) for part in by_class(rows)]
    for k, l in product(range(1, 4), repeat=2):  # noqa: E741  the field's own name
        model = IdentityKLDiversity("illness", k=k, l=l)
        assert model.holds(classes_of(rows)).tolist() == [one >= k and other >= l for one, other in found]
    assert model.achieved(classes_of(rows)) == {"k": min(k for k, _ in found), "l": min(l for _, l in found)}  # noqa: E741


@given(ROWS, st.sampled_from([0.25, 1 / 3, 0.5, 0.6]), st.sampled_from([0.3, 0.5, 2 / 3]))
def test_alpha_beta_bounds_shares(rows: Rows, alpha: float, beta: float) -> None:
    """Definition 4: the largest share of an individual and of a value, compared exactly."""
    limits = [Fraction(share).limit_denominator(100) for share in (alpha, beta)]
    largest = [
        tuple(Fraction(max(Counter(row[i] for row in part).values()), len(part)) for i in (1, 2))
        for part in by_class(rows)
    ]
    model = IdentityAlphaBeta("illness", alpha=alpha, beta=beta)
    assert model.holds(classes_of(rows)).tolist() == [a <= limits[0] and b <= limits[1] for a, b in largest]
    achieved = model.achieved(classes_of(rows))
    assert achieved["alpha"] == pytest.approx(float(max(a for a, _ in largest)))
    assert achieved["beta"] == pytest.approx(float(max(b for _, b in largest)))


@given(ROWS, st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_no_share_grows_in_a_union(rows: Rows, into: list[int]) -> None:
    """A share in a union never exceeds the larger share, which is why (alpha, beta) is monotone."""
    parts, model = classes_of(rows), IdentityAlphaBeta("illness", alpha=0.5, beta=0.5)
    target = np.unique([into[part[0][0]] for part in by_class(rows)], return_inverse=True)[1]
    before, after = model.achieved(parts), model.achieved(parts.merge(target))
    assert after["alpha"] <= before["alpha"]
    assert after["beta"] <= before["beta"]


@pytest.mark.parametrize(
    "model",
    [IdentityKAnonymity(2), IdentityKLDiversity("s", k=2, l=2), IdentityAlphaBeta("s", alpha=0.5, beta=0.5)],
    ids=lambda model: model.name,
)
def test_all_are_monotone(model: Any) -> None:
    """All three say that they are monotone (the contract tries it); counts are hereditary too, shares are not."""
    assert model.monotone
    assert model.hereditary == (model.name != "identity-alpha-beta")


def test_least_rows_for_shares() -> None:
    """A class with shares of at most a third has three rows; so have three persons."""
    assert IdentityAlphaBeta("s", alpha=0.5, beta=0.34).least == 3
    assert IdentityAlphaBeta("s", alpha=0.5, beta=0.5, linked_k=4).least == 4


def test_linked_k_is_told_where_it_is_asked_for() -> None:
    """What is achieved of linked_k is the fewest persons who share a set of classes, not the smallest class."""
    classes = EquivalenceClasses.of([0, 0, 0, 1, 1, 1], individuals=["a", "b", "c", "a", "b", "d"])
    assert IdentityKAnonymity(2).achieved(classes) == {"k": 3}
    assert IdentityKAnonymity(2, linked_k=2).achieved(classes) == {"k": 3, "linked_k": 1}


def test_hints_name_what_could_be_met() -> None:
    """The table as one class says what is possible."""
    whole = EquivalenceClasses.of([0] * 4, individuals=["a", "a", "a", "b"], illness=["x", "x", "y", "y"])
    assert IdentityKAnonymity(3).hint(whole) == "the table has 2 individuals, so k can be at most that"
    assert "k can be at most 2 and l at most 2" in IdentityKLDiversity("illness", k=3, l=3).hint(whole)
    hint = IdentityAlphaBeta("illness", alpha=0.5, beta=0.5, linked_k=3).hint(whole)
    assert "alpha must be at least 0.75" in hint
    assert hint.endswith("and linked_k at most 2")


@pytest.mark.parametrize("name", ["identity-k-anonymity", "identity-kl-diversity", "identity-alpha-beta"])
def test_individuals_are_needed(name: str) -> None:
    """Without a column of individuals the policy is refused, with the way out."""
    keys: dict[str, dict[str, Any]] = {
        "k": {"k": 2},
        "kl": {"column": "s", "k": 2, "l": 2},
        "alpha": {"column": "s", "alpha": 0.5, "beta": 0.5},
    }
    columns = {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}}
    with pytest.raises(
        PolicyError, match='no column names them: give the column that says whose row it is role = "ind'
    ):
        load({"columns": columns, "privacy": [{"model": name, **keys[name.split("-")[1]]}]})
