"""Releases of two tables: which files there are, what they are called, and what comes out in memory."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import sfumato as sf
from sfumato.errors import InputError

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]
Runs = Callable[..., Any]

ROLES = {"age": "quasi", "sex": "quasi", "illness": "sensitive", "visits": "plain"}
SPLIT = {"form": "lossy-join"}


@pytest.fixture
def table() -> Any:
    """Four people."""
    return pa.table(
        {
            "illness": ["flu", "HIV", "flu", "cold"],
            "age": [31, 32, 33, 34],
            "visits": [1, 2, 3, 4],
            "sex": ["f", "f", "m", "m"],
        }
    )


def test_files_and_columns(rules: Rules, saves: Saves, table: Any) -> None:
    """NSS has the other columns in their order and the class last; SS the class first, then the sensitive ones."""
    public = saves(table, rules(ROLES, publish=SPLIT)) / "public"
    assert sorted(path.name for path in public.iterdir()) == ["manifest.json", "nss.csv", "ss.csv", "summary.html"]
    assert (public / "nss.csv").read_text().splitlines()[0] == "age,visits,sex,class_id"
    assert (public / "ss.csv").read_text().splitlines()[0] == "class_id,illness"


def test_parquet_keeps_types(rules: Rules, saves: Saves, table: Any) -> None:
    """Values stay of the types they had, and classes are whole numbers."""
    public = saves(table, rules(ROLES, publish=SPLIT | {"format": "parquet"})) / "public"
    nss, ss = pq.read_table(public / "nss.parquet"), pq.read_table(public / "ss.parquet")
    assert nss.schema.field("age").type == pa.int64()
    assert nss.schema.field("class_id").type == ss.schema.field("class_id").type == pa.int64()
    assert sorted(nss["age"].to_pylist()) == [31, 32, 33, 34]


def test_the_remark_goes_with_the_tables(rules: Rules, saves: Saves, table: Any) -> None:
    """The manifest says that a line of each is one record, and that the join is not the original."""
    manifest = json.loads((saves(table, rules(ROLES, publish=SPLIT)) / "public" / "manifest.json").read_text())
    assert manifest["form"] == "lossy-join"
    assert (manifest["nss"], manifest["ss"], manifest["class_id"]) == ("nss.csv", ["ss.csv"], "class_id")
    assert manifest["remark"].startswith("Each line of each table stands for one record of the original table.")
    assert "it is not the original table" in manifest["remark"]
    assert {column["name"]: column["table"] for column in manifest["columns"]} == {
        "age": "nss.csv",
        "visits": "nss.csv",
        "sex": "nss.csv",
        "illness": "ss.csv",
    }


def test_a_column_of_that_name(rules: Rules, table: Any) -> None:
    """Where the table has a column called class_id, the class is called something else."""
    renamed = table.rename_columns(["illness", "class_id", "visits", "sex"])
    roles = {"class_id": "quasi", "sex": "quasi", "illness": "sensitive", "visits": "plain"}
    release = sf.anonymize(renamed, rules(roles, publish=SPLIT))
    assert release.nss.column_names == ["class_id", "visits", "sex", "class_id_"]
    assert release.ss.column_names == ["class_id_", "illness"]


def test_sensitive_columns_apart(rules: Rules, saves: Saves, table: Any) -> None:
    """Each sensitive column in a file of its own, named after it where the name is safe; in memory by column."""
    more = table.append_column("a/b", pa.array([1, 2, 3, 4])).append_column("Illness", pa.array(list("wxyz")))
    roles = ROLES | {"a/b": "sensitive", "Illness": "sensitive"}
    policy = rules(roles, publish=SPLIT | {"ss": "apart"})
    folder = saves(more, policy)
    names = sorted(path.name for path in (folder / "public").iterdir())
    assert names == ["manifest.json", "nss.csv", "ss-1.csv", "ss-2.csv", "ss-3.csv", "summary.html"]
    assert sf.verify(folder).satisfied
    release = sf.anonymize(more, policy)
    assert {name: part.column_names for name, part in release.ss.items()} == {
        "illness": ["class_id", "illness"],
        "a/b": ["class_id", "a/b"],
        "Illness": ["class_id", "Illness"],
    }


def test_safe_names_are_kept(rules: Rules, saves: Saves, table: Any) -> None:
    """A file is called after its column where that is a plain name."""
    more = table.append_column("income", pa.array([1, 2, 3, 4]))
    folder = saves(more, rules(ROLES | {"income": "sensitive"}, publish=SPLIT | {"ss": "apart"}))
    assert {path.name for path in (folder / "public").glob("ss*")} == {"ss-illness.csv", "ss-income.csv"}


def test_together_is_told(runs: Runs, tmp_path: Path) -> None:
    """With several sensitive columns in one table, the command, the manifest and the report say what that reveals."""
    (tmp_path / "t.csv").write_text("q,s,t\n" + "a,x,1\na,y,2\nb,x,2\nb,y,1\n")
    policy = '[data]\nsource = "t.csv"\n[columns]\nq = { role = "quasi", hierarchy = "suppress" }\n'
    policy += 's = { role = "sensitive" }\nt = { role = "sensitive" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    (tmp_path / "p.toml").write_text(policy + '[publish]\nform = "lossy-join"\n')
    found = runs("anonymize", "p.toml")
    assert found.code == 0
    assert found.err.startswith("warning: The sensitive columns stand together in one table: whoever knows one")
    manifest = json.loads((tmp_path / "release" / "public" / "manifest.json").read_text())
    assert "read the others there" in manifest["together"]
    assert "read the others there" in (tmp_path / "release" / "private" / "report.html").read_text()
    (tmp_path / "p.toml").write_text(policy + '[publish]\nform = "lossy-join"\nss = "apart"\n')
    assert "stand together" not in runs("anonymize", "p.toml", "--force").err
    assert "together" not in json.loads((tmp_path / "release" / "public" / "manifest.json").read_text())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_what_came_in_comes_out(rules: Rules, table: Any, kind: str) -> None:
    """Both tables are frames of the caller's kind, with the types they had."""
    library = pytest.importorskip(kind)
    frame = table.to_pandas() if kind == "pandas" else library.from_arrow(table)
    release = sf.anonymize(frame, rules(ROLES, publish=SPLIT))
    assert isinstance(release.nss, library.DataFrame)
    assert isinstance(release.ss, library.DataFrame)
    assert release.nss["age"].dtype == frame["age"].dtype
    assert sorted(release.nss["class_id"].to_list()) == sorted(release.ss["class_id"].to_list())
    assert sorted(release.ss["illness"].to_list()) == ["HIV", "cold", "flu", "flu"]


def test_one_table_has_no_two(rules: Rules, table: Any) -> None:
    """A release of two tables has no `table`, and the other way round, in a sentence."""
    with pytest.raises(InputError, match="form lossy-join has no table; it has nss and ss"):
        sf.anonymize(table, rules(ROLES, publish=SPLIT)).table  # noqa: B018 - asking is what raises
    with pytest.raises(InputError, match="form generalized has no ss; it has table"):
        sf.anonymize(table, rules(ROLES)).ss  # noqa: B018 - same


def test_ties_are_measured(rules: Rules, table: Any) -> None:
    """What is lost is which value belongs to which row: told for two tables, and for one there is nothing to tell."""
    release = sf.anonymize(table, rules(ROLES, publish=SPLIT))
    assert release.utility.ncp == 0
    assert release.ties["illness"].chance == pytest.approx(6 / 16)
    assert release.ties["illness"].kept == pytest.approx(0.5)
    assert sf.anonymize(table, rules(ROLES)).ties == {}


def test_classes_of_one_line_are_told(runs: Runs, tmp_path: Path) -> None:
    """Where the policy lets a class be one line, the command and the report say that it tells whose value it is."""
    (tmp_path / "t.csv").write_text("q,s\na,x\nb,y\n")
    policy = '[data]\nsource = "t.csv"\n[columns]\nq = { role = "quasi", hierarchy = "suppress" }\n'
    policy += 's = { role = "sensitive" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 1\n[publish]\nform = "lossy-join"\n'
    (tmp_path / "p.toml").write_text(policy)
    found = runs("anonymize", "p.toml")
    assert found.err.startswith("warning: 2 classes have one line, so that the two tables tell whose value it is;")
    assert "2 classes have one line." in (tmp_path / "release" / "private" / "report.html").read_text()


def test_the_audit_says_how_classes_were_found(rules: Rules, saves: Saves, table: Any) -> None:
    """Levels of a full-domain algorithm, or whether classes were improved on; Anatomy has neither."""
    distinct = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    ways = {
        "optimal": ({"name": "optimal"}, "lossy-join", {"levels"}),
        "top-down": ({"name": "top-down"}, "lossy-join", {"improved"}),
        "anatomy": ({}, "anatomy", set()),
    }
    for name, (search, form, told) in ways.items():
        folder = saves(table, rules(ROLES, privacy=distinct, algorithm=search, publish={"form": form}))
        audit = json.loads((folder / "private" / "audit.json").read_text())
        assert audit["algorithm"] == name
        assert {"levels", "improved"} & audit.keys() == told
        assert "levels" not in json.loads((folder / "public" / "manifest.json").read_text())
