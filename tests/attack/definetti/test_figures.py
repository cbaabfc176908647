"""Figures of the attack on data of which the answer is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato.attack.bound import Bound
from sfumato.attack.definetti import DefinettiEffort, DefinettiFigures, LinesBeyondBound, SampleSize, definetti
from sfumato.errors import DataError

Makes = Callable[..., Any]


def _found(made: Any, bound: Bound | None = None, column: str = "illness", **effort: int) -> DefinettiFigures:
    bounds = {} if bound is None else {column: bound}
    return definetti(made.tables, made.original, bounds, effort=DefinettiEffort(**effort)).columns[column]


def test_what_follows_from_a_quasi_identifier_is_found(planted: Makes) -> None:
    """Where the illness follows from the job and classes mix jobs, the attack finds every illness, in and outside."""
    found = _found(planted(), Bound(0.9))
    assert (found.attack, found.without_bag, found.outside) == (1.0, 1.0, 1.0)
    assert found.bag < 0.6
    assert found.random < 0.5
    assert found.beyond_bound == LinesBeyondBound(900, 1.0)
    assert found.largest_posterior > 0.99


def test_where_nothing_follows_nothing_is_found(planted: Makes) -> None:
    """Where illnesses have nothing to do with jobs, the attack does no better than counting bags."""
    found = _found(planted(6000, follows=0.0))
    assert found.bag > found.random > 0.4
    assert abs(found.attack - found.bag) < 0.03
    assert found.outside == pytest.approx(1 / 6, abs=0.03)
    assert found.without_bag < 1 / 6 + 0.05


def test_the_more_follows_the_more_is_found(planted: Makes) -> None:
    """The attack grows with the dependence, and exceeds dealing out at random by far where that is strong."""
    found = [_found(planted(1500, follows=share)) for share in (0.0, 0.3, 0.6, 0.9)]
    attacks = [one.attack for one in found]
    assert attacks == sorted(attacks)
    assert attacks[-1] > found[-1].random + 0.3
    assert all(one.outside is not None and one.attack > one.outside for one in found)


def test_a_draw_from_the_own_bag_is_what_counts_say(planted: Makes) -> None:
    """Where nobody looks like anybody else, a value on r of n lines is drawn rightly on r times r / n of them."""
    made = planted(300, follows=0.5)
    bag = made.tables.bags["illness"]
    assert _found(made).random == pytest.approx((bag.count**2 / made.tables.sizes[bag.class_of]).sum() / 300)


def test_who_stands_in_many_classes_is_told_by_all_of_them(planted: Makes) -> None:
    """Many people of one job and one zip: the bags of all their classes together give away what each one hides."""
    found = _found(planted(3000, zips=2))
    assert found.random < 0.5
    assert (found.bag, found.attack) == (1.0, 1.0)


def test_shares_and_guesses_counted_by_hand(makes: Makes) -> None:
    """Two classes of lines that all look alike: every figure without a learner follows by counting."""
    made = makes({"sex": ["f"] * 5}, {"illness": ["flu", "flu", "HIV", "HIV", "cold"]}, [0, 0, 0, 1, 1])
    found = _found(made)
    assert found.largest_share == pytest.approx(2 / 3)
    assert found.blind == pytest.approx(2 / 5)
    assert found.random == pytest.approx((2 * 2 + 2 * 2 + 1 * 1) / 5 / 5)
    # all five link to flu with 2, HIV with 2 and cold with 1 of 5: flu or HIV is guessed, right for 2 of 5
    assert (found.bag, found.attack, found.without_bag) == pytest.approx((2 / 5,) * 3)
    assert found.largest_posterior == pytest.approx(2 / 5)
    assert found.beyond_bound == LinesBeyondBound(0, None)


def test_rows_that_were_not_published_count_with_those_who_look_alike(makes: Makes) -> None:
    """A suppressed row makes guesses less right about those with its quasi-identifiers, and about nobody else."""
    made = makes({"zip": list("1213")}, {"illness": ["x", "y", "z", "z"]}, [0, 0, -1, -1])
    found = _found(made)
    assert (found.lines, found.sampled, found.values) == (2, SampleSize(2, 2), 2)
    # of zip 1: x or y at even odds, x right of one row in two; of zip 2: y right of its one row
    assert found.bag == pytest.approx((0.25 + 0.5) / 2)


def test_one_class_leaves_nobody_outside(makes: Makes) -> None:
    """With one class nobody can be held out, and there is no figure for people outside."""
    made = makes({"zip": ["1", "2", "3"]}, {"illness": ["x", "y", "y"]}, [0, 0, 0])
    assert _found(made).outside is None


def test_null_is_a_value(makes: Makes) -> None:
    """A missing job tells of a missing illness as any other value would, and either is guessed."""
    jobs = ["a", None, "b"] * 40
    illness = ["flu", None, "HIV"] * 40
    owner = [number for number in range(60) for _ in "12"]
    found = _found(makes({"job": jobs}, {"illness": illness}, owner))
    assert (found.attack, found.outside, found.values) == (1.0, 1.0, 3)


def test_every_sensitive_column_is_attacked(makes: Makes) -> None:
    """Two sensitive columns have figures each, and one does not change the other's."""
    jobs = ["a", "b", "c"] * 40
    owner = [number for number in range(60) for _ in "12"]
    told, hidden = ["x", "y", "z"] * 40, np.random.default_rng(1).choice(["u", "v"], 120).tolist()
    both = makes({"job": jobs}, {"illness": told, "income": hidden}, owner)
    alone = makes({"job": jobs}, {"illness": told}, owner)
    assert _found(both) == _found(alone)
    assert _found(both).attack == 1.0
    assert _found(both, column="income").attack < 0.8


def test_a_bound_on_some_values_is_compared_with_those(planted: Makes) -> None:
    """Where the policy protects one value, the figures that go with its bound are about that value alone."""
    made = planted()
    found, every = _found(made, Bound(0.4, ["illness 0"])), _found(made, Bound(0.4))
    ill = int(made.tables.bags["illness"].domain.totals[0])
    assert found.beyond_bound == LinesBeyondBound(ill, 1.0)
    assert every.beyond_bound == LinesBeyondBound(900, 1.0)
    assert found.attack == every.attack
    assert _found(made, Bound(0.4, ["unheard of"])).largest_posterior == 0.0


def test_the_same_seed_gives_the_same_figures(planted: Makes) -> None:
    """Which classes are held out depends on the seed and on nothing else."""
    made = planted(follows=0.5)
    assert _found(made, seed=3) == _found(made, seed=3)
    assert _found(made, seed=3).outside != _found(made, seed=4).outside
    assert _found(made, seed=3).attack == _found(made, seed=4).attack


def test_another_original_is_refused(makes: Makes) -> None:
    """A table with other values, other combinations or fewer rows is not what the release was made from."""
    made = makes({"zip": ["1", "2"], "sex": ["f", "m"]}, {"illness": ["x", "y"]}, [0, 0])
    others = {
        r"column 'zip' of the release holds values that the original does not have: '2'; name": makes(
            {"zip": ["1", "3"], "sex": ["f", "m"]}, {"illness": ["x", "y"]}, [0, 0]
        ),
        r"1 of 2 lines of the release have quasi-identifiers of no row of the original; name": makes(
            {"zip": ["1", "1", "2"], "sex": ["f", "m", "f"]}, {"illness": ["x", "y", "x"]}, [0, 0, 0]
        ),
        r"column 'illness' of the release holds values that the original does not have: 'y'": makes(
            {"zip": ["1", "2"], "sex": ["f", "m"]}, {"illness": ["x", "z"]}, [0, 0]
        ),
        r"the release has 2 lines and the original 1 rows; name the table": makes(
            {"zip": ["1"], "sex": ["f"]}, {"illness": ["x"]}, [0]
        ),
    }
    for sentence, other in others.items():
        with pytest.raises(DataError, match=sentence):
            definetti(made.tables, other.original, {})


def test_tables_that_do_not_fit_are_refused(makes: Makes) -> None:
    """A class with more lines in one table than in the other is a changed release."""
    made = makes({"zip": list("1234")}, {"illness": list("xyxy")}, [0, 0, 1, 1])
    tables = made.tables
    moved = type(tables)(tables.quasi, np.array([0, 1, 1, 1]), np.array([1, 3]), tables.bags)
    with pytest.raises(DataError, match="'illness' do not fit the classes"):
        definetti(moved, made.original, {})
