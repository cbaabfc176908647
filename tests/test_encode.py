"""Encoding: equal rows become one tuple with a count, and nothing depends on the order of rows."""

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.encode import EncodedTable, encode, encode_column
from sfumato.policy import load
from sfumato.table import Table, from_frame
from sfumato.testing import random_case

POLICY = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": "suppress"},
        "sex": {"role": "quasi", "hierarchy": "suppress", "weight": 3},
        "illness": {"role": "sensitive"},
        "income": {"role": "sensitive"},
        "person": {"role": "individual"},
    },
    "privacy": [{"model": "distinct-l-diversity", "column": "illness", "l": 2}],
}


def column(values: Any) -> Table:
    """A table of one column."""
    return Table(pa.table({"x": values}), kind="arrow", native=None)


def encoded(rows: list[tuple[Any, ...]]) -> EncodedTable:
    """Rows of age, sex, illness, income and person."""
    cells = zip(*rows, strict=True)
    table = pa.table({name: list(part) for name, part in zip(POLICY["columns"], cells, strict=True)})
    rules = load(POLICY)
    return encode(from_frame(table, rules), rules)


ROWS = [
    (30, "f", "flu", 1, "ann"),
    (4, "m", "HIV", 2, "bob"),
    (30, "f", "flu", 3, "ann"),
    (None, "m", None, 4, "eve"),
]


def test_tuples_count_what_is_looked_at() -> None:
    """A sensitive column that no model looks at splits no tuple; individuals do."""
    found = encoded(ROWS)
    assert found.names == ("age", "sex")
    assert sorted(found.tuples.counts.tolist()) == [1, 1, 2]
    assert set(found.tuples.others) == {"illness", "person"}
    assert set(found.domains) == {"illness", "person"}
    assert set(found.sensitive) == {"illness", "income"}
    assert [attribute.weight for attribute in found.quasi] == [1.0, 3.0]


def test_domains_are_of_the_whole_table() -> None:
    """Every value counts, NULL as one of them and last."""
    domain = encoded(ROWS).domains["illness"]
    assert domain.values == ("HIV", "flu", None)
    assert domain.totals.tolist() == [1, 2, 1]


@pytest.mark.parametrize("seed", range(20))
def test_tuples_are_the_rows(seed: int, tmp_path: Any) -> None:
    """Taken apart, the tuples with their counts are the table's rows, as far as the search looks at them."""
    case = random_case(Random(f"encode {seed}"))
    rules = case.policy(tmp_path)
    found = encode(from_frame(case.arrow(), rules), rules)
    texts = [attribute.column.texts for attribute in found.quasi] + [
        found.domains[name].values for name in found.tuples.others
    ]
    codes = [*found.tuples.quasi, *found.tuples.others.values()]
    parts = [[text[i] for i in part] for text, part in zip(texts, codes, strict=True)]
    counted = dict(zip(zip(*parts, strict=True), found.tuples.counts.tolist(), strict=True))
    names = [*found.names, *found.tuples.others]
    assert counted == Counter(tuple(row[name] for name in names) for row in case.rows)


def test_the_order_of_rows_does_not_show() -> None:
    """Shuffled rows give the same tuples with the same codes."""
    one, other = encoded(ROWS), encoded(ROWS[::-1])
    assert one.tuples.counts.tolist() == other.tuples.counts.tolist()
    for left, right in zip(one.tuples.quasi, other.tuples.quasi, strict=True):
        assert left.tolist() == right.tolist()


def test_codes_are_in_text_order_with_null_last() -> None:
    """Values are numbered as they sort as text, and keep their type."""
    found = encode_column(column([10, None, 9, 10]), "x")
    assert found.texts == ("10", "9", None)
    assert found.codes.tolist() == [0, 2, 1, 0]
    assert found.values.to_pylist() == [10, 9, None]


def test_a_dictionary_with_strays() -> None:
    """Values of a dictionary that no row has are left out, and one that is listed twice is one value."""
    array = pa.DictionaryArray.from_arrays(pa.array([0, 3, 1, None]), pa.array(["b", "a", "never", "b"]))
    found = encode_column(column(array), "x")
    assert found.texts == ("a", "b", None)
    assert found.codes.tolist() == [1, 1, 0, 2]


def test_a_null_inside_a_dictionary() -> None:
    """NULL as a value of the dictionary is the same NULL as a missing index."""
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    found = encode_column(column(array), "x")
    assert found.texts == ("a", None)
    assert found.codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "ranks"),
    [(["9", "10", "1e1"], [1, 2, 0]), (["9", "x", "10"], None), (["9", None, "10"], None), (["9", "nan", "1"], None)],
)
def test_numbers_have_an_order(values: list[str | None], ranks: list[int] | None) -> None:
    """Values that are all numbers are ranked as numbers, not as text; others have no order of their own."""
    rows = [(1, "f", value, 1, str(i)) for i, value in enumerate(values)]
    found = encoded(rows).domains["illness"].ranks
    assert (None if found is None else found.tolist()) == ranks
