"""The classic classification functions, row by row from their definitions."""

import numpy as np
import pytest

from sfumato.datasets import CLASSIFICATION_DOMAINS, classification_functions


def in_group(function: int, row: dict[str, float]) -> bool:
    """Tell the group of a row as the paper of 1993 writes it down, condition by condition."""
    age, salary, level, loan = row["age"], row["salary"] / 1000, row["elevel"], row["loan"] / 1000
    third = 0 if age < 40 else 1 if age < 60 else 2
    band = [(50, 100), (75, 125), (25, 75)][third]
    if function == 1:
        return age < 40 or age >= 60
    if function == 2:
        return band[0] <= salary <= band[1]
    levels = [(0, 1), (1, 3), (2, 4)][third]
    inside = levels[0] <= level <= levels[1]
    if function == 3:
        return inside
    if function == 4:
        low, high = ([(25, 75), (50, 100), (50, 100)] if inside else [(50, 100), (75, 125), (25, 75)])[third]
        return low <= salary <= high
    within = band[0] <= salary <= band[1]
    low, high = ([(100, 300), (200, 400), (300, 500)] if within else [(200, 400), (300, 500), (100, 300)])[third]
    return low <= loan <= high


@pytest.mark.parametrize("function", [1, 2, 3, 4, 5])
def test_groups_are_those_of_the_definition(function: int) -> None:
    """Every row has the group that the conditions of the paper give it."""
    rows = classification_functions(2000, function).to_pylist()
    assert [row["group"] == "A" for row in rows] == [in_group(function, row) for row in rows]


def test_the_linear_functions_of_2000() -> None:
    """Functions 4 and 5 of the later paper weigh income against the loan, and the house on top of it."""
    for function in (4, 5):
        for row in classification_functions(500, function, paper=2000).to_pylist():
            left = 0.67 * (row["salary"] + row["commission"]) - 0.2 * row["loan"] - 10_000
            if function == 5:
                left += 0.2 * 0.1 * row["hvalue"] * max(row["hyears"] - 20, 0)
            assert (row["group"] == "A") == (left > 0)


def test_attributes_stay_in_their_domains_and_depend_as_stated() -> None:
    """All values lie in the domains; there is a commission below 75,000 alone, and the zip code prices the house."""
    table = classification_functions(5000, 1)
    for name, (low, high) in CLASSIFICATION_DOMAINS.items():
        values = table[name].to_numpy()
        assert low <= values.min() <= values.max() <= high
    salary, commission = table["salary"].to_numpy(), table["commission"].to_numpy()
    assert ((commission == 0) == (salary >= 75_000)).all()
    price = table["hvalue"].to_numpy() / table["zipcode"].to_numpy()
    assert price.min() >= 50_000
    assert price.max() <= 150_000


def test_a_seed_gives_the_same_rows_and_another_does_not() -> None:
    """The table is a function of its arguments."""
    assert classification_functions(100, 3, seed=5).equals(classification_functions(100, 3, seed=5))
    assert not classification_functions(100, 3, seed=5).equals(classification_functions(100, 3, seed=6))


@pytest.mark.parametrize(("function", "paper"), [(0, 1993), (6, 1993), (1, 1999)])
def test_unknown_functions_are_refused(function: int, paper: int) -> None:
    """There are five functions and two papers."""
    with pytest.raises(ValueError, match="must be"):
        classification_functions(10, function, paper=paper)


def test_most_rows_are_not_of_one_group() -> None:
    """Neither group is rare in any function, so that accuracy means something."""
    for function in range(1, 6):
        share = np.mean(np.array(classification_functions(4000, function)["group"].to_pylist()) == "A")
        assert 0.3 < share < 0.7
