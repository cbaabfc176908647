"""Several parties publish the union of their rows under one policy, as one table would have been, and show nothing."""

import csv
import json
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from sfumato.cli.main import _run as run_command
from sfumato.datasets import adult_folder
from sfumato.encode import encode
from sfumato.errors import HierarchyError, Infeasible, InputError, OutputError, PolicyError, RunAborted
from sfumato.party import joint_release, party_run, summed_nodes
from sfumato.party.anonymize_together import AnonymizeTask
from sfumato.party.joint_domains import read_items
from sfumato.party.joint_release import JointRecoding
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.wire_frame import HEADER_BYTES
from sfumato.policy import Policy, load
from sfumato.policy.section import Section
from sfumato.policy.toml_text import write_toml
from sfumato.recode import Recoding, recode
from sfumato.release.pipeline import anonymize
from sfumato.table import from_frame
from sfumato.testing.random_tables import TableCase, random_case
from sfumato.verifier import verify
from sfumato.verifier.joint_parts import PartCounts, count_part

MODELS = (
    *("k-anonymity", "alpha-deassociation", "alpha-k-anonymity", "distinct-l-diversity"),
    *("entropy-l-diversity", "recursive-l-diversity", "t-closeness"),
)
NAMES = ("a", "b", "c")


def _policy(folder: Path, **changes: Any) -> Path:
    """Write a policy about ages, jobs and illnesses."""
    (folder / "job.csv").write_text("cook,service,*\nporter,service,*\nnurse,health,*\ndoctor,health,*\n")
    document: dict[str, Any] = {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20], "domain": [0, 99]}},
            "job": {"role": "quasi", "hierarchy": "job.csv"},
            "illness": {"role": "sensitive"},
            "visits": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 4},
            {"model": "distinct-l-diversity", "column": "illness", "l": 2},
            {"model": "t-closeness", "column": "visits", "t": 0.5, "distance": "emd-ordered"},
        ],
        "algorithm": {"name": "optimal", "suppression": 0.05},
    }
    path = folder / "policy.toml"
    path.write_text(write_toml(document | changes))
    return path


def _rows(seed: int, number: int) -> Any:
    random = Random(seed)
    jobs = ["cook", "porter", "nurse", "doctor", None]
    return pa.table(
        {
            "name": [f"person {seed} {row}" for row in range(number)],
            "age": pa.array([str(random.randint(20, 59)) for _ in range(number)]),
            "job": pa.array([random.choice(jobs) for _ in range(number)], pa.string()),
            "illness": pa.array([random.choice(["flu", "HIV", "cold"]) for _ in range(number)]),
            "visits": pa.array([str(random.choice([1, 2, 10])) for _ in range(number)]),
        }
    )


TABLES = {"a": _rows(1, 60), "b": _rows(2, 40), "c": _rows(3, 5)}
VALUES = {"illness": ["HIV", "cold", "flu", "gout"], "visits": ["1", "2", "3", "10"]}


def _task(policy: Path, to: tuple[str, ...] = NAMES, parties: tuple[str, ...] = NAMES, **keys: Any) -> AnonymizeTask:
    table = {"policy": str(policy), "values": VALUES} | keys
    return AnonymizeTask.read(Section(table, "task"), parties, to)


def _run(
    task: AnonymizeTask,
    folder: Path,
    tables: Mapping[str, Any] = TABLES,
    sessions: Mapping[str, PartySession] | None = None,
) -> dict[str, Any]:
    """Run all parties, each into the folder of its name."""

    def part(name: str) -> Callable[[PartySession], Any]:
        prepared = task.direct(task.prepare(name, PartyTable(tables[name], f"{name}.csv")), folder / name)
        return lambda session: task.run(session, prepared)

    return run_parties({name: part(name) for name in tables}, sessions)


def _is_sum(frame: bytes) -> bool:
    """Whether a frame has words, and more of them than a digest or a key has."""
    length = len(frame) - HEADER_BYTES
    return length > 32 and not length % 8


def _lines(*folders: Path) -> "Counter[tuple[str, ...]]":
    """Count the lines of published tables, headers left out."""
    lines: Counter[tuple[str, ...]] = Counter()
    for folder in folders:
        with (folder / "public" / "table.csv").open(newline="") as file:
            lines.update(map(tuple, list(csv.reader(file))[1:]))
    return lines


# ---------------------------------------------------------------------------------------------------------------------
# As one table


def _one_table(case: TableCase, policy: Policy) -> Recoding | None:
    try:
        return recode(encode(from_frame(case.arrow(), policy), policy), policy)
    except Infeasible:
        return None


def _together(case: TableCase, policy: Policy, random: Random, values: Mapping[str, Any]) -> JointRecoding | None:
    """The recoding that three parties choose for the rows of a case, dealt out at random."""
    task = AnonymizeTask(NAMES, policy, values={name: tuple(listed) for name, listed in values.items()})
    rows = case.arrow().num_rows
    owner = [*NAMES, *random.choices(NAMES, [6, 3, 1], k=rows - 3)]
    random.shuffle(owner)

    def part(name: str) -> Callable[[PartySession], JointRecoding]:
        own = case.arrow().filter(pa.array([one == name for one in owner]))
        prepared = task.prepare(name, PartyTable(own, name))
        return lambda session: task._recode(session, prepared.columns)[0]

    try:
        found = run_parties({name: part(name) for name in NAMES})
    except Infeasible:
        return None
    assert len({(joint.node, joint.suppressed, len(joint.classes)) for joint in found.values()}) == 1
    one: JointRecoding = found["c"]
    return one


def _compare(model: str, seeds: range, folder: Path) -> int:
    """Hold what three parties choose against what one table gets; count the cases in which there is a release."""
    released = 0
    for seed in seeds:
        algorithm = ("optimal", "samarati", "optimal", "incognito")[seed % 4]
        random = Random(f"together {model} {seed}")
        case = random_case(random, model, algorithm)
        if "person" in case.columns or len(case.rows) < 6:
            continue
        policy = case.policy(folder)
        joint = _together(case, policy, random, {"income": ["10", "20", "30", "9"]})
        one = _one_table(case, policy)
        assert (joint is None) == (one is None)
        if joint is not None and one is not None:
            assert joint.levels == one.levels
            assert joint.suppressed == one.suppressed
            assert sorted(joint.classes.sizes) == sorted(one.classes.sizes)
            released += 1
    return released


def test_the_recoding_is_that_of_one_table(tmp_path: Path) -> None:
    """For any rows, models, metrics and suppression limits, the parties choose what one table would have got."""
    assert sum(_compare(model, range(1), tmp_path) for model in MODELS) > 2


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_recoding_is_that_of_one_table_in_many_cases(model: str, tmp_path: Path) -> None:
    """The same for more tables of each model."""
    assert _compare(model, range(1, 24), tmp_path) > 3


def test_buckets_and_few_columns_at_a_time_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every node counts as too large for one sum, buckets rule some out, and the result is the same."""
    monkeypatch.setattr(summed_nodes, "MOST_CELLS", 3)
    looks: Counter[tuple[str, bool]] = Counter()
    for seed in range(12):
        random = Random(f"buckets {seed}")
        case = random_case(random, "k-anonymity")
        if "person" in case.columns or len(case.rows) < 6:
            continue
        policy = case.policy(tmp_path)
        joint, one = _together(case, policy, random, {"income": ["10", "20", "9"]}), _one_table(case, policy)
        assert (joint is None) == (one is None)
        if joint is not None and one is not None:
            assert (joint.levels, joint.suppressed) == (one.levels, one.suppressed)
            looks.update((look.summed, look.ruled_out) for look in joint.looks)
    assert looks["buckets", True]
    assert looks["buckets", False]


def test_values_that_nobody_declares_are_found_together(tmp_path: Path) -> None:
    """Without a declared domain, masks, dates and sensitive columns are bound to the union of all parties' values."""
    columns = {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
        "illness": {"role": "sensitive"},
    }
    policy = load(
        {
            "columns": columns,
            "privacy": [{"model": "distinct-l-diversity", "column": "illness", "l": 2}],
            "algorithm": {"name": "optimal"},
        }
    )
    random = Random(5)
    zips, months = ["4350", "4351", "43", None], ["1970-03-01", "1970-03-09", "1971-04-30"]
    tables = {
        name: pa.table(
            {
                "zip": pa.array([random.choice(zips) for _ in range(rows)], pa.string()),
                "born": [random.choice(months) for _ in range(rows)],
                "illness": [random.choice(["flu", f"rare {name}"]) for _ in range(rows)],
            }
        )
        for name, rows in (("a", 20), ("b", 12), ("c", 4))
    }
    task = AnonymizeTask(NAMES, policy, most_items=16)
    assert "which values of 'zip', 'born', 'illness' some party has" in task.statement(NAMES).learned

    def part(name: str) -> Callable[[PartySession], JointRecoding]:
        prepared = task.prepare(name, PartyTable(tables[name], name))
        return lambda session: task._recode(session, prepared.columns)[0]

    found = run_parties({name: part(name) for name in NAMES})
    one = recode(encode(from_frame(whole := pa.concat_tables(tables.values()), policy), policy), policy)
    assert found["a"].levels == one.levels
    assert found["b"].utility["ncp"] == pytest.approx(anonymize(whole, policy).utility.ncp)


# ---------------------------------------------------------------------------------------------------------------------
# What is published


def test_parts_are_the_rows_of_one_release(tmp_path: Path) -> None:
    """All parts together hold what one table would have published, each its party's rows, and pass the verifier."""
    policy = _policy(tmp_path)
    results = _run(_task(policy), tmp_path)
    assert results["a"] == results["b"] == results["c"]
    one = anonymize(pa.concat_tables(TABLES.values()), policy)
    one.save(tmp_path / "one")
    result = results["a"]
    assert (result["levels"], result["suppressed"]) == (one.levels, one.suppressed)
    assert result["utility"]["ncp"] == pytest.approx(one.utility.ncp)
    assert result["privacy"] == one.privacy
    assert result["rows"] == sum(table.num_rows for table in TABLES.values())
    folders = [tmp_path / name for name in NAMES]
    assert _lines(*folders) == _lines(tmp_path / "one")
    verdict = verify(folders[2], parts=folders[:2])
    assert verdict.satisfied
    assert [finding.as_json() for finding in verdict.privacy] == one.privacy
    for folder in folders:  # names, and what the others have, are in no file
        content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        assert not re.search(rb"person \d", content)


def test_a_part_alone_says_what_it_takes(tmp_path: Path) -> None:
    """A part is checked for its files; for its promise it asks for the other parts, each once and of the same run."""
    _run(_task(_policy(tmp_path)), tmp_path)
    a, b, c = (tmp_path / name for name in NAMES)
    strange = shutil.copytree(c, tmp_path / "strange") / "public" / "manifest.json"
    account = json.loads(strange.read_text())
    strange.write_text(json.dumps(account | {"part_of": account["part_of"] | {"release": "of another run"}}))
    with pytest.raises(InputError, match=r"promise is of 3 parts together, and was not checked: .* of 'b', 'c', with"):
        verify(a)
    for parts, words in (
        ([b], "the parts of 'c' are missing"),
        ([b, tmp_path / "strange"], "is no part of the same release"),
        ([b, b], "are the part of one party"),
    ):
        with pytest.raises(InputError, match=words):
            verify(a, parts=parts)
    table = a / "public" / "table.csv"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    assert not verify(a).satisfied
    assert not verify(b, parts=[a, c]).satisfied


def test_the_whole_table_is_made_of_sums(tmp_path: Path) -> None:
    """With publish = "whole" each of result_to writes the table of all rows, which plain verify passes; others none."""
    policy = _policy(tmp_path)
    results = _run(_task(policy, to=("a", "c"), publish="whole"), tmp_path)
    anonymize(pa.concat_tables(TABLES.values()), policy).save(tmp_path / "one")
    assert results["b"] is None
    assert not (tmp_path / "b").exists()
    for name in ("a", "c"):
        assert _lines(tmp_path / name) == _lines(tmp_path / "one")
        assert verify(tmp_path / name).satisfied


@pytest.mark.parametrize(("publish", "form"), [("parts", "csv.gz"), ("whole", "parquet")])
def test_levels_formats_and_bounds_are_as_in_any_release(publish: str, form: str, tmp_path: Path) -> None:
    """The lowest level of a column, its numbers beside labels and the format of files are those of the policy."""
    path = _policy(tmp_path, publish={"format": form, "numeric": "bounds"})
    document = tomllib.loads(path.read_text())
    document["columns"]["age"]["least"] = document["columns"]["job"]["least"] = 1
    policy = _policy(tmp_path, **document)
    result = _run(_task(policy, publish=publish), tmp_path)["b"]
    assert result["levels"] == anonymize(pa.concat_tables(TABLES.values()), policy).levels
    assert verify(tmp_path / "a", parts=[tmp_path / "b", tmp_path / "c"] if publish == "parts" else ()).satisfied
    names = [column["name"] for column in json.loads((tmp_path / "a/public/manifest.json").read_text())["columns"]]
    assert "age_low" in names


def test_a_party_of_which_nothing_is_left_publishes_an_empty_part(tmp_path: Path) -> None:
    """Where all rows of a party are suppressed in the union, its part has no rows, and all parts together pass."""
    odd = {"name": ["odd"], "age": ["99"], "job": ["doctor"], "illness": ["flu"], "visits": ["1"]}
    policy = _policy(tmp_path, privacy=[{"model": "k-anonymity", "k": 3}])
    result = _run(_task(policy), tmp_path, TABLES | {"c": pa.table(odd)})["c"]
    assert result["suppressed"] >= 1
    assert not _lines(tmp_path / "c")
    assert verify(tmp_path / "c", parts=[tmp_path / "a", tmp_path / "b"]).satisfied
    with pytest.raises(InputError, match="promise is of 3 parts"):
        verify(tmp_path / "c")


def test_a_small_party_is_protected_by_the_others(tmp_path: Path) -> None:
    """Rows that a party by itself could not publish at all are published in the crowd, under finer labels."""
    policy = _policy(tmp_path, privacy=[{"model": "k-anonymity", "k": 8}])
    with pytest.raises(Infeasible):
        anonymize(TABLES["c"], policy)
    result = _run(_task(policy), tmp_path)["c"]
    alone = anonymize(TABLES["b"], policy)
    assert sum(_lines(tmp_path / "c").values()) == 5
    assert result["utility"]["ncp"] < alone.utility.ncp


@pytest.mark.slow
@pytest.mark.adult
@pytest.mark.parametrize(
    "requirement",
    [
        {"model": "distinct-l-diversity", "column": "occupation", "l": 3},
        {"model": "t-closeness", "column": "occupation", "t": 0.2, "distance": "emd-equal"},
    ],
    ids=lambda requirement: str(requirement["model"]),
)
def test_three_hospitals_get_what_one_table_gets(requirement: dict[str, Any], tmp_path: Path) -> None:
    """Adult among parties of 30,000, 15,000 and 222 rows: one release of all rows, in parts, equal cell by cell."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the rows of Adult are not at hand")
    quasi = ("workclass", "education", "marital-status", "race", "sex", "native-country")
    rows = pyarrow.csv.read_csv(folder / "adult.csv").select(["age", *quasi, "occupation"])
    rows = pa.table({name: rows[name].cast(pa.string()) for name in rows.column_names})
    files = {name: {"role": "quasi", "hierarchy": str(folder / "hierarchies" / f"{name}.csv")} for name in quasi}
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20], "domain": [0, 119]}},
        **files,
        "occupation": {"role": "sensitive", "hierarchy": str(folder / "hierarchies" / "occupation.csv")},
    }
    privacy = [{"model": "k-anonymity", "k": 5}, requirement]
    policy = _policy(tmp_path, columns=columns, privacy=privacy, algorithm={"name": "optimal", "suppression": 0.02})
    tables = {"a": rows.slice(0, 30_000), "b": rows.slice(30_000, 15_000), "c": rows.slice(45_000)}
    result = _run(_task(policy, values={}), tmp_path, tables)["c"]
    one = anonymize(rows, policy)
    one.save(tmp_path / "one")
    assert (result["levels"], result["suppressed"]) == (one.levels, one.suppressed)
    assert _lines(*(tmp_path / name for name in NAMES)) == _lines(tmp_path / "one")
    assert verify(tmp_path / "b", parts=[tmp_path / "a", tmp_path / "c"]).satisfied
    assert 0.85 * 222 < sum(_lines(tmp_path / "c").values()) <= 222


@pytest.mark.slow
def test_processes_publish_together_by_command(tmp_path: Path) -> None:
    """``party simulate`` runs the parties as processes; each has its part, and ``verify --part`` passes them all."""
    _policy(tmp_path)
    values = "{ illness = ['HIV', 'cold', 'flu'] }"
    (tmp_path / "consortium.toml").write_text(
        "[consortium]\nname = 'three'\nparties = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]\n"
        f"[task]\nkind = 'anonymize'\npolicy = 'policy.toml'\nmost_items = 8\nvalues = {values}\n"
    )
    for name, table in TABLES.items():
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    data = [f"--data={name}={tmp_path / name}.csv" for name in NAMES]
    consortium, out = str(tmp_path / "consortium.toml"), str(tmp_path / "out")
    assert run_command(["party", "simulate", consortium, *data, "--out", out, "--json"]) == 0
    a, b, c = (str(tmp_path / "out" / name) for name in NAMES)
    assert run_command(["verify", a, "--part", b, "--part", c]) == 0
    one = anonymize(pa.concat_tables(TABLES.values()), tmp_path / "policy.toml")
    one.save(tmp_path / "one")
    assert _lines(*map(Path, (a, b, c))) == _lines(tmp_path / "one")


# ---------------------------------------------------------------------------------------------------------------------
# What is not shown


def test_counts_are_sent_masked(tmp_path: Path) -> None:
    """What the small party sends of its counts is uniformly random bytes, and other ones in every run."""
    task = _task(_policy(tmp_path))
    runs: list[list[bytes]] = []
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    for run in ("one", "other"):
        sessions = local_sessions(*NAMES)
        frames.clear()
        sessions["c"].channels["a"].tap = keep  # type: ignore[attr-defined]
        (tmp_path / run).mkdir()
        _run(task, tmp_path / run, sessions=sessions)
        runs.append([frame[HEADER_BYTES:] for frame in frames if _is_sum(frame)])
    assert [len(frame) for frame in runs[0]] == [len(frame) for frame in runs[1]]
    assert all(one != other for one, other in zip(*runs, strict=True))
    sent = np.frombuffer(b"".join(runs[0] + runs[1]), dtype=np.uint8)
    counts = np.bincount(sent, minlength=256)
    expected = len(sent) / 256
    assert expected > 20
    assert ((counts - expected) ** 2 / expected).sum() < 400  # chi-square with 255 degrees of freedom: 400 is 1e-8


def test_what_was_summed_is_listed_in_the_private_audit(tmp_path: Path) -> None:
    """Each look is listed: from general to special, and a node that fails only where all better ones above pass."""
    result = _run(_task(_policy(tmp_path)), tmp_path)["a"]
    audit = json.loads((tmp_path / "a" / "private" / "audit.json").read_text())
    assert len({tuple(look["levels"]) for look in audit["looks"]}) == result["nodes"] == audit["nodes"]
    assert [look["levels"] for look in audit["looks"]].count([0, 0]) == 0
    assert (tmp_path / "a" / "private").stat().st_mode & 0o77 == 0


# ---------------------------------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    ("changes", "keys", "words"),
    [
        ({"algorithm": {"name": "mondrian"}}, {}, "must be samarati, incognito or optimal"),
        ({"columns": {"age": {"role": "quasi", "hierarchy": {"ranges": True}}}}, {}, "ranges would depend on the rows"),
        ({"columns": {"p": {"role": "individual"}}}, {}, "names persons"),
        ({"columns": {"p": {"role": "plain"}}}, {"publish": "whole"}, "'p' is plain"),
        ({}, {"values": {"name": ["x"]}}, "must list the values of a quasi-identifier"),
        ({}, {"publish": "halves"}, "must be parts or whole"),
    ],
)
def test_policies_that_parties_cannot_share_are_refused(
    changes: dict[str, Any], keys: dict[str, Any], words: str, tmp_path: Path
) -> None:
    """What depends on one party's rows, counts persons or cannot be summed is refused with a sentence."""
    columns = {"age": {"role": "quasi", "hierarchy": "suppress"}} | changes.get("columns", {})
    base = {"privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": {"name": "optimal"}}
    policy = _policy(tmp_path, **(base | changes | {"columns": columns}))
    with pytest.raises(PolicyError, match=words):
        _task(policy, **({"values": {}} | keys))


def test_two_parties_must_accept_that_they_learn_each_others_counts(tmp_path: Path) -> None:
    """Two parties are refused, unless the task accepts what they learn; then the statement says it."""
    policy = _policy(tmp_path)
    with pytest.raises(PolicyError, match="of two parties each learns the other's counts"):
        _task(policy, ("a", "b"), ("a", "b"))
    task = _task(policy, ("a", "b"), ("a", "b"), two_parties="accept")
    assert "of two parties, each learns the other's counts" in task.statement(("a", "b")).learned
    _run(task, tmp_path, {name: TABLES[name] for name in ("a", "b")})
    assert verify(tmp_path / "a", parts=[tmp_path / "b"]).satisfied


def test_a_value_in_no_domain_is_refused_by_its_holder(tmp_path: Path) -> None:
    """A value that a hierarchy or the task does not know is refused before anything moves, and so is a full folder."""
    task = _task(_policy(tmp_path))
    spy = TABLES["c"].set_column(2, "job", pa.array(["spy"] * 5))
    with pytest.raises(HierarchyError, match=r"not in job\.csv: 'spy'"):
        task.prepare("c", PartyTable(spy, "c.csv"))
    plague = TABLES["c"].set_column(3, "illness", pa.array(["plague"] * 5))
    with pytest.raises(InputError, match="column 'illness' holds 1 values that are not in its domain"):
        task.prepare("c", PartyTable(plague, "c.csv"))
    with pytest.raises(OutputError, match="exists already"):
        task.direct(task.prepare("c", PartyTable(TABLES["c"], "c.csv")), tmp_path)


def test_parties_with_different_policies_end_without_output(tmp_path: Path) -> None:
    """A policy that differs in one number, hierarchies included, ends the run; nothing appears anywhere."""
    other = tmp_path / "other"
    other.mkdir()
    tasks = dict.fromkeys("ab", _task(_policy(tmp_path)))
    tasks["c"] = _task(_policy(other, algorithm={"name": "optimal", "suppression": 0.06}))

    def part(name: str) -> Callable[[PartySession], Any]:
        task = tasks[name]
        prepared = task.direct(task.prepare(name, PartyTable(TABLES[name], name)), tmp_path / name)
        return lambda session: task.run(session, prepared)

    with pytest.raises(RunAborted, match="has another policy"):
        run_parties({name: part(name) for name in NAMES})
    assert not any((tmp_path / name).exists() for name in NAMES)


@pytest.mark.slow
def test_a_party_that_dies_leaves_nothing_anywhere(tmp_path: Path) -> None:
    """Whichever message a party dies at, no party has a release or a leftover."""
    task, sent = _task(_policy(tmp_path)), [0]

    def run(dies_at: int) -> None:
        def tap(frame: bytes) -> bytes:
            if sent[0] == dies_at:
                raise RuntimeError("killed")
            sent[0] += 1
            return frame

        sessions, sent[0] = local_sessions(*NAMES), 0
        for peer in ("a", "b"):
            sessions["c"].channels[peer].tap = tap  # type: ignore[attr-defined]
        _run(task, tmp_path, sessions=sessions)

    run(-1)
    frames = sent[0]
    for name in NAMES:
        shutil.rmtree(tmp_path / name)
    for dies_at in {*range(0, frames, 4), frames - 2, frames - 1}:
        with pytest.raises((RuntimeError, RunAborted)):
            run(dies_at)
        assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize("publish", ["parts", "whole"])
def test_a_party_that_dies_when_all_have_verified_leaves_nothing_anywhere(publish: str, tmp_path: Path) -> None:
    """Where a party is stopped after its task is done, and before the run is, no folder appears at the others."""
    task = _task(_policy(tmp_path), publish=publish)

    def part(name: str) -> Callable[[PartySession], Any]:
        prepared = task.direct(task.prepare(name, PartyTable(TABLES[name], name)), tmp_path / name)

        def run(session: PartySession) -> Any:
            result = task.run(session, prepared)
            assert list(tmp_path.glob(f".{name}.sfumato-*/public/table.csv"))
            if name == "c":
                raise KeyboardInterrupt
            return result

        return run

    with pytest.raises(KeyboardInterrupt):
        run_parties({name: part(name) for name in NAMES})
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize("error", [None, RunAborted("party 'c' was stopped by its holder")])
def test_what_a_task_writes_ends_as_the_run_does(
    error: RunAborted | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a task leaves open is closed after the parties have agreed on the end, or by what came in between."""
    events: list[object] = []

    @contextmanager
    def folder() -> Iterator[None]:
        try:
            yield
        except RunAborted as raised:
            events.append(raised)
            raise
        events.append("appears")

    def conduct(work: Callable[[PartySession], Any], _: Any) -> Any:
        result = work(local_sessions("a", "b")["a"])
        events.append("agrees")
        if error is not None:
            raise error
        return result

    task = SimpleNamespace(kind="anonymize", run=lambda session, _: session.until_end.enter_context(folder()))
    consortium = SimpleNamespace(task=task, parties=(), runs_per_day=1)
    statement = SimpleNamespace(adversary="", learned="")
    monkeypatch.setattr(party_run, "count_run", lambda *_: None)
    arguments: Any = (consortium, "a", tmp_path, None, SimpleNamespace(conduct=conduct), statement, None)
    if error is None:
        assert party_run._conduct(*arguments).party == "a"
    else:
        with pytest.raises(RunAborted, match="was stopped by its holder"):
            party_run._conduct(*arguments)
    assert events == ["agrees", error or "appears"]


def test_who_does_not_write_the_whole_table_lacks_a_column_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that no requirement looks at is summed for result_to alone; the statement says what others learn."""
    policy = _policy(tmp_path, privacy=[{"model": "distinct-l-diversity", "column": "visits", "l": 2}])
    task, shown = _task(policy, to=("a",), publish="whole"), {}
    publish = joint_release.publish_whole

    def spy(joint: JointRecoding, sums: Any, to: Any) -> Any:
        count = sums.count_joint

        def counted(*arguments: Any) -> Any:
            shown[sums.session.me] = count(*arguments)
            return shown[sums.session.me]

        sums.count_joint = counted
        return publish(joint, sums, to)

    monkeypatch.setattr("sfumato.party.anonymize_together.publish_whole", spy)
    results = _run(task, tmp_path)
    assert (results["b"], shown["b"], shown["c"]) == (None, None, None)
    assert shown["a"] is not None
    assert verify(tmp_path / "a").satisfied
    assert "but for the column 'illness'" in task.statement(NAMES).learned
    assert "not in result_to" not in _task(policy, publish="whole").statement(NAMES).learned
    columns = {"age": {"role": "quasi", "hierarchy": "suppress"}, "visits": {"role": "sensitive"}}
    values = {"visits": VALUES["visits"]}
    privacy = [{"model": "distinct-l-diversity", "column": "visits", "l": 2}]
    single = _task(_policy(tmp_path, columns=columns, privacy=privacy), to=("a",), publish="whole", values=values)
    assert "learn all rows of the published table as well, and do not write it" in single.statement(NAMES).learned


def test_a_sum_that_is_too_large_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where classes and values make more cells than are ever summed, the run ends with a sentence."""
    monkeypatch.setattr(summed_nodes, "_MOST_SUMMED", 5)
    with pytest.raises(RunAborted, match=r"a sum of \d+ cells is due, and 5 are the most"):
        _run(_task(_policy(tmp_path)), tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    "items", [[b"\1\xff"], [b"flu"], [b""], [b"\1NA"], [b"\1flu", b"\1flu"], [b"\0", b"\0"], [b"\0x"]]
)
def test_values_that_no_party_can_have_end_the_run(items: list[bytes]) -> None:
    """An item of a union that is no text, has no mark, is NULL by the policy or comes twice is refused."""
    with pytest.raises(RunAborted, match="whose program was changed"):
        read_items([b"\1cold", *items], ["", "NA"])


def test_numbers_that_are_null_by_the_policy_are_refused_by_their_holder(tmp_path: Path) -> None:
    """A number that is written as NULL is cannot be sought together, and is refused before anything moves."""
    columns = {"age": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    privacy = [{"model": "k-anonymity", "k": 2}]
    policy = _policy(tmp_path, columns=columns, privacy=privacy, data={"source": "x.csv", "null": ["99"]})
    with pytest.raises(InputError, match=r"'age' holds numbers that .* calls missing"):
        _task(policy, values={}).prepare("a", PartyTable(pa.table({"age": [20, 99]}), "a.csv"))


def test_nothing_appears_where_the_files_are_not_what_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one written part has a row less than was counted, the summed check fails, and no party has a release."""

    def lose_a_row(paths: Sequence[Path], *rest: Any) -> PartCounts:
        counts = count_part(paths, *rest)
        if paths[0].parent.parent.name.startswith(".c."):
            labels = next(iter(counts.classes))
            return PartCounts(dict(counts.classes) | {labels: counts.classes[labels] - 1}, counts.values)
        return counts

    monkeypatch.setattr(joint_release, "count_part", lose_a_row)
    with pytest.raises(RunAborted, match="do not have the classes that were chosen"):
        _run(_task(_policy(tmp_path)), tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
