"""A hospital's visits with several rows per patient, made up: nobody in it exists."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.datasets.hospital import ILLNESS_SHARES, ILLNESSES, JOBS

_PATIENTS, _MOST, _YEARS, _MOVING = 2000, 6, 3, 0.08
"""Patients, the most visits of one, years in which they come, and how often somebody moves between two visits."""


def visits(patients: int = _PATIENTS, *, seed: int = 1) -> Any:
    """An Arrow table of made-up visits: patient, insurance, age, sex, zip, job, illness, nights.

    A patient's visits lie within a few years, so that age and place may differ from one to the next. Rows stand in no
    order.

    >>> table = visits(1000)
    >>> table.column_names
    ['patient', 'insurance', 'age', 'sex', 'zip', 'job', 'illness', 'nights']
    >>> len(table.column("patient").unique()), table.num_rows
    (1000, 1904)
    """
    draw = np.random.default_rng(seed)
    times = np.minimum(1 + draw.poisson(0.9, patients), _MOST)
    person = np.repeat(np.arange(patients), times)
    rows = len(person)
    born = np.clip(draw.normal(46, 21, patients), 0, 99 - _YEARS)
    ages = (born[person] + draw.random(rows) * _YEARS).astype(int)
    jobs = draw.choice(JOBS[:-2], patients)[person]
    moved = np.cumsum(draw.random(rows) < _MOVING * (np.diff(person, prepend=-1) == 0))
    names = np.array([f"Patient {number:05d}" for number in draw.permutation(patients)])
    shuffled = draw.permutation(rows)
    columns = {
        "patient": names[person],
        "insurance": np.array([f"756-{number:07d}" for number in draw.permutation(10**6)[:patients]])[person],
        "age": ages,
        "sex": draw.choice(["f", "m"], patients)[person],
        "zip": np.array([f"{4000 + 5 * code:04d}" for code in range(160)])[_places(draw, person, moved)],
        "job": np.where(ages > 66, "retired", np.where(ages < 20, "student", jobs)),
        "illness": draw.choice(ILLNESSES, rows, p=ILLNESS_SHARES),
        "nights": draw.poisson(3, rows),
    }
    return pa.table({name: pa.array(cells[shuffled]) for name, cells in columns.items()})


def _places(draw: np.random.Generator, person: Any, moved: Any) -> Any:
    """A place for each stay: the same until somebody moves."""
    stay = np.unique(person.astype(np.int64) * (int(moved.max(initial=0)) + 1) + moved, return_inverse=True)[1]
    return draw.integers(0, 160, int(stay.max(initial=-1)) + 1)[stay]


def visits_policy() -> Path:
    """The path of a commented policy for it."""
    return Path(__file__).parent / "hospital_files" / "visits.toml"
