"""Columns as numbers, dates and categories: what is told, what is an atom, and what too few hold."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import DataError, Policy
from sfumato.condense.mixed_columns import NUMBER, UNTOLD, MixedTable, mix_columns
from sfumato.table import table_from

K3 = [{"model": "k-anonymity", "k": 3}]


def mix(columns: dict[str, list[Any]], k: int = 3, **rules: Any) -> MixedTable:
    """Mix a small table under a policy of these columns, plain where nothing is said."""
    roles = {name: rules.get(name, {"role": "plain"}) for name in columns}
    policy = Policy.read({"columns": roles, "privacy": K3, "publish": {"form": "synthetic"}})
    return mix_columns(table_from(pa.table(columns), policy), policy, k)


def test_kinds_are_found() -> None:
    """Numbers, dates, codes with leading zeros and words are told apart."""
    table = mix(
        {
            "age": [1, 2, 3, 4],
            "price": ["1.50", "2.25", "3.00", "4.75"],
            "born": ["1990-01-01", "1991-02-03", "1992-03-04", "1993-05-06"],
            "zip": ["0123", "0124", "0123", "0123"],
            "sex": ["f", "f", "f", "m"],
        }
    )
    assert [column.kind for column in table.columns] == ["number", "number", "date", "category", "category"]


def test_rare_categories_are_not_told() -> None:
    """A value of one row among three others is nobody's to tell: the row has no code, and no label."""
    column = mix({"sex": ["f", "f", "f", "m"]}).columns[0]
    assert column.labels.to_pylist() == ["f"]
    assert column.codes.tolist() == [0, 0, 0, UNTOLD]


def test_rare_categories_that_are_many_become_a_star() -> None:
    """Rare values that k rows hold together are told as * where there is no hierarchy."""
    column = mix({"town": ["Bern"] * 3 + ["Thun", "Biel", "Chur"]}).columns[0]
    assert column.labels.to_pylist() == ["Bern", "*"]
    assert column.codes.tolist() == [0, 0, 0, 1, 1, 1]


def test_rare_categories_climb_their_hierarchy(tmp_path: Any) -> None:
    """Rare values are told by the lowest label that k such rows share; a label of fewer rows goes on to the root."""
    lines = ["cook,craft,*", "smith,craft,*", "tailor,craft,*", "judge,law,*", "nurse,care,*"]
    (tmp_path / "job.csv").write_text("\n".join(lines) + "\n")
    jobs = ["nurse"] * 3 + ["cook", "smith", "tailor", "judge"]
    rules = {"role": "quasi", "hierarchy": str(tmp_path / "job.csv")}
    column = mix({"job": jobs}, job=rules).columns[0]
    assert column.labels.to_pylist() == ["nurse", "craft"]
    assert column.codes.tolist() == [0, 0, 0, 1, 1, 1, UNTOLD]


def test_persons_are_counted_not_rows() -> None:
    """Three rows of one person do not make a value that three hold."""
    table = mix(
        {"who": ["a", "a", "a", "b", "c", "d"], "ill": ["x", "x", "x", "y", "y", "y"]}, who={"role": "individual"}
    )
    assert [column.name for column in table.columns] == ["ill"]
    assert table.columns[0].codes.tolist() == [UNTOLD] * 3 + [0] * 3


def test_atoms_and_null_are_codes() -> None:
    """What many rows share exactly is an atom, what is missing is one, and all else a number."""
    gains = [0] * 40 + [None] * 4 + list(range(100, 156))
    column = mix({"gain": gains}).columns[0]
    assert column.labels.to_pylist() == [None, 0, None]
    assert np.bincount(column.codes).tolist() == [56, 40, 4]


def test_listed_atoms_replace_found_ones() -> None:
    """A policy that lists atoms has these and no others; an empty list has none."""
    hours = [40] * 50 + list(range(1, 51))
    assert mix({"hours": hours}, hours={"role": "plain", "atoms": []}).columns[0].width == 1
    listed = mix({"hours": [40] * 50 + [7] * 3 + list(range(50))}, hours={"role": "plain", "atoms": [7]})
    assert listed.columns[0].labels.to_pylist() == [None, 7]


def test_few_missing_values_are_not_told() -> None:
    """That one value is missing is not told: fewer than k would stand behind it."""
    column = mix({"age": [None, 2, 3, 4, 5, 6, 7, 8]}).columns[0]
    assert column.codes.tolist() == [UNTOLD] + [NUMBER] * 7
    assert np.isnan(column.numbers[0]) if column.numbers is not None else False


def test_bounds() -> None:
    """Declared bounds hold, 0 where nothing is negative, and values outside of them are an error that quotes none."""
    assert (mix({"age": [1, 2, 3]}).columns[0].low, mix({"age": [-1, 2, 3]}).columns[0].low < -1e9) == (0.0, True)
    bounded = mix({"age": [1, 2, 3]}, age={"role": "plain", "bounds": [0, 120]}).columns[0]
    assert (bounded.low, bounded.high) == (0.0, 120.0)
    domain = {"role": "quasi", "hierarchy": {"ranges": True, "domain": [0, 99]}}
    assert mix({"age": [1, 2, 3]}, age=domain).columns[0].high == 99
    with pytest.raises(DataError, match="'age' has 1 different values outside of its bounds") as found:
        mix({"age": [1, 2, 333]}, age={"role": "plain", "bounds": [0, 120]})
    assert "333" not in str(found.value)
    dates = {"role": "plain", "bounds": ["2020-01-01", "2020-12-31"]}
    assert mix({"day": ["2020-03-01", "2020-04-01", "2020-05-01"]}, day=dates).columns[0].kind == "date"


def test_a_kind_that_values_do_not_have_is_an_error() -> None:
    """What is to be a number and is none is named, since the column is published."""
    with pytest.raises(DataError, match="column 'size' is to hold numbers, and 'large' is none"):
        mix({"size": ["1", "large", "3"]}, size={"role": "plain", "kind": "number"})
    with pytest.raises(DataError, match=r"column 'day' is to hold dates, .* or say how .* hierarchy = .*format"):
        mix({"day": ["1", "large", "3"]}, day={"role": "plain", "kind": "date"})
    written = {"role": "quasi", "kind": "date", "hierarchy": {"dates": ["day"], "format": "%d.%m.%Y"}}
    assert mix({"day": ["24.12.2024", "25.12.2024", "26.12.2024"]}, day=written).columns[0].kind == "date"
    with pytest.raises(DataError, match=r"its format, which says '%d\.%m\.%Y'"):
        mix({"day": ["24.12.2024", "2024-12-25", "26.12.2024"]}, day=written)


def test_strata_number_combinations() -> None:
    """Rows are of one stratum where all columns of strata agree; these columns are told as they are."""
    columns = {"arm": ["a", "a", "b", "b"] * 3, "visit": [1, 2, 1, 1] * 3, "lab": list(range(12))}
    policy = Policy.read(
        {
            "columns": {name: {"role": "plain"} for name in columns},
            "privacy": K3,
            "publish": {"form": "synthetic"},
            "algorithm": {"strata": ["arm", "visit"]},
        }
    )
    table = mix_columns(table_from(pa.table(columns), policy), policy, 3)
    assert np.bincount(table.strata).tolist() == [3, 3, 6]
    assert [column.kind for column in table.columns] == ["category", "category", "number"]
