"""The report where a person may have several rows, against counts by hand."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from sfumato.release import prepare

from .conftest import report

Pages = Callable[[str], Any]

COLUMNS = {
    "person": {"role": "individual"},
    "town": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
}
VISITS = {
    "person": ["ann", "ann", "bob", "cid", "dan", "eve", "fay", "fay", "fay"],
    "town": ["Bern", "Thun", "Bern", "Bern", "Thun", "Thun", "Spiez", "Spiez", "Spiez"],
    "illness": ["flu", "HIV", "flu", "flu", "flu", "HIV", "flu", "flu", "HIV"],
}
K = {"model": "k-anonymity", "k": 2}
CLOSE = {"model": "t-closeness", "column": "illness", "t": 1.0, "distance": "variational"}
LINKED = {"model": "identity-k-anonymity", "k": 2, "linked_k": 3}
DISTINCT = {"model": "distinct-l-diversity", "column": "illness", "l": 2}


@pytest.fixture
def text(page: Pages) -> Callable[..., str]:
    """The words of the report of a release of the visits, of those of other people or under other tables."""

    def make(*models: dict[str, Any], rows: Any = None, columns: Any = None, **tables: Any) -> str:
        policy = {"columns": columns or COLUMNS, "privacy": list(models), **tables}
        found: str = page(report(prepare(pa.table(rows or VISITS), policy))).text
        return found

    return make


def test_before_and_after(text: Callable[..., str]) -> None:
    """Fay alone fills a class of three rows and Ann stands in two classes; generalized, all six share one class."""
    said = text(K, algorithm={"name": "optimal"})
    assert "Several rows per person Several rows of one person fill a class without hiding anybody" in said
    assert "Measured with k = 2." in said
    assert "Rows per person (rpi) 1.5 1.5" in said
    assert "Classes of 2 rows or more, but fewer than 2 people 1 (33.3%) 0 (0%)" in said
    assert "Classes of one person's rows 1 (33.3%) 0 (0%)" in said
    assert "People whose set of classes fewer than 2 share 2 (33.3%) 0 (0%)" in said
    assert "Fewest people who share their set of classes 1 6" in said


def test_a_common_k_where_the_policy_has_none(text: Callable[..., str]) -> None:
    """Without a k of the policy's 5 is measured with, and that is said."""
    assert "Measured with k = 5, since the policy names none." in text(CLOSE)


def test_requirements_on_a_join_alone(text: Callable[..., str]) -> None:
    """Where no requirement is about classes, nothing bounds what pseudonyms link, and the report says so."""
    said = text({"model": "xy-anonymity", "x": ["town"], "y": ["person"], "k": 2})
    assert "No requirement bounds that; linked_k in an identity-reserved requirement would." in said


def test_limits_count_linked_people(text: Callable[..., str]) -> None:
    """Who is left with few people is counted, with what would bound it, and how sure an adversary gets."""
    said = text(CLOSE, algorithm={"name": "optimal"})
    assert "Fewer than 5 people share the set of classes of 6 (100%) people; the fewest: 1 person." in said
    assert "No requirement bounds that; linked_k in an identity-reserved requirement would." in said
    assert "for one who knows the classes of all it is certain (100%)" in said
    assert "How many rows somebody has in a class is not counted" in said


def test_limits_name_the_bound(text: Callable[..., str]) -> None:
    """With linked_k nobody is left, and the policy's bound is named."""
    said = text(LINKED, algorithm={"name": "optimal"})
    assert "Everybody's set of classes is that of 6 people or more, they themselves among them." in said
    assert "The policy bounds that: linked_k = 3." in said
    assert "keep_together" not in said


def test_rows_that_may_part(text: Callable[..., str]) -> None:
    """Without keep_together the limits say so."""
    assert "keep_together = false lets equal rows of a person go different ways" in text(
        K, algorithm={"keep_together": False}
    )


def test_two_tables(text: Callable[..., str]) -> None:
    """Anatomy parts rows; what a class tells of two tables is its bag, and not whose a row is."""
    once = {name: [cells[place] for place in (0, 2, 3, 4, 5, 8)] for name, cells in VISITS.items()}
    said = text(DISTINCT, rows=once | {"illness": ["a", "b"] * 3}, publish={"form": "anatomy"})
    assert "anatomy deals a person's rows out one by one" in said
    assert "what the bags of all these classes have in common is then told of so few" in said
    assert "whoever knows several may do better" in said


def test_rows_alone(text: Callable[..., str]) -> None:
    """Without an individual column there are no figures by person; identifiers that repeat are named."""
    said = text(K, columns=COLUMNS | {"person": {"role": "identifier"}})
    assert "Several rows per person" not in said
    assert "Rows tied by a pseudonym" not in said
    assert "Identifiers that repeat here: person (1.5 rows for each value)." in said
    unique = {"person": list("abcdefghi")}
    assert "Identifiers that repeat" not in text(
        K, rows=VISITS | unique, columns=COLUMNS | {"person": {"role": "identifier"}}
    )
