"""The classic made-up table for classifiers, and its functions 1 to 5 (Agrawal, Imielinski and Swami 1993).

Nine attributes of loan applicants, and rules that put each applicant into group A or B. Agrawal and Srikant (2000)
measured on this table how well a classifier learns from perturbed rows, on five functions of their own choice. Nobody
in it exists.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Cells = Mapping[str, NDArray[np.float64]]

CLASSIFICATION_DOMAINS: dict[str, tuple[float, float]] = {
    "salary": (20_000.0, 150_000.0),
    "commission": (0.0, 75_000.0),
    "age": (20.0, 80.0),
    "elevel": (0.0, 4.0),
    "car": (1.0, 20.0),
    "zipcode": (1.0, 9.0),
    "hvalue": (50_000.0, 1_350_000.0),
    "hyears": (1.0, 30.0),
    "loan": (0.0, 500_000.0),
}
"""The least and the largest value of each attribute."""

_THOUSAND = 1000.0


def classification_functions(rows: int, function: int, *, paper: int = 1993, seed: int = 1) -> Any:
    """Make an Arrow table of `rows` applicants: the nine attributes, and ``group`` (A or B) by one of five functions.

    1. A if age is below 40 or at least 60.
    2. A if salary lies in a band that depends on age (below 40, to 60, above).
    3. A if the level of education lies in a band that depends on age.
    4. A if salary lies in a band that depends on age and education.
    5. A if the loan lies in a band that depends on age and on whether salary lies in a band that depends on age.

    That is the `paper` of 1993. That of 2000 has the same functions 1 and 2, and function 4 as its third; its function
    4 is A if two thirds of the income exceed a fifth of the loan and 10,000, and its function 5 counts a fiftieth of
    what the house is worth per year beyond 20 as income, too.

    Salary, age and loan are uniform; there is a commission where the salary is below 75,000; the value of the house
    depends on the zip code, of which there are nine. Groups are exact: no attribute is blurred.

    >>> table = classification_functions(1000, 1)
    >>> table.column_names[:4], table.column_names[-1]
    (['salary', 'commission', 'age', 'elevel'], 'group')
    >>> young = table.filter(pa.compute.less(table["age"], 40))
    >>> young["group"].unique().to_pylist()
    ['A']
    """
    if paper not in _FUNCTIONS:
        raise ValueError(f"paper must be 1993 or 2000, not {paper!r}")
    if function not in _FUNCTIONS[paper]:
        raise ValueError(f"function must be a number from 1 to 5, not {function!r}")
    draw = np.random.default_rng([seed, 1993])  # other rows than the noise of somebody who takes the same seed
    salary = draw.uniform(20_000, 150_000, rows)
    zipcode = draw.integers(1, 10, rows)
    cells = {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, draw.uniform(10_000, 75_000, rows)),
        "age": draw.uniform(20, 80, rows),
        "elevel": draw.integers(0, 5, rows).astype(np.float64),
        "car": draw.integers(1, 21, rows).astype(np.float64),
        "zipcode": zipcode.astype(np.float64),
        "hvalue": zipcode * 100_000 * draw.uniform(0.5, 1.5, rows),
        "hyears": draw.integers(1, 31, rows).astype(np.float64),
        "loan": draw.uniform(0, 500_000, rows),
    }
    groups = np.where(_FUNCTIONS[paper][function](cells), "A", "B")
    return pa.table({**cells, "group": pa.array(groups.tolist())})


def _between(values: NDArray[np.float64], low: Any, high: Any) -> NDArray[np.bool_]:
    """Tell which values lie from `low` to `high`, in thousands."""
    return np.asarray((values >= low * _THOUSAND) & (values <= high * _THOUSAND))


def _by_age(cells: Cells, young: Any, middle: Any, old: Any) -> Any:
    """Take what belongs to each row's age: below 40, from 40 and below 60, or 60 and above."""
    return np.where(cells["age"] < 40, young, np.where(cells["age"] < 60, middle, old))


def _salary_band(cells: Cells) -> NDArray[np.bool_]:
    """Tell whether the salary lies in the band of the age: 50 to 100, 75 to 125, or 25 to 75 thousand."""
    return _between(cells["salary"], _by_age(cells, 50, 75, 25), _by_age(cells, 100, 125, 75))


def _by_education(cells: Cells) -> NDArray[np.bool_]:
    """Function 3: education from 0 to 1 when young, from 1 to 3 in the middle, from 2 to 4 when old."""
    level = cells["elevel"]
    return np.asarray((level >= _by_age(cells, 0, 1, 2)) & (level <= _by_age(cells, 1, 3, 4)))


def _by_education_and_salary(cells: Cells) -> NDArray[np.bool_]:
    """Function 4: as in function 3, but each side of the education has a band of salaries of its own."""
    inside = _by_education(cells)
    low = np.where(inside, _by_age(cells, 25, 50, 50), _by_age(cells, 50, 75, 25))
    high = np.where(inside, _by_age(cells, 75, 100, 100), _by_age(cells, 100, 125, 75))
    return _between(cells["salary"], low, high)


def _by_loan(cells: Cells) -> NDArray[np.bool_]:
    """Function 5: a band of loans, one where the salary lies in its band and another where it does not."""
    inside = _salary_band(cells)
    low = np.where(inside, _by_age(cells, 100, 200, 300), _by_age(cells, 200, 300, 100))
    return _between(cells["loan"], low, low + 200)


def _by_age_alone(cells: Cells) -> NDArray[np.bool_]:
    """Function 1: young or old."""
    return np.asarray((cells["age"] < 40) | (cells["age"] >= 60))


def _income_left(cells: Cells) -> NDArray[np.float64]:
    """Give what is left of the income beyond the loan and 10,000: function 4 of 2000 asks whether it is above 0."""
    return np.asarray(0.67 * (cells["salary"] + cells["commission"]) - 0.2 * cells["loan"] - 10 * _THOUSAND)


def _income_and_house_left(cells: Cells) -> NDArray[np.bool_]:
    """Function 5 of 2000: what is left with the equity of the house counted in."""
    equity = 0.1 * cells["hvalue"] * np.maximum(cells["hyears"] - 20, 0)
    return np.asarray(_income_left(cells) + 0.2 * equity > 0)


_FUNCTIONS = {
    1993: {1: _by_age_alone, 2: _salary_band, 3: _by_education, 4: _by_education_and_salary, 5: _by_loan},
    2000: {
        1: _by_age_alone,
        2: _salary_band,
        3: _by_education_and_salary,
        4: lambda cells: _income_left(cells) > 0,
        5: _income_and_house_left,
    },
}
