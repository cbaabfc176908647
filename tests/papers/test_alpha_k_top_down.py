"""The worked examples of the top-down approach of Wong, Li, Fu and Wang: Figure 2, Tables 8 and 11, both criteria."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.encode import encode
from sfumato.policy import Policy, load
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.start import choose_start, pose_problem
from sfumato.recode.local.top_down import (
    ActiveGroups,
    GroupSplit,
    choose_attributes,
    offer_attributes,
    one_active_group,
    specialize_groups,
    top_down,
)
from sfumato.table import from_frame

Rows = Sequence[tuple[str, ...]]

TABLE_11 = [("4351", "n"), ("4351", "c"), ("4351", "n"), ("4352", "n")]
TABLE_8 = [
    ("male", "May 1965", "4351", "n"),
    ("male", "Jun 1965", "4351", "c"),
    ("male", "Jul 1965", "4351", "n"),
    ("male", "Aug 1965", "4352", "n"),
]
MASK = {"mask": "right"}
BY_YEAR = {"dates": ["year"], "format": "%b %Y"}
ALPHA: dict[str, Any] = {"model": "alpha-k-anonymity", "column": "sens", "values": ["c"], "alpha": 0.5, "k": 2}


def policy(hierarchies: dict[str, Any], rule: dict[str, Any]) -> Policy:
    """The quasi-identifiers with their hierarchies, `sens` besides, and one requirement."""
    columns = {name: {"role": "quasi", "hierarchy": tree} for name, tree in hierarchies.items()}
    return load(
        {
            "columns": columns | {"sens": {"role": "sensitive"}},
            "privacy": [rule],
            "algorithm": {"name": "top-down", "improve": False},
        }
    )


def table(rules: Policy, rows: Rows) -> Any:
    """Rows as an Arrow table with the columns of the policy."""
    return pa.table({name: list(cells) for name, cells in zip(rules.columns, zip(*rows, strict=True), strict=True)})


def problem(rules: Policy, rows: Rows) -> Problem:
    """The problem that a policy makes of rows."""
    found = choose_start(pose_problem(encode(from_frame(table(rules, rows), rules), rules), rules))
    assert found is not None
    return found


def published(rules: Policy, rows: Rows) -> list[tuple[str, ...]]:
    """The rows that top-down publishes, in order."""
    return sorted(tuple(row.values()) for row in sf.anonymize(table(rules, rows), rules).table.to_pylist())


ONE = policy({"postcode": MASK}, ALPHA)


def figure(rows: Rows = TABLE_11) -> tuple[Problem, ActiveGroups]:
    """The single group of all rows, as in Figure 2 (a), and its problem."""
    posed_ = problem(ONE, rows)
    return posed_, one_active_group(posed_)


def test_figure_2_a_to_d_have_one_branch() -> None:
    """From **** over 4***, 43** and 435* all four tuples stay in one branch, so these steps are taken at once."""
    _, group = figure()
    assert [len(group.branches_at(0, np.array([level]))) for level in (4, 3, 2, 1)] == [1, 1, 1, 1]
    assert (len(group), group.sizes.tolist(), group.level.tolist()) == (1, [4.0], [[1]])


def test_figure_2_e_and_f_push_the_failing_branch_back() -> None:
    """One level further down 4351 has three tuples and passes; 4352 has one, fails, and goes back to the parent."""
    posed_, group = figure()
    split = GroupSplit.from_groups(posed_, group, np.array([0]))
    assert (split.sizes.tolist(), split.passing.tolist()) == ([3.0, 1.0], [True, False])
    assert split.failing.tolist() == [0.0, 0.0, 1.0]


def test_figure_2_g_takes_tuple_3_back_as_well() -> None:
    """One row is too few for the parent, so one of the two rows (4351, n) joins it: both nodes pass then."""
    posed_, group = figure()
    found = specialize_groups(posed_, group, np.array([0]))
    sens = posed_.encoded.sensitive["sens"].texts
    lines = [
        (sens[posed_.encoded.tuples.others["sens"][of]], back)
        for of, back in zip(group.tuples, found.back, strict=True)
    ]
    assert lines == [("c", 0.0), ("n", 1.0), ("n", 1.0)]
    assert (found.rows.tolist(), found.branches.tolist()) == ([2.0], [1.0])
    assert top_down(posed_).sizes.tolist() == [2, 2]


def test_table_11_b_comes_out_as_printed() -> None:
    """Tuples 1 and 2 keep their postcode, 3 and 4 are published with 435*."""
    assert published(ONE, TABLE_11) == sorted([("4351", "n"), ("4351", "c"), ("435*", "n"), ("435*", "n")])


def test_table_8_a_by_three_attributes() -> None:
    """Birth cannot be specialized below its year, postcode as in Figure 2: the outcome is that of Table 9 (c)."""
    rules = policy({"gender": "suppress", "birth": BY_YEAR, "postcode": MASK}, ALPHA)
    assert published(rules, TABLE_8) == sorted(
        [
            ("male", "1965", "4351", "n"),
            ("male", "1965", "4351", "c"),
            ("male", "1965", "435*", "n"),
            ("male", "1965", "435*", "n"),
        ]
    )


def best(rows: Rows) -> tuple[list[list[float]], str]:
    """What both attributes offer to the whole table, as rows and branches, and the one that is chosen, under k = 2."""
    rules = policy({"birth": "suppress", "postcode": "suppress"}, {"model": "k-anonymity", "k": 2})
    posed_ = problem(rules, rows)
    group = one_active_group(posed_)
    offers = offer_attributes(posed_, group)
    attribute, _ = choose_attributes(posed_, group)
    return [[*offers.rows[:, 0]], [*offers.branches[:, 0]]], posed_.encoded.names[attribute[0]]


def test_criterion_1_takes_the_attribute_that_specializes_most_tuples() -> None:
    """As in Figure 3: by postcode all five tuples are specialized, by birth three, so postcode is chosen."""
    rows = [("a", "1", "n"), ("a", "1", "n"), ("a", "2", "n"), ("b", "2", "n"), ("c", "2", "n")]
    assert best(rows) == ([[3.0, 5.0], [1.0, 2.0]], "postcode")


def test_criterion_2_takes_the_attribute_with_fewest_branches() -> None:
    """As in Figure 4: all six tuples are specialized either way, by birth into two branches, by postcode into three."""
    rows = [("a", "1", "n"), ("a", "1", "n"), ("a", "2", "n"), ("b", "2", "n"), ("b", "3", "n"), ("b", "3", "n")]
    assert best(rows) == ([[6.0, 0.0], [2.0, 0.0]], "birth")
    swapped = [(postcode, birth, sens) for birth, postcode, sens in rows]
    assert best(swapped) == ([[6.0, 6.0], [3.0, 2.0]], "postcode")
