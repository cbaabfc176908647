"""Two tables and their manifest changed after publication, or written by hand: found out, in a sentence."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import NotVerified
from sfumato.verifier import verify

KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
Lines = list[dict[str, Any]]
Make = Callable[..., Any]

ROLES = {"age": "quasi", "sex": "quasi", "visits": "plain"}
RULES = [
    {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "illness"},
    {"model": "distinct-l-diversity", "column": "illness", "l": 2},
]
FILES = {name: {"sha256": ""} for name in ("nss.csv", "ss.csv", "manifest.json")}
JUNK: tuple[Any, ...] = (None, True, -1, 1.5, "x", "", [], {}, [[]], [None], {"a": 1}, [1], ["x"], ["ss.csv", "ss.csv"])


def nss() -> Lines:
    """Eight people in four classes; those of thirty stand in two of them."""
    ages = ["30", "40", "30", "50", "60", "70", "80", "90"]
    return [
        {"age": age, "sex": "fm"[i % 2], "visits": str(i), "class_id": 10 * (1 + i // 2)} for i, age in enumerate(ages)
    ]


def ss() -> Lines:
    """Two values in each class."""
    return [{"class_id": 10 * (1 + i // 2), "illness": ("flu", "cold")[i % 2], "income": "low"} for i in range(8)]


@pytest.fixture
def made(split: Make) -> Make:
    """A function that writes a release that holds."""
    return lambda **manifest: split(nss(), ss(), roles=ROLES, promise=RULES, **manifest)


def moved_line(lines: Lines) -> Lines:
    """A line put into another class."""
    return [{**lines[0], "class_id": 20}, *lines[1:]]


def exchanged_lines(lines: Lines) -> Lines:
    """Two lines that change their classes, so that every class keeps its size."""
    first, last = lines[0], lines[-1]
    return [{**first, "class_id": last["class_id"]}, *lines[1:-1], {**last, "class_id": first["class_id"]}]


def lost_class(lines: Lines) -> Lines:
    """A class less."""
    return lines[2:]


def one_more(lines: Lines) -> Lines:
    """A line more."""
    return [*lines, lines[-1]]


def no_number(lines: Lines) -> Lines:
    """Lines without a class."""
    return [{**line, "class_id": None} if i < 2 else line for i, line in enumerate(lines)]


def new_class(lines: Lines) -> Lines:
    """A line in a class of its own."""
    return [*lines[:-1], {**lines[-1], "class_id": 999}]


def other_order(lines: Lines) -> Lines:
    """The columns in another order."""
    return [dict(reversed(line.items())) for line in lines]


def added_column(lines: Lines) -> Lines:
    """A column that nobody promised anything about."""
    return [{**line, "ssn": "1"} for line in lines]


def dropped_column(lines: Lines) -> Lines:
    """A column less that no requirement is about."""
    return [{key: cell for key, cell in line.items() if key not in {"visits", "income"}} for line in lines]


def other_label(lines: Lines) -> Lines:
    """A label that the data dictionary does not have."""
    return [{**lines[0], "sex": "x"}, *lines[1:]]


CHANGES: list[tuple[str, Callable[[Lines], Lines], tuple[str, ...]]] = [
    (
        "ss",
        moved_line,
        (
            "class 10 has 2 lines in nss.FILE and 1 in ss.FILE",
            "class 20 has 2 lines in nss.FILE and 3 in ss.FILE",
            "alpha-k-anonymity: class 10 has a share of 1.0 of cold, above 0.5",
        ),
    ),
    (
        "nss",
        moved_line,
        ("class 10 has 1 lines in nss.FILE and 2 in ss.FILE", "alpha-k-anonymity: class 10 has 1 rows, fewer than 2"),
    ),
    (
        "ss",
        exchanged_lines,
        (
            "alpha-k-anonymity: class 10 has a share of 1.0 of cold, above 0.5",
            "distinct-l-diversity: class 40 has 1 different sensitive values, fewer than 2",
        ),
    ),
    ("ss", lost_class, ("class 10 has 2 lines in nss.FILE and 0 in ss.FILE",)),
    (
        "nss",
        lost_class,
        (
            "class 10 has 0 lines in nss.FILE and 2 in ss.FILE",
            "the table has 6 rows where the manifest says 8",
            "the table has 3 classes where the manifest says 4",
            "column 'age' lacks labels that the data dictionary has: '40'",
        ),
    ),
    ("ss", one_more, ("class 40 has 2 lines in nss.FILE and 3 in ss.FILE",)),
    (
        "nss",
        one_more,
        ("class 40 has 3 lines in nss.FILE and 2 in ss.FILE", "the table has 9 rows where the manifest says 8"),
    ),
    ("ss", no_number, ("ss.FILE has 2 lines whose class id is missing or no whole number",)),
    ("nss", no_number, ("nss.FILE has 2 lines whose class id is missing or no whole number",)),
    (
        "nss",
        new_class,
        ("k-anonymity: class 40 has 1 rows, fewer than 2", "class 999 has 1 lines in nss.FILE and 0 in ss.FILE"),
    ),
    ("nss", other_order, ("the columns of nss.FILE do not stand as the manifest says",)),
    ("ss", other_order, ("the columns of ss.FILE do not stand as the manifest says",)),
    ("nss", added_column, ("nss.FILE has columns that the manifest lacks: 'ssn'",)),
    ("ss", added_column, ("ss.FILE has columns that the manifest lacks: 'ssn'",)),
    ("nss", dropped_column, ("nss.FILE lacks columns that the manifest has: 'visits'",)),
    ("ss", dropped_column, ("ss.FILE lacks columns that the manifest has: 'income'",)),
    ("nss", other_label, ("column 'sex' holds labels that the data dictionary does not have: 'x'",)),
]


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(("stem", "change", "words"), CHANGES, ids=lambda value: getattr(value, "__name__", None))
def test_a_changed_table_is_found_out_even_with_a_new_hash(
    made: Make, kind: str, stem: str, change: Callable[[Lines], Lines], words: tuple[str, ...]
) -> None:
    """What breaks the promise, the counts or the tie between the files shows in the files themselves."""
    release = made(kind=kind)
    assert verify(release.folder).complaints == ()
    release.change(stem, change)
    complaints = "\n".join(verify(release.folder).complaints)
    for sentence in words:
        assert sentence.replace("FILE", kind) in complaints
    assert "SHA-256" not in complaints


@KINDS
@pytest.mark.parametrize("stem", ["nss", "ss"])
def test_a_changed_byte_is_found_out_by_the_hash(made: Make, kind: str, stem: str) -> None:
    """Lines in another order keep every promise, and are not the file that was published."""
    release = made(kind=kind)
    release.tables[stem].reverse()
    release.store(stem)
    verdict = verify(release.folder)
    assert verdict.complaints == (
        f"{stem}.{kind} is not the file that was published: its SHA-256 differs from the manifest's",
    )
    assert all(finding.satisfied for finding in verdict.privacy)


def test_many_classes_that_differ_are_counted(made: Make) -> None:
    """The first three are named."""
    release = made()
    release.change("ss", lambda lines: [{**line, "class_id": line["class_id"] + 1} for line in lines])
    problems = verify(release.folder).problems
    assert problems[:3] == tuple(
        f"class {number} has {n} lines in nss.csv and {2 - n} in ss.csv" for number, n in ((10, 2), (11, 0), (20, 2))
    )
    assert "5 more classes differ so in ss.csv" in problems


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["x", "1.0", "01", " 10", "1e1", "10.5", "+10", '""', "99999999999999999999", "ten"])
@pytest.mark.parametrize("stem", ["nss", "ss"])
def test_a_class_id_is_written_as_a_whole_number(made: Make, stem: str, cell: str) -> None:
    """Anything else is no class id, even where a database would take it for one."""
    release = made()
    path = release.public / f"{stem}.csv"
    ends = (r",10$", f",{cell}") if stem == "nss" else (r"^10,", f"{cell},")
    path.write_text(re.sub(ends[0], ends[1], path.read_text(), count=1, flags=re.MULTILINE))
    release.written.sign()
    problems = verify(release.folder).problems
    assert f"{stem}.csv has 1 lines whose class id is missing or no whole number" in problems
    assert any(problem.startswith("class 10 has ") for problem in problems)


@pytest.mark.parametrize("file", ["nss.csv", "ss.csv"])
def test_a_missing_file_or_a_link_is_named(made: Make, file: str) -> None:
    """What is not there, or leads elsewhere, cannot be verified."""
    release = made()
    path: Path = release.public / file
    elsewhere = release.folder / file
    path.rename(elsewhere)
    with pytest.raises(NotVerified, match=f"{file} is missing from the release"):
        verify(release.folder)
    path.symlink_to(elsewhere)
    with pytest.raises(NotVerified, match=f"{file} is a link to another place"):
        verify(release.folder)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\n", b"age,sex\n30,f\n", b'"class_id\n', b"class_id,class_id,illness,income\n"]
)
@pytest.mark.parametrize("stem", ["nss", "ss"])
def test_another_file_in_place_of_a_table_is_a_sentence(made: Make, stem: str, content: bytes) -> None:
    """Columns that are lacking or doubled, quotes that never end, bytes that are no text."""
    release = made()
    (release.public / f"{stem}.csv").write_bytes(content)
    release.written.sign()
    with pytest.raises(NotVerified, match=rf"^{stem}\.csv "):
        verify(release.folder)


def test_tables_without_lines_promise_nothing(made: Make) -> None:
    """Two headers meet every requirement; they are no release for all that."""
    release = made()
    for stem in ("nss", "ss"):
        path: Path = release.public / f"{stem}.csv"
        path.write_text(path.read_text().splitlines()[0] + "\n")
    release.written.sign()
    assert "the table has no rows" in verify(release.folder).complaints


@pytest.mark.parametrize("key", ["nss", "ss", "class_id", "form", "columns", "files"])
def test_keys_that_are_missing_or_junk_are_a_sentence(made: Make, key: str) -> None:
    """Whatever a key holds, the release is not verified and the reason is one sentence."""
    release = made()
    whole = release.written.manifest
    for junk in JUNK:
        release.written.rewrite(**{key: junk})
        with pytest.raises(NotVerified) as refused:
            verify(release.folder)
        assert "\n" not in str(refused.value)
    del whole[key]
    (release.public / "manifest.json").write_text(json.dumps(whole))
    with pytest.raises(NotVerified, match="table" if key == "form" else key):
        verify(release.folder)


@pytest.mark.parametrize("name", ["../../secret.csv", "/etc/passwd", "..", ".", "a/b.csv", "a\\b.csv", "x\0.csv"])
@pytest.mark.parametrize("key", ["nss", "ss"])
def test_no_path_leads_out_of_the_folder(made: Make, key: str, name: str) -> None:
    """A table elsewhere is refused by its name."""
    release = made()
    columns = [
        {**column, "table": name} if column["table"] == f"{key}.csv" else column
        for column in release.written.manifest["columns"]
    ]
    named = {"nss": "nss.csv", "ss": ["ss.csv"]} | {key: name if key == "nss" else [name]}
    files = {"nss.csv": {"sha256": "0"}, "ss.csv": {"sha256": "0"}, name: {"sha256": "0"}}
    release.written.rewrite(**named, columns=columns, files=files)
    with pytest.raises(NotVerified, match="which is not a file of the release"):
        verify(release.folder)


MANIFESTS: list[tuple[str, dict[str, Any], str]] = [
    ("a class id that is a column", {"class_id": "age"}, "calls the class id like a column of the table"),
    (
        "a class id that is no column",
        {"class_id": "number"},
        "nss.csv does not have each of these columns once: 'number'",
    ),
    ("NSS as SS", {"ss": ["nss.csv"]}, "names 'nss.csv' as both of its tables"),
    ("no hash", {"ss": ["ss.csv", "other.csv"]}, "has no hash of its table"),
    ("no column", {"ss": ["ss.csv", "manifest.json"], "files": FILES}, "puts no column into 'manifest.json'"),
    ("an unknown form", {"form": "mosaic"}, "cannot verify a release of the form 'mosaic'"),
    ("another kind of file", {"nss": "nss.csv", "ss": ["ss.csv"], "form": "generalized"}, "no proper 'table'"),
]


@pytest.mark.parametrize(("change", "words"), [case[1:] for case in MANIFESTS], ids=[case[0] for case in MANIFESTS])
def test_a_manifest_that_does_not_fit_is_a_sentence(made: Make, change: dict[str, Any], words: str) -> None:
    """Files and class ids that cannot be meant."""
    release = made()
    release.written.rewrite(**change)
    with pytest.raises(NotVerified, match=re.escape(words)):
        verify(release.folder)


@pytest.mark.parametrize("table", ["ss.csv", "elsewhere.csv", None, [], 5])
@pytest.mark.parametrize("place", [0, 2])
def test_a_column_stands_in_the_table_of_its_role(made: Make, place: int, table: Any) -> None:
    """No quasi-identifier and no plain column beside the sensitive ones, none in a file that is not there."""
    release = made()
    columns = release.written.manifest["columns"]
    columns[place]["table"] = table
    release.written.rewrite(columns=columns)
    with pytest.raises(NotVerified, match=r"^manifest.json puts .*column '(age|visits)' into "):
        verify(release.folder)


def test_a_sensitive_column_beside_the_quasi_identifiers_is_refused(made: Make) -> None:
    """That would tell everything, whatever the classes are."""
    release = made()
    columns = release.written.manifest["columns"]
    columns[-1]["table"] = "nss.csv"
    release.written.rewrite(columns=columns)
    with pytest.raises(NotVerified, match=r"puts the sensitive column 'income' into 'nss\.csv'"):
        verify(release.folder)


@pytest.mark.parametrize("change", [{"rows": 7}, {"classes": 3}])
def test_numbers_of_the_manifest_are_compared(made: Make, change: dict[str, int]) -> None:
    """Rows are lines of NSS, classes are different class ids."""
    release = made()
    release.written.rewrite(**change)
    [[what, number]] = change.items()
    assert f"the table has {number + 1} {what} where the manifest says {number}" in verify(release.folder).problems
