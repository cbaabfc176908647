"""Identifiers, as parties compare them."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.party.identifiers import guessable_kind, normalize_texts, read_identifiers, read_texts
from sfumato.party.party_task import PartyTable


def _table(values: list[object], kind: pa.DataType | None = None) -> PartyTable:
    return PartyTable(pa.table({"id": pa.array(values, kind)}), "a.csv")


@pytest.mark.parametrize(
    "ways",
    [
        ["Anna Kern", " anna  KERN\t", "ＡＮＮＡ KERN", "Anna\u00a0Kern"],
        ["Ångström", "A\u030angstro\u0308m", "\u212bngström"],
        ["Straße", "STRASSE"],
        ["7", "7.0", "7.00", "７"],
    ],
)
def test_ways_of_writing_one_person_are_one(ways: list[str]) -> None:
    """Case, blanks, width and composed letters make no difference, nor a fraction of zero."""
    assert len(set(normalize_texts(ways))) == 1


def test_leading_zeros_and_fractions_stay_apart() -> None:
    """007 is another identifier than 7, and 7.5 than 7."""
    assert len(set(normalize_texts(["007", "7", "7.5", "70"]))) == 4


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=8))
def test_normalizing_twice_changes_nothing(text: str) -> None:
    """A text that is normalized is its own normal form."""
    for normalize in ("text", "digits"):
        (once,) = normalize_texts([text], normalize)
        assert normalize_texts([once], normalize) == [once]


def test_columns_of_any_type_compare_as_text() -> None:
    """A number is the same identifier as an integer, as a float, as a text or among categories."""
    written = [
        _table([7, 12]),
        _table([7.0, 12.0]),
        _table(["7", "12"]),
        PartyTable(pa.table({"id": pa.array(["7", "12"]).dictionary_encode()}), "a.csv"),
    ]
    assert {read_identifiers(table, "id").items for table in written} == {(b"7", b"12")}
    assert read_texts(_table([dt.date(1970, 1, 31)]), "id") == ["1970-01-31"]


@pytest.mark.parametrize("cells", [["Anna", None], ["Anna", "  "], [1.0, float("nan")]])
def test_an_identifier_needs_a_value(cells: list[object]) -> None:
    """NULL, blanks and not-a-number are refused by the column's name."""
    with pytest.raises(DataError, match=r"column 'id' of a.csv has NULL or nothing but blanks in 1 row"):
        read_identifiers(_table(cells), "id")


def test_overlong_and_nested_columns_are_refused_without_a_value() -> None:
    """A column of prose or of lists makes no set, and the sentence quotes none of it."""
    with pytest.raises(DataError, match="more than 256 bytes") as found:
        read_identifiers(_table(["secret" * 50]), "id")
    assert "secret" not in str(found.value)
    with pytest.raises(DataError, match="has the type list"):
        read_identifiers(_table([["a"]]), "id")
    with pytest.raises(DataError, match="has no column 'ident'"):
        read_identifiers(_table(["a"]), "ident")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("dates", ["1970-01-31", "31.1.1970", "1/31/70", "19700131", "1970-01-31t00:00:00"]),
        ("years", ["1931", "2004", "1970"]),
        ("telephone numbers or the like", ["+49 30 901820", "(030) 901-820", "0049309018200", "030/90182011"]),
        ("numbers of at most nine digits", ["123456789", "12", "0815"]),
        ("texts of at most four characters", ["ab", "x9y", "abcd"]),
        ("", ["anna kern", "bo li 1970", "jo"]),
        ("", ["8912345678901234567", "8912345678901234568"]),
        ("", []),
    ],
)
def test_what_can_be_guessed_is_named(kind: str, values: list[str]) -> None:
    """Dates, years, telephone numbers and short texts are few enough to try all."""
    assert guessable_kind(values) == kind


def test_the_warning_names_the_column_and_no_value() -> None:
    """One odd value among a hundred dates changes nothing, and the sentence quotes none of them."""
    days = [f"1970-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 10)]
    (sentence,) = read_identifiers(_table([*days, "unknown"]), "id").warnings
    assert sentence.startswith("column 'id' of a.csv holds dates, ")
    assert "1970" not in sentence
    assert "unknown" not in sentence
