"""A hospital's patients and its visits, made up: nobody in them exists."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

_FILES = Path(__file__).parent / "hospital_files"
_JOBS = ("nurse", "physician", "teacher", "lecturer", "electrician", "plumber", "driver", "clerk")
_ILLNESSES = ("flu", "bronchitis", "pneumonia", "gastritis", "ulcer", "fracture", "sprain", "HIV", "hepatitis")
_ILLNESS_SHARES = (0.24, 0.16, 0.1, 0.13, 0.08, 0.1, 0.11, 0.03, 0.05)
_MOST_VISITS = 6
_YEARS = 3
"""The years within which a patient's visits lie."""
_MOVING = 0.08
"""How often somebody moves between two visits."""


def hospital(rows: int = 4000, *, seed: int = 1) -> Any:
    """Make an Arrow table with one row per patient: patient, age, sex, zip, job, admitted, illness, nights.

    >>> hospital(3).column_names
    ['patient', 'age', 'sex', 'zip', 'job', 'admitted', 'illness', 'nights']
    """
    draw = np.random.default_rng(seed)
    ages = np.clip(draw.normal(46, 21, rows), 0, 99).astype(int)
    jobs = _jobs(ages, draw.choice(_JOBS, rows))
    days = np.datetime64("2025-01-01") + draw.integers(0, 365, rows)
    return pa.table(
        {
            "patient": pa.array([f"Patient {number:05d}" for number in draw.permutation(rows)]),
            "age": pa.array(ages),
            "sex": pa.array(draw.choice(["f", "m"], rows)),
            "zip": pa.array([f"{code:04d}" for code in 4000 + draw.choice(160, rows) * 5]),
            "job": pa.array(jobs.tolist()),
            "admitted": pa.array(days),
            "illness": pa.array(draw.choice(_ILLNESSES, rows, p=_ILLNESS_SHARES).tolist()),
            "nights": pa.array(draw.poisson(3, rows)),
        }
    )


def hospital_policy() -> Path:
    """Give the path of a commented policy for `hospital`."""
    return _FILES / "policy.toml"


def visits(patients: int = 2000, *, seed: int = 1) -> Any:
    """Make an Arrow table with several rows per patient: patient, insurance, age, sex, zip, job, illness, nights.

    A patient's visits lie within a few years, so that age and place may differ from one to the next. Rows are in no
    order.

    >>> table = visits(1000)
    >>> table.column_names
    ['patient', 'insurance', 'age', 'sex', 'zip', 'job', 'illness', 'nights']
    >>> len(table.column("patient").unique()), table.num_rows
    (1000, 1904)
    """
    draw = np.random.default_rng(seed)
    times = np.minimum(1 + draw.poisson(0.9, patients), _MOST_VISITS)
    person = np.repeat(np.arange(patients), times)
    rows = len(person)
    youngest = np.clip(draw.normal(46, 21, patients), 0, 99 - _YEARS)  # the age at the beginning of these years
    ages = (youngest[person] + draw.random(rows) * _YEARS).astype(int)
    jobs = draw.choice(_JOBS, patients)[person]
    moves = np.cumsum(draw.random(rows) < _MOVING * (np.diff(person, prepend=-1) == 0))
    names = np.array([f"Patient {number:05d}" for number in draw.permutation(patients)])
    shuffled = draw.permutation(rows)
    columns = {
        "patient": names[person],
        "insurance": np.array([f"756-{number:07d}" for number in draw.permutation(10**6)[:patients]])[person],
        "age": ages,
        "sex": draw.choice(["f", "m"], patients)[person],
        "zip": np.array([f"{4000 + 5 * code:04d}" for code in range(160)])[_places(draw, person, moves)],
        "job": _jobs(ages, jobs),
        "illness": draw.choice(_ILLNESSES, rows, p=_ILLNESS_SHARES),
        "nights": draw.poisson(3, rows),
    }
    return pa.table({name: pa.array(cells[shuffled]) for name, cells in columns.items()})


def visits_policy() -> Path:
    """Give the path of a commented policy for `visits`."""
    return _FILES / "visits.toml"


def _jobs(ages: Any, jobs: Any) -> Any:
    """Replace the jobs of the old and the young."""
    return np.where(ages > 66, "retired", np.where(ages < 20, "student", jobs))


def _places(draw: np.random.Generator, person: Any, moves: Any) -> Any:
    """Draw a place for each row: a person's is the same until the number of moves up to the row grows."""
    stay = np.unique(person.astype(np.int64) * (int(moves.max(initial=0)) + 1) + moves, return_inverse=True)[1]
    return draw.integers(0, 160, int(stay.max(initial=-1)) + 1)[stay]
