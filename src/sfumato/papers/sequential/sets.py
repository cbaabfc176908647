"""Set A and Set B of the sequential-release paper: two departments, each with its columns of the same people."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.papers.rows import Rows

EARLIER, CLASS, SPLIT = "immigration", "salary-class", "split"
SHARED = ("marital-status", "relationship", "sex")
IMMIGRATION = (*SHARED, "native-country", "race")
CATEGORICAL = (*SHARED, "education", "occupation", "workclass")
"""Those of the taxation department, as the paper ranks them by what they say of the class."""
CONTINUOUS: Mapping[str, tuple[int, int]] = {
    "age": (17, 90),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4356),
    "education-num": (1, 16),
    "fnlwgt": (13_492, 1_490_400),
    "hours-per-week": (1, 99),
}
"""With the ranges of the paper's Table 2."""
FIVE = ("native-country", "workclass")
"""Taxonomies of five levels in the paper, which have a file of their own."""


@dataclass(frozen=True)
class DataSet:
    """One of the paper's two: the attributes of T1, and its ranking of them by what they say of the class."""

    name: str
    attributes: tuple[str, ...]
    ranked: tuple[str, ...]

    @property
    def continuous(self) -> tuple[str, ...]:
        """The attributes without taxonomy."""
        return tuple(name for name in self.attributes if name in CONTINUOUS)


SET_A = DataSet("A", CATEGORICAL, CATEGORICAL)
SET_B = DataSet(
    "B",
    (*CATEGORICAL, *CONTINUOUS),
    ("capital-gain", "age", "marital-status", "education-num", "relationship", "hours-per-week", "sex"),
)
SETS = {one.name: one for one in (SET_A, SET_B)}


@dataclass(frozen=True)
class People:
    """Every column of everybody, and the taxonomy of each categorical one: a file, or ``"suppress"``."""

    frame: Any
    hierarchies: Mapping[str, str]

    @classmethod
    def of(cls, rows: Rows) -> "People":
        """The real people from their file, or so many made-up ones."""
        if rows.folder is None:
            return cls(made_up(rows.made_up), _made_up_hierarchies())
        paths = {name: _taxonomy(rows.folder / "hierarchies", name) for name in (*CATEGORICAL, *IMMIGRATION)}
        return cls(pyarrow.csv.read_csv(rows.folder / "adult.csv"), paths)

    @property
    def lesser(self) -> list[str]:
        """The columns whose taxonomy is of fewer levels than the paper's."""
        wanted = {name: f"{name}-5.csv" if name in FIVE else f"{name}.csv" for name in self.hierarchies}
        return [name for name, path in self.hierarchies.items() if Path(path).name != wanted[name]]

    def taxation(self, data: DataSet) -> Any:
        """T1: the attributes of a set, the class, and which half of the data a row is of."""
        return self.frame.select([*data.attributes, CLASS, SPLIT])

    @property
    def immigration(self) -> Any:
        """T2, as it was published: unmodified."""
        return self.frame.select(IMMIGRATION)

    @cached_property
    def paths(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """The way of every label to the root, by column."""
        return {name: dict(self._paths(name)) for name in self.hierarchies}

    def _paths(self, column: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        if self.hierarchies[column] == "suppress":
            yield from ((value, (value, "*")) for value in self.frame[column].unique().to_pylist())
            yield "*", ("*",)
            return
        with Path(self.hierarchies[column]).open(encoding="utf-8", newline="") as file:
            for line in csv.reader(file):
                yield from ((label, tuple(line[place:])) for place, label in enumerate(line))


def _taxonomy(folder: Path, name: str) -> str:
    """The file of a column, that of five levels where there is one; what ``make adult`` makes has not all of them."""
    names = (f"{name}-5.csv", f"{name}.csv") if name in FIVE else (f"{name}.csv",)
    return next((str(folder / file) for file in names if (folder / file).is_file()), "suppress")


def write(frame: Any, path: Path) -> Path:
    """The frame as a CSV file, as anybody would publish it."""
    pyarrow.csv.write_csv(_plain(frame), path)
    return path


def _plain(frame: Any) -> Any:
    """Without dictionaries, which CSV has no word for."""
    fields = [pa.field(one.name, getattr(one.type, "value_type", one.type)) for one in frame.schema]
    return frame.cast(pa.schema(fields))


def made_up(rows: int, seed: int = 1) -> Any:
    """Made-up people with all columns: the relationship follows marital status and sex, the rest is drawn by itself.

    >>> made_up(3).num_columns
    16
    """
    draw = np.random.default_rng(seed)
    frame = _plain(synthetic_adult(rows, seed=seed))
    statuses, sexes = (frame[name].to_pylist() for name in ("marital-status", "sex"))
    spare = {
        "relationship": pa.array(_relationships(statuses, sexes, draw)),
        "capital-gain": pa.array(np.where(draw.random(rows) < 0.1, draw.integers(1, 99_999, rows), 0)),
        "capital-loss": pa.array(np.where(draw.random(rows) < 0.05, draw.integers(1, 4356, rows), 0)),
        "education-num": pa.array(draw.integers(1, 17, rows)),
        "fnlwgt": pa.array(draw.integers(13_492, 1_490_400, rows)),
        "hours-per-week": pa.array(np.clip(draw.normal(40, 10, rows), 1, 99).astype(np.int64)),
        SPLIT: pa.array(np.where(draw.random(rows) < 2 / 3, "train", "test")),
    }
    for name, column in spare.items():
        frame = frame.append_column(name, column)
    return frame


def _relationships(statuses: Sequence[str], sexes: Sequence[str], draw: np.random.Generator) -> list[str]:
    """Who is married is a husband or a wife; others are anything else."""
    spouse = {"Male": "Husband", "Female": "Wife"}
    others = draw.choice(["Own-child", "Unmarried", "Not-in-family", "Other-relative"], len(statuses)).tolist()
    lines = zip(statuses, sexes, others, strict=True)
    return [spouse[sex] if status == "Married-civ-spouse" else other for status, sex, other in lines]


def _made_up_hierarchies() -> dict[str, str]:
    columns = synthetic_adult_policy()["columns"]
    names = dict.fromkeys((*CATEGORICAL, *IMMIGRATION))
    return {name: columns[name]["hierarchy"] if name in columns else "suppress" for name in names}
