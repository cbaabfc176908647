"""``sfumato init``: what it writes runs as it is, and appears whole or not at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.datasets import adult_folder
from sfumato.errors import OutputError
from sfumato.profile import propose, write

Runs = Callable[..., Any]
Writes = Callable[[str | bytes], Path]


def made(runs: Runs, path: Path, *options: str) -> tuple[Any, dict[str, Any]]:
    """Run init and then anonymize; the files that init left, and the release's summary."""
    outcome = runs("init", path, *options)
    assert outcome.code == 0, outcome.err
    release = runs("anonymize", "policy.toml", "--out", "release", "--json")
    assert release.code == 0, release.err
    return outcome, json.loads(release.out)


@pytest.mark.slow
def test_the_ugly_file_runs_as_it_is(runs: Runs, ugly: Path, tmp_path: Path) -> None:
    """From a file with everything in it to a verified release, without a word in between."""
    outcome, summary = made(runs, ugly)
    assert summary["rows"] == 150
    assert all(entry["satisfied"] for entry in summary["privacy"])
    assert "next     sfumato anonymize policy.toml" in outcome.out
    assert "anary" not in outcome.out
    published = (tmp_path / "release" / "public" / "table.csv").read_text(encoding="utf-8")
    assert "anary" not in published


@pytest.mark.slow
@pytest.mark.parametrize("preset", [None, "hipaa-safe-harbor", "ema-0070", "cms", "statistics-office", "gdpr"])
def test_visits_run_as_they_are(runs: Runs, visits_file: Path, preset: str | None) -> None:
    """Several rows per person: persons are counted, under every preset."""
    _, summary = made(runs, visits_file, *([] if preset is None else ["--preset", preset]))
    assert summary["privacy"][0]["model"] == "identity-k-anonymity"
    assert all(entry["satisfied"] for entry in summary["privacy"])


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_tiny_tables_run(runs: Runs, writes: Writes, rows: int) -> None:
    """One row, two or three: there is a policy for that, and it says what it is worth."""
    lines = ["name,age,city", "Ann,34,Bern", "Bob,36,Bern", "Cy,52,Thun"]
    _, summary = made(runs, writes("\n".join(lines[: rows + 1]) + "\n"))
    assert summary["privacy"][0]["achieved"]["k"] == rows


@pytest.mark.slow
def test_random_tables_run(runs: Runs, writes: Writes) -> None:
    """Tables of any mixture of columns end in a release that is verified."""
    for seed in range(4):
        draw = np.random.default_rng(seed)
        rows = int(draw.integers(4, 60))
        columns = {
            "salary": draw.lognormal(9, 1, rows).round(2).astype(str),
            "religion": draw.choice(["a", "b", ""], rows, p=[0.9, 0.05, 0.05]),
            "x y": draw.choice(["1", "2", "n/a", "1.5"], rows),
            "größe": draw.integers(-5, 5, rows).astype(str),
            "id": draw.integers(0, max(rows // 2, 1), rows).astype(str),
            "when": [f"0{m}/2020" for m in draw.integers(1, 9, rows)],
        }
        lines = [",".join(columns), *(",".join(cells) for cells in zip(*columns.values(), strict=True))]
        made(runs, writes("\n".join(lines) + "\n"))
        Path("policy.toml").unlink()
        for part in ("release", "policy-hierarchies"):
            shutil.rmtree(part, ignore_errors=True)


def test_json_is_the_profile_and_nothing_else(runs: Runs, visits_file: Path) -> None:
    """One object: what was found of each column, what is promised, and where it stands."""
    outcome = runs("init", visits_file, "--json")
    found = json.loads(outcome.out)
    assert outcome.err == ""
    assert found["policy"] == "policy.toml"
    assert all(Path(file).is_file() for file in found["files"])
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["patient"]["role"] == "individual"
    assert columns["age"]["type"] == "integer"
    assert columns["sex"]["distinct"] == 2
    assert found["decisions"] == Path("policy.toml").read_text(encoding="utf-8").count("# check: ")


def test_whole_reasons_are_shown(runs: Runs, writes: Writes) -> None:
    """Nothing is cut at a comma: the table says all that the policy says, and what to look at first stands below it."""
    rows = "".join(f"756.1234.5678.{row:02},{row % 40 + 20},{['yes', 'no'][row % 2]}\n" for row in range(60))
    outcome = runs("init", writes(f"AHV-Nr,age,smoker\n{rows}"))
    flat = " ".join(outcome.out.replace("│", " ").split())
    assert "social security, of an identity card or of a tax payer" in " ".join(flat.split())
    assert "Look first at" in outcome.out


def test_many_promises_are_counted(runs: Runs, writes: Writes) -> None:
    """A survey of forty opinions fills no screen with forty promises: eight are shown, and all stand in the policy."""
    names = [f"q{place}" for place in range(40)]
    rows = "".join(",".join([str(row % 30)] + ["agree" if row % 2 else "disagree"] * 40) + "\n" for row in range(60))
    table = writes(f"age,{','.join(names)}\n{rows}")
    told = runs("init", str(table)).out
    assert told.count("\npromise  ") == 8
    assert "and 33 more, one for each sensitive column" in told
    assert table.with_name("policy.toml").read_text(encoding="utf-8").count("[[privacy]]") == 41


def test_paths_start_at_the_policy(runs: Runs, visits_file: Path, tmp_path: Path) -> None:
    """A policy in another folder finds the table and its hierarchies from there."""
    assert runs("init", "visits.csv", "--out", "deep/er/mine.toml").code == 0
    assert (tmp_path / "deep/er/mine-hierarchies/job.csv").is_file()
    assert runs("anonymize", "deep/er/mine.toml", "--json").code == 0


def test_nothing_is_overwritten(runs: Runs, visits_file: Path, tmp_path: Path) -> None:
    """What is there stays unless --force says otherwise, and what is no policy stays even then."""
    assert runs("init", visits_file).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "exists already" in runs("init", visits_file).sentence
    assert "is the table itself" in runs("init", visits_file, "--out", "visits.csv", "--force").sentence
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not a policy" in runs("init", visits_file, "--out", "notes.txt", "--force").sentence
    (tmp_path / "policy-hierarchies" / "notes.txt").write_text("mine")
    assert "more than hierarchies" in runs("init", visits_file, "--force").sentence
    (tmp_path / "policy-hierarchies" / "notes.txt").unlink()
    assert {path: path.read_bytes() for path in before} == before
    assert runs("init", visits_file, "--force", "--preset", "cms").code == 0
    assert "k = 11" in (tmp_path / "policy.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothere.csv"], "does not exist"),
        (["visits.csv", "--preset", "hipa"], "there is no preset 'hipa'"),
        (["tiny.csv", "--preset", "cms"], "cms asks for 11 in every class, and the table is of 2"),
        (["visits.csv", "--out", "visits.csv/policy.toml"], "a part of its path is a file"),
    ],
)
def test_errors_leave_nothing_behind(
    runs: Runs, visits_file: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    """An error is one sentence, and the folder is as it was."""
    (tmp_path / "tiny.csv").write_text("age,sex\n1,f\n2,m\n")
    before = sorted(tmp_path.rglob("*"))
    assert says in runs("init", *arguments).sentence
    assert sorted(tmp_path.rglob("*")) == before


def test_a_write_that_fails_halfway_restores_what_was_there(
    runs: Runs, visits_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the policy cannot take its place, the old hierarchies come back and no trace is left."""
    assert runs("init", visits_file).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    proposal = propose(visits_file, "gdpr", policy="policy.toml")

    def fails(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OutputError, match="No space left"):
        write(proposal, Path("policy.toml"), force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_leftovers_of_a_killed_run_are_cleared(visits_file: Path, tmp_path: Path) -> None:
    """A hidden folder that a killed run left is gone after the next run."""
    left = tmp_path / ".policy.toml.sfumato-0123456789abcdef"
    left.mkdir()
    write(propose(visits_file, policy=tmp_path / "policy.toml"), tmp_path / "policy.toml")
    assert not left.exists()


@pytest.mark.adult
def test_adult(tmp_path: Path) -> None:
    """Adult's rows alone are enough for a policy that loads and whose hierarchies have a place for every value."""
    from sfumato.encode import encode
    from sfumato.policy import Role, load
    from sfumato.table import read_table

    folder = adult_folder()
    if folder is None:
        pytest.skip("the real Adult rows are not at hand")
    write(propose(folder / "adult.csv", policy=tmp_path / "policy.toml"), tmp_path / "policy.toml")
    policy = load(tmp_path / "policy.toml")
    encoded = encode(read_table(folder / "adult.csv", policy), policy)
    assert encoded.rows == 45_222
    assert [column.name for column in policy.sensitive] == ["capital-gain", "capital-loss", "salary-class"]
    assert {column.name for column in policy.quasi} >= {"age", "sex", "race", "native-country"}
    assert policy.columns["fnlwgt"].role is Role.WEIGHT


def test_a_rare_value_stands_in_no_public_byte(runs: Runs, tmp_path: Path) -> None:
    """The one bishop of the table is told as somebody rare, and the dictionary of the release lists no bishop."""
    jobs = ["cook"] * 40 + ["nurse"] * 40 + ["clerk"] * 40 + ["smith"] * 4 + ["tailor"] * 5 + ["canary-bishop"]
    lines = [f"{job},{20 + place % 9},{place % 3}" for place, job in enumerate(jobs)]
    (tmp_path / "people.csv").write_text("\n".join(["job,age,ward", *lines]) + "\n", encoding="utf-8")
    policy = tmp_path / "policy.toml"
    assert runs("init", tmp_path / "people.csv", "--out", policy).code == 0
    text = policy.read_text(encoding="utf-8")
    assert "job.csv" in text
    policy.write_text(text.replace("suppression = 0.02", "suppression = 0.0"), encoding="utf-8")
    assert runs("anonymize", policy, "--out", tmp_path / "release").code == 0
    for file in (tmp_path / "release" / "public").iterdir():
        assert b"canary-bishop" not in file.read_bytes(), file.name
    assert '"rare values"' in (tmp_path / "release" / "public" / "manifest.json").read_text(encoding="utf-8")
