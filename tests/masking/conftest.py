"""People with numbers, dates and jobs to be masked, and short policies for them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.masking import MaskedTable, mask_table
from sfumato.policy import Policy
from sfumato.table import Table

Masks = Callable[..., MaskedTable]


@pytest.fixture(scope="session")
def staff() -> Any:
    """Six hundred people: an age, a sex, a pay that goes with the age, hours, a job and a day of entry."""
    draw = np.random.default_rng(5)
    age = draw.integers(16, 96, 600)
    jobs = np.array(["cook", "smith", "clerk", "nurse"])[draw.choice(4, 600, p=[0.5, 0.3, 0.15, 0.05])]
    return pa.table(
        {
            "age": age,
            "sex": np.array(["f", "m"])[draw.integers(0, 2, 600)],
            "pay": np.round(30_000 + 500 * age + draw.normal(0, 4000, 600)).astype(np.int64),
            "hours": np.round(draw.normal(38, 5, 600), 1),
            "job": jobs,
            "since": pa.array((10_000 + draw.integers(0, 9000, 600)).astype(np.int32)).cast(pa.date32()),
        }
    )


@pytest.fixture(scope="session")
def masks() -> Masks:
    """Masks a table: the entry of each masked column by its name; all others are plain, but for a quasi-identifier."""

    def make(table: Any, seed: int | None = 1, **columns: dict[str, Any]) -> MaskedTable:
        entries = {name: {"role": "plain"} | columns.get(name, {}) for name in table.column_names}
        entries["$q"] = {"role": "quasi", "hierarchy": "suppress"}
        whole = table.append_column("$q", pa.array(["all"] * table.num_rows, pa.string()))
        search = {} if seed is None else {"seed": seed}
        rules = Policy.read({"columns": entries, "privacy": [{"model": "k-anonymity", "k": 1}], "algorithm": search})
        return mask_table(Table(whole), rules)

    return make
