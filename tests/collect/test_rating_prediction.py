"""Ratings from recovered pairs: against the truth, against the mean, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato.channels.additive_noise import GaussianNoise
from sfumato.channels.category_noise import ResponseNoise
from sfumato.collect import Noise, RatingPredictor
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError

STARS = ("1", "2", "3", "4", "5")
FILMS = ("heat", "alien", "amelie")


def true_ratings(rows: int, seed: int) -> np.ndarray:
    """Make ratings from 1 to 5: who likes the first film likes the second, and not the third."""
    draw = np.random.default_rng(seed)
    taste = draw.normal(0, 1, rows)
    signs = np.array([1.0, 1.0, -1.0])
    return np.clip(np.rint(3 + 1.2 * signs * taste[:, None] + draw.normal(0, 0.4, (rows, 3))), 1, 5)


@pytest.mark.parametrize("kind", ["response", "gaussian"])
def test_predictions_use_what_others_rated(kind: str) -> None:
    """Predictions from perturbed ratings halve the squared error of the mean rating, on persons never seen."""
    true, later = true_ratings(4000, 1), true_ratings(300, 2)
    number, answer = GaussianNoise(1.5, (0.5, 5.5)), ResponseNoise(STARS, 0.6)
    columns: dict[str, Any] = {}
    for place, name in enumerate(FILMS):
        if kind == "gaussian":
            columns[name] = number.perturb(true[:, place], Randomness(1, name))
        else:
            codes = answer.perturb(true[:, place].astype(np.int64) - 1, Randomness(1, name))
            columns[name] = [STARS[code] for code in codes]
    noise = Noise(dict.fromkeys(FILMS, number if kind == "gaussian" else answer))
    frame = pd.DataFrame(columns).astype(object)
    frame.loc[frame.index[:500], "amelie"] = None  # not everybody has rated everything
    model = RatingPredictor(noise).fit(frame)
    known = [{"heat": row[0], "alien": row[1]} for row in later.tolist()]
    guessed = model.predict(known, "amelie")
    assert ((guessed - later[:, 2]) ** 2).mean() < 0.5 * later[:, 2].var()
    assert np.allclose(model.predict_proba(known, "amelie").sum(axis=1), 1)


def test_without_known_ratings_the_mean_is_predicted() -> None:
    """Somebody of whom nothing is known gets the recovered mean of the item."""
    answer = ResponseNoise(STARS, 0.5)
    true = true_ratings(4000, 3)
    codes = [answer.perturb(true[:, place].astype(np.int64) - 1, Randomness(1, str(place))) for place in range(3)]
    model = RatingPredictor(Noise(dict.fromkeys(FILMS, answer))).fit(np.array(STARS, dtype=object)[np.array(codes).T])
    assert model.predict({}, "heat")[0] == pytest.approx(true[:, 0].mean(), abs=0.15)


def test_what_cannot_be_predicted_is_refused() -> None:
    """No noise, an item that nobody rated, an unknown item and ratings without a mean end in a sentence."""
    noise = Noise(dict.fromkeys(("a", "b"), ResponseNoise(("good", "bad"), 0.5)))
    with pytest.raises(InputError, match="noise of the ratings is missing"):
        RatingPredictor().fit([["good", "bad"]])
    with pytest.raises(DataError, match="nobody has rated 'b'"):
        RatingPredictor(noise).fit([["good", None], ["bad", None]])
    model = RatingPredictor(noise).fit([["good", "bad"], ["bad", "good"]] * 20)
    with pytest.raises(InputError, match="does not know the column 'c'"):
        model.predict({"a": "good"}, "c")
    with pytest.raises(InputError, match="have no mean"):
        model.predict({"a": "good"}, "b")
