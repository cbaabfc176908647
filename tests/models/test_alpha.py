"""alpha-deassociation and (alpha, k)-anonymity against their definitions and the paper's tables."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.classes import EquivalenceClasses
from sfumato.errors import PolicyError
from sfumato.models import AlphaDeassociation, AlphaKAnonymity, KAnonymity

ILLNESS = ["HIV", "HIV", "flu", "fever", "flu", "fever"]
TABLES = {  # a class per row: Tables 1 to 4 of Wong et al.
    1: ["1975/4350", "1955/4350", "1955/5432", "1955/5432", "Cat2", "Cat2"],
    2: ["Cat1/*", "Cat1/*", "1955/5432", "1955/5432", "Cat2", "Cat2"],
    3: ["1975/4350", "*/4350", "1955/5432", "1955/5432", "*/4350", "1975/4350"],
    4: ["4350", "4350", "5432", "5432", "4350", "4350"],
}

Rows = list[tuple[int, str | None]]
rows_of_two = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["HIV", "flu", "cold", None])), min_size=1, max_size=40
)
alphas = st.sampled_from([0.1, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.6, 0.7, 1])


def table(number: int) -> EquivalenceClasses:
    """One of the paper's tables."""
    return EquivalenceClasses.of(TABLES[number], illness=ILLNESS)


def as_classes(rows: Rows) -> EquivalenceClasses:
    """Classes of (class, value) rows."""
    return EquivalenceClasses.of([label for label, _ in rows], illness=[value for _, value in rows])


def counted(rows: Rows) -> list[Counter[str | None]]:
    """How often each value stands in each class, counted one by one."""
    return [Counter(v for each, v in rows if each == label) for label in sorted({label for label, _ in rows})]


@given(rows_of_two, alphas, st.sampled_from([None, ["HIV"], ["HIV", "cold", "never"]]))
def test_plain_is_its_definition(rows: Rows, alpha: float, values: list[str] | None) -> None:
    """The share of each protected value is at most alpha, in exact arithmetic."""
    model = AlphaDeassociation(alpha, "illness", values=values)
    exact = Fraction(str(alpha)).limit_denominator(1000)
    for passes, count in zip(model.holds(as_classes(rows)), counted(rows), strict=True):
        kept = [n for value, n in count.items() if values is None or value in values]
        assert passes == all(Fraction(n, count.total()) <= exact for n in kept)


@given(rows_of_two, alphas)
def test_refined_is_its_definition(rows: Rows, alpha: float) -> None:
    """The count of each value is at most alpha times size, rounded up."""
    model = AlphaDeassociation(alpha, "illness", refined=True)
    exact = Fraction(str(alpha)).limit_denominator(1000)
    for passes, count in zip(model.holds(as_classes(rows)), counted(rows), strict=True):
        assert passes == (max(count.values()) <= math.ceil(exact * count.total()))


def test_table_1_is_not_2_anonymous_and_table_2_is() -> None:
    """Two patients of Table 1 are alone in their class; Table 2 joins them."""
    assert not KAnonymity(2).holds(table(1)).all()
    assert KAnonymity(2).holds(table(2)).all()


def test_table_2_discloses_hiv() -> None:
    """Table 2 is 2-anonymous, yet both rows of one class have HIV."""
    model = AlphaDeassociation(0.5, "illness", values=["HIV"])
    assert model.holds(table(2)).tolist() == [True, False, True]
    assert model.achieved(table(2)) == {"alpha": 1.0}


@pytest.mark.parametrize("number", [3, 4])
@pytest.mark.parametrize("values", [["HIV"], None])
def test_tables_3_and_4_are_anonymous(number: int, values: list[str] | None) -> None:
    """Tables 3 and 4 are (0.5, 2)-anonymous, for HIV and for all values."""
    model = AlphaKAnonymity(alpha=0.5, k=2, column="illness", values=values)
    assert model.holds(table(number)).all()
    assert model.achieved(table(number)) == {"alpha": 0.5, "k": 2}


def test_refined_lets_one_row_in_and_is_not_monotone() -> None:
    """Two classes of two with one sensitive row each pass at alpha 0.1, and their union does not."""
    model = AlphaDeassociation(0.1, "illness", values=["HIV"], refined=True)
    classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "HIV", "flu"])
    assert model.holds(classes).all()
    assert not model.holds(classes.merge([0, 0])).any()
    assert not model.monotone
    assert not AlphaDeassociation(0.1, "illness", values=["HIV"]).holds(classes).any()


def test_a_tenth_of_thirty_is_three() -> None:
    """Binary rounding of 0.1 decides nothing."""
    classes = EquivalenceClasses.of([0] * 30, illness=["HIV"] * 3 + ["flu"] * 27)
    assert AlphaDeassociation(0.1, "illness", values=["HIV"]).holds(classes).all()
    assert AlphaDeassociation(0.7, "illness", values=["HIV"]).holds(classes).all()


def test_doomed_rows_are_those_that_even_the_best_split_loses() -> None:
    """Of 4 HIV and 1 flu at alpha 0.5, three rows fail at best: HIV and flu pass, three HIV do not."""
    classes = EquivalenceClasses.of([0] * 5, illness=["HIV"] * 4 + ["flu"])
    assert AlphaDeassociation(0.5, "illness").doomed(classes) * 5 == pytest.approx([3])


def test_several_columns_are_each_protected() -> None:
    """Definition 14: every column is deassociated."""
    classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["a", "b", "a", "b"], income=["x", "y", "x", "x"])
    model = AlphaKAnonymity(alpha=0.5, k=2, columns=["illness", "income"])
    assert model.looks_at == ("illness", "income")
    assert model.holds(classes).tolist() == [True, False]
    assert model.required == {"alpha": 0.5, "columns": ["illness", "income"], "k": 2}
    assert "column income of the table" in model.hint(classes.merge([0, 0]))


def test_hint_is_lemma_1() -> None:
    """Alpha is at least the share in the table, rounded so that it can be met."""
    whole = EquivalenceClasses.of([0, 0, 0], illness=["HIV", "HIV", "flu"])
    hint = AlphaDeassociation(0.5, "illness").hint(whole)
    assert hint == "alpha must be at least 0.667 (the share of 'HIV' in the table; Lemma 1)"
    both = AlphaKAnonymity(alpha=0.5, k=4, column="illness").hint(whole)
    assert both == f"k can be at most 3 and {hint}"
    assert "one class" in AlphaDeassociation(0.5, "illness", refined=True).hint(whole)


@pytest.mark.parametrize("columns", [{}, {"column": "a", "columns": ["b"]}])
def test_one_of_column_and_columns(columns: dict[str, str | list[str]]) -> None:
    """Neither and both are errors."""
    with pytest.raises(PolicyError, match="either column or columns"):
        AlphaDeassociation(0.5, **columns)  # type: ignore[arg-type]  # lists become tuples when read


def test_a_value_of_one_of_several_columns_is_no_slip() -> None:
    """A protected value that one column holds is meant, though another column holds one that looks like it."""
    whole = EquivalenceClasses.of([0, 0], illness=["flu", "cold"], income=["flux", "low"])
    AlphaDeassociation(0.5, columns=["illness", "income"], values=["flu"]).check(whole)
    with pytest.raises(PolicyError, match="did you mean 'flu'"):
        AlphaDeassociation(0.5, columns=["illness", "income"], values=["Flu"]).check(whole)
