"""What a data holder must be able to trust, for releases of two tables: TRUST.md 1, 4, 6, 7, 12 to 14 once more."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import sfumato as sf
from sfumato.errors import Infeasible, NotVerified
from sfumato.publish import table_writer
from sfumato.publish.written_table import WrittenTable
from sfumato.release import prepare
from sfumato.release import write_release as writing
from sfumato.split import common_values
from sfumato.table.files import file_digest

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]
Runs = Callable[..., Any]

FORMS = pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
FORMATS = pytest.mark.parametrize("kind", ["csv", "parquet"])
AGE = {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}}
CROWD = {"age": AGE, "sex": "quasi", "illness": "sensitive", "number": "sensitive", "place": "plain"}
DISTINCT = [{"model": "distinct-l-diversity", "column": "illness", "l": 3}]


def _crowd(rows: int = 900) -> pa.Table:
    """Made-up people; ``place`` and ``number`` are the number of the row, in one table and in the other."""
    draw = np.random.default_rng(7)
    return pa.table(
        {
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "illness": draw.choice(["flu", "cold", "HIV", "fever"], rows, p=[0.3, 0.3, 0.2, 0.2]),
            "number": list(range(rows)),
            "place": list(range(rows)),
        }
    )


def _read(folder: Path, name: str) -> dict[str, list[str]]:
    path = next((folder / "public").glob(f"{name}.*"))
    if path.suffix == ".parquet":
        return {name: [str(cell) for cell in cells] for name, cells in pq.read_table(path).to_pydict().items()}
    header, *lines = csv.reader(path.read_text().splitlines())
    return dict(zip(header, map(list, zip(*lines, strict=True)), strict=True))


@FORMS
def test_trust_01_what_the_verifier_does_not_pass_is_not_written(
    rules: Rules, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that changed its class on the way to the second file is noticed, and nothing appears."""
    release = prepare(_crowd(), rules(CROWD, privacy=DISTINCT, publish={"form": form}))
    original = table_writer.write_table

    def tampered(table: Any, path: Path, policy: Any) -> WrittenTable:
        path = original(table, path, policy).path
        if path.stem == "ss":
            header, first, *lines = path.read_text().splitlines()
            key, rest = first.split(",", 1)
            path.write_text("\n".join([header, f"{int(key) % 2 + 1},{rest}", *lines]) + "\n")
        return WrittenTable(path, file_digest(path))

    monkeypatch.setattr(writing, "write_table", tampered)
    with pytest.raises(NotVerified, match="the verifier does not pass the release, so nothing was written"):
        release.save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


@FORMS
def test_trust_04_null_is_a_value(rules: Rules, form: str, saves: Saves) -> None:
    """NULL is a quasi-identifier and a sensitive value like any other, in both tables."""
    table = pa.table({"q": [None, None, "a", "a"], "s": [None, "x", None, "x"]})
    policy = rules(
        {"q": "quasi", "s": "sensitive"},
        privacy=[{"model": "distinct-l-diversity", "column": "s", "l": 2}],
        publish={"form": form, "format": "parquet"},
    )
    folder = saves(table, policy)
    assert Counter(pq.read_table(folder / "public" / "ss.parquet")["s"].to_pylist()) == {None: 2, "x": 2}
    assert Counter(pq.read_table(folder / "public" / "nss.parquet")["q"].to_pylist()) == {None: 2, "a": 2}


@FORMATS
@FORMS
def test_trust_06_neither_order_says_anything(rules: Rules, saves: Saves, form: str, kind: str) -> None:
    """Neither table stands in the order of the input, nor in that of the other, and classes are numbered at random."""
    table = _crowd()
    folder = saves(table, rules(CROWD, privacy=DISTINCT, publish={"form": form, "format": kind}))
    nss, ss = _read(folder, "nss"), _read(folder, "ss")
    first, second = np.array(nss["place"], dtype=int), np.array(ss["number"], dtype=int)
    places = np.arange(table.num_rows)
    assert sorted(first) == sorted(second) == places.tolist()
    for one, other in [(first, places), (second, places), (first, second)]:
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(len(places))
    keys, others = np.array(nss["class_id"], dtype=int), np.array(ss["class_id"], dtype=int)
    # line by line of a class, the two tables agree as often as two random orders of its lines do
    same = first[np.argsort(keys, kind="stable")] == second[np.argsort(others, kind="stable")]
    chance = len(np.unique(keys)) / len(keys)
    assert abs(same.mean() - chance) < 5 * np.sqrt(chance / len(keys))


@FORMS
def test_trust_06_classes_are_numbered_at_random(rules: Rules, form: str) -> None:
    """The number of a class says nothing of the rows in it: neither of their place in the input nor of their age."""
    table = _crowd()
    nss = sf.anonymize(table, rules(CROWD, privacy=DISTINCT, publish={"form": form})).nss
    keys = np.array(nss["class_id"].to_pylist())
    for column in ("place", "age"):
        means = np.bincount(keys, weights=nss[column].to_numpy())[1:] / np.bincount(keys)[1:]
        assert abs(np.corrcoef(np.arange(len(means)), means)[0, 1]) < 5 / np.sqrt(len(means))


@FORMATS
@FORMS
def test_trust_07_canaries_are_in_no_byte(rules: Rules, tmp_path: Path, form: str, kind: str) -> None:
    """Values of identifiers are in no byte of either table, the accounts or the report."""
    table = _crowd(60).append_column("ssn", pa.array([f"canary{row}" for row in range(60)]))
    policy = rules({**CROWD, "ssn": "identifier"}, privacy=DISTINCT, publish={"form": form, "format": kind})
    folder = sf.anonymize(table, policy).save(tmp_path / "release")
    for path in folder.rglob("*"):
        assert path.is_dir() or b"canary" not in path.read_bytes()


def test_trust_12_k_counts_persons(rules: Rules) -> None:
    """Two rows of one person are one person: no class may consist of them, and their pseudonym is in NSS alone."""
    table = pa.table({"who": ["ann", "ann", "bob", "cid"], "q": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"]})
    roles = {"who": "individual", "q": "quasi", "s": "sensitive"}
    release = sf.anonymize(table, rules(roles, publish={"form": "lossy-join"}))
    found: dict[int, set[str]] = {}
    for row in release.nss.to_pylist():
        found.setdefault(row["class_id"], set()).add(row["who"])
    assert all(len(people) >= 2 for people in found.values())
    assert "who" not in release.ss.column_names
    assert not {"ann", "bob", "cid"} & set(release.nss["who"].to_pylist())
    with pytest.raises(Infeasible):
        sf.anonymize(table.slice(0, 2), rules(roles, publish={"form": "lossy-join"}))


def test_trust_13_the_same_input_gives_the_same_classes(rules: Rules) -> None:
    """Who stands together does not change between runs, unlike the numbers of the classes."""
    policy = rules(CROWD, privacy=DISTINCT, publish={"form": "lossy-join"})

    def parts() -> tuple[set[frozenset[int]], list[int]]:
        rows = sf.anonymize(_crowd(), policy).nss.to_pylist()
        found: dict[int, list[int]] = {}
        for row in rows:
            found.setdefault(row["class_id"], []).append(row["place"])
        return set(map(frozenset, found.values())), [
            row["class_id"] for row in sorted(rows, key=lambda row: row["place"])
        ]

    (one, numbers), (other, others) = parts(), parts()
    assert one == other
    assert numbers != others


def test_trust_14_spreadsheets_run_nothing(rules: Rules, saves: Saves) -> None:
    """Cells and headers of both tables are guarded, and the release verifies."""
    table = pa.table({"=q": ["=1+1", "@a", "=1+1", "@a"], "+s": ["-x", "=y", "=y", "-x"]})
    policy = rules({"=q": "quasi", "+s": "sensitive"}, publish={"form": "lossy-join"})
    folder = saves(table, policy)
    for name in ("nss", "ss"):
        for line in (folder / "public" / f"{name}.csv").read_text().splitlines():
            assert not any(cell[:1] in "=+-@" for cell in line.split(","))
    assert sf.verify(folder).satisfied


def test_trust_public_says_nothing_of_what_stays(rules: Rules, saves: Saves) -> None:
    """The manifest of two tables has no seed, no level and no figure of the input."""
    folder = saves(
        _crowd(), rules(CROWD, privacy=DISTINCT, publish={"form": "lossy-join"}, algorithm={"name": "optimal"})
    )
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    assert not {"seed", "levels", "input", "utility", "suppressed", "ties"} & manifest.keys()
    assert not any("level" in column for column in manifest["columns"])


@FORMATS
def test_trust_07_values_of_suppressed_rows_stay(rules: Rules, saves: Saves, kind: str) -> None:
    """A value that only a suppressed row holds is in no byte of what is public, in either table."""
    rows = 40
    table = pa.table(
        {
            "ward": ["lonely-ward", *["common"] * (rows - 1)],
            "illness": ["lonely-illness", *(["flu", "cold", "HIV"] * rows)[: rows - 1]],
        }
    )
    rule = [{"model": "distinct-l-diversity", "column": "illness", "l": 3}, {"model": "k-anonymity", "k": 3}]
    search = {"name": "optimal", "suppression": 0.1}
    roles = {"ward": "quasi", "illness": "sensitive"}
    folder = saves(table, rules(roles, privacy=rule, algorithm=search, publish={"form": "lossy-join", "format": kind}))
    assert json.loads((folder / "private" / "audit.json").read_text())["suppressed"]["rows"] == 1
    for path in (folder / "public").iterdir():
        assert b"lonely" not in path.read_bytes()


PERSONS: dict[str, Callable[[Random, int], list[int | None]]] = {
    "one row each": lambda _, rows: list(range(rows)),
    "one row each but one": lambda _, rows: [0, *range(rows - 1)],
    "pairs": lambda _, rows: [row // 2 for row in range(rows)],
    "few": lambda draw, rows: [draw.randrange(max(rows // 9, 1)) for _ in range(rows)],
    "unknown": lambda draw, rows: [draw.choice([None, row]) for row in range(rows)],
    "one": lambda _, rows: [0] * rows,
}
"""Who the rows are about: nobody, somebody or everybody may have rows in several classes."""
PERSONS_MODELS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 3},
    {"model": "distinct-l-diversity", "column": "illness", "l": 2},
    {"model": "alpha-deassociation", "column": "illness", "alpha": 0.6},
    {"model": "identity-k-anonymity", "k": 3},
    {"model": "identity-kl-diversity", "column": "illness", "k": 2, "l": 2},
    {"model": "identity-alpha-beta", "column": "illness", "alpha": 0.5, "beta": 0.7},
]


def _persons_case(draw: Random, persons: str, rows: int) -> pa.Table:
    values = draw.choice([2, 3, 6, 40])
    return pa.table(
        {
            "who": [None if who is None else f"person {who}" for who in PERSONS[persons](draw, rows)],
            "age": [str(draw.randint(18, 80)) for _ in range(rows)],
            "sex": [draw.choice("fm") for _ in range(rows)],
            "illness": [f"illness {draw.randrange(values)}" for _ in range(rows)],
        }
    )


@FORMS
def test_trust_02_a_thousand_people_with_one_row_each(form: str, rules: Rules, saves: Saves) -> None:
    """Nobody has rows in two classes, and the release, its report included, is made all the same."""
    roles = {"who": "individual", "age": AGE, "sex": "quasi", "illness": "sensitive"}
    table = pa.table(
        {
            "who": [f"person {row}" for row in range(1000)],
            "age": [str(18 + row * 7 % 60) for row in range(1000)],
            "sex": [("f", "m")[row * 3 % 5 % 2] for row in range(1000)],
            "illness": [f"illness {row % 6}" for row in range(1000)],
        }
    )
    folder = saves(table, rules(roles, k=3, publish={"form": form}))
    assert sf.verify(folder).satisfied
    assert "A person's bags together" not in unescape((folder / "private" / "report.html").read_text())


@pytest.mark.slow
@FORMS
@pytest.mark.parametrize("persons", PERSONS)
@pytest.mark.parametrize("rows", [1, 30, 300])
def test_trust_02_any_persons(form: str, persons: str, rows: int, rules: Rules, tmp_path: Path) -> None:
    """Whoever the rows are about, a release of two tables is whole and verified, or there is none."""
    draw, roles = Random(f"{form} {persons} {rows}"), {"who": "individual", "age": AGE, "sex": "quasi"}
    for number, model in enumerate(PERSONS_MODELS):
        search: dict[str, Any] = {"suppression": draw.choice([0.0, 0.5]), "seed": 1}
        if form == "lossy-join":
            search["name"] = draw.choice(["top-down", "mondrian", "bottom-up", "optimal"])
            if search["name"] != "optimal":
                search["keep_together"] = draw.choice([True, False])
        policy = rules({**roles, "illness": "sensitive"}, privacy=[model], algorithm=search, publish={"form": form})
        try:
            release = sf.anonymize(_persons_case(draw, persons, rows), policy)
        except Infeasible:
            continue
        folder = release.save(tmp_path / str(number))
        assert sf.verify(folder).satisfied
        several = _people_in_several_classes(folder)
        assert common_values(release.encoded, release.recoding)["illness"].several_classes == several
        report = unescape((folder / "private" / "report.html").read_text())
        assert ("A person's bags together" in report) == (several > 0)


def _people_in_several_classes(folder: Path) -> int:
    nss = _read(folder, "nss")
    classes = Counter(who for who, _ in set(zip(nss["who"], nss["class_id"], strict=True)))
    return sum(number > 1 for number in classes.values())
