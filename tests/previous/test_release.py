"""A release beside earlier ones: what it says of them, publicly and to the data holder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import Infeasible
from sfumato.release import Release
from sfumato.verifier import verify

Makes = Callable[..., Release]


def test_the_manifest_says_what_it_was_joined_with(makes: Makes, tmp_path: Path) -> None:
    """Name, hash and join of the earlier release are public, with the path of every label; its place is not."""
    folder = makes().save(tmp_path / "release")
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    (previous,) = manifest["previous"]
    assert (previous["name"], previous["rows"], previous["join"]) == ("t2", 5, ["job"])
    assert str(tmp_path) not in (folder / "public" / "manifest.json").read_text()
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert audit["previous"] == [{"name": "t2", "path": str(tmp_path / "t2.csv")}]
    assert ["Banker", "Office", "*"] in manifest["taxonomies"]["job"]
    assert verify(folder).satisfied
    assert verify(folder / "public", previous={"t2": tmp_path / "t2.csv"}).satisfied


def test_the_manifest_tells_no_label_that_nobody_published(document: dict[str, Any], makes: Makes) -> None:
    """Of a value that the current table holds and does not tell, the taxonomies have no path."""
    (Path(document["previous"][0]["table"])).write_text("job,disease\n*,HIV\n*,HIV\n")
    release = makes(privacy=[document["privacy"][0] | {"k": 5}])
    assert set(release.table.column("job").to_pylist()) == {"*"}
    from sfumato.release.previous import taxonomies

    assert taxonomies(release.star, release.recoding) == {"job": [["*"]]}


def test_rows_that_match_nothing_are_counted(makes: Makes, tmp_path: Path) -> None:
    """The data holder is told how many rows no promise on the join covers."""
    (tmp_path / "t2.csv").write_text("job,disease\nBanker,Cancer\nClerk,HIV\n")
    (told,) = makes().warnings
    assert told.startswith("2 of 5 rows match no record of t2")


def test_no_common_column(makes: Makes, tmp_path: Path) -> None:
    """A release that shares no column is joined with every record, which is told."""
    (tmp_path / "t2.csv").write_text("illness\nHIV\nflu\n")
    entry = {"model": "xy-anonymity", "x": ["name", "job", "t2.illness"], "y": ["$row"], "k": 2}
    (told,) = makes(privacy=[entry]).warnings
    assert told == "t2 shares no column with the table: every record matches every record of it"


def test_ranges_are_not_matched(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """A column of ranges has no taxonomy in common with another table; an adversary may still use it."""
    (tmp_path / "t2.csv").write_text("job,class\nBanker,1\nClerk,2\n")
    columns = document["columns"] | {
        "job": {"role": "plain"},
        "class": {"role": "quasi", "hierarchy": {"ranges": True}},
    }
    import pyarrow as pa

    from sfumato.release import prepare

    table = pa.table(
        {"name": ["a", "b", "a", "b"], "job": ["Banker", "Banker", "Clerk", "Clerk"], "class": [1, 2, 3, 4]}
    )
    entry = {"model": "xy-anonymity", "x": ["name", "class"], "y": ["$row"], "k": 2}
    release = prepare(table, document | {"columns": columns, "privacy": [entry]})
    assert release.star is not None
    assert release.star.apart == ("class",)
    assert any(told.startswith("'class' stands in t2 as well, but has no taxonomy here") for told in release.warnings)


def test_the_report_names_them(makes: Makes, tmp_path: Path) -> None:
    """The report says which releases were looked at, by what they are matched, and that others were not."""
    report = (makes().save(tmp_path / "release") / "private" / "report.html").read_text()
    assert "5 rows, matched by job" in report
    assert "Taken into account, as far as the (X, Y)-requirements go: t2." in report


def test_what_cannot_be_met_is_said_with_what_would_help(document: dict[str, Any], makes: Makes) -> None:
    """If the most general table fails, the sentence has the figure that it reaches and a way out."""
    with pytest.raises(Infeasible, match=r"is linked to 5 different values on y; lower k to that") as caught:
        makes(privacy=[document["privacy"][0] | {"k": 6}])
    assert caught.value.exit_code == 1
    entry = {"model": "xy-linkability", "x": ["name", "job", "t2.job"], "y": ["class"], "k": 0.3}
    with pytest.raises(Infeasible, match=r"confidence of 0.4000; raise k to 0.4000"):
        makes(privacy=[entry])


def test_releases_can_be_joined_one_by_one(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """A requirement may name the earlier releases that it is joined with; others neither help nor hurt it."""
    (tmp_path / "t3.csv").write_text("job,race\nBanker,a\nClerk,b\nDriver,a\nEngineer,b\n")
    previous = [*document["previous"], {"name": "t3", "table": str(tmp_path / "t3.csv")}]
    privacy = [
        {"model": "xy-anonymity", "x": ["name", "job", "t2.job"], "y": ["$row", "t2.$row"], "k": 4, "releases": ["t2"]},
        {"model": "xy-anonymity", "x": ["name", "job", "t3.job", "t3.race"], "y": ["$row"], "k": 2, "releases": ["t3"]},
    ]
    release = makes(previous=previous, privacy=privacy)
    folder = release.save(tmp_path / "release")
    assert [finding.satisfied for finding in verify(folder).privacy] == [True, True]
    alone = makes(privacy=privacy[:1]).privacy[0]["achieved"]
    assert release.privacy[0]["achieved"]["k"] >= 4 <= alone["k"]
