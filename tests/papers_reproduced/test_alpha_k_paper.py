"""The (α, k) experiment: its points, its claims and its page."""

from collections.abc import Callable
from typing import Any

import pytest

from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.papers.alpha_k_paper import (
    FULL,
    IMPROVED,
    INCOGNITO,
    LOCAL,
    PLAIN,
    AdultSalaries,
    AlphaKPoint,
    claims,
    measure_point,
    page,
    paper_figures,
)

pytestmark = pytest.mark.slow

Change = Callable[[dict[str, Any]], dict[str, float]]
PROGRESSIVE, TOP_DOWN = (local.label for local in LOCAL)


def made_up_case(named: str, point: AlphaKPoint) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    label = named.removesuffix(", plain α")
    grown = point.size / 8
    loss = {INCOGNITO.label: 0.9, PROGRESSIVE: 0.2, TOP_DOWN: 0.21}[label]
    loss *= grown * (1.2 - 0.5 * point.alpha) * (1 + 0.005 * point.k * (label == TOP_DOWN)) * (1 + 0.001 * point.k)
    seconds = {
        INCOGNITO.label: 4 * point.alpha,
        TOP_DOWN: 0.6 - 0.2 * point.alpha,
        PROGRESSIVE: 0.1 + 0.01 * point.alpha - 0.002 * point.k,
    }[label]
    return vars(point) | {"algorithm": named, "rows": 10, "seconds": seconds * grown, "distortion": loss}


@pytest.fixture
def run(about: dict[str, Any]) -> dict[str, Any]:
    """A run with such figures at every point."""
    labels = (INCOGNITO.label, PROGRESSIVE, TOP_DOWN, *(plain.label for plain in PLAIN.values()))
    return about | {"cases": [made_up_case(label, point) for point in FULL.points() for label in labels], "repeat": 5}


def test_improvement_never_loses_more() -> None:
    """With the improvement pass after it, an algorithm loses no more than by itself."""
    adult = AdultSalaries(synthetic_adult_policy(sensitive="salary-class"), synthetic_adult(120))
    point = AlphaKPoint(2, 0.5, 3)
    alone, better = (measure_point(adult, point, one, repeat=1) for one in (LOCAL[1], IMPROVED[1]))
    assert better["distortion"] <= alone["distortion"]
    assert (better["algorithm"], better["size"], better["rows"]) == ("Top-Down, improved", 3, 120)


def test_points() -> None:
    """Each k has seven values of α at eight attributes and six smaller sizes at the middle α, none twice."""
    found = list(FULL.points())
    assert len(set(found)) == len(found) == 2 * 13
    assert sum(point.size == 8 for point in found) == 2 * 7


def test_policy_of_a_run() -> None:
    """The first attributes of the paper's table are quasi-identifiers, the others are left out."""
    adult = AdultSalaries(synthetic_adult_policy(sensitive="salary-class"), frame="rows")
    document = adult.policy_for(AlphaKPoint(2, 0.5, 3), LOCAL[0])
    roles = {name: column["role"] for name, column in document["columns"].items()}
    assert {name for name, role in roles.items() if role == "quasi"} == {"age", "workclass", "education"}
    assert (roles["salary-class"], roles["race"]) == ("sensitive", "identifier")
    assert document["algorithm"]["improve"] is False
    plain = adult.policy_for(AlphaKPoint(2, 0.5, 3), PLAIN[LOCAL[0]])
    assert [one["privacy"][0]["refined"] for one in (document, plain)] == [True, False]


def test_what_is_so_holds(run: dict[str, Any]) -> None:
    """Where everything is as the text states, every claim holds."""
    found = claims(run)
    assert [one for one in found if one.verdict != "holds"] == []
    assert all(one.other.startswith("plain α: ") and one.other.endswith(", holds") for one in found)
    assert len(found) == 2 * 3 + 2 + 2 * (3 + 3 + 3 + 3) + 1 + 3 + 1


@pytest.mark.parametrize(
    ("where", "change", "says", "verdict"),
    [
        ({"algorithm": PROGRESSIVE}, lambda one: {"distortion": 0.5}, "about 3 times less", "does not hold"),
        ({"algorithm": TOP_DOWN}, lambda one: {"seconds": 9.0}, "about 4 times faster", "does not hold"),
        (
            {"algorithm": TOP_DOWN},
            lambda one: {"seconds": 9.0},
            "extended Incognito takes the longest",
            "does not hold",
        ),
        ({"algorithm": TOP_DOWN}, lambda one: {"distortion": 0.5}, "similar distortion", "does not hold"),
        (
            {"algorithm": INCOGNITO.label, "alpha": 0.9},
            lambda one: {"seconds": 0.1},
            "time increases as",
            "does not hold",
        ),
        (
            {"algorithm": INCOGNITO.label, "alpha": 0.8},
            lambda one: {"seconds": 9.0},
            "time increases as",
            "from end to",
        ),
        ({"algorithm": TOP_DOWN, "alpha": 0.9}, lambda one: {"seconds": 9.0}, "time decreases", "does not hold"),
        ({"algorithm": PROGRESSIVE, "alpha": 0.7}, lambda one: {"seconds": 0.3}, "time remains", "does not hold"),
        ({"algorithm": PROGRESSIVE, "size": 2}, lambda one: {"seconds": 0.3}, "time increases with", "does not hold"),
        ({"algorithm": PROGRESSIVE, "alpha": 0.9}, lambda one: {"distortion": 0.9}, "distortion decr", "does not hold"),
        ({"algorithm": TOP_DOWN, "size": 2}, lambda one: {"distortion": 0.9}, "distortion increases", "does not hold"),
        ({"algorithm": PROGRESSIVE, "k": 10}, lambda one: {"seconds": 9.0}, "time is smaller", "does not hold"),
        (
            {"algorithm": INCOGNITO.label},
            lambda one: {"distortion": one["size"] / 9},
            "distortion is gr",
            "does not hold",
        ),
        ({"k": 10, "size": 5}, lambda one: {"distortion": 0.1}, "Top-Down has a larger", "does not hold"),
    ],
)
def test_what_is_not_so_does_not_hold(
    run: dict[str, Any], where: dict[str, Any], change: Change, says: str, verdict: str
) -> None:
    """Each claim fails where the figures that it is about are changed against it."""
    for one in run["cases"]:
        if where.items() <= one.items():
            one.update(change(one))
    assert any(one.verdict.startswith(verdict) for one in claims(run) if one.says.startswith(says))


def test_equal_at_some_sizes(run: dict[str, Any]) -> None:
    """Where distortion is nowhere smaller with the larger k, and equal at a size, the claim holds in part."""
    for one in run["cases"]:
        if one["size"] == 2:
            one["distortion"] = 0.01
    found = [one for one in claims(run) if one.says.startswith("distortion is greater")]
    assert {one.outcome for one in found} == {"in part"}
    assert {one.ours for one in found} == {"at 6 of 7 sizes"}


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its plot and its table, with a line per value and a column per algorithm."""
    written = page(run)
    titles = [one.title for k in (2, 10) for one in paper_figures(k)]
    assert all(f"### {title}\n" in written for title in titles)
    assert "| 0.5 | 2.000              | 0.101       | 0.500    |" in written
    assert written.count("](figures/alpha-k-") == 2
    assert "made-up" not in written
    assert "quick run" not in written
    assert "A quick run" in page(run | {"full": False})
