"""What a filter recovers of noise on correlated columns, held against the truth, and noise shaped like the data."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.channels.additive_noise import GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import ResponseNoise
from sfumato.channels.wiener_filter import informed_errors
from sfumato.collect import Noise, correlated_deviations, shape_noise, spectral_filter
from sfumato.collect.noise_correlation import NoiseCorrelation
from sfumato.collect.noise_filter import noise_covariance, predict_filter
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError

Floats = NDArray[np.float64]
NAMES = ("a", "b", "c", "d")
WIDE = (-1000.0, 1000.0)


def _true_rows(rows: int, seed: int = 0) -> Floats:
    """Four columns of different sizes that hang on one hidden quantity, and a little on their own."""
    generator = np.random.default_rng(seed)
    hidden = generator.normal(size=(rows, 1))
    own = generator.normal(size=(rows, 4))
    return np.asarray((hidden + 0.3 * own) * np.array([10.0, 20.0, 5.0, 10.0]) + np.array([50.0, 0.0, -20.0, 7.0]))


def _independent(noise: Noise, truth: Floats, seed: int = 1) -> dict[str, Floats]:
    sent = {}
    for place, (name, one) in enumerate(noise.columns.items()):
        assert isinstance(one, GaussianNoise | UniformNoise | LaplaceNoise)
        sent[name] = one.perturb(truth[:, place], Randomness(seed, name))
    return sent


MIXED = Noise(
    {
        "a": GaussianNoise(10.0, WIDE),
        "b": UniformNoise(30.0, WIDE),
        "c": LaplaceNoise(4.0, WIDE),
        "d": GaussianNoise(8.0, WIDE),
    }
)


def test_the_errors_are_those_of_the_guesses() -> None:
    """The mean squared errors, from the perturbed rows alone, are those of the guesses against the true rows."""
    truth = _true_rows(30_000)
    filtered = spectral_filter(_independent(MIXED, truth), MIXED)
    reached = ((filtered.guesses - truth) ** 2).mean(axis=0)
    for one, error, variance in zip(filtered.columns, reached, truth.var(axis=0), strict=True):
        assert one.joint == pytest.approx(error, rel=0.04)
        assert one.blind == pytest.approx(variance, rel=0.05)
        assert one.joint < 0.75 * one.alone < one.noise_variance


def test_no_linear_guess_is_better() -> None:
    """A least-squares fit to the true rows, which no adversary has, leaves hardly less than the filter does."""
    truth = _true_rows(30_000)
    sent = _independent(MIXED, truth)
    filtered = spectral_filter(sent, MIXED)
    design = np.column_stack([*sent.values(), np.ones(len(truth))])
    fitted = design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    best = ((fitted - truth) ** 2).mean(axis=0)
    reached = ((filtered.guesses - truth) ** 2).mean(axis=0)
    assert (reached <= 1.02 * best).all()
    # and the best guess from a column's own report is no better than is said
    for place, one in enumerate(filtered.columns):
        slope, base = np.polyfit(sent[one.column], truth[:, place], 1)
        alone = ((slope * sent[one.column] + base - truth[:, place]) ** 2).mean()
        assert one.alone == pytest.approx(alone, rel=0.04)


def test_independent_columns_give_nothing_more() -> None:
    """Where columns do not hang together, the filter is no better than each column's own report, and nothing warns."""
    truth = np.random.default_rng(3).normal(0, 10, (20_000, 2))
    noise = Noise({"a": GaussianNoise(10.0, WIDE), "b": GaussianNoise(12.0, WIDE)})
    filtered = spectral_filter(_independent(noise, truth), noise)
    for one in filtered.columns:
        assert one.joint == pytest.approx(one.alone, rel=0.02)
    assert filtered.warnings() == ()


def test_directions_that_stand_out() -> None:
    """Columns that are one quantity in four sizes stand out of their noise in one direction."""
    truth = np.random.default_rng(2).normal(size=(5_000, 1)) * np.array([10.0, 20.0, 5.0, 10.0])
    assert spectral_filter(_independent(MIXED, truth), MIXED).standing == 1


def test_it_warns_where_much_is_recovered() -> None:
    """A sentence for each column that others betray, and another where the noise is too small to begin with."""
    truth = _true_rows(5_000)
    betrayed = spectral_filter(_independent(MIXED, truth), MIXED).warnings()
    assert len(betrayed) == 4
    assert all("correlation of the data" in one for one in betrayed)
    small = Noise({"a": GaussianNoise(1.0, WIDE), "b": GaussianNoise(8.0, WIDE)})
    alone = np.random.default_rng(4).normal(0, 10, (5_000, 2))
    (too_small,) = spectral_filter(_independent(small, alone), small).warnings()
    assert "for 'a'" in too_small
    assert "too small to hide them" in too_small
    told = predict_filter(np.diag([100.0, 100.0]), np.diag([90.0, 400.0]), ["a", "b"])
    assert told.warnings() == ()
    pair = np.array([[100.0, 99.0], [99.0, 100.0]])
    assert len(predict_filter(pair, np.diag([100.0, 100.0]), ["a", "b"]).warnings()) == 2


def test_shaped_noise_gives_nothing_more() -> None:
    """With the correlation of the data the filter recovers from whole rows what each report gives, by the truth."""
    truth = _true_rows(30_000)
    # each column's noise is as large as its spread
    noise = Noise({name: GaussianNoise(size, WIDE) for name, size in zip(NAMES, (10.4, 20.9, 5.2, 10.4), strict=True)})
    shaped = shape_noise(noise, _independent(noise, truth))
    assert shaped.noise.columns == noise.columns
    drawn = correlated_deviations(shaped.noise, len(truth), Randomness(9))
    sent: dict[str, Floats] = {}
    for place, name in enumerate(NAMES):
        column = shaped.noise.columns[name]
        assert isinstance(column, GaussianNoise)
        sent[name] = column.add(truth[:, place], drawn[name])
    filtered = spectral_filter(sent, shaped.noise)
    reached = ((filtered.guesses - truth) ** 2).mean(axis=0)
    for before, predicted, after, error in zip(
        shaped.before.columns, shaped.after.columns, filtered.columns, reached, strict=True
    ):
        assert before.joint < 0.6 * before.alone
        assert after.joint == pytest.approx(error, rel=0.05)
        assert error > 0.9 * after.alone
        assert predicted.joint == pytest.approx(error, rel=0.1)
    assert shaped.after.warnings() == ()


def test_correlated_noise_keeps_each_column_as_it_was() -> None:
    """Each column's deviations are normal with its own σ, and between columns they have the wanted correlation."""
    matrix = ((1.0, 0.7, -0.2), (0.7, 1.0, 0.1), (-0.2, 0.1, 1.0))
    columns = {"a": GaussianNoise(3.0, WIDE), "b": GaussianNoise(20.0, WIDE), "c": GaussianNoise(0.5, WIDE)}
    noise = Noise({**columns, "vote": ResponseNoise(("y", "n"), 0.5)}, NoiseCorrelation(("a", "b", "c"), matrix))
    drawn = correlated_deviations(noise, 200_000, Randomness(5))
    assert list(drawn) == ["a", "b", "c"]
    assert np.corrcoef(list(drawn.values())) == pytest.approx(np.array(matrix), abs=0.01)
    levels = np.array([0.001, 0.05, 0.3, 0.5, 0.8, 0.99])
    for name, one in columns.items():
        assert [float((drawn[name] <= y).mean()) for y in one.quantile(levels)] == pytest.approx(levels, abs=0.004)
        assert one.admits(one.add(np.full(200_000, 1000.0), drawn[name])).all()
    assert correlated_deviations(Noise(columns), 10, Randomness(5)) == {}


def test_randomness_of_the_system() -> None:
    """Without a seed, two drawings differ."""
    noise = Noise(
        {"a": GaussianNoise(3.0, WIDE), "b": GaussianNoise(20.0, WIDE)},
        NoiseCorrelation(("a", "b"), ((1.0, 0.5), (0.5, 1.0))),
    )
    first, second = (correlated_deviations(noise, 8, Randomness())["a"] for _ in range(2))
    assert (first != second).any()


def test_covariance_of_some_columns() -> None:
    """The covariance of the noise has the correlation in the order asked for, and none where there is none."""
    noise = Noise(
        {"a": GaussianNoise(2.0, WIDE), "b": GaussianNoise(3.0, WIDE), "u": UniformNoise(3.0, WIDE)},
        NoiseCorrelation(("a", "b"), ((1.0, 0.5), (0.5, 1.0))),
    )
    assert noise_covariance(noise, ["b", "u", "a"]).tolist() == [
        [9.0, 0, 3.0],
        [0, pytest.approx(3.0), 0],
        [3.0, 0, 4.0],
    ]


def _document(**changes: Any) -> dict[str, Any]:
    shape = {"columns": ["a", "b"], "matrix": [[1, 0.5], [0.5, 1]]}
    column = {"kind": "gaussian", "sigma": 2.0, "domain": [0, 10]}
    uniform = {"kind": "uniform", "half_width": 2.0, "domain": [0, 10]}
    return {
        "format": "sfumato-noise/1",
        "columns": {"a": column, "b": column, "u": uniform},
        "correlation": shape | changes,
    }


def test_the_key_in_the_file(tmp_path: Path) -> None:
    """The correlation is read, kept and written; a file without it has none."""
    noise = Noise.read(_document())
    assert noise.correlation == NoiseCorrelation(("a", "b"), ((1.0, 0.5), (0.5, 1.0)))
    noise.save(tmp_path / "noise.json")
    assert Noise.load(tmp_path / "noise.json") == noise
    plain = Noise.read({key: part for key, part in _document().items() if key != "correlation"})
    assert plain.correlation is None
    assert "correlation" not in plain.as_json()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"matrix": [[1, 0.5], [0.4, 1]]}, "must be symmetric"),
        ({"matrix": [[1, 0.5], [0.5, 2]]}, "for 'b' with itself must be 1"),
        ({"matrix": [[1, 1], [1, 1]]}, "not positive definite"),
        ({"matrix": [[1, 1.5], [1.5, 1]]}, "not positive definite"),
        ({"matrix": [[1, 10**400], [10**400, 1]]}, "not positive definite"),
        ({"matrix": [[1, 0.5]]}, "2 rows of 2 numbers"),
        ({"matrix": [[1, "x"], ["x", 1]]}, "not 'x'"),
        ({"matrix": [[1, True], [True, 1]]}, "not True"),
        ({"matrix": [[1, math.nan], [math.nan, 1]]}, "from -1 to 1"),
        ({"matrix": 3}, "list of rows"),
        ({"columns": ["a"], "matrix": [[1]]}, "at least two"),
        ({"columns": ["a", "a"]}, "'a' twice"),
        ({"columns": ["a", "z"]}, "does not know the column 'z'"),
        ({"columns": ["a", "u"]}, "must be gaussian"),
        ({"columns": "ab"}, "list of texts"),
        ({"column": 1}, "did you mean columns"),
    ],
)
def test_altered_correlations(changes: dict[str, Any], sentence: str) -> None:
    """What cannot be the correlation of Gaussian noise is refused in a sentence."""
    with pytest.raises(InputError, match="correlation") as raised:
        Noise.read(_document(**changes))
    assert sentence in str(raised.value)


def test_a_correlation_that_is_no_object() -> None:
    """The key must be an object; none at all is as if it were not there."""
    with pytest.raises(InputError, match="must be an object"):
        Noise.read(_document() | {"correlation": [1]})
    assert Noise.read(_document() | {"correlation": None}).correlation is None


def test_rows_of_any_kind(tmp_path: Path) -> None:
    """A file, an Arrow table and a mapping of arrays give the same figures; rows with a gap are left out."""
    sent = _independent(MIXED, _true_rows(200))
    table = pa.table({"name": ["x"] * 200, **sent})
    lines = [",".join(["name", *NAMES]), *(",".join(["x", *map(str, row)]) for row in zip(*sent.values(), strict=True))]
    (tmp_path / "sent.csv").write_text("\n".join([*lines, "y,1,,2,3", ""]), encoding="utf-8")
    figures = spectral_filter(sent, MIXED).as_json()
    assert spectral_filter(table, MIXED).as_json() == figures
    assert spectral_filter(tmp_path / "sent.csv", MIXED).as_json() == figures
    assert figures["rows"] == 200
    assert json.loads(json.dumps(figures)) == figures


@pytest.mark.parametrize(
    ("reports", "columns", "sentence"),
    [
        ({name: [1.0] * 39 for name in NAMES}, None, "39 rows with numbers in all of 4 columns, and at least 40"),
        ({"a": [1.0] * 50}, None, "no column"),
        ({"a": ["x"] * 50, "b": ["1"] * 50}, ["a", "b"], "row 1 is not a number"),
        ({"a": [math.inf] * 50, "b": [1.0] * 50}, ["a", "b"], "row 1 is not a number"),
    ],
)
def test_rows_that_cannot_be_filtered(reports: dict[str, list[Any]], columns: list[str] | None, sentence: str) -> None:
    """Too few rows, columns that are not there and cells that are no numbers are refused in a sentence."""
    with pytest.raises(DataError) as raised:
        spectral_filter(reports, MIXED, columns)
    assert sentence in str(raised.value)


def test_noise_that_cannot_be_filtered_or_shaped() -> None:
    """One column, answers, other noise than Gaussian, and rows that the noise did not perturb."""
    vote = Noise({"vote": ResponseNoise(("y", "n"), 0.5), "a": GaussianNoise(2.0, WIDE)})
    with pytest.raises(InputError, match="at least two columns"):
        spectral_filter({}, vote)
    with pytest.raises(InputError, match=r"'?vote'? is of another kind"):
        spectral_filter({}, vote, ["a", "vote"])
    with pytest.raises(InputError, match="only Gaussian noise can be correlated, and that of 'b' is uniform"):
        shape_noise(MIXED, {})
    quiet = Noise({"a": GaussianNoise(2.0, WIDE), "b": GaussianNoise(3.0, WIDE)})
    with pytest.raises(InputError, match="vary less in 'a' than its noise"):
        shape_noise(quiet, {"a": np.linspace(0, 1, 100), "b": np.linspace(0, 100, 100)})


def test_filters_show_themselves() -> None:
    """As text and in a notebook, with the warnings."""
    sent = _independent(MIXED, _true_rows(2_000))
    shown = spectral_filter(sent, MIXED)
    assert "own report" in str(shown)
    assert "Warning: the columns together tell more of 'a'" in str(shown)
    noise = Noise({name: GaussianNoise(10.0, WIDE) for name in NAMES})
    shaped = shape_noise(noise, _independent(noise, _true_rows(2_000)))
    assert "all, shaped" in shaped._repr_html_()
    assert "who knows one of them learns more" in str(shaped)
    assert set(shaped.as_json()) == {"noise", "before", "after", "informed_before", "informed_after"}


def test_the_price_of_shaped_noise() -> None:
    """Who knows one value exactly errs as is said, by regression on simulated rows, and less with shaped noise."""
    truth = _true_rows(40_000)[:, :2]
    values = np.cov(truth, rowvar=False)
    sizes = np.sqrt(np.diag(values))
    errors = []
    for correlation in (0.0, 0.9):
        noise = Noise(
            {"a": GaussianNoise(sizes[0], WIDE), "b": GaussianNoise(sizes[1], WIDE)},
            NoiseCorrelation(("a", "b"), ((1.0, correlation), (correlation, 1.0))),
        )
        drawn = correlated_deviations(noise, len(truth), Randomness(3))
        design = np.column_stack([truth[:, 0], truth[:, 0] + drawn["a"], truth[:, 1] + drawn["b"], np.ones(len(truth))])
        fitted = design @ np.linalg.lstsq(design, truth[:, 1], rcond=None)[0]
        told = informed_errors(values, noise_covariance(noise, ["a", "b"]))[1]
        assert told == pytest.approx(((fitted - truth[:, 1]) ** 2).mean(), rel=0.03)
        errors.append(told)
    assert errors[1] < 0.8 * errors[0]
