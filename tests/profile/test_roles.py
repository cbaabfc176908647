"""Which role a column gets, and why."""

from collections.abc import Callable
from pathlib import Path

from sfumato.profile.roles import guess_roles
from sfumato.profile.table_profile import profile_table

Writes = Callable[[str | bytes], Path]


def roles(path: Path) -> dict[str, str]:
    """The role of each column of a file."""
    return {name: str(guess.role) for name, guess in guess_roles(profile_table(path).columns).items()}


def table(writes: Writes, rows: int, **columns: Callable[[int], object]) -> Path:
    """A file of so many rows, each cell made from the number of its row."""
    lines = [",".join(columns), *(",".join(str(make(row)) for make in columns.values()) for row in range(rows))]
    return writes("\n".join(lines) + "\n")


def test_formats_name_identifiers(writes: Writes) -> None:
    """Columns that nobody has named are known by their values."""
    path = table(
        writes,
        40,
        a=lambda row: f"x{row}@example.org",
        b=lambda row: f"{100 + row}-22-{4000 + row}",
        c=lambda row: f"https://example.org/{row}",
        d=lambda row: f"10.0.{row}.1",
        e=lambda row: f"{row:08x}-0000-4000-8000-{row:012x}",
        f=lambda row: f"+41 44 123 45 {row:02d}",
        g=lambda row: ["I21.0", "E11.9", "J45.9"][row % 3],
        h=lambda row: row % 3,
    )
    expected = dict.fromkeys("abcdef", "identifier") | {"g": "sensitive", "h": "quasi"}
    assert roles(path) == expected


def test_persons_with_several_rows(writes: Writes) -> None:
    """The best column that names persons in several rows is the individual one, others that do are identifiers."""
    path = table(
        writes,
        60,
        visit_id=lambda row: 1000 + 7 * row,
        email=lambda row: f"p{row // 2}@example.org",
        patient=lambda row: f"P{row // 2}",
        ward_id=lambda row: row % 5,
    )
    assert roles(path) == {
        "visit_id": "identifier",
        "email": "identifier",
        "patient": "individual",
        "ward_id": "quasi",
    }


def test_one_row_per_person_is_no_individual(writes: Writes) -> None:
    """A column of persons that all differ is left out, and rows are counted."""
    assert roles(table(writes, 30, patient=lambda row: f"P{row}", age=lambda row: row)) == {
        "patient": "identifier",
        "age": "quasi",
    }


def test_uniqueness(writes: Writes) -> None:
    """Words and codes of which every row has its own are identifiers; measures are not, and a row number is."""
    path = table(
        writes,
        50,
        what=lambda row: f"thing{row:03d}",
        line=lambda row: row + 1,
        dose=lambda row: row * 1.37,
        same=lambda row: "x",
    )
    assert roles(path) == {"what": "identifier", "line": "identifier", "dose": "quasi", "same": "quasi"}


def test_few_values_name_nobody(writes: Writes) -> None:
    """A column called insurance with three values is a quasi-identifier, whatever its name says."""
    assert roles(table(writes, 50, insurance=lambda row: "abc"[row % 3])) == {"insurance": "quasi"}


def test_few_persons_in_many_rows_are_still_persons(writes: Writes) -> None:
    """A diary of six people: whatever names them is left out, and the rows of each are one person's."""
    path = table(
        writes,
        300,
        participant=lambda row: f"P{row % 6}",
        name=lambda row: f"Ann{'abcdef'[row % 6]}",
        email=lambda row: f"{'abcdef'[row % 6]}@example.org",
        x=lambda row: f"123-45-678{row % 6}",
        user=lambda row: ["yes", "no"][row % 2],
    )
    identifiers = dict.fromkeys(["name", "email", "x"], "identifier")
    assert roles(path) == {"participant": "individual", **identifiers, "user": "quasi"}


def test_a_secret_of_all_is_left_out(writes: Writes) -> None:
    """A sensitive value that everybody has would be told of everybody by any release."""
    assert roles(table(writes, 30, diagnosis=lambda row: "HIV", age=lambda row: row))["diagnosis"] == "identifier"


def test_nothing_is_plain(ugly: Path, visits_file: Path, american: Path) -> None:
    """No column is proposed to be published as it is without a bound."""
    for path in (ugly, visits_file, american):
        assert "plain" not in roles(path).values()
