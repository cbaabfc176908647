"""People like those of the Adult table, made from nothing: nobody in it exists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets import adult_shares as shares

Codes = NDArray[np.int8]


def synthetic_adult(rows: int = 45_222, *, seed: int = 1) -> Any:
    """An Arrow table with the nine columns that ARX's Adult has, and shares that resemble Adult's.

    Education follows age, occupation education, marital status age, sex marital status, country race, and
    salary all of them; a policy for it is `synthetic_adult_policy`.

    >>> synthetic_adult(3).column_names[:5]
    ['sex', 'age', 'race', 'marital-status', 'education']
    """
    draw = np.random.default_rng(seed)
    ages = _ages(rows, draw)
    stage = np.digitize(ages, shares.STAGES)
    schooling = _given(stage, shares.EDUCATION, draw)
    married = _given(stage, shares.MARITAL, draw)
    sexes = _given(married, shares.SEX, draw)
    races = _given(np.zeros(rows, np.int8), [shares.RACE.values()], draw)
    jobs = _given(_tiers()[schooling], shares.OCCUPATION, draw)
    columns = {
        "sex": _text(sexes, shares.SEXES),
        "age": pa.array(ages),
        "race": _text(races, shares.RACE),
        "marital-status": _text(married, shares.MARITAL_STATUSES),
        "education": _text(schooling, shares.EDUCATIONS),
        "native-country": _text(_given(races, shares.COUNTRY, draw), shares.COUNTRIES),
        "workclass": _text(_given(stage, shares.WORKCLASS, draw), shares.WORKCLASSES),
        "occupation": _text(jobs, shares.OCCUPATIONS),
        "salary-class": _text(_salaries(stage, schooling, married, sexes, draw=draw), shares.SALARIES),
    }
    return pa.table(columns)


def _ages(rows: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """From 17 to 90, most around 35, those above 90 counted as 90."""
    return np.minimum(17 + draw.gamma(2.6, 8.3, rows), 90).astype(np.int64)


def _given(groups: NDArray[Any], tables: Sequence[Any], draw: np.random.Generator) -> Codes:
    """A value per row, by the shares of the row's group."""
    codes = np.empty(len(groups), dtype=np.int8)
    for group, table in enumerate(tables):
        mine = np.flatnonzero(groups == group)
        weights = np.array(list(table), dtype=float)
        codes[mine] = draw.choice(len(weights), len(mine), p=weights / weights.sum())
    return codes


def _tiers() -> Codes:
    """How far each education goes: 0 none finished, 1 high school, 2 some college, 3 a degree."""
    return np.array(list(shares.TIER), dtype=np.int8)


def _salaries(*features: NDArray[Any], draw: np.random.Generator) -> Codes:
    """1 for more than 50K: likelier with age, education and a spouse, and as it was then, for men."""
    stage, schooling, married, sexes = features
    spouse = np.isin(married, (0, 1))
    odds = -6.2 + np.array(shares.STAGE_ODDS)[stage] + 0.95 * _tiers()[schooling] + 2.2 * spouse + 0.3 * sexes
    more: Codes = (draw.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(np.int8)
    return more


def _text(codes: Codes, values: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(values)))
