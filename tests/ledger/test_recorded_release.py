"""A release that keeps the promises of all before it, or is refused; and is recorded with its folder or not at all."""

import errno
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.cli.main import _run as run
from sfumato.errors import Infeasible, InputError, OutputError
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.ledger.implied_requirements import implied_requirements, weakened_requirements
from sfumato.ledger.recorded_release import join_warnings
from sfumato.policy import Policy, load
from sfumato.release.folder import flush_to_disk
from sfumato.verifier import verify

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40]}},
    "town": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
}
PRIVACY: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 3},
    {"model": "distinct-l-diversity", "column": "illness", "l": 2},
]

LARGER = [{"model": "k-anonymity", "k": 4}, *PRIVACY[1:]]
"""What makes another release of the same table."""


def policy(tmp_path: Path, name: str = "optimal", privacy: Any = None, columns: Any = None, **more: Any) -> Policy:
    """A policy for the table of these tests, with some algorithm."""
    document = {
        "data": {"source": str(tmp_path / "people.csv")},
        "columns": columns or COLUMNS,
        "privacy": privacy or PRIVACY,
        "algorithm": {"name": name},
        **more,
    }
    return load(document)


@pytest.fixture
def people(tmp_path: Path) -> pa.Table:
    """A table of 400 made-up people, as a file."""
    random = Random(3)
    table = pa.table(
        {
            "age": [str(random.randint(0, 79)) for _ in range(400)],
            "town": [random.choice("abcd") for _ in range(400)],
            "illness": [random.choice(["flu", "cold", "HIV", "gout"]) for _ in range(400)],
        }
    )
    csv.write_csv(table, tmp_path / "people.csv")
    return table


def published(ledger: Ledger, rules: Policy, folder: Path, population: str | None = None) -> Any:
    """Make a release, write and record it."""
    made = make_recorded_release(ledger, rules, population=population, name=folder.name)
    return made, made.save(folder)


@pytest.mark.usefixtures("people")
def test_the_first_release_is_as_the_policy_says(ledger: Ledger, tmp_path: Path) -> None:
    """With nothing before it, a release is made as without a ledger, and recorded."""
    made, entry = published(ledger, policy(tmp_path), tmp_path / "first")
    assert made.release.recoding.algorithm == "optimal"
    assert (entry.state, entry.name, entry.number) == ("published", "first", 1)
    assert verify(tmp_path / "first").satisfied
    assert ledger.check().sound


@pytest.mark.slow
@pytest.mark.usefixtures("people")
def test_auto_keeps_what_was_promised(ledger: Ledger, tmp_path: Path) -> None:
    """A second release of the same people keeps the promises of the first, joined with it, and says so publicly."""
    published(ledger, policy(tmp_path, "mondrian"), tmp_path / "first")
    made, entry = published(ledger, policy(tmp_path, "auto", LARGER), tmp_path / "second")
    assert made.release.recoding.algorithm == "tds"
    joined = [rule for rule in entry.promise if rule["model"] == "xy-anonymity"]
    assert [(rule["y"], rule["k"]) for rule in joined] == [(["first.$row"], 3), (["first.illness"], 2)]
    assert verify(tmp_path / "second").satisfied
    assert ledger.check().sound


@pytest.mark.usefixtures("people")
def test_a_release_that_breaks_a_promise_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """An algorithm that cannot look at the join is refused, with the pair and the attack, and nothing is left."""
    published(ledger, policy(tmp_path, "mondrian"), tmp_path / "first")
    with pytest.raises(
        Infeasible, match=r"joined with release 1, 'first', the release breaks .*first\.age = .* is linked to [12]"
    ):
        make_recorded_release(ledger, policy(tmp_path, "progressive", LARGER), population=None, name="second")
    assert len(ledger.entries()) == 1


@pytest.mark.usefixtures("people")
def test_a_release_that_breaks_nothing_stays_as_it_is(ledger: Ledger, tmp_path: Path) -> None:
    """A table that shares nothing with what was published before need not be made coarser."""
    published(ledger, policy(tmp_path, "optimal"), tmp_path / "first")
    other = {"alter": COLUMNS["age"], "ort": COLUMNS["town"], "krankheit": COLUMNS["illness"]}
    table = csv.read_csv(tmp_path / "people.csv").rename_columns(list(other))
    csv.write_csv(table, tmp_path / "people.csv")
    made, _ = published(ledger, policy(tmp_path, "mondrian", PRIVACY[:1], other), tmp_path / "second")
    assert made.release.recoding.algorithm == "mondrian"


@pytest.mark.usefixtures("people")
def test_other_populations_do_not_matter(ledger: Ledger, tmp_path: Path) -> None:
    """Releases about other people ask nothing."""
    published(ledger, policy(tmp_path, "mondrian"), tmp_path / "first", population="a")
    made, _ = published(ledger, policy(tmp_path, "optimal"), tmp_path / "second", population="b")
    assert made.release.recoding.algorithm == "optimal"


@pytest.mark.usefixtures("people")
def test_a_release_that_comes_in_between_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    """Two releases made at once do not pass each other by: the second has to be made again."""
    first = make_recorded_release(ledger, policy(tmp_path), population=None, name="first")
    second = make_recorded_release(ledger, policy(tmp_path, "mondrian"), population=None, name="second")
    first.save(tmp_path / "first")
    with pytest.raises(InputError, match="recorded meanwhile"):
        second.save(tmp_path / "second")
    assert not (tmp_path / "second").exists()
    assert [entry.name for entry in ledger.entries()] == ["first"]


@pytest.mark.usefixtures("people")
def test_nothing_is_recorded_without_a_folder(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the folder cannot appear after all, the reservation is taken back."""
    made = make_recorded_release(ledger, policy(tmp_path), population=None, name="first")

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("torn")

    monkeypatch.setattr("sfumato.release.folder._appear", fails)
    with pytest.raises(RuntimeError, match="torn"):
        made.save(tmp_path / "first")
    assert ledger.entries() == ()
    assert not (tmp_path / "first").exists()


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("moment", ["flush", "commit", "stop"])
def test_what_is_out_stays_recorded(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whatever fails once the folder has appeared, the ledger goes on listing the release, and it says what to do."""
    made = make_recorded_release(ledger, policy(tmp_path), population=None, name="first")
    folder, flush, rename = tmp_path / "first", flush_to_disk, Path.rename

    def fail_to_flush(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        flush(path)

    def fail_to_commit(*_: object) -> None:
        raise OutputError("cannot use the ledger: its disk is full; free some")

    def stop_after(self: Path, target: Path) -> None:
        rename(self, target)
        if target == folder:
            raise KeyboardInterrupt

    if moment == "stop":
        monkeypatch.setattr(Path, "rename", stop_after)
        with pytest.raises(KeyboardInterrupt):
            made.save(folder)
    else:
        fails = {"flush": ("sfumato.release.folder.flush_to_disk", fail_to_flush)}
        monkeypatch.setattr(*fails.get(moment, ("sfumato.ledger.Ledger.finish", fail_to_commit)))
        made.save(folder)
        assert made.release.mishaps[0].startswith("the release is out, but ")
    monkeypatch.undo()
    assert made.release.is_out
    assert verify(tmp_path / "first").satisfied
    (entry,) = ledger.entries()
    assert entry.state == ("published" if moment == "flush" else "publishing")
    if entry.unfinished:
        assert ledger.add(tmp_path / "first").state == "published"
    assert ledger.check().sound


@pytest.mark.usefixtures("people")
def test_a_ledger_that_takes_nothing_back(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the folder appears nor the ledger can be told so, one sentence says both."""
    made = make_recorded_release(ledger, policy(tmp_path), population=None, name="first")

    def refuse(*_: object) -> None:
        raise OutputError("cannot use the ledger")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sfumato.release.folder._appear", fail)
    monkeypatch.setattr(Ledger, "withdraw", refuse)
    with pytest.raises(OutputError, match=r"no space left.*could not take back release 1, 'first', which counts as"):
        made.save(tmp_path / "first")
    assert not (tmp_path / "first").exists()


@pytest.mark.usefixtures("people")
def test_one_warning_counts_earlier_releases(ledger: Ledger, tmp_path: Path) -> None:
    """What is not asked of the join with many earlier releases is one warning for all, and names a single one."""
    privacy = [{"model": "k-anonymity", "k": 3}, {"model": "entropy-l-diversity", "column": "illness", "l": 1.5}]
    for name in ("first", "second", "third"):
        published(ledger, policy(tmp_path, "optimal", privacy), tmp_path / name, population=name)
    one, *more = ledger.entries()
    weaker = "the join was asked for less than entropy-l-diversity says"
    assert join_warnings([one]) == [f"of the promise of release 1, 'first', {weaker}"]
    assert join_warnings([one, *more]) == [
        f"of the promise of each of 3 releases (release 1, 'first', to release 3, 'third'), {weaker}"
    ]
    assert join_warnings([]) == []


@pytest.mark.usefixtures("people")
def test_what_promises_ask_of_the_join(ledger: Ledger, tmp_path: Path) -> None:
    """Sizes ask for rows, diversities for values, shares for confidence; x has the quasi-identifiers of both sides."""
    privacy = [
        {"model": "alpha-k-anonymity", "column": "illness", "alpha": 0.7, "k": 3, "values": ["HIV"]},
        {"model": "entropy-l-diversity", "column": "illness", "l": 1.5},
        {"model": "t-closeness", "column": "illness", "t": 0.9, "distance": "variational"},
    ]
    _, entry = published(ledger, policy(tmp_path, privacy=privacy), tmp_path / "old")
    x = ["age", "town", "old.age", "old.town"]
    assert implied_requirements(policy(tmp_path), entry) == [
        {"model": "xy-anonymity", "y": ["old.$row"], "k": 3, "x": x, "releases": ["old"]},
        {
            "model": "xy-linkability",
            "y": ["old.illness"],
            "k": 0.7,
            "values": ["HIV"],
            "x": x,
            "releases": ["old"],
        },
        {"model": "xy-anonymity", "y": ["old.illness"], "k": 2, "x": x, "releases": ["old"]},
    ]
    assert weakened_requirements(entry) == ["entropy-l-diversity", "t-closeness"]


@pytest.mark.slow
@pytest.mark.usefixtures("people")
def test_columns_without_levels(ledger: Ledger, tmp_path: Path) -> None:
    """Sets and means are fine where the join breaks nothing; where it does, tds cannot mend it, which is said."""
    published(ledger, policy(tmp_path, "optimal"), tmp_path / "first")
    columns = COLUMNS | {"town": {"role": "quasi", "hierarchy": "sets"}}
    towns = columns | {"age": {"role": "identifier"}}
    made, _ = published(ledger, policy(tmp_path, "mondrian", PRIVACY[:1], towns), tmp_path / "second")
    assert made.release.recoding.algorithm == "mondrian"
    assert [rule["model"] for rule in ledger.entries()[1].promise][1:] == ["xy-anonymity", "xy-anonymity"]
    second = str(tmp_path / "second")
    assert run(["verify", second]) == 0
    assert run(["utility", second, "--original", str(tmp_path / "people.csv")]) == 0
    assert run(["attack", "intersect", second, str(tmp_path / "first")]) == 0
    ages = COLUMNS | {"town": {"role": "identifier"}}
    published(ledger, policy(tmp_path, "mondrian", columns=ages), tmp_path / "third", population="q")
    cannot = r"joined with release 3.*; tds, which could keep it, cannot be used here: it needs levels, and 'town' is"
    with pytest.raises(Infeasible, match=cannot):
        make_recorded_release(ledger, policy(tmp_path, "auto", columns=columns), population="q", name="fourth")


@pytest.mark.slow
def test_three_releases_together(ledger: Ledger, tmp_path: Path) -> None:
    """Three releases that are fine two by two can leave one value: the third is refused, with the attack's name."""
    illness = {"a": ["flu", "HIV", "cold"], "b": ["flu", "HIV", "x"], "c": ["flu", "cold", "x"]}
    for place, (name, values) in enumerate(illness.items()):
        rows = pa.table({name: ["1"] * 3 + ["2"] * 3, "illness": [*values, "y", "z", "w"]})
        csv.write_csv(rows, tmp_path / "people.csv")
        columns = {name: {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}}
        made = make_recorded_release(
            ledger, policy(tmp_path, "optimal", PRIVACY[1:], columns), population=None, name=name
        )
        if place < 2:
            made.save(tmp_path / name)
            continue
        with pytest.raises(
            Infeasible, match=r"leaves \d+ persons with fewer than the 2 values of 'illness'.*intersection"
        ):
            made.save(tmp_path / name)
    assert [entry.name for entry in ledger.entries()] == ["a", "b"]
    assert not (tmp_path / "c").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("people")
def test_data_of_the_command_line(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that the command line names is sought where it runs, also when the policy stands elsewhere."""
    published(ledger, policy(tmp_path, "mondrian"), tmp_path / "first")
    folder = tmp_path / "policies"
    folder.mkdir()
    csv.write_csv(csv.read_csv(tmp_path / "people.csv").slice(0, 300), tmp_path / "mine.csv")
    csv.write_csv(csv.read_csv(tmp_path / "people.csv").slice(0, 200), folder / "mine.csv")
    (folder / "p.toml").write_text(_toml(tmp_path, "tds", PRIVACY))
    monkeypatch.chdir(tmp_path)
    arguments = [
        "anonymize",
        "policies/p.toml",
        "--data",
        "mine.csv",
        "--out",
        "second",
        "--ledger",
        str(ledger.folder),
    ]
    assert run(arguments) == 0
    assert csv.read_csv(tmp_path / "second" / "public" / "table.csv").num_rows == 300


@pytest.mark.slow
def test_the_command(people: pa.Table, ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command records under the name of the folder, tells what it could not ask, and refuses with exit code 1."""
    privacy = [*PRIVACY, {"model": "t-closeness", "column": "illness", "t": 0.9, "distance": "variational"}]
    (tmp_path / "one.toml").write_text(_toml(tmp_path, "mondrian", privacy))
    (tmp_path / "two.toml").write_text(_toml(tmp_path, "progressive", [*LARGER, *privacy[2:]]))
    given = ["--ledger", str(ledger.folder), "--population", "p"]
    assert run(["anonymize", str(tmp_path / "one.toml"), "--out", str(tmp_path / "one"), *given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == people.num_rows
    assert run(["anonymize", str(tmp_path / "two.toml"), "--out", str(tmp_path / "two"), *given]) == 1
    assert "error: joined with release 1, 'one', the release breaks what was promised then" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()
    arguments = ["anonymize", str(tmp_path / "two.toml"), "--algorithm", "auto", "--out", str(tmp_path / "two")]
    assert run([*arguments, *given]) == 0
    assert "asked for less than t-closeness says" in capsys.readouterr().err
    assert run([*arguments[:-1], str(tmp_path / "three"), "--population", "p"]) == 2
    assert "are for a ledger" in capsys.readouterr().err


def _toml(tmp_path: Path, algorithm: str, privacy: list[dict[str, Any]]) -> str:
    """The policy as a file."""
    entries = "\n".join("[[privacy]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in p.items()) for p in privacy)
    columns = """
age = { role = "quasi", hierarchy = { intervals = [10, 20, 40] } }
town = { role = "quasi", hierarchy = "suppress" }
illness = { role = "sensitive" }
"""
    source = json.dumps(str(tmp_path / "people.csv"))
    return f'[data]\nsource = {source}\n[columns]{columns}{entries}\n[algorithm]\nname = "{algorithm}"\n'
