"""Groups of categories: nested, large enough, and with labels that mean one thing wherever they stand."""

import csv
import io

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.hierarchy.hierarchy import build, refuse_ambiguous_labels
from sfumato.profile.frequency_groups import Lines, find_rare_values, group_lines, separate_labels
from sfumato.profile.proposal import hierarchy_file_text
from sfumato.profile.proposed_hierarchies import ProposedHierarchy

LIKE_LABELS = ["rare values", "other", "a, b", "a, b and 1 other", "a", "b", "c", "rare values (level 1)", "(level 1)"]
words = st.dictionaries(
    st.sampled_from(LIKE_LABELS) | st.text(min_size=1, max_size=8).filter(lambda text: "*" not in text),
    st.integers(1, 50),
    min_size=5,
    max_size=25,
)


def refuse_two_meanings(lines: Lines, start: int = 0) -> None:
    """Let our own hierarchies object to labels that stand for different values on different levels."""
    levels = [[line[level] for line in lines] for level in range(len(lines[0]) - 1)]
    refuse_ambiguous_labels(build(levels).upward(start)[0], column="what")


@settings(max_examples=150, deadline=None)
@given(words, st.integers(2, 20), st.integers(0, 20))
@example({"rare values": 9, "a": 1, "b": 1, "c": 20, "d": 30}, 5, 0)
def test_groups_are_nested_total_and_large_enough(counts: dict[str, int], few: int, more: int) -> None:
    """Every value has a line that our reader takes, every label enough rows, and no label means two things."""
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
    refuse_two_meanings(lines)


@settings(max_examples=100, deadline=None)
@given(words, st.integers(2, 20))
def test_no_label_names_a_rare_value(counts: dict[str, int], few: int) -> None:
    """What is named by a label of several values is no value of few rows, however values are called."""
    marked = {f"<{value}>": rows for value, rows in counts.items()}
    rare = find_rare_values(marked, few)
    for line in group_lines(marked, few, 2 * few):
        assert not [value for value in rare if any(value in label for label in line[1:])]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("ABCD")), min_size=2, max_size=12), st.integers(0, 1))
def test_labels_are_separated(paths: list[tuple[str, str]], start: int) -> None:
    """Any nested lines, with labels that are values and labels of other levels, come out with one meaning each."""
    parent = dict(paths)  # so that the levels are nested
    lines = tuple(
        (f"{'ABCD'[place % 4]}{'' if place < 4 else place}", low, parent[low], "*")
        for place, (low, _) in enumerate(paths)
    )
    made = separate_labels(lines, start)
    assert [line[0] for line in made] == [line[0] for line in lines]
    refuse_two_meanings(made, start)
    for before, after in zip(zip(*lines, strict=True), zip(*made, strict=True), strict=True):
        assert len(set(zip(before, after, strict=True))) == len(set(before)) == len(set(after))  # nothing is united


def test_labels_say_what_they_cover() -> None:
    """A label lists its most frequent members and counts the others, and says the same on all levels."""
    counts = {"cook": 30, "nurse": 40, "usher": 20, "vet": 14, "wright": 12, "smith": 3, "tailor": 8}
    labels = {label for line in group_lines(counts, 10, 15) for label in line[1:-1]}
    assert "rare values" in labels
    assert any(" and " in label and "smith" not in label for label in labels)


def test_values_with_numbers_come_together_with_their_neighbours() -> None:
    """Age groups are put together as they follow each other, and not by how frequent they are."""
    counts = {"<20": 12, "20-29": 40, "30-39": 11, "40-49": 90, "50-59": 13, "60-69": 12, "70+": 14}
    third = {line[0]: line[-2] for line in group_lines(counts, 10, 20)}
    assert third["<20"] == third["20-29"]
    assert third["50-59"] == third["60-69"]
