"""A release beside earlier ones: what it says of them, publicly and to the data holder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.cli.main import _run as run
from sfumato.errors import Infeasible, PolicyError
from sfumato.publish.promise import published_taxonomies
from sfumato.release import Release, prepare
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
    assert published_taxonomies(release.publication.linked_releases, release.recoding) == {"job": [["*"]]}


def test_rows_that_match_nothing_are_counted(makes: Makes, tmp_path: Path) -> None:
    """The data holder is told how many rows no promise on the join covers."""
    (tmp_path / "t2.csv").write_text("job,disease\nBanker,Cancer\nClerk,HIV\n")
    alone, told = makes().warnings
    assert told.startswith("2 of 5 rows match no record of t2")
    assert alone.startswith("no requirement is about the table by itself, and 2 rows are alone in their class")


def test_nothing_matches(makes: Makes, tmp_path: Path) -> None:
    """Where no row matches at all, the data holder is told where to look, since that is hardly meant."""
    (tmp_path / "t2.csv").write_text("class,disease\nC1,Cancer\nC2,HIV\n")
    entry = {"model": "xy-anonymity", "x": ["name", "class", "t2.class"], "y": ["$row"], "k": 2}
    release = makes(privacy=[entry])
    assert release.privacy[0]["achieved"] == {"k": 0}
    assert any(told.startswith("no row matches any record of t2") and "in class" in told for told in release.warnings)


def test_earlier_releases_that_match_nowhere(document: dict[str, Any], makes: Makes, tmp_path: Path) -> None:
    """Three earlier releases of which two have nobody in common leave an empty join, which holds."""
    (tmp_path / "t3.csv").write_text("job,disease\nClerk,flu\n")
    (tmp_path / "t4.csv").write_text("job,race\nBanker,a\n")
    tables = [{"name": name, "table": str(tmp_path / f"{name}.csv")} for name in ("t3", "t4")]
    x = ["name", "job", "t2.job", "t3.job", "t4.job"]
    entry = {"model": "xy-anonymity", "x": x, "y": ["$row"], "k": 2}
    release = makes(previous=[*document["previous"], *tables], privacy=[entry])
    assert release.privacy[0]["achieved"] == {"k": 0}


def test_identifiers_of_other_releases_stay_out(
    document: dict[str, Any], now: dict[str, list[str]], tmp_path: Path
) -> None:
    """A column that the current table never publishes has no value in its accounts, though others are matched by it."""
    for name in ("t2", "t3"):
        (tmp_path / f"{name}.csv").write_text("ssn,job\nCANARY1,Banker\nCANARY2,Clerk\n")
    previous = [{"name": name, "table": str(tmp_path / f"{name}.csv")} for name in ("t2", "t3")]
    columns = {"ssn": {"role": "identifier"}, **document["columns"]}
    entry = {"model": "xy-anonymity", "x": ["name", "job", "t2.job", "t3.job"], "y": ["$row"], "k": 2}
    table = pa.table({"ssn": list("vwxyz"), **now})
    rules = document | {"columns": columns, "previous": previous, "privacy": [entry]}
    folder = prepare(table, rules).save(tmp_path / "release")
    assert b"CANARY" not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (["job=Bankir", "t2.disease=HIV"], "'job' never is 'Bankir'; did you mean Banker?"),
        (["job=Office", "t2.disease=hiv"], "'t2.disease' never is 'hiv'; did you mean HIV?"),
    ],
)
def test_rules_that_never_apply(rule: list[str], words: str, document: dict[str, Any], makes: Makes) -> None:
    """A misspelt value in a rule would let more match than can, and is an error."""
    with pytest.raises(PolicyError) as caught:
        makes(previous=[document["previous"][0] | {"inconsistent": [rule]}])
    assert words in str(caught.value)


def test_rules_on_values_that_may_come(document: dict[str, Any], makes: Makes) -> None:
    """A value that no record has this time is fine, as a label without a record is."""
    rules = [["job=Field", "t2.disease=Pregnancy"]]
    assert makes(previous=[document["previous"][0] | {"inconsistent": rules}]).privacy[0]["satisfied"]


def test_protected_values_that_are_misspelt(makes: Makes) -> None:
    """A protected value in another spelling than the tables' would protect nothing, and is an error."""
    entry = {
        "model": "xy-linkability",
        "x": ["name", "job", "t2.job"],
        "y": ["t2.disease"],
        "k": 0.9,
        "values": ["hiv"],
    }
    with pytest.raises(PolicyError, match=r"privacy\[0\].values: 'hiv' does not occur in y; did you mean 'HIV'"):
        makes(privacy=[entry])


def test_columns_that_earlier_releases_share_stand_in_x_on_all_sides(
    document: dict[str, Any], makes: Makes, tmp_path: Path
) -> None:
    """What only earlier releases share counts on all their sides, too."""
    (tmp_path / "t3.csv").write_text("job,disease\nBanker,Cancer\n")
    previous = [*document["previous"], {"name": "t3", "table": str(tmp_path / "t3.csv")}]
    x = ["name", "job", "t2.job", "t3.job", "t2.disease"]
    with pytest.raises(PolicyError, match=r"'t2.disease' is shared.*add 't3.disease'"):
        makes(previous=previous, privacy=[{"model": "xy-anonymity", "x": x, "y": ["$row"], "k": 2}])


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
    linked = release.publication.linked_releases
    assert linked is not None
    assert linked.unmatched_columns == ("class",)
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


def test_verify_by_a_policy_that_joins_otherwise(
    document: dict[str, Any], makes: Makes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy with other earlier releases or rules than the release was made with cannot be checked, which is said."""
    folder = str(makes().save(tmp_path / "release"))
    head = f"""
[columns]
name = {{ role = "quasi", hierarchy = "suppress" }}
job = {{ role = "quasi", hierarchy = "{tmp_path / "job.csv"}" }}
class = {{ role = "plain" }}
[[privacy]]
model = "xy-anonymity"
x = ["name", "job", "t2.job"]
y = ["$row"]
k = 2
[[previous]]
table = "{document["previous"][0]["table"]}"
"""
    asked = {'name = "t2"': 0, 'name = "t2"\ninconsistent = [["job=Field", "t2.disease=HIV"]]': 2}
    for more, code in asked.items():
        (tmp_path / "p.toml").write_text(head + more)
        assert run(["verify", folder, "--policy", str(tmp_path / "p.toml")]) == code
    assert "was not made with the rules on what cannot match" in capsys.readouterr().err
    (tmp_path / "p.toml").write_text(head.replace("t2.job", "t3.job") + 'name = "t3"')
    assert run(["verify", folder, "--policy", str(tmp_path / "p.toml")]) == 2
    assert "was not made with the earlier release 't3'" in capsys.readouterr().err
