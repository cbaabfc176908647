"""Proposed hierarchies: valid, round, and telling of no single record."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchy import parse
from sfumato.hierarchy.hierarchy_file import File
from sfumato.profile.column_facts import ColumnFacts, infer_type
from sfumato.profile.column_values import ColumnValues
from sfumato.profile.proposal import hierarchy_file_text
from sfumato.profile.proposed_hierarchies import (
    ProposedHierarchy,
    find_open_end,
    group_lines,
    guess_domain,
    letter_spans,
    propose_hierarchy,
)
from sfumato.profile.vocabulary import interpret_name
from sfumato.profile.written_numbers import WrittenNumbers


def facts_of(counts: dict[str, int], name: str = "what", missing: int = 0) -> ColumnFacts:
    """A column with these values, and so many rows of each."""
    values = ColumnValues.from_counts(dict(counts), missing)
    return ColumnFacts(name, values, infer_type(values), interpret_name(name), None)


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


words = st.dictionaries(
    st.text(min_size=1, max_size=8).filter(lambda text: "*" not in text), st.integers(1, 50), min_size=5, max_size=25
)


@settings(max_examples=60, deadline=None)
@given(words, st.integers(2, 20), st.integers(0, 20))
def test_groups_are_nested_total_and_large_enough(counts: dict[str, int], few: int, more: int) -> None:
    """Every value has a line that our reader takes; from the first level on, every label has enough rows."""
    lines = group_lines(counts, few, few + more)
    if not lines:
        return
    text = hierarchy_file_text(ProposedHierarchy(lines=lines))
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == list(lines)
    assert {line[0] for line in lines} == set(counts)
    for level in range(1, len(lines[0]) - 1):
        for label in {line[level] for line in lines}:
            members = [line[0] for line in lines if line[level] == label]
            assert sum(counts[value] for value in members) >= min(few, sum(counts.values()))
    for level in range(1, len(lines[0])):  # a label of one level lies under one of the next
        assert len({line[level - 1 : level + 1] for line in lines}) == len({line[level - 1] for line in lines})


def test_no_label_names_a_rare_value(tmp_path: Path) -> None:
    """A value with few rows stands in no label, and no label ends with it."""
    counts = {f"{letter}-rare": 2 for letter in "BDFHKMPRTW"} | {"Common": 200, "Plenty": 300}
    made = labels(propose_hierarchy(facts_of(counts), 5, ("",)), facts_of(counts), tmp_path)
    told = {label for line in made.values() for label in line[1:]}
    assert not [label for label in told if "-rare" in label]
    assert {"Common", "Plenty"} <= told


def test_spans_cover_everything() -> None:
    """Whatever a value begins with, it lies in exactly one span."""
    spans = letter_spans({"ant": 5, "bee": 5, "elk": 5, "owl": 9}, 5)
    for value in ["", "0", "ant", "Élan", "zebra", "ж", "名", "~", "owl"]:
        assert sum(span.covers(value) for span in spans) == 1


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
def test_intervals_take_every_value(values: list[float]) -> None:
    """Whatever the numbers, the proposal is a hierarchy that has a place for each, in widths that nest."""
    facts = facts_of({f"{value:.2f}": 1 for value in values})
    tree = propose_hierarchy(facts, 5, ("",))
    assert isinstance(tree.declaration, dict)
    parse(tree.declaration, folder=Path(), key="hierarchy").bind(facts.values.to_list(), column="what")


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
    assert beyond.check
    assert beyond.declaration["domain"] == [0, 1000]


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
        counts = {strange: 5} | {f"word{letter}": 5 for letter in "abcdef"}
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
