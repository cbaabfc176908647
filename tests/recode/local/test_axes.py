"""Sets as they are published: labels that list exactly their members, and what they cost."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.encode import QuasiIdentifier, encode
from sfumato.errors import HierarchyError
from sfumato.hierarchy.open_ended import read_set
from sfumato.policy import load
from sfumato.recode.local.axes import SetAxis
from sfumato.table import from_frame

Values = list[str | None]

cells = st.none() | st.text('ab,{}\\ *"', max_size=4) | st.sampled_from(["NULL", "*", "{a, b}"])


def attribute(values: Values) -> QuasiIdentifier:
    """A column of sets."""
    document = {
        "columns": {"x": {"role": "quasi", "hierarchy": "sets"}},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    policy = load(document)
    return encode(from_frame(pa.table({"x": pa.array(values, pa.string())}), policy), policy).quasi[0]


def hull(axis: SetAxis, members: Values) -> Any:
    """The hull of some values."""
    leaves = [axis.attribute.hierarchy.labels[0].index(value) for value in members]
    return np.bitwise_or.reduce(axis.single[leaves], axis=0)[None]


@settings(deadline=None, max_examples=80)  # a machine may be busy
@given(st.lists(cells, min_size=1, max_size=12), st.data())
def test_labels_list_their_members(values: Values, data: st.DataObject) -> None:
    """A label reads back as its members, except that all that are published are any; its loss counts the others."""
    axis = SetAxis(attribute(values), 0.5)
    members = data.draw(st.lists(st.sampled_from(values), min_size=1))
    shown = axis.label_hulls(np.concatenate([hull(axis, members), hull(axis, values)]))
    different, known = set(values), set(members)
    text, loss = shown.texts[shown.codes[0]], shown.loss[shown.codes[0]]
    if known == different and len(different) > 1:
        assert text == "*"
        assert read_set("*") == ()
    else:
        assert set(read_set(text)) == known
    share = (len(known) - 1) / max(len(different) - 1, 1)
    assert loss == pytest.approx(share)
    assert axis.cell_costs(hull(axis, members)).tolist() == [pytest.approx(share / 2)]
    assert axis.widths(hull(axis, members)).tolist() == [pytest.approx(share)]


@pytest.mark.parametrize("width", [62, 63, 64, 127, 300])
def test_many_values(width: int) -> None:
    """Sets of more values than a machine word has bits are told apart, joined and listed like others."""
    values: Values = [f"v{i:03}" for i in range(width)]
    axis = SetAxis(attribute(values), 1.0)
    hulls = np.concatenate([hull(axis, values[start::7]) for start in range(7)])
    shown = axis.label_hulls(hulls)
    for start in range(7):
        assert list(read_set(shown.texts[shown.codes[start]])) == values[start::7]
    assert axis.widths(np.bitwise_or.reduce(hulls, axis=0)[None]).tolist() == [1.0]
    assert axis.label_hulls(hull(axis, values)).texts == ("*",)


def test_frequent_values_come_first() -> None:
    """Values stand in the order of their frequency, equally frequent ones in that of their text."""
    axis = SetAxis(attribute(["c", "a", "b", "b", None, "c", "b"]), 1.0)
    order = [axis.attribute.hierarchy.labels[0][leaf] for leaf in np.argsort(axis.place)]
    assert order == ["b", "c", "a", None]


def test_too_many_values() -> None:
    """A column of more values than sets are made of is refused, with a way out."""
    column = attribute([str(i) for i in range(5000)])
    with pytest.raises(HierarchyError, match=r"^column 'x': 5,000 different values.* give it a hierarchy file"):
        SetAxis(column, 1.0)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_sets_in_files(form: str, saves: Any, cells: Any) -> None:
    """Sets of values that a spreadsheet would run, or that hold commas and quotes, are written and read back."""
    towns: Values = ["=1+1", "a,b", 'say "x"', "-5", None, "NULL", "{}", "@x", "Bern", "Thun"] * 2
    role = {"role": "quasi", "hierarchy": "sets"}
    policy = {
        "columns": {"town": role, "visits": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "algorithm": {"name": "mondrian", "improve": False},
        "publish": {"format": form},
    }
    table = pa.table({"town": pa.array(towns, pa.string()), "visits": [str(row) for row in range(20)]})
    folder = saves(table, policy)
    assert sf.verify(folder).satisfied
    if form == "csv":
        rows = cells(folder / "public" / "table.csv")
    else:
        import pyarrow.parquet as pq

        rows = pq.read_table(folder / "public" / "table.parquet").to_pylist()
    assert sorted(int(row["visits"]) for row in rows) == list(range(20))
    for row in rows:
        assert towns[int(row["visits"])] in read_set(row["town"])
        assert row["town"].startswith("{")
