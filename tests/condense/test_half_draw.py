"""Rows drawn from half of a table: the halves, what is near, what classifiers learn, what another program finds."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.condense.half_draw import HalfDraw, cells_of, coordinates, draw_from_half
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.errors import DataError, InputError
from sfumato.policy import load
from sfumato.risk.anonymeter_attacks import JUDGE_VARIABLE, AttackedRows, run_anonymeter
from sfumato.risk.closest_rows import measure_closest_rows
from sfumato.table import table_from
from sfumato.utility.learned_classes import learn_classes

Runs = Callable[..., Any]


def _frame(rows: int = 400) -> Any:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, rows)
    return pd.DataFrame(
        {
            "age": age,
            "weight": (60 + age / 4 + rng.normal(0, 5, rows)).round(1),
            "town": [("Bern", "Thun", None)[place] for place in rng.integers(0, 3, rows)],
            "seen": pd.date_range("2024-01-01", periods=rows, freq="h"),
            "ill": np.where(age + rng.normal(0, 5, rows) > 50, "yes", "no"),
        }
    )


def _policy(k: int = 4, **others: Any) -> dict[str, Any]:
    roles = {"age": "quasi", "weight": "quasi", "town": "quasi", "seen": "plain", "ill": "sensitive"}
    return {
        "columns": {name: {"role": role} for name, role in roles.items()} | others,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "condensation"},
        "publish": {"form": "synthetic"},
    }


def _half(frame: Any, policy: dict[str, Any], k: int = 4) -> tuple[MixedTable, HalfDraw | None]:
    rules = load(policy)
    mixed = mix_columns(table_from(frame, rules), rules, k)
    return mixed, draw_from_half(mixed, k, rules.search)


def test_halves_share_no_row() -> None:
    """Every row is in one half, and as many are drawn as a half has."""
    _, half = _half(_frame(), _policy())
    assert half is not None
    seen = [set(cells_of(part)["seen"].to_pylist()) for part in (half.own, half.hold_out)]
    assert [len(part) for part in seen] == [200, 200]
    assert not seen[0] & seen[1]
    assert half.drawn.rows == 200


def test_halves_share_no_person() -> None:
    """All rows of a person are in one half."""
    frame = _frame().assign(person=[f"P{row % 60}" for row in range(400)])
    mixed, half = _half(frame, _policy(person={"role": "individual"}))
    assert half is not None
    assert mixed.persons is not None
    person = dict(zip(cells_of(mixed)["seen"].to_pylist(), mixed.persons.tolist(), strict=True))
    sides = [{person[moment] for moment in cells_of(part)["seen"].to_pylist()} for part in (half.own, half.hold_out)]
    assert not sides[0] & sides[1]


def test_too_few_rows() -> None:
    """Where a half has no two groups, there is nothing to compare."""
    assert _half(_frame(12), _policy())[1] is None


def test_copies_are_near() -> None:
    """Rows that were copied have no distance to those they come from, and one to others."""
    _, half = _half(_frame(), _policy())
    assert half is not None
    copied = measure_closest_rows(HalfDraw(half.own, half.hold_out, half.own))
    assert (copied.ratio, copied.copies, copied.near) == (0.0, 1.0, True)
    strangers = measure_closest_rows(HalfDraw(half.own, half.hold_out, half.hold_out))
    assert strangers.ratio > 1
    assert not strangers.near


def test_classes_are_learned_as_by_hand() -> None:
    """The figures are those of scikit-learn on the halves; classes that are dealt out at random are not learned."""
    pytest.importorskip("sklearn")
    from sklearn.neighbors import KNeighborsClassifier

    mixed, half = _half(_frame(), _policy())
    assert half is not None
    found = learn_classes(mixed, half).classes["ill"]
    classes = [next(one.codes for one in part.columns if one.name == "ill") for part in half.parts]
    points = [coordinates(part, without="ill") for part in half.parts]
    by_hand = [KNeighborsClassifier(5).fit(points[n], classes[n]).score(points[2], classes[2]) for n in (0, 1)]
    assert [found.neighbours_original, found.neighbours_drawn] == pytest.approx(by_hand)
    assert found.tree_original > found.majority + 0.2
    assert found.tree_drawn > found.majority + 0.2
    random = _frame().assign(ill=np.random.default_rng(1).choice(["yes", "no"], 400))
    lost = learn_classes(*_half(random, _policy())).classes["ill"]
    assert lost.tree_drawn < found.tree_drawn - 0.2


def test_numbers_that_are_classes() -> None:
    """A column of zeros and ones is learned like one of categories, and one of many numbers is not."""
    pytest.importorskip("sklearn")
    frame = _frame().assign(ill=lambda rows: (rows["ill"] == "yes").astype(int))
    assert list(learn_classes(*_half(frame, _policy())).classes) == ["ill"]
    many = _frame().assign(ill=np.arange(400))
    assert learn_classes(*_half(many, _policy())).classes == {}


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library there is a sentence that says how to get it, where there was something to learn."""
    monkeypatch.setattr("sfumato.utility.learned_classes.find_spec", lambda _: None)
    found = learn_classes(*_half(_frame(), _policy()))
    assert found.classes == {}
    assert "pip install 'sfumato[learn]'" in str(found.reason)
    nothing = _policy() | {"columns": {name: {"role": "plain"} for name in _frame()}}
    assert learn_classes(*_half(_frame(), nothing)).reason is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_say_what_memory_says(tmp_path: Path, form: str) -> None:
    """Likeness and risk of a saved release are those of the release in memory, for every type of column."""
    frame, policy = _frame(), _policy() | {"publish": {"form": "synthetic", "format": form}}
    release = sf.anonymize(frame, policy)
    folder = release.save(tmp_path / "release")
    assert sf.utility(folder, frame).as_json() == release.utility.as_json()
    assert sf.utility(release).as_json() == release.utility.as_json()
    found = sf.risk(folder, original=frame).as_json()["closest_rows"]
    assert found == sf.risk(release).as_json()["closest_rows"]
    assert found == release.risk.as_json()


def test_commands(tmp_path: Path, runs: Runs) -> None:
    """The commands print the figures, and name what is missing or does not go together."""
    frame = _frame()
    frame.to_csv(tmp_path / "people.csv", index=False)
    folder = str(sf.anonymize(frame, _policy()).save(tmp_path / "release"))
    original = str(tmp_path / "people.csv")
    shown = runs("utility", folder, "--original", original)
    assert shown.code == 0, shown.err
    assert "ill by a decision tree" in shown.out
    figures = json.loads(runs("utility", folder, "--original", original, "--json").out)
    assert figures["learned"]["ill"]["rows"] == 200
    assert (
        "queries are not estimated from drawn rows"
        in runs("utility", folder, "--original", original, "--queries", "5").err
    )
    near = runs("risk", folder, "--original", original)
    assert near.code == 0, near.err
    assert "nearest row that had none" in near.out
    assert "--original" in runs("risk", folder).err
    assert "leave --policy, --quasi" in runs("risk", folder, "--original", original, "--quasi", "age").err
    assert "drawn rows" in runs("risk", original, "--attacks").err
    assert "go with --attacks" in runs("risk", folder, "--original", original, "--hold-out", original).err
    nowhere = runs("risk", folder, "--original", original, "--attacks", "--anonymeter", str(tmp_path / "no-python"))
    assert nowhere.code == 2
    assert "cannot be run" in nowhere.err


def test_compare_refuses_drawn_rows() -> None:
    """A comparison is of generalized releases, and says so."""
    with pytest.raises(InputError, match="are in no classes"):
        sf.compare(_frame(), _policy())


def test_infinite_numbers_name_their_column() -> None:
    """The sentence names the column, and tiny numbers keep their digits."""
    with pytest.raises(DataError, match="column 'age' holds infinite numbers"):
        sf.anonymize(_frame().assign(age=np.inf), _policy())
    tiny = _frame().assign(weight=np.random.default_rng(1).normal(size=400) * 1e-300)
    drawn: Any = sf.anonymize(tiny, _policy())
    assert drawn.utility.columns["weight"].distance < 0.1


def test_another_original_is_refused(tmp_path: Path) -> None:
    """A table with other rows or columns is not what the release was made from."""
    folder = sf.anonymize(_frame(), _policy()).save(tmp_path / "release")
    with pytest.raises(DataError, match="400 rows, 1 for each, and the original 100"):
        sf.utility(folder, _frame(100))
    with pytest.raises(InputError, match="town"):
        sf.utility(folder, _frame().drop(columns="town"))


def test_a_release_of_another_form_has_no_attacks(tmp_path: Path) -> None:
    """Attacks on drawn rows are refused for recoded ones."""
    with pytest.raises(InputError, match="releases of drawn rows"):
        sf.risk(_frame(), quasi=["age"], attacks=True)


def test_without_anonymeter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that has no anonymeter is named, with what would give it one."""
    monkeypatch.delenv(JUDGE_VARIABLE, raising=False)
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    _, half = _half(_frame(), _policy())
    assert half is not None
    rows = AttackedRows.from_cells([cells_of(part) for part in half.parts], {"age": "number"}, load(_policy()).columns)
    with pytest.raises(InputError, match=r"not installed for .*pip install anonymeter.*--anonymeter"):
        run_anonymeter(rows, bare / "bin" / "python")


def test_the_judge_gets_rows_by_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file has the rows while the judge is at work, so that none is left should somebody be killed."""
    scratch, seen, sent = (tmp_path / name for name in ("scratch", "seen", "sent"))
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", None)
    stands_in = tmp_path / "python"
    stands_in.write_text(f"#!/bin/sh\ncat > {sent}\nls -A {scratch} > {seen}\necho '{{\"attacks\": []}}'\n")
    stands_in.chmod(0o700)
    _, half = _half(_frame(), _policy())
    assert half is not None
    rows = AttackedRows.from_cells([cells_of(part) for part in half.parts], {"age": "number"}, load(_policy()).columns)
    assert run_anonymeter(rows, stands_in) == []
    assert seen.read_text() == ""
    head, _, files = sent.read_bytes().partition(b"\n")
    assert sum(json.loads(head)["sizes"]) == len(files)


@pytest.fixture
def judge() -> str:
    """The Python that has anonymeter, if there is one."""
    python = os.environ.get(JUDGE_VARIABLE, sys.executable)
    found = subprocess.run([python, "-c", "import anonymeter"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip(f"anonymeter is not installed for {python}; {JUDGE_VARIABLE} names a Python that has it")
    return python


@pytest.mark.slow
def test_attacks(tmp_path: Path, judge: str, runs: Runs) -> None:
    """The judge finds copies to be copies, and drawn rows to tell less; columns keep their names."""
    _, half = _half(_frame(), _policy())
    assert half is not None
    kinds = {"age": "number", "weight": "number", "town": "category", "seen": "date", "ill": "category"}
    rules = load(_policy()).columns
    parts = [cells_of(part) for part in half.parts]
    drawn = run_anonymeter(AttackedRows.from_cells(parts, kinds, rules), judge, 100)
    copied = run_anonymeter(AttackedRows.from_cells([parts[0], parts[0], parts[2]], kinds, rules), judge, 100)
    assert [one.attack for one in drawn] == [
        "singling out, one column",
        "singling out, 4 columns",
        "linkability",
        "inference",
    ]
    assert drawn[-1].columns == ("ill",)
    assert copied[1].risk is not None
    assert drawn[1].risk is not None
    assert copied[1].risk > 0.5
    assert copied[1].risk > drawn[1].risk
    frame = _frame()
    frame[:200].to_csv(tmp_path / "own.csv", index=False)
    frame[200:].to_csv(tmp_path / "others.csv", index=False)
    folder = sf.anonymize(frame[:200], _policy()).save(tmp_path / "release")
    told = runs(
        *("risk", str(folder), "--original", str(tmp_path / "own.csv"), "--attacks", "--json"),
        *("--hold-out", str(tmp_path / "others.csv"), "--anonymeter", judge),
    )
    assert told.code == 0, told.err
    assert json.loads(told.out)["attacked"].startswith("the published rows")
    assert all(one["failed"] is None for one in json.loads(told.out)["attacks"])
