"""Top-down specialization against the definitions, on the join written out, for hundreds of random tables."""

from pathlib import Path

import pytest

from sfumato.release import prepare
from sfumato.testing.join_cases import JoinCase, random_join_case
from sfumato.testing.join_contract import check_join_cases, check_join_rows, release_passes
from sfumato.testing.join_definition import Label

pytestmark = pytest.mark.slow

CASES = 120


@pytest.mark.parametrize("first", [0, 1000])
def test_every_release_keeps_the_definitions_and_tells_all_it_can(first: int) -> None:
    """What is published passes, is a cut of each column, and no label of it can be told more exactly alone.

    It says no only where the most general table does not pass, and does not depend on the order of rows.
    """
    seen = check_join_cases(map(random_join_case, range(first, first + CASES)), verified=False)
    assert seen.total() == CASES
    assert min(seen["infeasible"], seen["generalized"], seen["as it came"]) >= CASES // 20


def test_the_verifier_finds_what_the_definitions_give() -> None:
    """The verifier passes what is published, and its figures are those of the join written out."""
    seen = check_join_cases(map(random_join_case, range(5000, 5040)))
    assert seen["generalized"] + seen["as it came"] >= 10


def generalized(tmp_path: Path) -> tuple[JoinCase, list[dict[str, Label]]]:
    """A case whose release is neither the most general table nor as it came, and its published rows."""
    for case in map(random_join_case, range(100)):
        if check_join_cases([case], verified=False)["generalized"]:
            rows = prepare(case.arrow(), case.policy(tmp_path)).tables["table"].arrow.to_pylist()
            told = any(row[name] != "*" for row in rows for name in case.quasi)
            most_general = [row | dict.fromkeys(case.quasi, "*") for row in rows]
            if told and all(tree.levelled for tree in case.trees.values()) and release_passes(case, most_general):
                return case, rows
    raise AssertionError("no such case")


def test_a_release_that_could_tell_more_is_caught(tmp_path: Path) -> None:
    """A table more general than it has to be does not keep the contract."""
    case, rows = generalized(tmp_path)
    check_join_rows(case, rows)
    with pytest.raises(AssertionError, match="could tell more of"):
        check_join_rows(case, [row | dict.fromkeys(case.quasi, "*") for row in rows])


def test_a_release_that_does_not_pass_is_caught(tmp_path: Path) -> None:
    """The table as it came in, where it had to be generalized, does not keep the contract."""
    case, _ = generalized(tmp_path)
    with pytest.raises(AssertionError, match="publishes what does not pass"):
        check_join_rows(case, case.rows)


def test_labels_that_are_no_cut_are_caught(tmp_path: Path) -> None:
    """Two labels for one value, or one besides its own ancestor, are no cut."""
    case, rows = generalized(tmp_path)
    loose = JoinCase(case.columns, case.previous, case.trees, case.document | {"privacy": []})
    name = next(name for name in case.quasi for row in rows if row[name] != "*")
    labels = {row[name] for row in rows} - {"*"}
    chosen = next(row for row in rows if row[name] in labels)
    with pytest.raises(AssertionError, match=r"no cut|two labels"):
        check_join_rows(loose, [row | {name: "*"} if row is chosen else row for row in rows])
    with pytest.raises(AssertionError, match="other rows than came in"):
        check_join_rows(loose, rows[1:])
