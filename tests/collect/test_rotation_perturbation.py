"""Rotation keeps distances and hides little: what it preserves, and what two attacks take back."""

import json

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.collect import rotate
from sfumato.collect.rotation_perturbation import draw_orthogonal, undo_by_known_rows, undo_by_main_axes
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError

Floats = NDArray[np.float64]


def _people(rows: int = 2000, seed: int = 0) -> dict[str, Floats]:
    """Skewed columns that hang together a little, as incomes and prices do."""
    generator = np.random.default_rng(seed)
    first = generator.gamma(2.0, 10.0, rows)
    second = first + generator.gamma(1.5, 8.0, rows)
    return {"rent": first, "income": second, "stay": generator.exponential(5.0, rows)}


def test_all_distances_stay() -> None:
    """Between all pairs of rows, the distance of the rotated rows is that of the standardized true ones."""
    rotated = rotate(_people(150), seed=1)
    before = np.linalg.norm(rotated.truth[:, None] - rotated.truth[None, :], axis=2)
    after = np.linalg.norm(rotated.rows[:, None] - rotated.rows[None, :], axis=2)
    assert after == pytest.approx(before, abs=1e-9)
    assert rotated.distance_error() < 1e-9
    # while no column is published as it was
    correlation = np.abs(np.corrcoef(rotated.truth.T, rotated.rows.T)[:3, 3:])
    assert correlation.max() < 0.99


def test_the_matrix_is_orthogonal_and_even() -> None:
    """Every entry of a random rotation has mean 0 and variance 1/d, whichever it is."""
    drawn = np.array([draw_orthogonal(3, Randomness(seed)) for seed in range(3000)])
    assert np.einsum("nij,nkj->nik", drawn, drawn) == pytest.approx(np.tile(np.eye(3), (3000, 1, 1)), abs=1e-9)
    assert drawn.mean(axis=0) == pytest.approx(np.zeros((3, 3)), abs=0.05)
    assert (drawn**2).mean(axis=0) == pytest.approx(np.full((3, 3), 1 / 3), abs=0.03)


def test_rows_are_shuffled_and_secret() -> None:
    """Two rotations without a seed differ in matrix and order; with a seed they are the same."""
    people = _people(100)
    first, second = rotate(people), rotate(people)
    assert np.abs(first.matrix - second.matrix).max() > 1e-6
    assert (np.abs(first.truth - second.truth).max(axis=1) > 0).any()
    assert np.array_equal(rotate(people, seed=4).rows, rotate(people, seed=4).rows)


def test_known_rows_give_everything_away() -> None:
    """As many known rows as columns recover all others exactly; one row fewer recovers all but one direction."""
    rotated = rotate(_people(), seed=2)
    attack = rotated.attack()
    assert attack.known == 3
    assert attack.known_success == 1.0
    assert min(attack.by_known_rows) == pytest.approx(1.0, abs=1e-9)
    assert attack.baseline < 0.2
    fewer = rotated.attack(known=2)
    guesses = undo_by_known_rows(rotated.rows, rotated.truth[:2], rotated.rows[:2])
    # what lies in the plane of the two known rows is right, and the rest is guessed as 0
    _, _, directions = np.linalg.svd(rotated.truth[:2])
    inside = directions[:2].T @ directions[:2]
    assert guesses == pytest.approx(rotated.truth @ inside, abs=1e-9)
    assert fewer.known_success < 1.0
    assert np.mean(fewer.by_known_rows) < 1.0


def test_the_distribution_alone_gives_much_away() -> None:
    """Who knows no row, but other people of the same kind, lays main axis on main axis and recovers most of it."""
    attack = rotate(_people(4000), seed=3).attack(sample=800)
    assert min(attack.by_main_axes) > 0.8
    assert attack.axes_success > 2 * attack.baseline


def test_signs_of_axes() -> None:
    """Whatever axes are turned round by the rotation, the sign under which the distributions agree is found."""
    generator = np.random.default_rng(8)
    truth = generator.exponential(size=(5000, 3)) * np.array([1.0, 2.0, 4.0])
    truth -= truth.mean(axis=0)
    for signs in ((1, 1, 1), (-1, 1, -1), (-1, -1, -1)):
        guesses = undo_by_main_axes(truth[2500:] * np.array(signs), truth[:2500])
        assert ((guesses - truth[2500:]) ** 2).mean() < 0.05


def test_results_say_so() -> None:
    """Every way of showing it says that it is not to be relied on."""
    rotated = rotate(pa.table(_people(300)), seed=5)
    assert "Do not rely on it" in str(rotated)
    attack = rotated.attack()
    assert "Do not rely on it" in str(attack)
    assert "main axes" in attack._repr_html_()
    told = json.loads(json.dumps(attack.as_json()))
    assert [one["attack"] for one in told["attacks"]] == ["known rows", "main axes"]
    assert set(told["columns"]) == {"rent", "income", "stay"}
    assert rotated.table.column_names == ["r1", "r2", "r3"]
    assert rotated.table.num_rows == 300


def test_refusals() -> None:
    """One column, a column of one value, and attacks with more knowledge than there are rows."""
    people = _people(50)
    with pytest.raises(InputError, match="at least two columns"):
        rotate(people, ["rent"])
    with pytest.raises(DataError, match="column 'flat' has one value only"):
        rotate(people | {"flat": np.ones(50)})
    with pytest.raises(InputError, match="known must be from 1 to 49"):
        rotate(people).attack(known=50)
    with pytest.raises(InputError, match="sample must be from 6 to 25"):
        rotate(people).attack(sample=40)
