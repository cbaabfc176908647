"""What labels cost: the rows under them, by whichever way these are found, and their share of the domain."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import QuasiIdentifier, encode
from sfumato.hierarchy.open_ended import write_set
from sfumato.labels.covered_values import find_covered_codes
from sfumato.labels.label_loss import find_losses
from sfumato.policy import Policy
from sfumato.table import from_frame


def attribute(hierarchy: Any, values: list[str | None]) -> QuasiIdentifier:
    """A quasi-identifier with these values, one a row."""
    columns = {"x": {"role": "quasi", "hierarchy": hierarchy}}
    policy = Policy.read({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    return encode(from_frame(pa.table({"x": pa.array(values, pa.string())}), policy), policy).quasi[0]


AGES: list[str | None] = ["37", "37", "52", "041", "41", "90", None]
LABELS: dict[str, tuple[Any, list[str | None], list[str | None]]] = {
    "bins": ({"intervals": [5, 10]}, AGES, ["37", "35-39", "40-44", "30-39", "*", None]),
    "ranges": ({"ranges": True, "domain": [0, 119]}, AGES, ["37", "35-39", "<41", "41+", "[0, 119]", "*", None]),
    "ranges without a domain": ({"ranges": True}, AGES, ["[37, 41]", "[41, 53)", "41", "*", None]),
    "sets": ("sets", ["a", "b", "b", None], ["a", write_set(["a", "b"]), write_set(["b", None]), "*", None]),
    "masks": ({"mask": "right"}, ["435", "436", "43"], ["43*", "4**", "43", "*"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_rows_are_those_of_the_covered_values(kind: str) -> None:
    """The rows that a label covers are those of the values that it covers."""
    hierarchy, values, labels = LABELS[kind]
    column = attribute(hierarchy, values)
    covered = find_covered_codes(column, labels, None)
    rows = [column.frequencies[covered.order[a:b]].sum() for a, b in zip(covered.start, covered.end, strict=True)]
    losses = find_losses(column, labels, None)
    assert [loss and loss.rows for loss in losses] == rows
    assert all(loss is not None and 0 <= loss.ncp <= 1 for loss in losses)


@pytest.mark.parametrize(
    ("hierarchy", "label"),
    [("suppress", "3"), ({"ranges": True}, "3-9"), ({"ranges": True}, "x"), ("sets", "{3, 4}"), ("sets", "{1,2}")],
)
def test_labels_of_other_tables(hierarchy: Any, label: str) -> None:
    """A label that no value leads to has no loss, and NULL has none where nothing is missing."""
    assert find_losses(attribute(hierarchy, ["1", "2"]), [label, None], None) == [None, None]


def test_a_set_may_name_values_that_are_not_there() -> None:
    """Further rows need not hold all values of a set: it costs what its members cost, and covers the rows there are."""
    column = attribute("sets", ["1", "2", "3"])
    losses = [loss for loss in find_losses(column, ["{1, 2}", "{1, 9}", "{1, 7, 8, 9}", "*"], None) if loss is not None]
    assert [loss.ncp for loss in losses] == [0.5, 0.5, 1.0, 1.0]
    assert [loss.rows for loss in losses] == [2, 1, 1, 3]


def test_shares_of_the_domain() -> None:
    """A range costs its share of the declared domain, or of the numbers without the two extreme records."""
    declared = attribute({"ranges": True, "domain": [0, 100]}, ["10", "20", "30", "90"])
    assert [loss and loss.ncp for loss in find_losses(declared, ["10-30", "20", "<50"], None)] == [0.2, 0.0, 0.49]
    free = attribute({"ranges": True}, ["10", "20", "30", "90"])
    assert [loss and loss.ncp for loss in find_losses(free, ["[20, 25)", "[10, 30]"], None)] == [0.5, 1.0]
    assert [loss and loss.ncp for loss in find_losses(free, ["[10, 30]"], None, form="boxes")] == [0.25]


def test_a_label_on_two_levels(tmp_path: Path) -> None:
    """A text on two levels counts on the lower one, unless the level is told."""
    (tmp_path / "place.csv").write_text("Bern,Bern,*\nThun,Bern,*\n")
    column = attribute(str(tmp_path / "place.csv"), ["Bern", "Thun", "Thun"])
    assert find_losses(column, ["Bern"], None) == [(1, 0.0, 0.0)]
    assert find_losses(column, ["Bern"], 1) == [(3, 1.0, 1.0)]
    assert np.array_equal(find_covered_codes(column, ["Bern"], 1).shares(np.array([True, False])), [0.5])
