"""The identity-reserved experiments: their points, their claims and their page."""

from typing import Any

import numpy as np
import pytest

from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.papers.claims import decreases
from sfumato.papers.experiment import AdultOccupations
from sfumato.papers.identity_paper import (
    COMMON,
    DIVERSITY,
    GLOBAL,
    IMPROVED,
    LOCAL,
    QUICK,
    RESERVED,
    SHARES,
    SUPPRESSING,
    IdentityExperiment,
    IdentityGrid,
    IdentityPoint,
    claims,
    count_rows_and_people,
    grows_slowly,
    page,
)

pytestmark = pytest.mark.slow


def made_up_case(point: IdentityPoint) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    keys = point.keys
    k = keys.get("k", 10)
    loss = {GLOBAL: 0.70, LOCAL: 0.10, IMPROVED: 0.09}.get(point.method, 0.67) + 0.005 * k
    loss -= 0.01 * (point.model == COMMON)
    loss += 0.002 * keys["l"] if point.model == DIVERSITY and point.method == LOCAL else 0.0
    loss += 0.001 * (keys["beta"] ** -3 + keys["alpha"] ** -1) if point.model == SHARES else 0.0
    groups = {"vulnerable": round(1000 * point.rpi / k), "single": round(600 * point.rpi / k) if k <= 3 else 0}
    sizes = {"rows": 100_000, "suppressed": 0, "classes": 10_000}
    return {**point.as_json(), **sizes, **groups, "distortion": loss, "published": loss, "ncp": loss}


@pytest.fixture
def run(about: dict[str, Any]) -> dict[str, Any]:
    """A run with such figures at every point."""
    cases = [made_up_case(point) for point in IdentityGrid().points()]
    return about | {"people": 40_000, "rpis": list(IdentityGrid().rpis), "cases": cases}


@pytest.fixture
def experiment() -> IdentityExperiment:
    """A few made-up people."""
    columns = synthetic_adult_policy(sensitive="occupation")["columns"]
    return IdentityExperiment(AdultOccupations(synthetic_adult(400), columns), 400)


def verdicts(run: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """The verdict on each claim and what it is of."""
    return {(one.figure, one.says, one.of): one.verdict for one in claims(run)}


def test_points() -> None:
    """Every figure has its points, none twice, and the improvement pass is run at a few of them."""
    found = IdentityGrid().points()
    assert len(set(found)) == len(found)
    local = [point for point in found if point.method == LOCAL]
    assert sum(point.model == COMMON for point in local) == 4 * 9
    assert sum(point.model == RESERVED for point in local) == 2 * 9
    assert sum(point.model == SHARES for point in local) == 10 + 10 - 1
    assert all(point.keys["l"] <= point.keys["k"] for point in found if point.model == DIVERSITY)
    assert sum(point.method == IMPROVED for point in found) == 4 * 3 + 2 * 3
    assert not any(point.method == IMPROVED for point in QUICK.points())


def test_common_does_not_know_of_individuals() -> None:
    """Common k-anonymity drops the numbers of people, all other models have them as individuals."""
    experiment = IdentityExperiment(AdultOccupations(None, {"age": {"role": "quasi"}}))
    roles = {
        model: experiment.policy({"model": model}, {})["columns"]["id-number"]["role"] for model in (COMMON, SHARES)
    }
    assert roles == {COMMON: "identifier", SHARES: "individual"}


def test_groups() -> None:
    """Rows and people of classes are those that a loop over the classes counts; suppressed rows are in none."""
    draw = np.random.default_rng(3)
    class_of, ids = draw.integers(-1, 12, 200), draw.integers(1, 40, 200)
    rows, people = count_rows_and_people(class_of, ids)
    for place in range(12):
        mine = ids[class_of == place]
        assert (rows[place], people[place]) == (len(mine), len(set(mine.tolist())))
    assert len(rows) == len(people) == 12


def test_vulnerable_groups_of_a_point(experiment: IdentityExperiment) -> None:
    """Of common k-anonymity some groups have fewer than k people; of the identity-reserved one none has."""
    theirs, ours = (experiment.measure_point(IdentityPoint(1.8, model, LOCAL, k=3)) for model in (COMMON, RESERVED))
    assert (theirs["rows"], ours["rows"]) == (720, 720)
    assert theirs["vulnerable"] > 0
    assert (ours["vulnerable"], ours["single"]) == (0, 0)
    assert ours["published"] == pytest.approx(ours["distortion"])


def test_suppressed_rows_count_as_lost(experiment: IdentityExperiment) -> None:
    """The distortion of published rows alone is lower than with suppressed rows as lost ones."""
    found = experiment.measure_point(IdentityPoint(1.4, RESERVED, SUPPRESSING[-1], k=2))
    rows, gone = found["rows"], found["suppressed"]
    assert 0 < gone <= 0.01 * rows
    assert found["published"] * (rows - gone) + gone == pytest.approx(found["distortion"] * rows)


def test_what_is_so_holds(run: dict[str, Any]) -> None:
    """Where everything is as the text states, every check says that it holds, but for one that could not fail."""
    found = verdicts(run)
    assert [says for (_, says, _), verdict in found.items() if verdict == "not counted"] == [
        "single value groups exist only where k is at most the rows of a person"
    ]
    assert set(found.values()) == {"holds", "not counted"}
    assert len(found) == 2 * 2 * (4 + 1) + 1 + 4 + (4 + 1 + 2) + 4 + 5


@pytest.mark.parametrize(
    ("where", "change", "statement"),
    [
        (
            {"model": COMMON, "k": 10, "method": LOCAL.label, "rpi": 1.2},
            {"vulnerable": 900},
            "ratio of vulnerable groups",
        ),
        (
            {"model": COMMON, "k": 4, "method": LOCAL.label, "rpi": 1.4},
            {"distortion": 0.3},
            "common k-anonymity has less",
        ),
        ({"model": RESERVED, "k": 4, "method": LOCAL.label}, {"distortion": 0.3}, "the difference to common"),
        ({"model": RESERVED, "k": 7, "method": LOCAL.label}, {"distortion": 0.5}, "local recoding has much lower"),
        ({"model": RESERVED, "k": 7, "method": GLOBAL.label}, {"distortion": 0.9}, "distortion increases slowly"),
        ({"model": RESERVED, "k": 7, "method": SUPPRESSING[0].label}, {"distortion": 0.8}, "global recoding has a bit"),
        ({"model": RESERVED, "k": 7, "method": SUPPRESSING[0].label}, {"distortion": 0.5}, "global recoding has a bit"),
        ({"model": DIVERSITY, "l": 9, "method": GLOBAL.label}, {"distortion": 0.9}, "distortion keeps steady"),
        ({"model": DIVERSITY, "l": 9, "method": LOCAL.label}, {"distortion": 0.4}, "distortion increases slowly as l"),
        ({"model": DIVERSITY, "l": 10, "method": LOCAL.label}, {"distortion": 0.18}, "l affects distortion little"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.9}, {"distortion": 0.9}, "distortion decreases as β"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.5}, {"distortion": 0.4}, "distortion decreases remarkably"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.5}, {"distortion": 0.4}, "steady once β matches"),
        ({"model": SHARES, "alpha": 0.9, "beta": 0.5}, {"distortion": 0.4}, "distortion decreases as α"),
        ({"model": SHARES, "alpha": 0.15, "beta": 0.5}, {"distortion": 0.9}, "Figure 7 decreases steeper"),
    ],
)
def test_what_is_not_so_does_not_hold(
    run: dict[str, Any], where: dict[str, Any], change: dict[str, Any], statement: str
) -> None:
    """Each statement fails where the figures that it is about are changed against it."""
    for one in run["cases"]:
        if where.items() <= one.items():
            one.update(change)
    found = [verdict for (_, words, _), verdict in verdicts(run).items() if words.startswith(statement)]
    assert set(found) - {"holds"}


def test_figure_6_is_of_evenly_drawn_values(run: dict[str, Any], experiment: IdentityExperiment) -> None:
    """Occupations as they are stand beside, with a verdict of their own; a person's rows differ either way."""
    for one in run["cases"]:
        if one["model"] == DIVERSITY and not one["uniform"] and one["method"] == LOCAL.label and one["l"] == 10:
            one["distortion"] = 0.3
    found = {(one.says, one.of): one for one in claims(run) if one.figure in {"6", "5, 6"}}
    assert {one.verdict for one in found.values()} == {"holds"}
    beside = {name: one.other.rpartition(", ")[2] for name, one in found.items()}
    assert sorted(beside.values()) == ["does not hold"] * 2 + ["holds"] * 2
    table = experiment.table(1.8, uniform=True)
    counts = table["occupation"].value_counts().field("counts").to_pylist()
    assert max(counts) < 2 * table.num_rows / len(counts)
    assert len(set(zip(table["id-number"].to_pylist(), table["occupation"].to_pylist(), strict=True))) == table.num_rows


def test_verdicts_on_lines() -> None:
    """Equal values do not fall unless there is nothing left; a step is judged by its length."""
    assert decreases([0.2, 0.2, 0.1])[1] == "from end to end, not at every step"
    assert decreases([3, 0, 0], "{:,.0f}") == ("3 → 0", "holds")
    assert grows_slowly([2, 10], [0.1, 0.4])[1] == "holds"
    assert grows_slowly([2, 3], [0.1, 0.4])[1] == "does not hold"
    assert grows_slowly([2, 3], [0.4, 0.1])[1] == "does not hold"


def test_other_readings(run: dict[str, Any]) -> None:
    """The number of vulnerable groups and the loss of published rows alone stand beside, with verdicts of their own."""
    for one in run["cases"]:
        if one["model"] == COMMON and one["k"] == 10:
            one["classes"] = 500
    found = [one for one in claims(run) if one.says.startswith("ratio of vulnerable groups decreases as k")]
    assert {one.verdict for one in found} == {"does not hold"}
    assert all(one.other.startswith("their number: ") and one.other.endswith(", holds") for one in found)
    bits = [one.other for one in claims(run) if one.says.startswith("global recoding has a bit")]
    assert bits == ["published rows alone: by 0.030 to 0.030, holds"] * 2


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its table and a plot, and the improvement pass its own table."""
    written = page(run)
    assert [written.count(f"### Figure {place}:") for place in range(1, 9)] == [2, 2, 1, 1, 1, 2, 1, 1]
    assert "## Figure 1 and Figure 2\n" in written
    assert written.count("](figures/identity-") == 4
    assert "## With the improvement pass" in written
    assert "made-up" not in written
    assert "1.0 to 5.0 × k rows (local)" in written
