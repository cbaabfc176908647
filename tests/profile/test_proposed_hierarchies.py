"""Proposed hierarchies: valid, round, and telling of no single record."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchy import parse
from sfumato.hierarchy.hierarchy_file import File
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts, describe_column
from sfumato.profile.column_values import ColumnValues
from sfumato.profile.proposal import hierarchy_file_text
from sfumato.profile.proposed_hierarchies import (
    ProposedHierarchy,
    find_open_end,
    guess_domain,
    propose_hierarchy,
    propose_intervals,
)
from sfumato.profile.written_numbers import WrittenNumbers


def facts_of(counts: dict[str, int], name: str = "what", missing: int = 0) -> ColumnFacts:
    """A column with these values, and so many rows of each."""
    return describe_column(name, ColumnValues.from_counts(dict(counts), missing))


def labels(tree: ProposedHierarchy, facts: ColumnFacts, folder: Path) -> dict[str, list[Any]]:
    """The labels of every value, level by level, as our own reader has them."""
    texts = facts.values.to_list()
    if not tree.lines:
        spec = parse(tree.declaration, folder=folder, key="hierarchy")
    else:
        (folder / "tree.csv").write_bytes(hierarchy_file_text(tree).encode())
        spec = File(folder / "tree.csv")
    bound = spec.bind(texts, column="what")
    return {
        text: [bound.labels[level][code] for level, code in enumerate(line)]
        for text, line in zip(texts, bound.matrix.tolist(), strict=True)
    }


def test_no_label_names_a_rare_value(tmp_path: Path) -> None:
    """A value with few rows stands in no label, and no label ends with it."""
    counts = {f"{letter}-rare": 2 for letter in "BDFHKMPRTW"} | {"Common": 200, "Plenty": 300}
    made = labels(propose_hierarchy(facts_of(counts), 5, ("",)), facts_of(counts), tmp_path)
    told = {label for line in made.values() for label in line[1:]}
    assert not [label for label in told if "-rare" in label]
    assert {"Common", "Plenty"} <= told


@pytest.mark.parametrize(
    ("values", "domain"),
    [([17, 90], (0, 100)), ([0, 99_999], (0, 100_000)), ([-3, 35.5], (-50, 50)), ([5, 5], (5, 10)), ([0, 0], (0, 1))],
)
def test_domains_are_round(values: list[float], domain: tuple[float, float]) -> None:
    """The ends are rounded outward and hold all values."""
    numbers = WrittenNumbers(np.array(values, dtype=float), np.ones(len(values), dtype=np.int64), whole=True)
    assert guess_domain(numbers) == domain


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=6, max_size=60, unique=True))
def test_ranges_and_intervals_take_every_value(values: list[float]) -> None:
    """Whatever the numbers, both proposals are hierarchies that have a place for each."""
    facts = facts_of({f"{value:.2f}": 1 for value in values})
    ranges, intervals = propose_hierarchy(facts, 5, ("",)).declaration, propose_intervals(facts, ("",)).declaration
    assert ranges["ranges"] is True
    for declared in (ranges, intervals):
        parse(declared, folder=Path(), key="hierarchy").bind(facts.values.to_list(), column="what")


def test_ranges_have_a_domain_that_no_single_record_sets() -> None:
    """The domain is round and holds all; where one record lies far away, the ends are open and nothing tells it."""
    near = {str(value): 2 for value in range(13, 97)}
    assert propose_hierarchy(facts_of(near), 5, ("",)).declaration == {"ranges": True, "domain": [0, 100]}
    for far in ("1000", "987654", "-5000"):
        tree = propose_hierarchy(facts_of(near | {far: 1}), 5, ("",))
        assert tree.declaration == {"ranges": True, "integers": True}
        assert "open ends" in tree.reason
    decimals = {f"{value}.5": 2 for value in range(13, 97)}
    assert propose_hierarchy(facts_of(decimals), 5, ("",)).declaration == {
        "ranges": True,
        "domain": [0, 100],
        "integers": False,
    }


def test_sets_where_no_value_is_rare(tmp_path: Path) -> None:
    """Categories of enough rows each are told as sets; with a rare one they are grouped by a file, from level 1 on."""
    frequent = {f"job {letter}": 30 for letter in "abcdef"}
    assert propose_hierarchy(facts_of(frequent), 5, ("",)).declaration == "sets"
    assert propose_hierarchy(facts_of(frequent | {"bishop": 1}), 5, ("",)).least == 1
    assert propose_hierarchy(facts_of({"m": 50, "f": 60}), 5, ("",)).declaration == "suppress"


def test_days_are_no_level_where_some_cells_have_no_time() -> None:
    """A day that is a cell and a label of several cells at once would be refused by local recoding."""
    mixed = {f"2020-01-{day:02}": 3 for day in range(1, 9)} | {"2020-01-03 10:00": 2}
    assert "day" not in propose_hierarchy(facts_of(mixed, "admitted"), 5, ("",)).declaration["dates"]


@pytest.mark.parametrize("name", ["what", "age", "year of birth"])
def test_one_record_changes_no_label_of_another(name: str, tmp_path: Path) -> None:
    """Moving the highest record away, or the lowest, changes the label of no other record, on any level."""
    draw = np.random.default_rng(1)
    drawn = draw.integers(1930, 2020, 60) if "year" in name else draw.lognormal(3, 0.3, 60).astype(int)
    values = sorted(set(map(int, drawn)))
    before = labels(
        propose_hierarchy(one := facts_of({str(value): 1 for value in values}, name), 5, ("",)), one, tmp_path
    )
    for place, far in ((-1, 10_000), (-1, 999_999), (0, -1), (0, -99_999)):
        moved = [far if value == values[place] else value for value in values]
        other = facts_of({str(value): 1 for value in moved}, name)
        after = labels(propose_hierarchy(other, 5, ("",)), other, tmp_path)
        kept = [str(value) for value in values if value != values[place]]
        assert {value: after[value] for value in kept} == {value: before[value] for value in kept}


def test_ages_have_a_domain_by_name(tmp_path: Path) -> None:
    """Ages are declared from 0 to 120, with the oldest together, whoever is in the table."""
    tree = propose_hierarchy(facts_of({str(age): 3 for age in range(20, 70)}, "Alter"), 5, ("",))
    assert tree.declaration == {"intervals": [5, 10, 20, 40], "domain": [0, 120], "top": 90}
    beyond = propose_hierarchy(facts_of({str(age): 3 for age in [*range(20, 70), 999]}, "Alter"), 5, ("",))
    assert beyond.declaration["domain"] == [0, 120]
    assert beyond.caution is Caution.CHECK


def test_decimal_commas_and_dates_in_several_formats_get_a_file(tmp_path: Path) -> None:
    """What the policy cannot read as a number or a date is put into the same bins by a file."""
    numbers = facts_of({"1,50": 1, "1,5": 2, "-2,25": 1, "99,75": 4, "12": 1, "7,5": 1})
    made = labels(propose_hierarchy(numbers, 2, ("",)), numbers, tmp_path)
    assert made["1,50"][1:] == made["1,5"][1:]
    assert made["-2,25"][1] == "<0"
    dates = facts_of({"1987-11-23": 1, "24.12.1987": 1, "11/25/1987": 1}, "born")
    made = labels(propose_hierarchy(dates, 2, ("",)), dates, tmp_path)
    assert [line[-2] for line in made.values()] == ["1980s"] * 3
    assert made["11/25/1987"][1] == "1987-11"


def test_months_that_may_be_mistaken_are_no_level(tmp_path: Path) -> None:
    """With 03/04/1987 beside two formats, the file has years and no months."""
    dates = facts_of({"1987-11-23": 1, "24.12.1987": 1, "11/25/1987": 1, "25/11/1987": 1, "03/04/1987": 1})
    made = labels(propose_hierarchy(dates, 2, ("",)), dates, tmp_path)
    assert made["03/04/1987"][1] == "1987"


def test_codes_are_masked(tmp_path: Path) -> None:
    """Postal codes lose digits from the right, with zeros in front kept."""
    facts = facts_of({"0435": 2, "0436": 1, "9100": 4, "9101": 1, "9102": 1}, "PLZ")
    made = labels(propose_hierarchy(facts, 2, ("",)), facts, tmp_path)
    assert made["0435"] == ["0435", "043*", "04**", "0***", "*"]
    slip = facts_of({"0435": 2, "0436": 1, "9100": 4, "9101": 1, "910245": 1}, "PLZ")
    assert labels(propose_hierarchy(slip, 2, ("",)), slip, tmp_path)["0435"][:4] == made["0435"][:4]


def test_values_that_a_file_cannot_hold_are_suppressed() -> None:
    """Empty texts, stars and texts read as missing elsewhere would be taken for something else in a file."""
    for strange in ("", "a*", "?"):
        counts = {strange: 1} | {f"word{letter}": 5 for letter in "abcdef"}
        assert propose_hierarchy(facts_of(counts), 2, ("", "?")).declaration == "suppress"


def test_open_ends_leave_most_rows_alone() -> None:
    """Where nearly all numbers lie far from zero, the open end is above them, or there is none."""
    values = np.append(np.linspace(1.8e6, 1.9e6, 5000), [5e6] * 10)
    numbers = WrittenNumbers(values, np.ones(len(values), dtype=np.int64), whole=False)
    top = find_open_end(numbers)
    assert top is None or numbers.rows_from(top) <= 0.1 * len(values)


def test_numbers_of_too_many_digits_have_no_intervals() -> None:
    """What a policy could not write down, or not exactly, is told or not told."""
    assert (
        propose_hierarchy(facts_of({f"{10**20 + number}": 1 for number in range(9)}), 5, ("",)).declaration
        == "suppress"
    )


def test_timestamps_have_days() -> None:
    """A column with times of day is told to the day before it is told to the month."""
    facts = facts_of({f"2020-01-{day:02} 10:00:00": 1 for day in range(1, 20)}, "admitted")
    assert propose_hierarchy(facts, 5, ("",)).declaration == {"dates": ["day", "month", "quarter", "year", "decade"]}
