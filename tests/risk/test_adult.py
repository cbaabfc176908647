"""Risk on the real Adult rows, of which samples are drawn: what is estimated is held against what is known."""

import os
from pathlib import Path

import numpy as np
import pyarrow.csv as pc
import pytest
from numpy.typing import NDArray

from sfumato.core.classes import EquivalenceClasses
from sfumato.risk import adversaries_of, risk_by_columns, uniqueness

pytestmark = pytest.mark.adult
QUASI = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


@pytest.fixture(scope="module")
def adult() -> Path:
    """The Adult table."""
    folder = Path(os.environ.get("SFUMATO_ADULT", Path(__file__).parents[3] / "shared" / "data" / "adult"))
    if not (folder / "adult.csv").is_file():
        pytest.skip("the Adult rows are not at hand; set SFUMATO_ADULT to their folder")
    return folder / "adult.csv"


@pytest.fixture(scope="module")
def classes(adult: Path) -> NDArray[np.int64]:
    """The class of each of the 45,222 rows, numbered as they come."""
    table, numbers = pc.read_csv(adult), dict[tuple[str, ...], int]()
    rows = zip(*(table[name].to_pylist() for name in QUASI), strict=True)
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows])


def test_uniques_and_sets(adult: Path, classes: NDArray[np.int64]) -> None:
    """Uniques are those of a count in Python, and whom sets of three columns find are some of them."""
    found = risk_by_columns(adult, QUASI)
    alone = int((np.bincount(classes) == 1).sum())
    assert found.risk.uniques == found.adversaries.prosecutor.certain == alone == 18_619
    assert found.sets is not None
    assert len(found.sets.sets) == 8 + 28 + 56
    assert 0 < found.sets.found < alone
    assert found.sets.sets[0].columns == ("age", "education", "occupation")


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.2, 0.4, 0.8])
def test_the_rule_finds_the_uniques_of_adult(classes: NDArray[np.int64], fraction: float) -> None:
    """From a twentieth of the rows on, the estimate that the rule takes is within 5 % of the 18,619 that there are."""
    drawn = np.random.default_rng(1).choice(classes, round(fraction * len(classes)), replace=False)
    known, sizes = np.unique(drawn, return_counts=True)
    assert uniqueness(sizes, fraction).estimate.uniques == pytest.approx(18_619, rel=0.05)
    truth = adversaries_of(EquivalenceClasses(sizes), np.bincount(classes)[known])
    estimated = adversaries_of(EquivalenceClasses(sizes), fraction=fraction)
    assert estimated.marketer.average == pytest.approx(truth.marketer.average, rel=0.05)
