"""Releases as they lie on disk: CSV and Parquet, odd names and cells, and files that somebody changed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sfumato.errors import DataError, InputError
from sfumato.queries import OpenRelease, open_release, query

Writes = Callable[..., Path]
Opens = Callable[..., OpenRelease]


def count(release: OpenRelease, condition: str) -> float | None:
    """How many rows meet a condition."""
    return release.query(f"select count(*) where {condition}")[0].values["count(*)"].estimate


NAMES = ['a"b', "salary-class", "Größe", "select", "c0", "k1", "with\nbreak", "=sum", "x'y"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_names(opens: Opens, kind: str) -> None:
    """A column may be called anything: no name gets into a statement."""
    nss = [{name: place * 10 + row for place, name in enumerate(NAMES)} | {"class_id": 1} for row in range(2)]
    release = opens({f"nss.{kind}": nss, f"ss.{kind}": [{"class_id": 1, "[red]": ill} for ill in "ab"]})
    for place, name in enumerate(NAMES):
        written = '"' + name.replace('"', '""') + '"'
        answers = release.query(f"select sum({written}), {written} where \"[red]\" = 'a' group by {written}")
        assert [answer.group[name] for answer in answers] == [place * 10, place * 10 + 1]
        assert [value.estimate for answer in answers for value in answer.values.values()] == [
            place * 5,
            place * 5 + 0.5,
        ]
        assert json.loads(json.dumps(answers.as_json()))["columns"] == [name]


def test_case_of_names(opens: Opens) -> None:
    """Names are found whatever their case, the exact one first; two that differ in case alone have to be told apart."""
    nss = [{"Age": 1, "age": 2, "SEX": "f", "class_id": 1}]
    release = opens({"nss.csv": nss, "ss.csv": [{"class_id": 1, "ill": "flu"}]})
    assert count(release, "Age = 1 and age = 2 and sex = 'f' and Sex = 'f'") == 1
    with pytest.raises(InputError, match="'AGE' may be any of 'Age', 'age'; write it as one of them"):
        count(release, "AGE = 1")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("null", ["", "?"])
def test_cells(opens: Opens, kind: str, null: str) -> None:
    """NULL is not the empty text, a guarded cell is the value it was, and texts that look like numbers stay codes."""
    cells = [None, "", "=1+1", "'=1", "-5 degrees", "'tis", "a,b", 'q"q', "line\nbreak", "NULL", "?", "*"]
    nss = [{"odd": cell, "zip": "04350", "class_id": 1} for cell in cells]
    release = opens({f"nss.{kind}": nss, f"ss.{kind}": [{"class_id": 1, "ill": "x"} for _ in cells]}, null=null)
    for cell in cells[1:]:
        assert count(release, f"odd = '{str(cell).replace(chr(39), 2 * chr(39))}'") == 1, cell
    assert count(release, "odd is null") == 1
    assert count(release, "odd is not null and zip = '04350'") == len(cells) - 1
    with pytest.raises(InputError, match="zip holds texts; write '4350' in quotes"):
        count(release, "zip = 4350")


def test_typed_parquet(writes: Writes) -> None:
    """Types of Parquet are kept: numbers are numbers, dates are texts in ISO form, what is no finite number is NULL."""
    import datetime as dt

    nss: list[dict[str, Any]] = [
        {"n": 7, "x": 1.5, "day": dt.date(2020, 3, 1), "ok": True, "class_id": 1},
        {"n": None, "x": float("nan"), "day": dt.date(2021, 3, 1), "ok": False, "class_id": 1},
        {"n": 2**40, "x": float("inf"), "day": None, "ok": None, "class_id": 1},
    ]
    folder = writes({"nss.parquet": nss, "ss.parquet": [{"class_id": 1, "ill": "x"} for _ in nss]})
    with open_release(folder) as release:
        assert count(release, "n = 7 and x > 1 and day < '2021-01-01' and ok = true") == 1
        assert count(release, "day = date '2021-03-01' and ok = 'false'") == 1
        answers = release.query("select sum(n), avg(x), count(x), count(day)")
        assert [value.estimate for value in answers[0].values.values()] == [2.0**40 + 7, 1.5, 1.0, 2.0]


def test_types_of_the_dictionary(opens: Opens) -> None:
    """A CSV column that the manifest calls one of numbers is one, however they are written, if all cells are."""
    entries = {"x": {"type": "double"}, "y": {"type": "int64"}, "z": {"type": "string"}}
    nss = [{"x": x, "y": y, "z": x, "class_id": 1} for x, y in (("1e+20", "3"), ("0.5", "x"))]
    release = opens({"nss.csv": nss, "ss.csv": [{"class_id": 1, "ill": "x"}] * 2}, entries=entries)
    assert count(release, "x > 1000 and y = '3' and z = '1e+20'") == 1


def test_large_whole_numbers_are_compared_exactly(opens: Opens) -> None:
    """Numbers that differ by one are told apart up to eighteen digits."""
    nss = [{"id": 10**17 + step, "class_id": 1} for step in range(3)]
    release = opens({"nss.csv": nss, "ss.csv": [{"class_id": 1, "ill": "x"}] * 3})
    assert count(release, f"id = {10**17 + 1}") == 1


@pytest.mark.skipif(duckdb.__version__.startswith("1."), reason="DuckDB 1 adds up in any order: last digits differ")
def test_many_different_values(opens: Opens) -> None:
    """A column of very many different values is not coded, and answers all the same."""
    nss = [{"id": f"person {row}", "pay": row, "few": row % 7, "class_id": row // 3} for row in range(900)]
    ss = [{"class_id": row // 3, "ill": "ab"[row % 2]} for row in range(900)]
    release = opens({"nss.csv": nss, "ss.csv": ss})
    assert [column.coded for column in release.tables.columns] == [False, False, True, True]
    assert count(release, "id = 'person 7' and pay < 100 and few = 0") == 1
    tied = release.query("select count(*), sum(pay) where id like '%0' or ill = 'a'")
    apart = release.query("select count(*), sum(pay) where not (id not like '%0' and not ill = 'a')")
    assert tied.answers == apart.answers


def test_wide_tables(writes: Writes) -> None:
    """A table of very many columns is read as far as a query is about it."""
    nss = [{f"column {place}": place + row for place in range(2000)} | {"class_id": 1} for row in range(3)]
    folder = writes({"nss.csv": nss, "ss.csv": [{"class_id": 1, "ill": "x"}] * 3})
    answers = query(folder, 'select sum("COLUMN 1999"), count(*) where ill = \'x\' group by "column 7"')
    assert [value.estimate for value in answers[0].values.values()] == [1999.0, 1.0]
    assert query(folder, "select count(*)")[0].values["count(*)"].estimate == 3.0
    with pytest.raises(InputError, match='did you mean "column 199"'):
        query(folder, 'select sum("colum 199")')


@pytest.mark.parametrize("form", ["lossy-join", "generalized"])
def test_one_query_reads_what_it_needs(writes: Writes, form: str) -> None:
    """A release that is read for one query answers it as one does that was read for all."""
    nss = [{"age": 30 + row % 3, "sex": "fm"[row % 2], "class_id": row // 2} for row in range(8)]
    ss = [{"class_id": row // 2, "ill": "ab"[row // 4]} for row in range(8)]
    rows = [{"age": 30 + row % 3, "sex": "fm*"[row % 3], "ill": "ab"[row // 4]} for row in range(8)]
    folder = writes({"table.csv": rows} if form == "generalized" else {"nss.csv": nss, "ss.csv": ss}, form=form)
    with open_release(folder) as release:
        for text in (
            "select count(*)",
            "select sex as s, avg(AGE) group by 1",
            "select count(*) where sex = 'f' or ILL = 'a'",
            "select ill, sum(age) where sex <> 'm' group by ill",
        ):
            assert query(folder, text).answers == release.query(text).answers


def test_empty_columns(opens: Opens) -> None:
    """A column of NULL alone can be compared with anything, and has nothing to sum or to average."""
    release = opens({"nss.csv": [{"x": None, "class_id": 1}], "ss.csv": [{"class_id": 1, "ill": None}]})
    for condition in ("x = 1", "x = 'a'", "x like '%'", "x + 1 > 2", "x = ill", "not x = 1"):
        assert count(release, condition) == 0, condition
    answers = release.query("select sum(x), avg(x), count(x), count(*) where x is null and ill is null")
    assert [value.estimate for value in answers[0].values.values()] == [0.0, None, 0.0, 1.0]


# what is not a release ----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(writes: Writes) -> Path:
    """A small release of two tables."""
    nss = [{"age": 30 + row, "class_id": row // 2} for row in range(4)]
    return writes({"nss.csv": nss, "ss.csv": [{"class_id": row // 2, "ill": "flu"} for row in range(4)]})


def changed(folder: Path, **keys: Any) -> Path:
    """The folder with other keys in its manifest; None takes one away."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | keys
    path.write_text(json.dumps({key: value for key, value in manifest.items() if value is not None}))
    return folder


def test_places_that_are_no_release(tmp_path: Path) -> None:
    """A path that is no release is named, with what to name instead."""
    with pytest.raises(InputError, match="is not a release folder; name the folder that anonymize wrote"):
        query(tmp_path / "nowhere", "select count(*)")
    with pytest.raises(InputError, match=r"has no manifest\.json; name the folder that anonymize wrote"):
        query(tmp_path, "select count(*)")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"form": "synthetic"}, "manifest.json has no proper 'table'"),
        ({"nss": None}, "manifest.json has no proper 'nss'"),
        ({"nss": 7}, "manifest.json has no proper 'nss'"),
        ({"ss": []}, "manifest.json has no proper 'ss'"),
        ({"ss": ["ss.csv", 7]}, "manifest.json has no proper 'ss'"),
        ({"class_id": None}, "manifest.json has no proper 'class_id'"),
        ({"class_id": "age"}, "has not the columns that manifest.json lists"),
        ({"nss": "../nss.csv"}, "which is not a file of the release"),
        ({"nss": "other.csv"}, "other.csv is missing from the release"),
        ({"nss": "manifest.json"}, "manifest.json is no table that this version can read"),
        ({"columns": "age"}, "manifest.json has no proper 'columns'"),
        ({"columns": [{"role": "quasi"}]}, "manifest.json has no proper 'columns'"),
        ({"columns": [{"name": "age", "table": "x"}]}, "does not say in which table each column stands"),
        ({"columns": [{"name": "age", "table": "nss.csv"}] * 2}, "manifest.json has a column twice"),
        ({"columns": [{"name": "age", "domain": 7}]}, "manifest.json has no proper 'columns'"),
        ({"columns": [{"name": "age", "mask": {"side": "top"}}]}, "manifest.json has no proper 'columns'"),
        ({"columns": [{"name": "age", "covers": {"*": []}}]}, "manifest.json has no proper 'columns'"),
    ],
)
def test_changed_manifests(folder: Path, keys: dict[str, Any], sentence: str) -> None:
    """A manifest that does not make sense is a sentence, never a traceback."""
    with pytest.raises(InputError, match=re.escape(sentence)):
        open_release(changed(folder, **keys))


@pytest.mark.parametrize("content", ["{", "[]", "\ufeff{}"])
def test_broken_manifests(folder: Path, content: str) -> None:
    """So is one that is no JSON object."""
    (folder / "manifest.json").write_text(content)
    with pytest.raises(DataError, match="changed after publication"):
        open_release(folder)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("nss.csv", b"", "nss.csv is empty"),
        ("nss.csv", b"age,other\n1,2\n", "nss.csv has not the columns that manifest.json lists, but 'age', 'other'"),
        (
            "nss.csv",
            b"age,class_id\n1\n",
            "nss.csv cannot be read: line 2 has 1 cells where the header has 2; it was changed",
        ),
        ("nss.csv", b"age,class_id\n1,x\n", "nss.csv cannot be read: a cell does not hold a number"),
        ("nss.csv", b"age,class_id\n1,1\n1,2,3\n", "nss.csv cannot be read: line 3 has 3 cells where the header has 2"),
        ("nss.csv", b'age,class_id\n1,1\n"1,2\n', "nss.csv cannot be read: line 3 has a quote that is not closed"),
        (
            "nss.csv",
            b'age,class_id\n1,1\n"1"x,2\n',
            "nss.csv cannot be read: line 3 has a quote that is not closed, or text",
        ),
        ("nss.csv", b"age,class_id\n1,1\n\xff,2\n", "nss.csv cannot be read: it is not UTF-8; it was changed"),
        (  # an older DuckDB takes a carriage return for the end of a line, too
            "nss.csv",
            b"age,class_id\n1,1\r2,2\n",
            (
                "nss.csv cannot be read: it is damaged, or of another format",
                "ss.csv has not as many lines of each class",
            ),
        ),
        (
            "nss.csv",
            b"age,class_id\n1,99999999999999999999999\n",
            "nss.csv cannot be read: a cell does not hold a number",
        ),
        ("nss.csv", b"\xff\xfe", "nss.csv cannot be read: "),
        ("nss.csv", b'age,"class_id\n', "nss.csv cannot be read: "),
        ("ss.csv", b"class_id,ill\n0,flu\n", "ss.csv has not as many lines of each class as nss.csv: 2 classes differ"),
        ("ss.csv", b"class_id,ill\n0,a\n0,a\n,a\n1,a\n", "ss.csv has not as many lines of each class as nss.csv"),
    ],
)
def test_changed_tables(folder: Path, file: str, content: bytes, sentence: str | tuple[str, ...]) -> None:
    """A table that is not the one that was described is refused."""
    (folder / file).write_bytes(content)
    with pytest.raises(DataError) as refused:
        open_release(folder)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


def test_a_broken_parquet_file(writes: Writes) -> None:
    """A Parquet file that is none is refused as well."""
    folder = writes({"nss.parquet": [{"age": 1, "class_id": 1}], "ss.parquet": [{"class_id": 1, "ill": "x"}]})
    (folder / "ss.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"ss\.parquet cannot be read"):
        open_release(folder)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """A release holds its files itself: a link elsewhere is refused."""
    (tmp_path / "other.csv").write_bytes((folder / "nss.csv").read_bytes())
    (folder / "nss.csv").unlink()
    (folder / "nss.csv").symlink_to(tmp_path / "other.csv")
    with pytest.raises(DataError, match=re.escape("names 'nss.csv', which is not a file of the release")):
        open_release(folder)


def test_nothing_else_is_read(folder: Path, tmp_path: Path) -> None:
    """The database reads the files of the release and no other, and cannot be talked out of it."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with open_release(folder) as release:
        for statement in (
            f"select * from read_csv('{secret}')",
            f"copy t0 to '{tmp_path / 'out.csv'}'",
            "set enable_external_access = true",
            "install httpfs",
        ):
            with pytest.raises(duckdb.Error):
                release.tables.connection.execute(statement)


@pytest.mark.parametrize("name", ["a[1]*", "with 'quote", "ünï?"])
def test_odd_folders(folder: Path, tmp_path: Path, name: str) -> None:
    """The name of a folder is not a pattern; the release folder and its public part are the same."""
    place = tmp_path / name
    place.mkdir()
    folder.rename(place / "public")
    for path in (place, str(place), place / "public"):
        assert query(path, "select count(*)")[0].values["count(*)"].estimate == 4.0


def test_very_long_lines(opens: Opens) -> None:
    """A cell of millions of characters is read."""
    nss = [{"note": "x" * 3_000_000, "class_id": 1}]
    release = opens({"nss.csv": nss, "ss.csv": [{"class_id": 1, "ill": "x"}]})
    assert count(release, "note like 'x%'") == 1
