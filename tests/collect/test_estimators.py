"""The estimators: scikit-learn's own checks, what they recover, and what they refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.collect import Noise, NoisyDecisionTree, NoisyGaussianMixture, NoisyNaiveBayes
from sfumato.core.randomness import Randomness
from sfumato.datasets import CLASSIFICATION_DOMAINS, classification_functions
from sfumato.errors import InputError

CLASSIFIERS = (NoisyNaiveBayes, NoisyDecisionTree)
NUMBERS: tuple[Callable[[tuple[float, float]], AdditiveNoise], ...] = (
    lambda domain: GaussianNoise(0.3 * (domain[1] - domain[0]), domain),
    lambda domain: UniformNoise(0.5 * (domain[1] - domain[0]), domain),
    lambda domain: LaplaceNoise(0.2 * (domain[1] - domain[0]), domain),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [*CLASSIFIERS, NoisyGaussianMixture])
def test_scikit_learn_accepts_the_estimators(estimator: Any) -> None:
    """Without noise every check of scikit-learn passes; only that of array libraries, which is off, is skipped."""
    outcome = check_estimator(estimator(), on_fail=None, on_skip=None)
    assert [check["check_name"] for check in outcome if check["status"] == "failed"] == []
    assert len([check for check in outcome if check["status"] == "passed"]) >= 40


def mixed_rows(rows: int, number: AdditiveNoise, answer: Any, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Make true and perturbed rows of a number and an answer; the class is old and yes, or young and no."""
    draw = np.random.default_rng(seed)
    old = draw.random(rows) < 0.5
    age = np.where(old, draw.uniform(50, 80, rows), draw.uniform(20, 50, rows))
    said = np.where(draw.random(rows) < 0.9, old, ~old).astype(np.int64)
    reported = answer.perturb(said, Randomness(seed, "answer"))
    if reported.ndim == 2:
        cells = ["|".join(value for value, bit in zip(answer.values, bits, strict=True) if bit) for bits in reported]
    else:
        cells = [answer.values[code] for code in reported]
    true = pd.DataFrame({"age": age, "vote": [answer.values[code] for code in said]})
    perturbed = pd.DataFrame({"age": number.perturb(age, Randomness(seed, "age")), "vote": cells})
    return true, perturbed, np.where(old, "old", "young")


@pytest.mark.slow
@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "answer",
    [
        ResponseNoise(("no", "yes"), 0.5),
        MatrixNoise(("no", "yes"), ((0.8, 0.2), (0.3, 0.7))),
        UnaryNoise(("no", "yes"), 0.6, 0.2),
    ],
)
def test_classifiers_learn_from_numbers_and_answers_alike(estimator: Any, kind: Any, answer: Any) -> None:
    """With any kind of noise, true rows are told right that were never seen, and perturbed ones above chance."""
    number = kind((20.0, 80.0))
    noise = Noise({"vote": answer, "age": number})
    _, perturbed, classes = mixed_rows(3000, number, answer, 1)
    true, later, told = mixed_rows(500, number, answer, 2)
    assert estimator(noise).fit(perturbed, classes).score(true, told) > 0.93
    assert estimator(noise, predict_from="perturbed").fit(perturbed, classes).score(later, told) > 0.7


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_columns_are_found_by_name_or_by_place(estimator: Any) -> None:
    """A frame with its columns in another order tells the same as an array in the order of the noise."""
    number, answer = UniformNoise(30.0, (20.0, 80.0)), ResponseNoise(("no", "yes"), 0.5)
    noise = Noise({"age": number, "vote": answer})
    true, perturbed, classes = mixed_rows(800, number, answer, 1)
    turned = estimator(noise).fit(perturbed[["vote", "age"]], classes).predict(true[["vote", "age"]])
    by_place = estimator(noise).fit(perturbed.to_numpy(), classes)
    assert (turned == by_place.predict(true.to_numpy())).mean() > 0.9
    as_numbers = [np.column_stack([frame["age"], frame["vote"] == "yes"]).astype(float) for frame in (perturbed, true)]
    coded = estimator(noise).fit(as_numbers[0], classes)
    assert np.allclose(coded.predict_proba(as_numbers[1]), by_place.predict_proba(true.to_numpy()))


def test_naive_bayes_recovers_shares_of_each_class() -> None:
    """The shares of both classes are near those of the true rows, which the reports hide."""
    number, answer = UniformNoise(30.0, (20.0, 80.0)), ResponseNoise(("no", "yes"), 0.5)
    true, perturbed, classes = mixed_rows(20_000, number, answer, 1)
    model = NoisyNaiveBayes(Noise({"age": number, "vote": answer}), bins=6).fit(perturbed, classes)
    for place, name in enumerate(model.classes_):
        held = np.histogram(true["age"][classes == name], 6, (20, 80))[0] / (classes == name).sum()
        assert np.abs(model.shares_[0][place] - held).max() < 0.05
        assert abs(model.shares_[1][place, 1] - (true["vote"][classes == name] == "yes").mean()) < 0.03


def test_without_noise_the_tree_is_an_ordinary_one() -> None:
    """On rows that nobody perturbed, the tree tells as many right as scikit-learn's."""
    table = classification_functions(4000, 2)
    rows = np.column_stack([table[name].to_numpy() for name in CLASSIFICATION_DOMAINS])
    classes = np.array(table["group"].to_pylist())
    ours = NoisyDecisionTree(min_samples_leaf=10).fit(rows[:3000], classes[:3000]).score(rows[3000:], classes[3000:])
    theirs = DecisionTreeClassifier(min_samples_leaf=10, random_state=0).fit(rows[:3000], classes[:3000])
    assert ours > theirs.score(rows[3000:], classes[3000:]) - 0.02


@pytest.mark.parametrize("reconstruction", ["global", "by-class", "local"])
def test_the_papers_ways_of_correcting_find_the_edge(reconstruction: str) -> None:
    """Each of the three ways of Agrawal and Srikant tells more true rows right than the reports themselves do."""
    number, answer = UniformNoise(40.0, (20.0, 80.0)), ResponseNoise(("no", "yes"), 0.2)
    noise = Noise({"age": number, "vote": answer})
    _, perturbed, classes = mixed_rows(6000, number, answer, 1)
    true, _, told = mixed_rows(1000, number, answer, 2)
    plain = NoisyDecisionTree(noise, reconstruction=reconstruction, refit=False).fit(perturbed, classes)
    assert plain.score(true, told) > (0.9 if reconstruction != "global" else 0.8)


def test_three_classes_and_a_column_without_noise() -> None:
    """A tree of three classes uses a number with noise and one that was sent as it is."""
    draw = np.random.default_rng(3)
    age, arm = draw.uniform(0, 90, 5000), draw.integers(0, 2, 5000)
    classes = np.where(arm == 0, 0, np.where(age < 45, 1, 2))
    noise = Noise.read(
        {
            "format": "sfumato-noise/1",
            "columns": {"age": {"kind": "gaussian", "sigma": 25, "domain": [0, 90]}, "arm": {"kind": "plain"}},
        }
    )
    kind = noise.columns["age"]
    assert isinstance(kind, GaussianNoise)
    rows = np.column_stack([kind.perturb(age, Randomness(1)), arm])
    model = NoisyDecisionTree(noise).fit(rows, classes)
    assert model.score(np.column_stack([age, arm]), classes) > 0.93
    assert np.allclose(model.predict_proba(np.column_stack([age, arm])).sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_the_mixture_recovers_clusters_through_the_noise(kind: Any, covariance_type: str) -> None:
    """Means and spreads are those of the true clusters; a mixture of the reports has spreads several times as large."""
    draw = np.random.default_rng(4)
    true = np.concatenate([draw.normal((25, 70), 6, (3000, 2)), draw.normal((70, 30), 6, (3000, 2))])
    number = kind((0.0, 100.0))
    reports = np.column_stack([number.perturb(true[:, j].clip(0, 100), Randomness(1, f"{j}")) for j in range(2)])
    noise = Noise({"x": number, "y": number})
    model = NoisyGaussianMixture(noise, n_components=2, covariance_type=covariance_type, random_state=0).fit(reports)
    order = model.means_[:, 0].argsort()
    assert np.abs(model.means_[order] - [[25, 70], [70, 30]]).max() < 4
    spreads = np.sqrt(np.array([np.diag(covariance) for covariance in model.covariances_]))
    assert spreads.max() < 13
    plain = GaussianMixture(2, random_state=0).fit(reports)
    assert np.sqrt(np.array([np.diag(c) for c in plain.covariances_])).min() > 15
    assert (order[model.predict(true)] == np.repeat([0, 1], 3000)).mean() > 0.98 or (
        model.predict(true) == order[np.repeat([0, 1], 3000)]
    ).mean() > 0.98


def test_the_mixture_without_noise_is_scikit_learns() -> None:
    """Without noise, the likelihood of the true rows is that of scikit-learn's mixture."""
    draw = np.random.default_rng(5)
    rows = np.concatenate([draw.normal((0, 0), 1, (300, 2)), draw.normal((5, 5), 1, (300, 2))])
    ours = NoisyGaussianMixture(n_components=2, tol=1e-8, random_state=0).fit(rows)
    theirs = GaussianMixture(2, tol=1e-8, random_state=0).fit(rows)
    assert abs(ours.score(rows) - theirs.score(rows)) < 1e-3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: NoisyNaiveBayes({"format": "sfumato-noise/1", "columns": {}}), "at least one column"),
        (lambda: NoisyNaiveBayes(Noise({"a": GaussianNoise(1.0, (0.0, 2.0))})), "the noise has 1"),
        (lambda: NoisyDecisionTree(reconstruction="wild"), "reconstruction must be one of"),
        (lambda: NoisyDecisionTree(bins=1), "bins must be a whole number"),
        (lambda: NoisyNaiveBayes(predict_from="both"), "predict_from must be one of"),
        (
            lambda: NoisyNaiveBayes(
                Noise.read(
                    {
                        "format": "sfumato-noise/1",
                        "columns": {n: {"kind": "flip", "items": ["a"], "keep": 0.9} for n in ("x", "y")},
                    }
                )
            ),
            "holds baskets",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused(make: Any, sentence: str) -> None:
    """Wrong options and noise that does not fit the rows are refused with a sentence that says what to do."""
    with pytest.raises(InputError, match=sentence):
        make().fit(np.array([[0.5, 1.0], [1.0, 0.5], [0.2, 0.1]]), [0, 1, 0])


def test_a_true_value_outside_of_the_domain_is_refused() -> None:
    """A row to predict that the noise says cannot be is refused, and its value is not repeated."""
    noise = Noise({"age": GaussianNoise(10.0, (0.0, 100.0))})
    model = NoisyNaiveBayes(noise).fit(np.linspace(-20, 120, 50)[:, None], [0, 1] * 25)
    with pytest.raises(InputError, match="domain in the noise") as refused:
        model.predict(np.array([[117.25]]))
    assert "117" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
@pytest.mark.parametrize("function", [1, 2, 3, 4, 5])
def test_the_tree_tells_more_than_one_of_the_reports(kind: str, function: int) -> None:
    """At 100 % privacy, the tree is right about more true rows than one that was built on the reports as they are."""
    true, classes = _classic(10_000, function, 1)
    noise = _classic_noise(kind, 1.0)
    reports = np.column_stack(
        [
            noise.columns[name].perturb(true[:, place], Randomness(1, name))  # type: ignore[union-attr]
            for place, name in enumerate(CLASSIFICATION_DOMAINS)
        ]
    )
    later, told = _classic(5000, function, 2)
    ours = NoisyDecisionTree(noise).fit(reports, classes).score(later, told)
    plain = DecisionTreeClassifier(min_samples_leaf=0.01, random_state=0).fit(reports, classes).score(later, told)
    assert ours > plain - 0.01
    if kind == "uniform":
        assert ours > plain + 0.08


def _classic(rows: int, function: int, seed: int) -> tuple[Any, Any]:
    table = classification_functions(rows, function, seed=seed)
    return np.column_stack([table[name].to_numpy() for name in CLASSIFICATION_DOMAINS]), table["group"].to_numpy()


def _classic_noise(kind: str, privacy: float) -> Noise:
    made = {}
    for name, (low, high) in CLASSIFICATION_DOMAINS.items():
        width = privacy * (high - low)
        made[name] = (
            GaussianNoise(width / 3.92, (low, high)) if kind == "gaussian" else UniformNoise(width / 1.9, (low, high))
        )
    return Noise(made)
