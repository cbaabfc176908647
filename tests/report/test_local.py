"""The report of a local recoding: labels instead of levels, and what chosen labels tell."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.policy.options import LOCAL, RANGES
from sfumato.publish.manifest import RANGES_TELL as REVEALS
from sfumato.publish.manifest import SETS_TELL
from sfumato.release import Release, prepare

from .conftest import report

Releases = Callable[..., Release]
Pages = Callable[[str], Any]

ROWS = {
    "age": ["30", "30", "30", "41", "43", "57", "57", "57", "57", "38"],
    "town": ["Bern"] * 3 + ["Thun", "Genf"] + ["Sion"] * 4 + [None],
    "illness": ["flu", "HIV"] * 5,
}
K2 = {"model": "k-anonymity", "k": 2}
LABELLING = [name for name in LOCAL if name != "microaggregation"]


def _columns(age: Any, town: Any) -> dict[str, Any]:
    return {
        "age": {"role": "quasi", "hierarchy": age},
        "town": {"role": "quasi", "hierarchy": town},
        "illness": {"role": "sensitive"},
    }


@pytest.mark.parametrize("algorithm", LABELLING)
def test_columns_are_told_by_their_labels(release: Releases, page: Pages, algorithm: str) -> None:
    """How many labels there are, how many cells are exact and what the others are told as; no level anywhere."""
    columns = _columns({"intervals": [10, 20]}, "suppress")
    made = release(K2, rows=ROWS, columns=columns, name=algorithm, improve=False)
    text = page(report(made)).text
    cells = made.table["town"].to_pylist()
    exact = sum(cell != "*" for cell in cells)
    assert f"town 5 values → {len(set(cells))} labels, {exact * 10:.1f}% of cells exact" in text
    assert f"town * ({100 - exact * 10:.1f}%)" in text
    assert "What columns are told as" in text
    assert "each class has its own, no coarser than its rows need (local recoding)" in text
    assert "Here every class has the tightest label that covers its rows" in text
    assert "level 0 of" not in text


def test_columns_that_kept_every_cell(release: Releases, page: Pages) -> None:
    """A column that nothing happened to is told as it came."""
    rows = {"town": ["Bern", "Bern", "Thun", "Thun"]}
    columns = {"town": {"role": "quasi", "hierarchy": "suppress"}}
    text = page(report(release(K2, rows=rows, columns=columns, name="top-down"))).text
    assert "100% of cells exact" in text
    assert "town as it came" in text


@pytest.mark.parametrize("form", RANGES)
def test_what_ranges_and_sets_reveal(page: Pages, form: str) -> None:
    """The form of ranges is named with what it reveals, and so are sets; in a full-domain release neither is."""
    policy: dict[str, Any] = {
        "columns": _columns({"ranges": True}, "sets"),
        "privacy": [K2],
        "algorithm": {"name": "mondrian"},
        "publish": {"ranges": form},
    }
    text = page(report(prepare(pa.table(ROWS), policy))).text
    assert f"Ranges (published as {form}). age . {REVEALS[form]}" in text
    assert f"Sets. town . {SETS_TELL}" in text
    tree = policy | {
        "columns": _columns({"intervals": [20]}, "suppress"),
        "algorithm": {"name": "optimal"},
        "publish": {},
    }
    assert "published as" not in page(report(prepare(pa.table(ROWS), tree))).text


def test_labels_are_escaped_and_cut(page: Pages) -> None:
    """Values that hold markup stay text inside a set, and a long set does not fill the page."""
    towns = [f"<b>{'x' * 30}{i}" for i in range(6)]
    policy = {
        "columns": {"town": {"role": "quasi", "hierarchy": "sets"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "algorithm": {"name": "mondrian"},
    }
    html = report(prepare(pa.table({"town": towns}), policy))
    assert "<b>x" not in html
    assert "…" in page(html).text


def test_suppressed_rows_are_explained(page: Pages) -> None:
    """Where rows had to go for the others' sake, the report says so and what the policy allows."""
    policy = {
        "columns": {"q": {"role": "quasi", "hierarchy": "suppress"}, "s": {"role": "sensitive"}},
        "privacy": [{"model": "alpha-deassociation", "column": "s", "alpha": 0.1, "values": ["bad"]}],
        "algorithm": {"name": "top-down", "suppression": 0.2},
    }
    rows = {"q": ["a", "a", "b", "b", "c"], "s": ["x", "y", "x", "y", "bad"]}
    text = page(report(prepare(pa.table(rows), policy))).text
    why = "rows that kept the others from a requirement, or cost them more than they tell"
    assert f"1 (20.0%): {why}; the policy allows 20.0%" in text
