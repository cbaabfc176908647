"""A release of drawn rows as a user meets it: folder, verifier, tampering, canaries, formats, frames, messages."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InputError, NotVerified, OutputError
from sfumato.release.drawn_release import verify_drawn
from sfumato.release.key_folder import write_key_folder

Runs = Callable[..., Any]

POLICY = """
[data]
source = "trial.csv"
[columns]
name = { role = "identifier" }
patient = { role = "individual" }
arm = { role = "quasi" }
sodium = { role = "sensitive", bounds = [100, 180] }
taken = { role = "plain" }
town = { role = "plain" }
[[privacy]]
model = "k-anonymity"
k = 4
[algorithm]
name = "condensation"
strata = ["arm"]
[publish]
form = "synthetic"
title = "Laboratory values"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a policy and a table of a trial: two rows for each of sixty patients."""
    rng = np.random.default_rng(5)
    lines = ["name,patient,arm,sodium,taken,town"]
    for row in range(120):
        town = "Rarebury" if row == 7 else rng.choice(["Bern", "Thun"])
        sodium = round(float(rng.normal(140, 5)), 1) if row % 10 else ""
        lines.append(f"Secret{row},P{row % 60},{'ab'[row % 2]},{sodium},2024-0{row % 9 + 1}-11,{town}")
    (tmp_path / "trial.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def release(folder: Path, runs: Runs) -> Path:
    """The release that the command makes of them."""
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "release"), "--json")
    assert done.code == 0, done.err
    return folder / "release"


def test_the_folder(release: Path) -> None:
    """Public are the rows, the manifest and the summary; private the account, the evidence and the report."""
    assert sorted(path.name for path in (release / "public").iterdir()) == [
        "manifest.json",
        "summary.html",
        "synthetic.csv",
    ]
    assert sorted(path.name for path in (release / "private").iterdir()) == [
        "audit.json",
        "group_statistics.parquet",
        "groups.parquet",
        "report.html",
    ]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (release / "private").iterdir())
    assert "Laboratory values" in (release / "public" / "summary.html").read_text()


def test_what_json_holds(folder: Path, runs: Runs) -> None:
    """The keys of the contract, and how like and how near the rows are."""
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "other"), "--json")
    found = json.loads(done.out)
    assert (found["rows"], found["suppressed"], found["form"], found["algorithm"]) == (
        120,
        0,
        "synthetic",
        "condensation",
    )
    assert found["privacy"][0]["achieved"]["k"] >= 4
    assert found["privacy"][0]["satisfied"]
    assert {"worst_ks", "worst_tv", "columns", "pair_distances", "correlation_of_correlations"} <= found[
        "utility"
    ].keys()
    assert found["seconds"]["total"] > 0


def test_people_read_a_table(folder: Path, runs: Runs) -> None:
    """Without --json a person is told what holds and how like the original the rows are."""
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "other"))
    assert "how like the original" in done.out
    assert "verified by a second implementation" in done.out


def test_no_identifier_and_no_rare_value_leaves(release: Path) -> None:
    """Names, persons and a town that one person has stand in no public byte, and names in no private one."""
    public = b"".join(path.read_bytes() for path in (release / "public").iterdir())
    private = b"".join(path.read_bytes() for path in (release / "private").iterdir())
    for canary in (b"Secret", b"Rarebury", b"P17"):
        assert canary not in public
    assert b"Secret" not in private


def test_persons_are_counted_and_gone(release: Path) -> None:
    """Groups have k patients, and no column says whose a row is."""
    header = (release / "public" / "synthetic.csv").read_text().splitlines()[0]
    assert header == "arm,sodium,taken,town"
    statistics = pq.read_table(release / "private" / "group_statistics.parquet")
    assert min(statistics.column("persons").to_pylist()) >= 4
    assert sum(statistics.column("rows").to_pylist()) == 120


def test_verify_passes_and_needs_the_evidence(release: Path, runs: Runs) -> None:
    """The folder verifies; its public part alone does not show k, and the sentence says what to do."""
    assert runs("verify", str(release)).code == 0
    shutil.copytree(release / "public", release.parent / "alone" / "public")
    done = runs("verify", str(release.parent / "alone"))
    assert done.code == 2
    assert "cannot be seen in the rows" in done.sentence
    assert "name the whole folder" in done.sentence


def test_verify_against_another_policy(release: Path, folder: Path, runs: Runs) -> None:
    """A higher k does not hold; a model on values cannot be checked of drawn rows."""
    (folder / "more.toml").write_text(POLICY.replace("k = 4", "k = 40"))
    done = runs("verify", str(release), "--policy", str(folder / "more.toml"), "--json")
    assert done.code == 1
    assert not json.loads(done.out)["satisfied"]
    assert runs("verify", str(release), "--policy", str(folder / "policy.toml")).code == 0


def _rows(release: Path) -> list[str]:
    return (release / "public" / "synthetic.csv").read_text().splitlines()


def _write_rows(release: Path, lines: list[str]) -> None:
    """Change the rows, and the hash in the manifest with them, so that what they hold is found out."""
    import hashlib

    path = release / "public" / "synthetic.csv"
    path.write_text("\n".join(lines) + "\n")
    manifest = json.loads((release / "public" / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["files"]["synthetic.csv"] = {"sha256": digest, "bytes": path.stat().st_size}
    (release / "public" / "manifest.json").write_text(json.dumps(manifest))
    audit = json.loads((release / "private" / "audit.json").read_text())
    audit["manifest_sha256"] = hashlib.sha256((release / "public" / "manifest.json").read_bytes()).hexdigest()
    (release / "private" / "audit.json").write_text(json.dumps(audit))


def test_changed_rows_are_found_out(release: Path) -> None:
    """A rare category, a row less, a number out of bounds and shifted means are each named."""
    lines = _rows(release)
    assert sf.verify(release).satisfied
    faults = {
        "fewer than 4 rows": [*lines[:5], lines[5].rpartition(",")[0] + ",Onlyville", *lines[6:]],
        "rows where 120 were drawn": lines[:-1],
        "out of its bounds": [*lines[:5], lines[5].replace(lines[5].split(",")[1], "999.0"), *lines[6:]],
    }
    kept = [(release / "public" / "manifest.json").read_bytes(), (release / "private" / "audit.json").read_bytes()]
    for fault, changed in faults.items():
        _write_rows(release, changed)
        assert any(fault in complaint for complaint in sf.verify(release).complaints), fault
    by_group = [lines[0], *sorted(lines[1:])]
    _write_rows(release, by_group)  # in another order rows are not of the groups they were drawn for
    assert any("do not have the mean" in complaint for complaint in sf.verify(release).complaints)
    (release / "public" / "manifest.json").write_bytes(kept[0])
    (release / "private" / "audit.json").write_bytes(kept[1])
    assert any("SHA-256 differs" in complaint for complaint in sf.verify(release).complaints)


def test_changed_evidence_is_found_out(release: Path) -> None:
    """A group that is said to be larger than it was has not as many rows drawn for it."""
    path = release / "private" / "group_statistics.parquet"
    table = pq.read_table(path)
    grown = pa.array([value + 1 for value in table.column("rows").to_pylist()])
    pq.write_table(table.set_column(1, "rows", grown), path)
    assert any("not as many rows drawn" in complaint for complaint in sf.verify(release).complaints)
    path.write_bytes(b"nothing")
    with pytest.raises(NotVerified, match=r"group_statistics\.parquet cannot be read"):
        sf.verify(release)


def test_evidence_that_says_less_is_found_out(release: Path) -> None:
    """Means that are gone, groups that are another's and columns that are lacking: the audit knows the files, too."""
    statistics, groups = (release / "private" / name for name in ("group_statistics.parquet", "groups.parquet"))
    table, rows = pq.read_table(statistics), pq.read_table(groups)
    means = [name for name in table.column_names if name.startswith("m")]
    emptied = table
    for name in means:
        emptied = emptied.set_column(table.column_names.index(name), name, pa.nulls(len(table), pa.float64()))
    pq.write_table(emptied, statistics)
    assert "group_statistics.parquet is not the evidence that was written" in " ".join(sf.verify(release).complaints)
    for lacking in (means, ["persons"]):
        pq.write_table(table.drop_columns(lacking), statistics)
        with pytest.raises(NotVerified, match="lacks what it should say of each group"):
            sf.verify(release)
    pq.write_table(table, statistics)
    pq.write_table(rows.rename_columns(["other"]), groups)
    with pytest.raises(NotVerified, match=r"groups\.parquet lacks"):
        sf.verify(release)
    pq.write_table(rows, groups)
    verdict = sf.verify(release)
    assert verdict.satisfied
    assert any("cannot be seen without the original" in note for note in verdict.notes)


def test_means_that_are_gone_are_missed(saves: Any) -> None:
    """Where all rows have numbers every group has a mean, and evidence without is refused."""
    columns = {"x": {"role": "plain"}}
    rules = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 4}], "algorithm": {"name": "condensation"}}
    table = pa.table({"x": np.random.default_rng(1).normal(0, 1, 40)})
    folder = saves(table, rules | {"publish": {"form": "synthetic"}})
    path = folder / "private" / "group_statistics.parquet"
    stated = pq.read_table(path)
    nothing = pa.nulls(len(stated), pa.float64())
    pq.write_table(stated.set_column(stated.column_names.index("m0"), "m0", nothing), path)
    assert any("have no stated mean" in complaint for complaint in sf.verify(folder).complaints)


def test_cells_are_what_the_manifest_says(release: Path) -> None:
    """A word among numbers, a number between two of its grid, and a category that is not listed are each named."""
    lines = _rows(release)
    head, first = lines[0].split(","), lines[1].split(",")
    faults = {
        "are no numbers": ("sodium", "word"),
        "not on its grid": ("sodium", "140.123"),
        "not list": ("arm", "new"),
    }
    for fault, (name, cell) in faults.items():
        changed = [cell if column == name else old for column, old in zip(head, first, strict=True)]
        _write_rows(release, [lines[0], ",".join(changed), *lines[2:]])
        assert any(fault in complaint for complaint in sf.verify(release).complaints), fault


def test_evidence_is_checked_against_the_rows_that_came_in(folder: Path) -> None:
    """When a release is made, groups that do not hold the rows they are said to hold are refused."""
    made: Any = sf.anonymize(None, folder / "policy.toml")
    condensed = made.publication.condensed
    moved = condensed.members.copy()
    moved[0] = (moved[0] + 1) % len(condensed.sizes)
    object.__setattr__(condensed, "members", moved)
    with pytest.raises(NotVerified, match="do not have as many rows and persons as the evidence states"):
        verify_drawn(made.publication)


def test_manifests_of_no_proper_form_are_sentences(release: Path) -> None:
    """A manifest that says nonsense of drawn columns is refused in a sentence."""
    path = release / "public" / "manifest.json"
    good = path.read_text()
    changes: list[tuple[str, Any]] = [("multiple", 0), ("multiple", "2"), ("strata", "arm"), ("strata", ["other"])]
    for key, value in changes:
        path.write_text(json.dumps(json.loads(good) | {key: value}))
        with pytest.raises(NotVerified, match="how rows were drawn"):
            sf.verify(release)
    for key, value in {"kind": "colour", "bounds": [1], "atoms": "0", "step": -1, "date_format": 5}.items():
        manifest = json.loads(good)
        manifest["columns"][1][key] = value
        path.write_text(json.dumps(manifest))
        with pytest.raises(NotVerified, match="column 'sodium' holds"):
            sf.verify(release)


@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_other_formats(folder: Path, kind: str, runs: Runs) -> None:
    """Rows are written compressed or as Parquet, and verified from there."""
    (folder / "policy.toml").write_text(POLICY + f'format = "{kind}"\n')
    assert runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "other"), "--json").code == 0
    path = folder / "other" / "public" / f"synthetic.{kind}"
    if kind == "parquet":
        assert pq.read_table(path).num_rows == 120
    else:
        assert gzip.decompress(path.read_bytes()).count(b"\n") == 121
    assert runs("verify", str(folder / "other")).code == 0


def test_signed(folder: Path, runs: Runs) -> None:
    """A release of drawn rows is signed and verified as any other."""
    write_key_folder(folder / "keys")
    private, public = folder / "keys" / "private.pem", folder / "keys" / "public.pem"
    done = runs("anonymize", str(folder / "policy.toml"), "--out", str(folder / "s"), "--sign", str(private), "--json")
    assert "signed_by" in json.loads(done.out)
    assert runs("verify", str(folder / "s"), "--signed-by", str(public)).code == 0


def test_force_replaces_and_nothing_else_does(release: Path, folder: Path, runs: Runs) -> None:
    """A release that is there stays unless --force says otherwise; a foreign file in it stops even that."""
    command = ("anonymize", str(folder / "policy.toml"), "--out", str(release))
    assert "exists already" in runs(*command).sentence
    before = _rows(release)
    assert runs(*command, "--force", "--json").code == 0
    assert _rows(release) != before
    (release / "private" / "notes.txt").write_text("mine")
    assert "notes.txt" in runs(*command, "--force").sentence


def test_frames_come_back_as_they_came() -> None:
    """Pandas, with categories, dates and missing whole numbers, comes back as pandas of the same types."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": pd.array(rng.integers(20, 80, 90), dtype="Int64"),
            "sex": pd.Categorical(rng.choice(["f", "m"], 90)),
            "born": pd.to_datetime("1980-01-01") + pd.to_timedelta(rng.integers(0, 9999, 90), unit="D"),
            "pay": rng.normal(3000, 500, 90).round(2),
        }
    )
    frame.loc[:9, "age"] = pd.NA
    columns = {str(name): sf.plain() for name in frame}
    policy = sf.Policy(columns, [sf.KAnonymity(5)], publish={"form": "synthetic"})
    made = sf.anonymize(frame, policy)
    drawn = made.synthetic
    assert isinstance(drawn, pd.DataFrame)
    assert drawn.dtypes.to_dict() == frame.dtypes.to_dict()
    assert drawn["age"].isna().sum() == 10
    assert Counter(drawn["sex"]) == Counter(frame["sex"])
    with pytest.raises(InputError, match="has no table; it has synthetic"):
        made.table  # noqa: B018 - asks for what is not there
    assert repr(made) == "<DrawnRelease of 90 rows from 18 groups>"


def test_a_table_has_no_synthetic(people: Any, rules: Any) -> None:
    """A release of people's rows says what it has in place of drawn ones."""
    made = sf.anonymize(people, rules({name: "plain" if name != "sex" else "quasi" for name in people.column_names}))
    with pytest.raises(InputError, match="has no synthetic; it has table"):
        made.synthetic  # noqa: B018 - asks for what is not there


def test_a_ledger_is_refused(folder: Path, runs: Runs) -> None:
    """A ledger reckons with joins of people's rows, which drawn rows are not."""
    done = runs("anonymize", str(folder / "policy.toml"), "--ledger", str(folder / "books"), "--out", str(folder / "x"))
    assert done.code == 2
    assert "leave --ledger out" in done.sentence
    assert not (folder / "x").exists()


def test_saving_twice_needs_another_place(folder: Path) -> None:
    """Python saves as the command does: whole, and not over what is there."""
    made = sf.anonymize(None, folder / "policy.toml")
    made.save(folder / "one")
    assert sf.verify(folder / "one").satisfied
    with pytest.raises(OutputError, match="exists already"):
        made.save(folder / "one")


def test_rows_come_in_no_order_of_the_input() -> None:
    """The rank correlation of published and original order is within what chance gives."""
    n = 2000
    table = pa.table({"x": np.arange(n, dtype=float), "y": np.arange(n, dtype=float) % 7})
    made: Any = sf.anonymize(
        table,
        {
            "columns": {"x": {"role": "plain"}, "y": {"role": "plain"}},
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "publish": {"form": "synthetic"},
        },
    )
    drawn = np.array(made.synthetic.column("x").to_pylist())
    correlation = np.corrcoef(np.arange(n), np.argsort(np.argsort(drawn)))[0, 1]
    assert abs(correlation) < 5 / np.sqrt(n)
