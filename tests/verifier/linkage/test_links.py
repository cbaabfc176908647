"""Releases that were made with earlier ones: what the verifier finds in their files, and what it says."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError, NotVerified
from sfumato.verifier import PriorRelease, Promise, RequestedPromise, verify, verify_table
from sfumato.verifier.linkage import alike_joins, pivot_join, record_matching, xy_checks

PEOPLE = [
    {"name": "Alice", "job": "Banker", "class": "c1"},
    {"name": "Alice", "job": "Banker", "class": "c1"},
    {"name": "Bob", "job": "Clerk", "class": "c2"},
    {"name": "Bob", "job": "Driver", "class": "c3"},
    {"name": "Cathy", "job": "Engineer", "class": "c4"},
]
PATIENTS = [
    {"job": "Banker", "disease": "Cancer"},
    {"job": "Banker", "disease": "Cancer"},
    {"job": "Clerk", "disease": "HIV"},
    {"job": "Driver", "disease": "Cancer"},
    {"job": "Engineer", "disease": "HIV"},
]
TAXONOMIES = {"job": [[job, "*"] for job in ("Banker", "Clerk", "Driver", "Engineer")] + [["*"]]}
K = {"model": "xy-anonymity", "x": ["name", "old.disease"], "y": ["$row", "old.$row"], "k": 1}
LINK = {"model": "xy-linkability", "x": ["name"], "y": ["old.disease"], "k": 1}
MORE: dict[str, Any] = {"roles": {"class": "plain"}, "taxonomies": TAXONOMIES}


def figures(folder: Path, *rules: dict[str, Any], **previous: Any) -> list[Any]:
    """What a release reaches, requirement by requirement."""
    return [finding.achieved["k"] for finding in verify(folder, asked=RequestedPromise(rules), **previous).privacy]


def test_the_join_of_table_1_of_the_paper(joined: Any) -> None:
    """Example 1: {Bob, HIV} has one record in the join, {Alice, Cancer} four; Alice has Cancer for certain."""
    release = joined(PEOPLE, {"old": PATIENTS}, promise=[K], **MORE)
    assert verify(release.folder).complaints == ()
    assert figures(release.folder, K, LINK, {**LINK, "y": ["old.disease"], "values": ["HIV"]}) == [1, 1.0, 1.0]
    few = "is linked to 1 different values of $row, old.$row, fewer than 2"
    assert verify(release.folder, asked=RequestedPromise([{**K, "k": 2}])).complaints == (
        f"xy-anonymity: name = Bob, old.disease = Cancer {few}",
        f"xy-anonymity: name = Bob, old.disease = HIV {few}",
        f"xy-anonymity: name = Cathy, old.disease = HIV {few}",
    )
    assert verify(release.folder, asked=RequestedPromise([{**LINK, "k": 0.9}])).complaints == (
        "xy-linkability: name = Alice is linked to old.disease = Cancer with a share of 1.0, above 0.9",
        "xy-linkability: name = Cathy is linked to old.disease = HIV with a share of 1.0, above 0.9",
    )


def test_general_labels_make_the_join_lossy(joined: Any) -> None:
    """With every job at the root each person may have each of the five diseases' records."""
    release = joined([{**line, "job": "*"} for line in PEOPLE], {"old": PATIENTS}, promise=[{**K, "k": 2}], **MORE)
    assert verify(release.folder).complaints == ()
    assert figures(release.folder, K, LINK, {**K, "y": ["$row"]}, {**K, "y": ["old.$row"]}) == [2, 0.6, 1, 2]


def test_rules_keep_records_apart(joined: Any) -> None:
    """Nobody of class c1 has Cancer: then Alice is in no line of the join, and is linked to nothing."""
    current = [{**line, "job": "*"} for line in PEOPLE]
    release = joined(current, {"old": PATIENTS}, promise=[{**LINK, "k": 0.6}], **MORE)
    release.change_previous(inconsistent=[["class=c1", "old.disease=Cancer"]])
    assert verify(release.folder, asked=RequestedPromise([{**LINK, "k": 0.6}])).complaints == (
        "xy-linkability: name = Alice is linked to old.disease = HIV with a share of 1.0, above 0.6",
    )
    release.change_previous(inconsistent=[["class=c1", "old.disease=*"]])
    assert verify(release.folder).complaints == ()


@pytest.mark.slow
def test_thresholds_of_single_values(joined: Any) -> None:
    """Each named value has its bound, k bounds all others, and without k these are free."""
    release = joined([{**line, "job": "*"} for line in PEOPLE], {"old": PATIENTS}, promise=[LINK], **MORE)
    free = {"model": "xy-linkability", "x": ["name"], "y": ["old.disease"], "values": {"HIV": 0.4}}
    assert verify(release.folder, asked=RequestedPromise([free, {**free, "k": 0.6}])).complaints == ()
    assert figures(release.folder, free, {**free, "k": 0.6}) == [0.4, 0.6]
    [sentence, *_] = verify(release.folder, asked=RequestedPromise([{**free, "k": 0.5}])).complaints
    assert sentence == "xy-linkability: name = Alice is linked to old.disease = Cancer with a share of 0.6, above 0.5"
    [sentence, *_] = verify(
        release.folder, asked=RequestedPromise([{**free, "values": {"HIV": 0.39999999999}}])
    ).complaints
    assert sentence.endswith("is linked to old.disease = HIV with a share of 0.4, above 0.39999999999")


def test_the_worst_are_named_and_the_others_counted(joined: Any) -> None:
    """Three sentences, and a number."""
    current = [{"id": f"i{i}", "job": "*"} for i in range(9)]
    release = joined(current, {"old": PATIENTS}, promise=[{**K, "x": ["id"], "y": ["$row"]}], taxonomies=TAXONOMIES)
    complaints = verify(release.folder, asked=RequestedPromise([{**K, "x": ["id"], "y": ["$row"], "k": 2}])).complaints
    assert complaints[0] == "xy-anonymity: id = i0 is linked to 1 different $row, fewer than 2"
    assert complaints[3:] == ("xy-anonymity: 6 more are linked too closely",)


def test_persons_are_not_named(joined: Any) -> None:
    """A pseudonym that is linked too closely stays out of the sentence, and so does a row."""
    current = [{"job": "*", "who": f"P{i}"} for i in range(2)]
    rules = [{**LINK, "x": ["job"], "y": ["who"], "k": 0.4}, {**LINK, "x": ["old.job"], "y": ["$row"], "k": 0.4}]
    release = joined(current, {"old": PATIENTS}, roles={"who": "individual"}, promise=rules, taxonomies=TAXONOMIES)
    complaints = verify(release.folder).complaints
    assert complaints[0] == "xy-linkability: job = * is linked to one who with a share of 0.5, above 0.4"
    assert complaints[1].endswith("old.job = Banker is linked to one $row with a share of 0.5, above 0.4")
    assert not any("P0" in text or "P1" in text for text in complaints)


def test_without_earlier_releases_the_table_is_the_join(joined: Any) -> None:
    """Example 2: at least so many persons for each x, and so many tests."""
    current = [
        {"job": "cook", "pid": pid, "test": test} for pid, test in (("a", "x"), ("a", "y"), ("a", "z"), ("b", "x"))
    ]
    rules = [{**K, "x": ["job"], "y": [y], "k": k} for y, k in (("pid", 2), ("test", 3), ("$row", 4))]
    release = joined(current, {}, roles={"pid": "individual", "test": "sensitive"}, promise=rules)
    assert verify(release.folder).complaints == ()
    assert figures(release.folder, *rules) == [2, 3, 4]


def test_a_join_without_lines_links_nothing(joined: Any) -> None:
    """No record matches: satisfied, with a figure of 0."""
    current = [{**line, "job": "Cook"} for line in PEOPLE]
    release = joined(current, {"old": PATIENTS}, promise=[{**K, "k": 9}, {**LINK, "k": 0.1}], **MORE)
    assert verify(release.folder).complaints == ()
    assert figures(release.folder, K, LINK) == [0, 0]


def test_other_requirements_are_checked_beside(joined: Any) -> None:
    """Classes are counted as ever, and a class that is too small is one, whatever the join says."""
    release = joined(PEOPLE, {"old": PATIENTS}, promise=[K, {"model": "k-anonymity", "k": 2}], **MORE)
    verdict = verify(release.folder)
    assert (verdict.rows, verdict.classes) == (5, 4)
    assert [finding.satisfied for finding in verdict.privacy] == [True, False]
    assert "k-anonymity: the class name = Bob, job = Clerk has 1 rows, fewer than 2" in verdict.complaints


def test_numbers_and_dates_are_compared_as_they_print(joined: Any, tmp_path: Path) -> None:
    """A Parquet file with whole numbers matches the texts of a CSV, and NULL is a value of its own."""
    current = [{"year": "1990", "id": "a"}, {"year": None, "id": "b"}, {"year": "*", "id": "c"}]
    release = joined(current, {"old": [{"year": "1990"}]}, promise=[{**K, "x": ["id"], "y": ["old.$row"]}])
    path = tmp_path / "old.parquet"
    pq.write_table(pa.table({"year": pa.array([1990, 1990, 1991, None], pa.int16())}), path)
    entry = release.written.manifest["previous"][0]
    del entry["csv"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    release.change(previous=[entry | {"table": "old.parquet", "sha256": digest, "rows": 4}])
    verdict = verify(release.folder, previous={"old": path})
    assert verdict.complaints == ()
    for name, figure in (("a", 2), ("b", 1), ("c", 4)):
        [found] = verify(
            release.folder,
            previous={"old": path},
            asked=RequestedPromise([{**K, "x": ["id"], "y": ["old.$row"], "k": figure + 1}]),
        ).privacy
        assert (
            f"xy-anonymity: id = {name} is linked to {figure} different old.$row, fewer than {figure + 1}"
            in found.failures
        )


@pytest.mark.parametrize(
    ("content", "csv"),
    [
        ('job;disease\r\nBanker;?\r\n"?";x;y\r\n', None),
        ('\ufeffjob;disease\r\n\'=Clerk;"a;b"\r\n\r\nBanker;none\r\n', {"null": ["none", ""], "guarded": True}),
        ("job\tdisease\n=Clerk\ta;b\nBanker\t\n", {"separator": "\t", "null": [""]}),
    ],
)
def test_earlier_files_are_read_as_they_were_written(joined: Any, tmp_path: Path, content: str, csv: Any) -> None:
    """Any separator, line end and word for NULL, byte order mark or not; a record that is too long is a sentence."""
    current = [{"job": "Banker", "id": "a"}, {"job": "=Clerk", "id": "b"}]
    release = joined(current, {"old": PATIENTS}, promise=[{**K, "x": ["old.disease"], "y": ["$row"]}])
    path = tmp_path / "old.csv"
    path.write_text(content, encoding="utf-8", newline="")
    reading = {"separator": ";", "null": ["?"], "guarded": False} | (csv or {})
    release.change_previous(csv=reading, rows=2, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    if csv is None:
        with pytest.raises(NotVerified, match="earlier release 'old' cannot be read"):
            verify(release.folder)
        return
    assert verify(release.folder).complaints == ()
    [found] = verify(
        release.folder, asked=RequestedPromise([{**K, "x": ["old.disease"], "y": ["$row"], "k": 2}])
    ).privacy
    assert found.failures[1].startswith("xy-anonymity: old.disease = NULL is linked to 1 different $row")
    assert found.failures[0].startswith("xy-anonymity: old.disease = a;b is linked to 1 different $row")


def test_in_memory_as_in_files(joined: Any) -> None:
    """What is to be published is checked before it is, with the earlier files."""
    release = joined(PEOPLE, {"old": PATIENTS}, promise=[K], **MORE)
    csv = {"separator": ",", "null": [""], "guarded": False}
    old = PriorRelease("old", release.earlier["old"], csv=csv, join=("job",))
    promise = Promise(("name", "job"), (), None, (K, {**K, "k": 2}, LINK), previous=(old,), taxonomies=TAXONOMIES)
    found = verify_table(pa.Table.from_pylist(PEOPLE), promise).privacy
    assert [finding.achieved["k"] for finding in found] == figures(release.folder, K, {**K, "k": 2}, LINK)
    assert [finding.satisfied for finding in found] == [True, False, True]
    with pytest.raises(InputError, match="the table of the earlier release 'old' is needed here"):
        verify_table(pa.Table.from_pylist(PEOPLE), Promise(("name",), (), None, (K,), previous=(PriorRelease("old"),)))


def test_a_policy_brings_its_own_earlier_releases(joined: Any) -> None:
    """Asked for other rules, or of a release that was made without any, these count and not the manifest's."""
    release = joined([{**line, "job": "*"} for line in PEOPLE], {"old": PATIENTS}, promise=[LINK], **MORE)
    rule = ("class=c1", "old.disease=Cancer")
    [found] = verify(
        release.folder,
        asked=RequestedPromise(
            [{**LINK, "k": 0.6}], previous=[PriorRelease("old", join=("job",), inconsistent=(rule,))]
        ),
    ).privacy
    assert found.achieved == {"k": 1.0}
    alone = joined(PEOPLE, {}, promise=[{"model": "k-anonymity", "k": 1}], folder="alone", roles={"class": "plain"})
    csv = {"separator": ",", "null": [""]}
    old = PriorRelease("old", release.earlier["old"], csv=csv, join=("job",))
    [found] = verify(alone.folder, asked=RequestedPromise([K], previous=[old], taxonomies=TAXONOMIES)).privacy
    assert found.achieved == {"k": 1}
    with pytest.raises(InputError, match=r"about 'old\.disease', which neither the release nor an earlier one has"):
        verify(alone.folder, asked=RequestedPromise([K]))


def test_the_public_part_needs_the_earlier_file(joined: Any) -> None:
    """Without the audit nobody knows where it is; whoever has it names it."""
    release = joined(PEOPLE, {"old": PATIENTS}, promise=[K], **MORE)
    shutil.rmtree(release.folder / "private")
    with pytest.raises(
        InputError, match=r"'old' with the SHA-256 [0-9a-f]{64} is needed here; name the file with --pre"
    ):
        verify(release.folder)
    assert verify(release.folder, previous={"old": str(release.earlier["old"])}).complaints == ()
    assert verify(release.folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 1}])).satisfied
    with pytest.raises(InputError, match="no earlier release called 'new'; it has 'old'"):
        verify(release.folder, previous={"new": release.earlier["old"]})


def test_the_command_line_names_earlier_files(joined: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """``--previous NAME=FILE`` stands for the path in the audit."""
    from sfumato.cli.main import main

    release = joined(PEOPLE, {"old": PATIENTS}, promise=[K], **MORE)
    moved = shutil.move(release.earlier["old"], tmp_path / "moved.csv")

    def run(*arguments: str) -> tuple[Any, str, str]:
        with pytest.raises(SystemExit) as left:
            main(["verify", str(release.folder), *arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    code, _, err = run()
    assert (code, err.count("\n")) == (2, 1)
    assert "is not there as a file; name the file with --previous old=FILE" in err
    code, out, _ = run("--previous", f"old={moved}", "--json")
    assert (code, json.loads(out)["privacy"][0]["achieved"]) == (0, {"k": 1})
    assert run("--previous", "old")[0] == 2
    assert "twice" in run("--previous", f"old={moved}", "--previous", "old=x")[2]


def test_alike_joins_cost_what_one_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same asked of many earlier releases takes no more statements than of few, but for opening their files."""
    statements: list[str] = []

    def count(connection: Any, statement: str) -> Any:
        statements.append(statement)
        return record_matching.execute(connection, statement)

    for module in (alike_joins, pivot_join, xy_checks):
        monkeypatch.setattr(module, "execute", count)
    taken = []
    for number in (3, 12):
        releases, rules = [], []
        for place in range(number):
            path = tmp_path / f"r{place}.csv"
            path.write_text("name,disease\nAnn,flu\nBob,cold\n")
            csv = {"null": [""], "separator": ","}
            releases.append(PriorRelease(f"r{place}", path, None, 2, csv, ("name",)))
            rule = {"x": ["name"], "y": [f"r{place}.$row"], "k": 1, "releases": [f"r{place}"]}
            rules.append({"model": "xy-anonymity", **rule})
        statements.clear()
        promise = Promise(("name",), (), None, tuple(rules), previous=tuple(releases))
        found = verify_table(pa.table({"name": ["Ann", "Bob"]}), promise)
        assert [finding.achieved for finding in found.privacy] == [{"k": 1}] * number
        taken.append(len(statements))
    assert taken[0] == taken[1]
