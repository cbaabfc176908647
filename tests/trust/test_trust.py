"""What a data holder must be able to trust, line by line, from outside: TRUST.md 1 to 15; 17 has a file of its own.

The details of a line are tested where its code is; here each line has a test of the whole way.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, HierarchyError, Infeasible, NotVerified, PolicyError, SfumatoError
from sfumato.publish import table_writer
from sfumato.publish.written_table import WrittenTable
from sfumato.release import prepare
from sfumato.release import write_release as writing
from sfumato.table.files import file_digest
from sfumato.verifier.sql import remove_guard

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]
Runs = Callable[..., Any]
TableOf = Callable[[Path], Any]
Bags = Callable[..., Counter[tuple[Any, ...]]]
Read = Callable[[Path], list[dict[str, str]]]


@pytest.fixture(scope="session")
def rules(rules: Rules) -> Rules:
    """Policies for full-domain recoding, of which more can be told; local recoding has tests of its own."""

    def make(*columns: Any, **changes: Any) -> dict[str, Any]:
        policy = rules(*columns, **changes)
        return policy | {"algorithm": {"name": "optimal", **policy["algorithm"]}}

    return make


FORMATS = pytest.mark.parametrize("kind", ["csv", "parquet"])


def _bytes(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path.relative_to(folder)), path.read_bytes()


def test_trust_01_what_the_verifier_does_not_pass_is_not_written(
    tmp_path: Path, people: Any, roles: dict[str, Any], rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release whose file is not what was promised is refused by the verifier, and nothing appears."""
    release = prepare(people, rules(roles))
    original = table_writer.write_table

    def tampered(table: Any, path: Path, policy: Any) -> WrittenTable:
        path = original(table, path, policy).path
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:-1], "x" + lines[-1]]) + "\n")
        return WrittenTable(path, file_digest(path))

    monkeypatch.setattr(writing, "write_table", tampered)
    with pytest.raises(NotVerified, match="the verifier does not pass the release, so nothing was written"):
        release.save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_trust_01_the_verifier_shares_no_code_with_what_made_the_table() -> None:
    """Importing the verifier loads no model, no algorithm and no counting code of the library."""
    script = (
        "import sys, sfumato.verifier\n"
        "print([n for n in sys.modules if n.startswith(('sfumato.models', 'sfumato.recode', 'sfumato.core.classes', "
        "'sfumato.encode', 'sfumato.core.keys', 'sfumato.release'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


CELLS = st.sampled_from(["a", "b", "c", "", "*", None])


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.3, 0.9]),
)
def test_trust_02_any_table_is_published_as_promised_or_not_at_all(
    rules: Rules, rows: list[tuple[str | None, ...]], k: int, suppression: float
) -> None:
    """On any table the release has classes of k or more, or `Infeasible` says why; it is never empty."""
    q, r, s = (pa.array(column, pa.string()) for column in zip(*rows, strict=True))
    roles = {"q": "quasi", "r": "quasi", "s": "sensitive"}
    try:
        release = sf.anonymize(pa.table({"q": q, "r": r, "s": s}), rules(roles, k=k, suppression=suppression))
    except Infeasible as error:
        assert len(rows) < k, error  # noqa: PT017 - whether it may be raised depends on the table
        return
    classes = Counter(zip(release.table["q"].to_pylist(), release.table["r"].to_pylist(), strict=True))
    assert min(classes.values()) >= k
    assert release.rows == sum(classes.values()) >= (1 - suppression) * len(rows) - 1e-9


def test_trust_03_ties_are_broken_alike(rules: Rules) -> None:
    """Two attributes that are equally good to generalize are chosen between in the same way each time."""
    table = pa.table({"q": ["a", "b", "a", "b"], "r": ["a", "a", "b", "b"]})
    found = {
        tuple(sorted((sf.anonymize(table, rules({"q": "quasi", "r": "quasi"})).levels or {}).items())) for _ in range(5)
    }
    assert len(found) == 1


@pytest.mark.parametrize("others", [0, 1, 4])
def test_trust_04_a_unique_null_row_gives_k_of_1(runs: Runs, tmp_path: Path, others: int) -> None:
    """NULL is a category: the only row with one is alone, with one quasi-identifier, two and more."""
    names = ["q", *(f"r{i}" for i in range(others))]
    lines = [",".join(["a"] + ["x"] * others)] * 3 + [",".join([""] + ["x"] * others)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "p"]), *(line + ",1" for line in lines)]) + "\n")
    found = json.loads(runs("risk", "t.csv", "--quasi", ",".join(names), "--json").out)
    assert (found["highest"], found["uniques"]) == (1.0, 1)


def test_trust_04_null_is_generalized_like_any_value(rules: Rules) -> None:
    """A class of one NULL row is not published at k = 2: the column is generalized or the row goes."""
    table = pa.table({"q": ["a", "a", "a", None], "p": [1, 2, 3, 4]})
    policy = {"q": "quasi", "p": "plain"}
    assert sf.anonymize(table, rules(policy)).table["q"].to_pylist() == ["*"] * 4
    assert sf.anonymize(table, rules(policy, suppression=0.25)).suppressed == 1


@FORMATS
def test_trust_05_suppressed_is_not_null(rules: Rules, saves: Saves, kind: str, table_of: TableOf) -> None:
    """A star, a NULL and an empty text are three things in the written files, and suppressed rows are counted."""
    table = pa.table(
        {"q": [None] * 2 + [""] * 2 + ["b", "z"], "r": ["1", "1", "2", "2", "3", "4"], "s": list("abcdef")}
    )
    roles = {"q": "quasi", "r": "quasi", "s": "sensitive"}
    folder = saves(table, rules(roles, suppression=0.4, publish={"format": kind}))
    found = table_of(folder)
    assert sorted(map(repr, found["q"].to_pylist())) in (sorted(["None"] * 2 + ["''"] * 2), ["'*'"] * 4)
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert audit["suppressed"]["rows"] == 6 - found.num_rows
    stars = saves(table, rules(roles, k=6, publish={"format": kind}))
    assert set(table_of(stars)["q"].to_pylist()) == {"*"}


@FORMATS
def test_trust_06_the_order_says_nothing_of_the_input(rules: Rules, saves: Saves, kind: str, table_of: TableOf) -> None:
    """Rank correlation of published and original order is within the band of chance; there is no index column."""
    rows = 4000
    table = pa.table({"q": ["ab"[i % 2] for i in range(rows)], "p": list(range(rows))})
    folder = saves(table, rules({"q": "quasi", "p": "plain"}, publish={"format": kind}))
    published = table_of(folder)
    assert published.column_names == ["q", "p"]
    places = np.array([int(cell) for cell in published["p"].to_pylist()])
    assert sorted(places.tolist()) == list(range(rows))
    assert abs(np.corrcoef(places, np.arange(rows))[0, 1]) < 5 / np.sqrt(rows)
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 5 / np.sqrt(rows)
    again = table_of(saves(table, rules({"q": "quasi", "p": "plain"}, publish={"format": kind})))
    assert again["p"].to_pylist() != published["p"].to_pylist()


def test_trust_06_rows_in_memory_are_shuffled_too(rules: Rules) -> None:
    """The table that Python gets is in random order as well."""
    table = pa.table({"q": ["a"] * 500, "p": list(range(500))})
    places = sf.anonymize(table, rules({"q": "quasi", "p": "plain"})).table["p"].to_pylist()
    assert sorted(places) == list(range(500))
    assert abs(np.corrcoef(places, np.arange(500))[0, 1]) < 5 / np.sqrt(500)


@FORMATS
def test_trust_07_canaries_are_in_no_byte(runs: Runs, tmp_path: Path, kind: str) -> None:
    """Identifiers, and what only suppressed rows or the path of the input hold, appear in nothing that leaves.

    Identifiers are not in the private part either.
    """
    home = tmp_path / "CANARYpath"
    home.mkdir()
    lines = [f"CANARYid{i},{'ab'[i % 2]},x{i % 3},{i}" for i in range(40)] + ["CANARYid40,CANARYq,CANARYs,CANARYp"]
    (home / "t.csv").write_text("\n".join(["ssn,q,s,p", *lines]) + "\n")
    (home / "policy.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nssn = { role = "identifier" }\n'
        'q = { role = "quasi", hierarchy = "suppress" }\ns = { role = "sensitive" }\np = { role = "plain" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[algorithm]\nname = "optimal"\nsuppression = 0.05\n'
        f'[publish]\nformat = "{kind}"\n'
    )
    outcome = runs("anonymize", home / "policy.toml", "--out", "release")
    assert outcome.code == 0
    assert "CANARY" not in outcome.out + outcome.err
    found = dict(_bytes(tmp_path / "release"))
    assert len(found) == 6
    shown = [name for name in found if name.startswith("public") or name.endswith("report.html")]
    assert [name for name in shown if b"CANARY" in found[name]] == []
    assert [name for name in found if b"CANARYid" in found[name]] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("CANARY,1\n", "cells"),
        ('"CANARY,b,x,1\n', "quote"),
        ("CANARY,b,x,\xff\n", "UTF-8"),
    ],
    ids=["ragged", "unclosed", "encoding"],
)
def test_trust_07_messages_quote_no_cell(runs: Runs, tmp_path: Path, change: str, words: str) -> None:
    """A run that fails on a record says where it is and not what it holds."""
    (tmp_path / "t.csv").write_bytes(b"ssn,q,s,p\n" + b"CANARY,a,x,1\n" * 9 + change.encode("latin-1"))
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nssn = { role = "identifier" }\n'
        'q = { role = "quasi", hierarchy = "suppress" }\ns = { role = "sensitive" }\np = { role = "plain" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    outcome = runs("anonymize", "p.toml")
    assert words in outcome.sentence
    assert "CANARY" not in outcome.err


def test_trust_08_pseudonyms_are_random(rules: Rules, saves: Saves, table_of: TableOf) -> None:
    """Pseudonyms of two runs have nothing in common, are no hash of the ids, and a hash cannot be asked for."""
    ids = [f"id{i}" for i in range(30) for _ in range(2)]
    table = pa.table({"person": ids, "q": ["a", "b"] * 30})
    roles = {"person": "individual", "q": "quasi"}
    first, second = (table_of(saves(table, rules(roles)))["person"].to_pylist() for _ in range(2))
    assert sorted(Counter(first).values()) == [2] * 30
    assert not set(first) & set(second)
    forms = {text.encode() for one in set(ids) for text in (one, one + "\n", " " + one, one + " ", one.upper())}
    hashes = {
        hashlib.new(name, form, usedforsecurity=False).hexdigest()
        for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256")
        for form in forms
    }
    assert not [name for name in first + second if any(name.removeprefix("p") in digest for digest in hashes)]
    for key in ("hash", "pseudonym", "salt"):
        policy = rules({"person": {"role": "individual", key: "sha256"}, "q": "quasi"})
        with pytest.raises(PolicyError, match=key):
            sf.anonymize(table, policy)


def test_trust_09_an_extreme_record_changes_no_other_label(rules: Rules) -> None:
    """Labels come from fixed bins: the rows beside an outlier are published as without it."""
    ages = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
    roles = {"age": ages, "p": "plain"}

    def labels(last: int) -> dict[int, str]:
        table = pa.table({"age": [31, 32, 33, 34, 36, 37, 38, last], "p": list(range(8))})
        found = sf.anonymize(table, rules(roles, suppression=0.2)).table
        return dict(zip(found["p"].to_pylist(), found["age"].to_pylist(), strict=True))

    near, far = labels(39), labels(10_000)
    assert {row: label for row, label in near.items() if row != 7} == far


@pytest.mark.parametrize(
    ("hierarchy", "values", "extremes"),
    [
        ({"intervals": [5, 10]}, ["31", "32", "33", "34"], ["77", "999", "-5"]),
        ({"mask": "right"}, ["12", "13", "14", "15"], ["99", "CANARYLONG", "x"]),
    ],
    ids=["intervals", "mask"],
)
def test_trust_09_a_suppressed_record_changes_no_label(
    rules: Rules, hierarchy: Any, values: list[str], extremes: list[str]
) -> None:
    """Whatever stands in the one row that is not published, the published labels are the same."""
    found = set()
    for extreme in extremes:
        table = pa.table({"q": [*values, *values, extreme]})
        policy = rules({"q": "quasi"}, k=4, suppression=0.2)
        policy["columns"]["q"]["hierarchy"] = hierarchy
        release = sf.anonymize(table, policy)
        assert release.suppressed == 1
        found.add(tuple(sorted(release.table["q"].to_pylist())))
    assert len(found) == 1


def test_trust_10_hierarchies_are_checked_first(rules: Rules, tmp_path: Path) -> None:
    """A hierarchy that misses values is refused with all of them, one with two parents for a leaf by its name."""
    table = pa.table({"job": ["nurse", "driver", "clerk"] * 2})

    def policy(tree: str) -> dict[str, Any]:
        (tmp_path / "job.csv").write_text(tree)
        return rules({"job": {"role": "quasi", "hierarchy": str(tmp_path / "job.csv")}})

    with pytest.raises(HierarchyError, match=r"(?=.*driver)(?=.*clerk)"):
        sf.anonymize(table, policy("nurse,health,*\n"))
    with pytest.raises(HierarchyError, match="nurse"):
        sf.anonymize(table, policy("nurse,a,*\nnurse,b,*\ndriver,a,*\nclerk,a,*\n"))
    shown = sf.anonymize(table, policy("nurse,health,*\ndriver,road,*\nclerk,road,*\n")).table["job"].to_pylist()
    assert set(shown) <= {"nurse", "driver", "clerk"}
    lifted = sf.anonymize(table.slice(0, 4), policy("nurse,health,*\ndriver,road,*\nclerk,road,*\n"))
    assert Counter(lifted.table["job"].to_pylist()) == {"health": 2, "road": 2}


def test_trust_11_a_column_without_a_role_blocks_publication(
    people: Any, roles: dict[str, Any], rules: Rules, tmp_path: Path
) -> None:
    """Every column needs a role, whatever else the policy says."""
    for name in roles:
        fewer = {column: role for column, role in roles.items() if column != name}
        with pytest.raises(DataError, match=f"columns without a role: '{name}'"):
            prepare(people, rules(fewer)).save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


@FORMATS
def test_trust_12_k_counts_persons(rules: Rules, saves: Saves, kind: str, table_of: TableOf) -> None:
    """One person with k rows is a class of one: the column is generalized until k persons share a class."""
    table = pa.table({"person": ["1"] * 3 + ["2", "3", "4"], "q": ["a"] * 3 + ["b"] * 3})
    rows_only = sf.anonymize(table, rules({"person": "identifier", "q": "quasi"}, k=3))
    assert set(rows_only.table["q"].to_pylist()) == {"a", "b"}
    roles = {"person": "individual", "q": "quasi"}
    folder = saves(table, rules(roles, k=3, publish={"format": kind}))
    assert table_of(folder)["q"].to_pylist() == ["*"] * 6
    assert sf.verify(folder).privacy[0].achieved == {"k": 4}
    with pytest.raises(Infeasible, match="k-anonymity"):
        sf.anonymize(table, rules(roles, k=5))


@pytest.mark.parametrize("model", ["distinct-l-diversity", "entropy-l-diversity", "recursive-l-diversity"])
def test_trust_12_l_counts_persons(rules: Rules, model: str) -> None:
    """Two values of one person are not two persons' values, whatever the diversity."""
    extra = {"c": 2.0} if model.startswith("recursive") else {}
    table = pa.table({"person": ["1", "1", "2", "3"], "q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"]})
    policy = rules(
        {"person": "individual", "q": "quasi", "s": "sensitive"},
        privacy=[{"model": model, "column": "s", "l": 2} | extra],
    )
    assert sf.anonymize(table, policy).table["q"].to_pylist() == ["*"] * 4


@FORMATS
def test_trust_13_the_same_input_gives_the_same_rows(
    people: Any, roles: dict[str, Any], rules: Rules, kind: str, bags: Bags
) -> None:
    """Order aside, two releases of one table under one policy are the same, whatever the order of the input."""
    policy = rules(roles, k=6, suppression=0.1, publish={"format": kind})
    turned = people.take(pa.array(np.random.default_rng(1).permutation(people.num_rows)))
    assert bags(people, policy) == bags(turned, policy)


@pytest.mark.slow
def test_trust_13_a_killed_run_leaves_nothing_for_good(
    people: Any, roles: dict[str, Any], rules: Rules, saves: Saves, tmp_path: Path
) -> None:
    """What a process killed while writing left behind is gone after the next run (a hundred kills: test_kill)."""
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom sfumato.release.folder import staged\n"
        "with staged(Path(sys.argv[1])) as stage:\n"
        "    (stage.path / 'public').mkdir()\n    (stage.path / 'public' / 'table.csv').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "release")], check=False)
    assert done.returncode == -9
    assert [path.name.partition("-")[0] for path in tmp_path.iterdir()] == [".release.sfumato"]
    saves(people, rules(roles), "release")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("start", list("=+-@\t\r\0"), ids=repr)
def test_trust_14_spreadsheets_run_nothing(rules: Rules, saves: Saves, cells: Read, start: str) -> None:
    """Cells and headers that would start a formula start with an apostrophe, and the rule takes it away again."""
    name = "p" if start in {"\0", "\r"} else start + "p"
    table = pa.table({"q": [start + "1x"] * 2, "s": [start + "2x"] * 2, name: [start + "3x"] * 2, "n": [-1, -2]})
    folder = saves(table, rules({"q": "quasi", "s": "sensitive", name: "plain", "n": "plain"}))
    rows = cells(folder / "public" / "table.csv")
    for row in rows:
        assert not [text for text in (*row, *row.values()) if text.startswith(start) and text not in {"-1", "-2"}]
        assert {remove_guard(key): remove_guard(cell) for key, cell in row.items() if key != "n"} == {
            "q": start + "1x",
            "s": start + "2x",
            name: start + "3x",
        }
    assert sorted(row["n"] for row in rows) == ["-1", "-2"]


def test_trust_14_a_header_that_starts_with_a_carriage_return(rules: Rules, saves: Saves, cells: Read) -> None:
    """A header that starts with a carriage return is guarded, and the release is verified."""
    folder = saves(pa.table({"q": ["a", "a"], "\rp": ["x", "y"]}), rules({"q": "quasi", "\rp": "plain"}))
    assert set(cells(folder / "public" / "table.csv")[0]) == {"q", "'\rp"}


def test_trust_15_names_are_quoted_in_sql(rules: Rules, saves: Saves) -> None:
    """Column names and values that look like SQL are names and values."""
    names = ['q"; DROP TABLE x; --', "s'); SELECT 1; --", "select", "SELECT"]
    table = pa.table({name: ["' OR 1=1 --", 'x"; --'] * 2 for name in names})
    policy = rules(
        dict(zip(names, ["quasi", "sensitive", "quasi", "plain"], strict=True)),
        privacy=[{"model": "alpha-k-anonymity", "k": 2, "alpha": 1.0, "column": names[1], "values": ["' OR 1=1 --"]}],
    )
    assert sf.verify(saves(table, policy)).satisfied


def test_trust_15_nothing_in_a_file_is_executed(tmp_path: Path, rules: Rules) -> None:
    """A pickle is not loaded, in whatever file it stands and under whatever name."""

    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "executed"),)

    import pickle

    for name in ("t.csv", "t.parquet", "t.feather", "t.jsonl", "t.pkl", "policy.toml"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(SfumatoError):
            sf.anonymize(tmp_path / name, rules({"q": "quasi"}))
    with pytest.raises(PolicyError):
        sf.anonymize(None, tmp_path / "policy.toml")
    assert not (tmp_path / "executed").exists()
