"""Two tables made by hand, and data where values follow quasi-identifiers or do not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.definetti import Original
from sfumato.core.classes import count_values
from sfumato.encode import encode_column, value_totals
from sfumato.split import TwoTables
from sfumato.table import Table

Columns = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, eq=False)
class Made:
    """Two tables and the rows they were made of."""

    tables: TwoTables
    original: Original


Makes = Callable[..., Made]


@pytest.fixture(scope="session")
def makes() -> Makes:
    """Makes two tables of rows with a class each; rows of class -1 are not published."""

    def make(quasi: Columns, sensitive: Columns, owner: Sequence[int]) -> Made:
        rows = Table(pa.table({**quasi, **sensitive}))
        coded = {name: encode_column(rows, name) for name in (*quasi, *sensitive)}
        kept = np.flatnonzero(np.asarray(owner) >= 0)
        group = np.asarray(owner, dtype=np.int64)[kept]
        shown = {name: replace(column, codes=column.codes[kept]) for name, column in coded.items()}
        bags = {
            name: count_values(
                group, shown[name].codes.astype(np.int64), np.ones_like(group), value_totals(shown[name])
            )
            for name in sensitive
        }
        tables = TwoTables(tuple(shown[name] for name in quasi), group, np.bincount(group), bags)
        return Made(tables, Original(coded))

    return make


@pytest.fixture(scope="session")
def paper(makes: Makes) -> Made:
    """Tables 5 and 6 of the paper, made of Table 1."""
    quasi = {
        "job": ["clerk", "manager", "clerk", "factory worker", "factory worker", "technical supporter"],
        "birth": ["1975", "1955", "1955", "1955", "1975", "1940"],
        "postcode": ["4350", "4350", "5432", "5432", "4350", "4350"],
    }
    return makes(quasi, {"illness": ["HIV", "flu", "flu", "fever", "flu", "fever"]}, [0, 0, 1, 1, 2, 2])


@pytest.fixture(scope="session")
def planted(makes: Makes) -> Makes:
    """Makes rows in classes of three, mixed at random, where a share of the illnesses follows the job.

    There are as many zips as rows unless `zips` says otherwise, so that nobody looks like anybody else.
    """

    def make(rows: int = 900, *, follows: float = 1.0, zips: int | None = None, seed: int = 1) -> Made:
        draw = np.random.default_rng(seed)
        job = draw.integers(0, 6, rows)
        illness = np.where(draw.random(rows) < follows, job, draw.integers(0, 6, rows))
        zip_code = draw.integers(0, zips, rows) if zips else draw.permutation(rows)
        owner = (np.arange(rows) // 3)[draw.permutation(rows)]
        quasi = {"job": [f"job {one}" for one in job], "zip": [str(one) for one in zip_code]}
        return makes(quasi, {"illness": [f"illness {one}" for one in illness]}, owner.tolist())

    return make
