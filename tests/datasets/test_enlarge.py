"""Larger tables like a given one."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import enlarge, synthetic_adult

BASE: dict[str, list[Any]] = {
    "job": ["cook", "clerk", None],
    "age": [31, 62, 45],
    "zip": ["8001", "3012", "4051"],
    "sex": ["f", "m", "f"],
}


@pytest.mark.parametrize("changed", [0, 1, 2, 4])
def test_changes_at_most_as_asked(changed: int) -> None:
    """Each row is a row of the table with at most `changed` cells of another value, and some have as many."""
    table = pa.table(BASE)
    originals = table.to_pylist()
    rows = enlarge(table, 600, changed=changed).to_pylist()
    differences = [sum(row[name] != originals[number % 3][name] for name in BASE) for number, row in enumerate(rows)]
    assert max(differences) == changed


def test_every_attribute_is_chosen_alike() -> None:
    """No column is redrawn more often than another."""
    table = pa.table({name: list(range(1000)) for name in "abcdef"})
    large = enlarge(table, 60_000)
    original = np.arange(60_000) % 1000
    shares = [np.mean(large[name].to_numpy() != original) for name in table.column_names]
    assert np.allclose(shares, 2 / 6, atol=0.02)


def test_values_and_types_stay() -> None:
    """Only values of the table appear, numbers stay numbers, and NULL stays NULL."""
    large = enlarge(pa.table(BASE), 500)
    for name, values in BASE.items():
        assert set(large[name].to_pylist()) == set(values)
    assert large.schema.field("age").type == pa.int64()
    assert large.schema.field("job").type.value_type == pa.string()
    assert large["job"].null_count == large["job"].to_pylist().count(None)


def test_dictionaries_and_chunks() -> None:
    """A table of several chunks with dictionaries of their own gives what the plain one gives."""
    table = pa.table(BASE)
    parts = [table.slice(start, 1) for start in range(3)]
    coded = pa.concat_tables(part.set_column(0, "job", part["job"].dictionary_encode()) for part in parts)
    assert enlarge(coded, 50).to_pylist() == enlarge(table, 50).to_pylist()


def test_seed() -> None:
    """The same seed gives the same rows, another one others."""
    table = synthetic_adult(100)
    assert enlarge(table, 1000, seed=5).equals(enlarge(table, 1000, seed=5))
    assert not enlarge(table, 1000, seed=5).equals(enlarge(table, 1000, seed=6))


def test_fewer_rows() -> None:
    """It makes smaller tables as well, down to none."""
    assert enlarge(synthetic_adult(100), 7).num_rows == 7
    assert enlarge(synthetic_adult(100), 0).num_rows == 0


def test_small_in_memory() -> None:
    """A row costs a byte per attribute of text and eight of a number."""
    assert enlarge(synthetic_adult(1000), 100_000).nbytes < 100_000 * 17


@pytest.mark.parametrize(("rows", "changed"), [(3, 5), (3, -1), (0, 1)])
def test_refused(rows: int, changed: int) -> None:
    """More changes than columns, or no rows to copy, are refused."""
    with pytest.raises(ValueError, match=r"changed must be|cannot be enlarged"):
        enlarge(pa.table(BASE).slice(0, rows), 10, changed=changed)
