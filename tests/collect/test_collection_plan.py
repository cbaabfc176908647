"""``collect plan``: expected errors against simulation, noise for a wanted privacy, and the command."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.channels.channel import BinnedChannel
from sfumato.channels.expectation_maximization import MixtureLikelihood, iterate_plainly, iterations_by_held_out
from sfumato.collect import Noise, plan, propose_noise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.collection_plan import better_kind, expect_squared_error
from sfumato.collect.noise import ColumnNoise
from sfumato.collect.prior_knowledge import PriorKnowledge
from sfumato.collect.privacy_measures import noise_interval
from sfumato.collect.reconstruction_error import expect_error, project_shares, reference_shares, share_errors
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError

Floats = NDArray[np.float64]
Runs = Callable[..., Any]
HUNDRED = tuple(f"answer {number}" for number in range(100))
SHARES = np.array([0.5, 0.3, 0.2])
DOCUMENT: dict[str, Any] = {
    "format": "sfumato-noise/1",
    "columns": {
        "age": {"kind": "gaussian", "sigma": 20.0, "domain": [0, 100]},
        "income": {"kind": "uniform", "half_width": 50.0, "domain": [0, 200]},
        "stay": {"kind": "laplace", "scale": 3.0, "domain": [0, 60]},
        "vote": {"kind": "response", "values": ["a", "b", "c"], "keep": 0.6},
        "job": {"kind": "matrix", "values": ["x", "y"], "matrix": [[0.8, 0.2], [0.3, 0.7]]},
        "arm": {"kind": "plain"},
        "basket": {"kind": "flip", "items": ["bread", "milk"], "keep": 0.9},
    },
}
SMALL: dict[str, Any] = {
    "format": "sfumato-noise/1",
    "columns": {"vote": DOCUMENT["columns"]["vote"], "arm": {"kind": "plain"}},
}


# The error of a reconstruction


@pytest.mark.parametrize(
    "noise",
    [
        ResponseNoise(("a", "b", "c"), 0.4),
        MatrixNoise(("a", "b", "c"), ((0.8, 0.1, 0.1), (0.2, 0.7, 0.1), (0.1, 0.3, 0.6))),
        UnaryNoise(("a", "b", "c"), 0.5, 0.2),
        FlipNoise(("a", "b", "c"), 0.8),
    ],
    ids=lambda noise: noise.kind,
)
def test_standard_errors_of_shares(noise: ColumnNoise) -> None:
    """The closed forms are the spread of estimates from answers that were really perturbed."""
    rows, samples = 1000, 300
    generator = np.random.default_rng(1)
    estimates = []
    for sample in range(samples):
        randomness = Randomness(sample)
        codes = generator.choice(3, rows, p=SHARES)
        if isinstance(noise, FlipNoise):
            baskets = generator.random((rows, 3)) < SHARES
            told = noise.perturb(baskets, randomness).mean(axis=0)
            estimates.append((told - (1 - noise.keep)) / (2 * noise.keep - 1))
        elif isinstance(noise, UnaryNoise):
            told = noise.perturb(codes, randomness).mean(axis=0)
            estimates.append((told - noise.add) / (noise.keep - noise.add))
        else:
            assert isinstance(noise, ResponseNoise | MatrixNoise)
            told = np.bincount(noise.perturb(codes, randomness), minlength=3) / rows
            estimates.append(np.linalg.solve(noise.transition.T, told))
    assert np.mean(estimates, axis=0) == pytest.approx(SHARES, abs=0.02)
    assert np.std(estimates, axis=0) == pytest.approx(share_errors(noise, SHARES, rows), rel=0.12)
    error = expect_error(noise, rows, PriorKnowledge(SHARES, given=True))
    found = np.array(estimates) if isinstance(noise, FlipNoise) else project_shares(np.array(estimates))
    off = np.abs(found - SHARES)
    simulated = off.mean() if isinstance(noise, FlipNoise) else off.sum(axis=1).mean() / 2
    assert error.expected_error == pytest.approx(simulated, rel=0.15)


def test_projection_is_the_nearest() -> None:
    """No shares drawn at random are nearer to the estimates than their projection, and shares stay as they are."""
    generator = np.random.default_rng(2)
    estimates = generator.normal(0.25, 0.4, (20, 4))
    nearest = project_shares(estimates)
    assert nearest.sum(axis=1) == pytest.approx(np.ones(20))
    assert (nearest >= 0).all()
    tried = generator.dirichlet(np.full(4, 0.5), 20_000)
    for estimate, near in zip(estimates, nearest, strict=True):
        assert ((near - estimate) ** 2).sum() <= ((tried - estimate) ** 2).sum(axis=1).min() + 1e-12
    assert project_shares(SHARES[None]) == pytest.approx(SHARES[None])


def test_unary_encoding_of_a_hundred_answers() -> None:
    """At ε = 1 its squared error is a ninth of randomized response's; as shares, which are not negative, a sixth."""
    unary, response = (propose_noise(values=HUNDRED, epsilon=1.0, kind=kind) for kind in ("unary", "response"))
    assert isinstance(unary, UnaryNoise)
    assert isinstance(response, ResponseNoise)
    # Wang, Blocki, Li and Jha 2017, for rare answers: 4 e^ε / (e^ε - 1)² and (k - 2 + e^ε) / (e^ε - 1)²
    assert share_errors(unary, np.zeros(100), 1)[0] ** 2 == pytest.approx(4 * math.e / (math.e - 1) ** 2, rel=1e-3)
    rare = np.append(1.0, np.zeros(99))
    assert share_errors(response, rare, 1)[1] ** 2 == pytest.approx((98 + math.e) / (math.e - 1) ** 2, rel=1e-3)
    assert expect_squared_error(unary) / expect_squared_error(response) == pytest.approx(1 / 9.4, rel=0.01)
    # brought to shares, over answers that fall off by a tenth each, at a hundred thousand rows
    generator = np.random.default_rng(3)
    shares = 0.9 ** np.arange(100)
    shares /= shares.sum()
    squared = {}
    for noise in (unary, response):
        errors = []
        for _ in range(30):
            if isinstance(noise, UnaryNoise):
                true = generator.multinomial(100_000, shares)
                told = generator.binomial(true, noise.keep) + generator.binomial(100_000 - true, noise.add)
                estimate = (told / 100_000 - noise.add) / (noise.keep - noise.add)
            else:
                told = generator.multinomial(100_000, shares @ noise.transition)
                estimate = (told / 100_000 - (1 - noise.keep) / 100) / noise.keep
            errors.append(((project_shares(estimate[None])[0] - shares) ** 2).sum())
        squared[noise.kind] = float(np.mean(errors))
    assert 1 / 8 < squared["unary"] / squared["response"] < 1 / 4.5


def test_which_kind_is_better() -> None:
    """It is said of randomized response of many answers and of unary encoding of few, and of neither otherwise."""
    assert "unary encoding has 0.11 times" in str(
        better_kind(propose_noise(values=HUNDRED, epsilon=1.0, kind="response"))
    )
    assert better_kind(propose_noise(values=HUNDRED, epsilon=1.0)) is None
    assert "randomized response has" in str(better_kind(propose_noise(values=["a", "b"], epsilon=1.0, kind="unary")))
    assert better_kind(propose_noise(values=["a", "b"], epsilon=1.0)) is None
    assert better_kind(GaussianNoise(20.0, (0.0, 100.0))) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise", [UniformNoise(50.0, (0.0, 100.0)), LaplaceNoise(16.0, (0.0, 100.0))], ids=["uniform", "laplace"]
)
def test_expected_error_of_numbers(noise: AdditiveNoise) -> None:
    """It is that of reconstructions from numbers that were really perturbed, of other samples and in other bins."""
    rows, samples, bins = 10_000, 12, 60
    generator = np.random.default_rng(11)
    truth = reference_shares(noise, bins)
    channel = BinnedChannel.of(noise, bins)
    errors, bounds = [], []
    for sample in range(samples):
        values = noise.width * (generator.choice(bins, rows, p=truth) + generator.random(rows)) / bins
        counts = np.bincount(channel.observe(noise.perturb(values, Randomness(sample))), minlength=len(channel.matrix))
        problem = MixtureLikelihood(channel.matrix, counts[None, None, :].astype(np.float64))
        shares = iterate_plainly(problem, iterations_by_held_out(problem)).shares[0, 0]
        errors.append(np.abs(shares - truth).sum() / 2)
        bounds.append(np.abs(np.cumsum(shares - truth)).max())
    expected = expect_error(noise, rows)
    assert expected.expected_error == pytest.approx(np.mean(errors), rel=0.35)
    assert expected.cumulative_error == pytest.approx(np.mean(bounds), rel=0.35)


def test_more_rows_less_error() -> None:
    """A hundred times the rows leave far less of an error, for numbers and answers; a known distribution is used."""
    noise = UniformNoise(40.0, (0.0, 100.0))
    few, many = expect_error(noise, 500), expect_error(noise, 50_000)
    assert many.expected_error < 0.6 * few.expected_error
    answers = ResponseNoise(("a", "b"), 0.5)
    single = expect_error(answers, 100).standard_error
    assert single is not None
    assert expect_error(answers, 10_000).standard_error == pytest.approx(single / 10)
    known = PriorKnowledge.read([0.0, 1.0], noise, "age")
    assert reference_shares(noise, 4, known).tolist() == [0.0, 0.0, 0.5, 0.5]


# Noise for a wanted privacy


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "laplace"])
@pytest.mark.parametrize("privacy", [0.25, 1.0, 2.0])
def test_noise_of_a_wanted_width(kind: str, privacy: float) -> None:
    """The 95 % interval of the proposed noise is as wide as was asked for, and never narrower."""
    noise = propose_noise(domain=(20.0, 95.0), kind=kind, privacy=privacy)
    assert isinstance(noise, AdditiveNoise)
    assert noise.kind == kind
    wanted = privacy * 75
    assert wanted <= noise_interval(noise) * (1 + 1e-12) <= wanted * 1.0001


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(
    "described",
    [
        {"domain": (0.0, 60.0)},
        {"values": ("a", "b", "c")},
        {"values": HUNDRED},
        {"values": HUNDRED, "kind": "response"},
        {"items": ("bread", "milk")},
    ],
    ids=["laplace", "response", "unary", "response of many", "flip"],
)
def test_noise_of_a_wanted_epsilon(described: dict[str, Any], epsilon: float) -> None:
    """The ε of the proposed noise is what was asked for, and never above it."""
    noise = propose_noise(**described, epsilon=epsilon)
    assert epsilon * 0.999 <= noise.epsilon <= epsilon * (1 + 1e-12)


def test_kinds_that_are_chosen() -> None:
    """Up to ten answers randomized response, above unary encoding; Laplace where an ε is wanted of numbers."""
    assert propose_noise(values=HUNDRED[:10], epsilon=1.0).kind == "response"
    assert propose_noise(values=HUNDRED[:11], epsilon=1.0).kind == "unary"
    assert propose_noise(domain=(0, 1), epsilon=1.0).kind == "laplace"
    assert propose_noise(domain=(0, 1), privacy=1.0).kind == "gaussian"


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        ({"privacy": 1.0}, "say what the column holds"),
        ({"domain": (0, 1), "values": ["a"], "privacy": 1.0}, "say what the column holds"),
        ({"domain": (0, 1)}, "say how private"),
        ({"domain": (0, 1), "privacy": 1.0, "epsilon": 1.0}, "say how private"),
        ({"domain": (0, 1), "privacy": -1.0}, "privacy must be a number above 0"),
        ({"domain": (0, 1), "epsilon": math.nan}, "epsilon must be a number above 0"),
        ({"domain": (1, 0), "privacy": 1.0}, "sigma"),
        ({"domain": (0, 1), "kind": "gaussian", "epsilon": 1.0}, "gaussian noise has no epsilon"),
        ({"domain": (0, 1), "kind": "gausian", "privacy": 1.0}, "did you mean gaussian"),
        ({"values": ["a", "b"], "privacy": 1.0}, "say an epsilon"),
        ({"values": ["a", "b"], "epsilon": 90.0}, "protects nobody"),
        ({"values": ["a", "b"], "epsilon": 1.0, "kind": "laplace"}, "one of response, unary"),
        ({"values": ["a", "a"], "epsilon": 1.0}, "'a' twice"),
        ({"values": [], "epsilon": 1.0}, "at least 2"),
        ({"items": [], "epsilon": 1.0}, "at least 1"),
        ({"items": ["a"], "epsilon": 1.0, "kind": "unary"}, "of the kind flip"),
    ],
)
def test_what_cannot_be_proposed(described: dict[str, Any], sentence: str) -> None:
    """Too little, too much or what cannot be is refused in a sentence."""
    with pytest.raises(InputError) as raised:
        propose_noise(**described)
    assert sentence in str(raised.value)


# The plan


def test_a_plan_in_python() -> None:
    """Each column's figures stand by its name; the plan shows itself, and is JSON."""
    outlook = sf.collect.plan(SMALL, rows=500, sizes=(1000,))
    figures = json.loads(json.dumps(outlook.as_json(), allow_nan=False))
    vote, arm = figures["columns"]["vote"], figures["columns"]["arm"]
    assert figures["rows"] == 500
    assert figures["epsilon"] is None  # a column is sent as it is
    assert vote["epsilon"] == pytest.approx(math.log(5.5))
    assert vote["entropy_privacy"] == pytest.approx(2**1.1032, rel=1e-3)
    assert vote["mutual_information"] == pytest.approx(math.log2(3) - math.log2(vote["entropy_privacy"]))
    assert vote["standard_error"] == pytest.approx(math.sqrt(2 / 9 / 500) / 0.6)
    assert [one["rows"] for one in vote["sizes"]] == [1000]
    assert arm["epsilon"] is None
    assert arm["interval95"] is None
    assert "no protection" in arm["no_epsilon"]
    assert "response" in str(outlook)
    assert "<table" in outlook._repr_html_()


@pytest.mark.parametrize("rows", [0, -1, True, 1.5, 10**13])
def test_numbers_of_rows_that_are_none(rows: Any) -> None:
    """A number of rows is a whole number of at least one, and no larger than any survey."""
    with pytest.raises(InputError, match="rows must be a whole number"):
        plan(SMALL, rows=rows)


def test_a_matrix_that_tells_nothing() -> None:
    """Where different distributions look alike no number of rows helps, and the column is named."""
    blind = {"kind": "matrix", "values": ["x", "y"], "matrix": [[0.5, 0.5], [0.5, 0.5]]}
    with pytest.raises(InputError, match=r"column 'job': .* no number of answers tells them apart"):
        plan({"format": "sfumato-noise/1", "columns": {"job": blind}}, rows=10)


def test_priors_of_a_plan() -> None:
    """A known distribution changes the figures of its column; one of an unknown column is refused."""
    blind, known = (
        plan(SMALL, sizes=(), prior=prior).columns["vote"].privacy for prior in (None, {"vote": [0.9, 0.1, 0.0]})
    )
    assert blind is not None
    assert known is not None
    assert known.mutual_information < blind.mutual_information
    assert known.best_guess > blind.best_guess
    with pytest.raises(InputError, match="did you mean vote"):
        plan(SMALL, prior={"votes": [1.0]})
    with pytest.raises(InputError, match="'arm' is sent as it is"):
        plan(SMALL, prior={"arm": [1.0]})


# The command


@pytest.fixture
def noise_file(tmp_path: Path) -> Path:
    """A noise file with quick columns."""
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(SMALL), encoding="utf-8")
    return path


@pytest.mark.slow
def test_plan_of_every_kind(tmp_path: Path, runs: Runs) -> None:
    """The noise file of the documentation: every column has its figures, and ε where there is one."""
    (tmp_path / "noise.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    done = runs("collect", "plan", "--noise", tmp_path / "noise.json", "--rows", "5000", "--json")
    assert (done.code, done.err) == (0, "")
    columns = json.loads(done.out)["columns"]
    assert list(columns) == list(DOCUMENT["columns"])
    assert columns["age"]["interval95"] == pytest.approx(3.919928 * 20, rel=1e-5)
    assert columns["age"]["entropy_privacy"] == pytest.approx(20 * math.sqrt(2 * math.pi * math.e))
    assert columns["income"]["entropy_privacy"] == pytest.approx(100)
    assert {name: one["epsilon"] is None for name, one in columns.items()} == {
        name: name in {"age", "income", "arm"} for name in columns
    }
    assert all(one["no_epsilon"] for name, one in columns.items() if one["epsilon"] is None)
    for name, one in columns.items():
        assert (one["expected_error"] is None) == (name == "arm")
    assert columns["income"]["expected_error"] < 0.3


def test_plan_for_people(noise_file: Path, runs: Runs) -> None:
    """A line per column, errors by number of rows, and sentences."""
    done = runs("collect", "plan", "--noise", noise_file, "--rows", "500")
    assert (done.code, done.err) == (0, "")
    assert "│ vote    │ response │" in done.out
    assert "1,000" in done.out
    assert "arm: No ε: it is sent as it is" in done.out


def test_proposing_and_adding(tmp_path: Path, runs: Runs) -> None:
    """Noise is proposed, written, and added to; what was written can be planned with."""
    out = tmp_path / "noise.json"
    described = ("--column", "vote", "--values", "a, b,c", "--epsilon", "1")
    done = runs("collect", "plan", *described, "--out", out, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["written"] == str(out)
    assert Noise.load(out).as_json() == told["noise"]
    assert Noise.load(out).columns["vote"] == propose_noise(values=("a", "b", "c"), epsilon=1.0)
    more = ("--column", "bag", "--items", "bread,milk", "--epsilon", "2")
    assert "exists already" in runs("collect", "plan", "--noise", out, *more, "--out", out).sentence
    done = runs("collect", "plan", "--noise", out, *more, "--out", out, "--force")
    assert done.code == 0
    assert list(Noise.load(out).columns) == ["vote", "bag"]
    assert "already" in runs("collect", "plan", "--noise", out, *described).sentence


def test_a_proposal_for_the_eye(runs: Runs) -> None:
    """Without --out the proposed noise is printed, ready to be kept."""
    done = runs("collect", "plan", "--column", "vote", "--values", ",".join(HUNDRED), "--epsilon", "1")
    assert done.code == 0
    printed = next(line for line in done.out.splitlines() if line.startswith("noise  "))
    assert Noise.read(json.loads(printed.removeprefix("noise  "))).columns["vote"].kind == "unary"


@pytest.mark.slow
def test_proposing_by_privacy(runs: Runs) -> None:
    """100 % privacy of a domain of a hundred years is Gaussian noise with a 95 % interval of a hundred years."""
    described = ("--column", "age", "--domain", "0,100", "--kind", "gaussian", "--privacy", "100%")
    done = runs("collect", "plan", *described, "--json")
    assert done.code == 0
    age = json.loads(done.out)["columns"]["age"]
    assert age["interval95"] == pytest.approx(100, rel=1e-5)
    assert [one["rows"] for one in age["sizes"]] == [1000, 10000, 100000]


@pytest.mark.slow
def test_filtered_and_shaped(tmp_path: Path, runs: Runs) -> None:
    """Perturbed rows give a warning, and --shape a noise file whose correlation takes it away."""
    generator = np.random.default_rng(6)
    hidden = generator.normal(50, 10, 3000).clip(0, 100)
    columns = {name: GaussianNoise(12.0, (0.0, 100.0)) for name in ("a", "b", "c")}
    Noise(columns).save(tmp_path / "noise.json")
    sent = [one.perturb(hidden, Randomness(7, name)) for name, one in columns.items()]
    lines = ["a,b,c", *(",".join(map(str, row)) for row in zip(*sent, strict=True))]
    (tmp_path / "sent.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ("--noise", tmp_path / "noise.json", "--reports", tmp_path / "sent.csv")
    done = runs("collect", "plan", *given)
    assert done.code == 0
    assert done.err.count("warning: the columns together tell more of") == 3
    done = runs("collect", "plan", *given, "--shape", "--out", tmp_path / "shaped.json", "--json")
    told = json.loads(done.out)
    assert len(told["filter"]["warnings"]) == 3
    assert told["shaped"]["warnings"] == []
    shape = Noise.load(tmp_path / "shaped.json").correlation
    assert shape is not None
    assert min(min(row) for row in shape.matrix) > 0.9


def test_a_prior_from_a_file(tmp_path: Path, noise_file: Path, runs: Runs) -> None:
    """What collect reconstruct printed is named by --prior; the column is the one it says."""
    prior = tmp_path / "vote.json"
    values = [{"value": name, "share": share} for name, share in (("a", 0.8), ("b", 0.1), ("c", 0.1))]
    prior.write_text(json.dumps({"column": "vote", "values": values}), encoding="utf-8")
    done = runs("collect", "plan", "--noise", noise_file, "--prior", prior, "--json")
    vote = json.loads(done.out)["columns"]["vote"]
    assert (vote["prior"], vote["blind_guess"]) == ("given", 0.8)
    prior.write_text(json.dumps({"values": values}), encoding="utf-8")
    assert "does not say of which" in runs("collect", "plan", "--noise", noise_file, "--prior", prior).sentence
    prior.write_text("[", encoding="utf-8")
    assert "not one JSON object" in runs("collect", "plan", "--noise", noise_file, "--prior", prior).sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "--noise noise.json to plan with"),
        (("--values", "a,b"), "--values describes a column"),
        (("--epsilon", "1"), "--epsilon describes a column"),
        (("--noise", "missing.json"), "missing.json"),
        (("--column", "age", "--domain", "0-100", "--privacy", "1"), "write it as --domain 0,100"),
        (("--column", "age", "--domain", "0,100", "--privacy", "much"), "write it as --privacy 100%"),
        (("--column", "age", "--domain", "0,100", "--privacy", "0%"), "write it as --privacy 100%"),
        (("--column", "age", "--domain", "100,0", "--privacy", "100%"), "column 'age'"),
        (("--column", "", "--domain", "0,100", "--privacy", "100%"), "not empty"),
        (
            ("--column", "age", "--domain", "0,100", "--kind", "uniform", "--epsilon", "1"),
            "uniform noise has no epsilon",
        ),
        (("--column", "v", "--values", "a,b", "--epsilon", "1", "--rows", "0"), "rows must be a whole number"),
        (("--column", "v", "--values", "a,b", "--epsilon", "1", "--shape"), "name them with --reports"),
        (("--column", "v", "--values", "a,b", "--epsilon", "1", "--out", "no/folder/n.json"), "no folder"),
    ],
)
def test_refusals(
    arguments: tuple[str, ...], sentence: str, runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, exit 2, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    done = runs("collect", "plan", *arguments)
    assert done.code == 2
    assert sentence in done.sentence
    assert list(tmp_path.iterdir()) == []


def test_out_without_a_proposal(noise_file: Path, runs: Runs) -> None:
    """There is nothing to write where nothing is proposed."""
    done = runs("collect", "plan", "--noise", noise_file, "--out", noise_file.with_name("other.json"))
    assert "--out is for proposed noise" in done.sentence
