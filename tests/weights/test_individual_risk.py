"""The individual risk from sampling weights, against its definition summed term by term, and where it is used."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.core.classes import EquivalenceClasses
from sfumato.risk.adversaries import WEIGHTED, adversaries_of, weighted_chance

Runs = Callable[..., Any]


def summed_risk(drawn: int, p: float) -> float:
    """E(1 / F) of a negative binomial F: people h of whom the last of `drawn` is found at the h-th, summed up."""
    total, probability = 0.0, p**drawn
    for h in range(drawn, drawn + int(20 * (drawn + 20) / p)):
        total += probability / h
        probability *= (1 - p) * h / (h + 1 - drawn)
    return total


@pytest.mark.parametrize("drawn", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("weight", [1.0, 1.5, 4.0, 25.0])
def test_it_is_the_sum_over_all_populations(drawn: int, weight: float) -> None:
    """The closed form is what adding up 1 / F over the negative binomial distribution gives."""
    (found,) = weighted_chance(np.array([drawn]), np.array([drawn * weight]))
    assert found == pytest.approx(summed_risk(drawn, 1 / weight), rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.1, 0.01, 1e-4])
def test_the_formulas_of_the_paper(p: float) -> None:
    """Of one row and of two, the risk is what Benedetti and Franconi write out."""
    one, two = weighted_chance(np.array([1, 2]), np.array([1 / p, 2 / p]))
    assert one == pytest.approx(p / (1 - p) * math.log(1 / p))
    assert two == pytest.approx(p / (1 - p) ** 2 * (p * math.log(p) + 1 - p), rel=1e-6)


def test_weights_below_one_are_a_census() -> None:
    """Nobody stands for less than one, and where everybody stands for one the risk is that of the table."""
    sizes = np.array([1, 4, 100])
    assert weighted_chance(sizes, sizes * 0.3) == pytest.approx(1 / sizes)
    assert weighted_chance(sizes, sizes * 1.0) == pytest.approx(1 / sizes)


def test_large_classes_lose_no_digits() -> None:
    """Beyond the sizes that the library's function is good for, the risk goes on smoothly."""
    sizes = np.array([40, 49, 50, 51, 52, 70])
    chance = weighted_chance(sizes, sizes * 20.0)
    assert (np.diff(chance) < 0).all()
    assert chance == pytest.approx([summed_risk(int(size), 0.05) for size in sizes], rel=1e-6)


def test_journalist_and_marketer_go_by_weights() -> None:
    """The prosecutor's chance stays; the others' fall with what the rows stand for."""
    classes = EquivalenceClasses(sizes=np.array([1, 4]))
    found = adversaries_of(classes, weights=np.array([50.0, 400.0]))
    alone, four = weighted_chance(np.array([1, 4]), np.array([50.0, 400.0]))
    assert found.basis == WEIGHTED
    assert found.prosecutor.highest == 1
    assert found.journalist.highest == alone
    assert found.marketer.right == pytest.approx(alone + 4 * four)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A survey of six people, of whom each stands for some."""
    path = tmp_path / "survey.csv"
    path.write_text("age,sex,pond\n20,f,10\n20,f,30\n30,m,100\n40,m,5\n40,m,5\n40,m,5\n")
    return path


def test_the_command_takes_a_column_of_weights(runs: Runs, survey: Path) -> None:
    """With --weight the journalist's chance is the individual risk, in words and in JSON."""
    found = json.loads(runs("risk", survey, "--quasi", "age,sex", "--weight", "pond", "--json").out)
    assert found["basis"] == WEIGHTED
    assert found["weights"] == {"column": "pond", "people": 155.0, "used": True}
    chances = weighted_chance(np.array([2, 1, 3]), np.array([40.0, 100.0, 15.0]))
    assert found["journalist"]["highest"] == pytest.approx(chances.max())
    assert found["marketer"]["right"] == pytest.approx(chances @ [2, 1, 3])
    shown = runs("risk", survey, "--quasi", "age,sex", "--weight", "pond").out
    assert "The weights in 'pond' add up to 155 people; the journalist's chance is the individual risk" in shown


def test_a_given_population_goes_before_weights(runs: Runs, survey: Path) -> None:
    """Whoever says how large the population is, is believed, and told that weights were not used."""
    asked = ("risk", survey, "--quasi", "age,sex", "--weight", "pond", "--population-size", "600")
    found = json.loads(runs(*asked, "--json").out)
    assert found["weights"]["used"] is False
    assert found["basis"] != WEIGHTED


def test_a_policy_names_the_weights(runs: Runs, survey: Path, tmp_path: Path) -> None:
    """A policy's column of the role weight is used, and --weight is refused beside a policy."""
    (tmp_path / "p.toml").write_text(
        '[columns]\nage = { role = "quasi", hierarchy = "suppress" }\n'
        'sex = { role = "quasi", hierarchy = "suppress" }\n'
        'pond = { role = "weight" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    found = json.loads(runs("risk", survey, "--policy", "p.toml", "--json").out)
    assert (found["basis"], found["weights"]["column"]) == (WEIGHTED, "pond")
    refused = runs("risk", survey, "--policy", "p.toml", "--weight", "pond")
    assert (refused.code, "--weight goes with --quasi" in refused.sentence) == (2, True)


@pytest.mark.parametrize("cell", ["", "many", "-3"])
def test_what_is_no_weight_is_refused(runs: Runs, tmp_path: Path, cell: str) -> None:
    """A missing weight, a text and a negative number are counted and refused, and not quoted."""
    (tmp_path / "t.csv").write_text(f"age,pond\n20,10\n30,{cell}\n")
    refused = runs("risk", "t.csv", "--quasi", "age", "--weight", "pond")
    assert refused.code == 2
    assert "column 'pond' has the role weight, and 1 of its cells is missing, or no number" in refused.sentence
    assert "many" not in refused.sentence
