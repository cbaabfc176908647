"""Progressive local recoding as Wong, Li, Fu and Wang print it: Tables 8 to 11, and the entropies of section 4.1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.encode import encode
from sfumato.policy import load
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive import UnassignedRows, lemma_5_limit, loops
from sfumato.recode.local.start import pose_problem
from sfumato.table import from_frame

Row = tuple[str, ...]

NAMES = ("gender", "birth", "postcode", "sens")
TABLE_8A = [
    ("male", "May 1965", "4351", "n"),
    ("male", "Jun 1965", "4351", "c"),
    ("male", "Jul 1965", "4351", "n"),
    ("male", "Aug 1965", "4352", "n"),
]
TABLE_9C = [
    ("male", "1965", "4351", "n"),
    ("male", "1965", "4351", "c"),
    ("male", "1965", "435*", "n"),
    ("male", "1965", "435*", "n"),
]
TABLE_10A = [
    ("male", "1965", "4351", "n"),
    ("male", "1965", "4351", "c"),
    ("male", "1965", "4351", "n"),
    ("male", "1965", "4352", "n"),
    ("male", "1965", "4363", "n"),
    ("male", "1965", "4374", "c"),
]
BY_YEAR = {"dates": ["year"], "format": "%b %Y"}
OF_YEAR = {"dates": ["decade"], "format": "%Y"}


def document(birth: object = BY_YEAR) -> dict[str, Any]:
    """(0.5, 2)-anonymity for the value c by progressive local recoding, nothing improved afterwards."""
    rule = {"model": "alpha-k-anonymity", "column": "sens", "values": ["c"], "alpha": 0.5, "k": 2}
    return {
        "columns": {
            "gender": {"role": "quasi", "hierarchy": "suppress"},
            "birth": {"role": "quasi", "hierarchy": birth},
            "postcode": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "sens": {"role": "sensitive"},
        },
        "privacy": [rule],
        "algorithm": {"name": "progressive", "improve": False},
    }


def table(rows: Sequence[Row], names: Row = NAMES) -> Any:
    """Rows as an Arrow table."""
    return pa.table({name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)})


def problem(rows: Sequence[Row], birth: object = BY_YEAR) -> Problem:
    """The rows as the algorithm sees them."""
    policy = load(document(birth))
    return pose_problem(encode(from_frame(table(rows), policy), policy), policy)


def published(rows: Sequence[Row], birth: object = BY_YEAR) -> list[Row]:
    """What is released of the rows, sorted."""
    release = anonymize(table(rows), document(birth))
    return sorted(tuple(row[name] for name in NAMES) for row in release.table.to_pylist())


def entropies(column: Sequence[str]) -> list[float]:
    """The entropies of three attributes of which one has these values and the others one value each."""
    rows = [("male", "1965", value, "n") for value in column]
    return [float(entropy) for entropy in UnassignedRows.from_problem(problem(rows, "suppress")).entropies()]


def test_table_9_is_what_is_published_of_table_8() -> None:
    """Of Table 8 (a) comes Table 9 (c): the trunk keeps its postcode, the stub shares 435* with the last row."""
    assert published(TABLE_8A) == sorted(TABLE_9C)


def test_table_9_step_by_step() -> None:
    """Birth climbs first; then a trunk of two leaves, one of them c; the stub and the last row stay, as in (b)."""
    steps = list(loops(problem(TABLE_8A)))
    assert [step.unassigned.levels for step in steps] == [(0, 0, 0), (0, 1, 0), (0, 1, 1)]
    assert [[int(parts.rows.sum()) for parts in step.removed] for step in steps] == [[0, 0], [2, 0], [2]]
    assert sorted(steps[1].unassigned.partition.sizes.tolist()) == [1, 1]


def test_table_10_allows_two_rows_more() -> None:
    """Lemma 5 in Table 10: when the trunk has left, 4 rows with one c are left, and 4 - 1 / 0.5 = 2 may leave."""
    start = problem(TABLE_10A, OF_YEAR)
    first = next(loops(start))
    whole = start.count_one_class(first.unassigned.partition.tuples, first.unassigned.partition.rows)
    assert [int(parts.rows.sum()) for parts in first.removed] == [2, 0]
    assert whole.rows == 4
    assert lemma_5_limit(start.requirement.models, whole) == 2


def test_table_10_step_by_step() -> None:
    """Once the postcode has climbed the two rows of 435* leave, and the last two share 43** after one more level."""
    steps = list(loops(problem(TABLE_10A, OF_YEAR)))
    assert [step.unassigned.levels for step in steps] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert [int(np.sum([parts.rows.sum() for parts in step.removed])) for step in steps] == [2, 2, 2]


def test_table_10_as_published() -> None:
    """Rows 1 to 4 as in Table 10 (b); rows 5 and 6 with the postcode generalized once more."""
    first = [
        ("male", "1965", code, sens) for code, sens in [("4351", "n"), ("4351", "c"), ("435*", "n"), ("435*", "n")]
    ]
    last = [("male", "1965", "43**", sens) for sens in "nc"]
    assert published(TABLE_10A, OF_YEAR) == sorted(first + last)


def test_table_11_by_the_postcode_alone() -> None:
    """With the postcode as the only quasi-identifier Table 11 (b) comes out, as it does from the top down."""
    rules = document()
    rules["columns"] = {name: rules["columns"][name] for name in ("postcode", "sens")}
    release = anonymize(table([row[2:] for row in TABLE_8A], NAMES[2:]), rules)
    found = sorted((row["postcode"], row["sens"]) for row in release.table.to_pylist())
    assert found == sorted(row[2:] for row in TABLE_9C)


@pytest.mark.parametrize(
    ("column", "entropy"), [("0123456789", 3.32), ("01", 1.0), ("00001", 0.722)], ids=["ten", "two", "uneven"]
)
def test_entropies_of_section_4(column: str, entropy: float) -> None:
    """Ten even values have an entropy of 3.32, two even ones of 1, and two of 0.8 and 0.2 of 0.722."""
    assert entropies(column) == [0.0, 0.0, pytest.approx(entropy, abs=0.005)]
