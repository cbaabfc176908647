"""A table and a policy file for comparisons."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

POLICY = """\
# What is published of the visits.
[data]
source = "data/visits.csv"    # as it comes from the ward

[columns]
zip     = { role = "quasi", hierarchy = { mask = "right" } }   # where they live
sex     = { role = "quasi", hierarchy = "trees/sex.csv" }
illness = { role = "sensitive" }
note    = { role = "identifier" }

[[privacy]]   # the promise
model = "k-anonymity"
k = 2         # two at least

[[privacy]]
model = "distinct-l-diversity"
column = "illness"
l = 2

[algorithm]
name = "optimal"    # one level for a column
metric = "ncp"
"""


@pytest.fixture(scope="session")
def visits() -> Any:
    """Two hundred visits, drawn once for all."""
    draw = random.Random(7)
    return pa.table(
        {
            "zip": [str(draw.randint(4300, 4360)) for _ in range(200)],
            "sex": [draw.choice("fm") for _ in range(200)],
            "illness": [draw.choice(["flu", "cold", "HIV"]) for _ in range(200)],
            "note": [f"secret {row}" for row in range(200)],
        }
    )


@pytest.fixture
def project(tmp_path: Path, visits: Any) -> Path:
    """A folder with the policy, its table and its hierarchy; gives the path of the policy."""
    from pyarrow import csv

    for folder in ("data", "trees"):
        (tmp_path / "project" / folder).mkdir(parents=True)
    csv.write_csv(visits, tmp_path / "project" / "data" / "visits.csv")
    (tmp_path / "project" / "trees" / "sex.csv").write_text("f,*\nm,*\n")
    (tmp_path / "project" / "policy.toml").write_text(POLICY)
    return tmp_path / "project" / "policy.toml"
