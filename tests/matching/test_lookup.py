"""How people are looked up: by key where a value fits one label, by bits where not, with the same outcome."""

from random import Random
from typing import Any

import numpy as np
import pytest

from sfumato.labels.label_overlap import DescribedLabels, find_overlap
from sfumato.matching import lookup
from sfumato.matching.lookup import LookupColumn

NUMBERS = ["3", "7", "12", "20", "-4", None, "many"]
SIDES: dict[str, tuple[list[Any], list[Any], dict[str, Any]]] = {
    "bins": (NUMBERS, ["0-4", "5-9", "10-19", "20+", "<0", None], {"integers": True}),
    "bins that overlap": (NUMBERS, ["0-7", "5-9", "10-19"], {"integers": True}),
    "fractions": (["1.5", "2", "0"], ["[0, 1.5)", "[1.5, 2)", "[2, 3)"], {"integers": False}),
    "huge": (["9" * 400, "1e-400", "-1e400"], ["0-4", "5+", "<0"], {"integers": True}),
    "huge fractions": (["9" * 400, "1e-400"], ["[0, 0.5)", "0.5+"], {"integers": False}),
    "a star": (NUMBERS, ["0-4", "*"], {"integers": True}),
    "months": (["2020-01-31", "2020-02-01", None], ["2020-01", "2020-02", None], {"dates": ["month"]}),
    "weeks and days": (["2020-01-31", "2020-02-01"], ["2020-W05", "2020-01-31"], {"dates": ["week"]}),
    "masks": (["4350", "4351", "9000", "43"], ["435*", "9***", "4350"], {"mask": {"side": "right"}}),
    "codes": (["4350", "4351", "9000", "43"], ["4350", "9000", "43"], {"mask": {"side": "right"}}),
    "codes of one length": (["4350", "4351", "9000"], ["4350", "9000"], {"mask": {"side": "right"}}),
    "codes of other lengths": (["4350", "43505", "90"], ["435*", "9***"], {"mask": {"side": "right"}}),
    "masks on the left": (["12", "22", "13"], ["*2", "*3"], {"mask": {"side": "left"}}),
    "values": (["a", "b", None, "*"], ["b", "a", None, "c"], {}),
    "groups": (["a", "b", "c", None], ["ab", "c"], {"covers": {"ab": ["a", "b"]}}),
    "groups that overlap": (["a", "b", "c"], ["ab", "bc"], {"covers": {"ab": ["a", "b"], "bc": ["b", "c"]}}),
    "sets": (["a", "b", "c"], ["{a, b}", "c"], {"form": "sets"}),
}


@pytest.mark.parametrize("kind", SIDES)
def test_the_only_label(kind: str) -> None:
    """The one label that each value fits is told, or that some value fits several; never a wrong one."""
    known, shown, entry = SIDES[kind]
    fits = find_overlap(DescribedLabels(known, {}), DescribedLabels(shown, entry))
    assert fits is not None
    rows = fits.overlaps(np.arange(len(known)))
    only = fits.single_overlap()
    if rows.sum(axis=1).max() > 1:
        assert only is None
    if only is not None:
        expected = [line.argmax() if line.any() else -1 for line in rows]
        assert only.tolist() == expected


@pytest.mark.parametrize(
    "kind",
    [
        "bins",
        "huge",
        "months",
        "codes of one length",
        "codes of other lengths",
        "masks on the left",
        "values",
        "groups",
        "sets",
    ],
)
def test_keys_are_used_where_they_can_be(kind: str) -> None:
    """Labels that lie apart are found by key; values of which one is a star, or NULL, included."""
    known, shown, entry = SIDES[kind]
    fits = find_overlap(DescribedLabels([one for one in known if one != "*"], {}), DescribedLabels(shown, entry))
    assert fits is not None
    assert fits.single_overlap() is not None


@pytest.mark.parametrize("at_once", [1, 7, 1 << 24])
def test_pairs_some_values_at_a_time(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of person and line are compared alike however many values are looked at together."""
    monkeypatch.setattr(lookup, "_LABELS_AT_ONCE", at_once)
    draw, labels = Random(at_once), ["0-4", "3-9", "*", "10-19", None]
    fits = find_overlap(DescribedLabels([*map(str, range(20)), None], {}), DescribedLabels(labels, {"integers": True}))
    assert fits is not None
    people = np.array([draw.randrange(21) for _ in range(50)], dtype=np.uint8)
    lines = np.array([draw.randrange(5) for _ in range(30)], dtype=np.uint8)
    column = LookupColumn(people, 21, lines, 5, fits)
    pairs = np.array([(draw.randrange(50), draw.randrange(30)) for _ in range(200)])
    expected = [bool(fits.overlaps(np.array([people[a]], dtype=np.int64))[0, lines[b]]) for a, b in pairs]
    assert column.compare_pairs(pairs[:, 0], pairs[:, 1]).tolist() == expected
