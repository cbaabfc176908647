"""A hospital's visits, made up: nobody in it exists."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

_ROWS = 4000
JOBS = (
    "nurse",
    "physician",
    "teacher",
    "lecturer",
    "electrician",
    "plumber",
    "driver",
    "clerk",
    "retired",
    "student",
)
ILLNESSES = (
    "flu",
    "bronchitis",
    "pneumonia",
    "gastritis",
    "ulcer",
    "fracture",
    "sprain",
    "HIV",
    "hepatitis",
)
ILLNESS_SHARES = (0.24, 0.16, 0.1, 0.13, 0.08, 0.1, 0.11, 0.03, 0.05)


def hospital(rows: int = _ROWS, *, seed: int = 1) -> Any:
    """An Arrow table of made-up patients: patient, age, sex, zip, job, admitted, illness, nights.

    >>> hospital(3).column_names
    ['patient', 'age', 'sex', 'zip', 'job', 'admitted', 'illness', 'nights']
    """
    draw = np.random.default_rng(seed)
    ages = np.clip(draw.normal(46, 21, rows), 0, 99).astype(int)
    jobs = draw.choice(JOBS[:-2], rows)
    jobs = np.where(ages > 66, "retired", np.where(ages < 20, "student", jobs))
    days = np.datetime64("2025-01-01") + draw.integers(0, 365, rows)
    return pa.table(
        {
            "patient": pa.array([f"Patient {number:05d}" for number in draw.permutation(rows)]),
            "age": pa.array(ages),
            "sex": pa.array(draw.choice(["f", "m"], rows)),
            "zip": pa.array([f"{code:04d}" for code in 4000 + draw.choice(160, rows) * 5]),
            "job": pa.array(jobs.tolist()),
            "admitted": pa.array(days),
            "illness": pa.array(draw.choice(ILLNESSES, rows, p=ILLNESS_SHARES).tolist()),
            "nights": pa.array(draw.poisson(3, rows)),
        }
    )


def hospital_policy() -> Path:
    """The path of a commented policy for it."""
    return Path(__file__).parent / "hospital_files" / "policy.toml"
