"""TRUST 7, widely: what only suppressed rows hold stands in no public byte, whatever form, format and hierarchy."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import Infeasible
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.policy import load
from sfumato.release import Release, prepare

SIDE_BY_SIDE = [
    ("generalized", "optimal"),
    ("generalized", "incognito"),
    ("generalized", "auto"),
    ("generalized", "mondrian"),
    ("generalized", "tds"),
    ("lossy-join", "auto"),
    ("anatomy", "anatomy"),
]
LEVELS = {"optimal", "incognito"}


def _words(random_: random.Random, kind: str, number: int) -> list[str]:
    """Texts that occur in no page by chance."""
    return [f"{kind}{random_.randrange(10**9):09d}" for _ in range(number)]


def _table(random_: random.Random, folder: Path) -> tuple[Any, dict[str, Any]]:
    """A table of few frequent and many rare values, and columns with a hierarchy of every kind; files go to `folder`.

    The file of `town` has a level of groups, of which some have rare leaves alone; that of `trade` is told from its
    groups on.
    """
    rows = random_.randrange(60, 160)
    chosen: dict[str, list[str]] = {}
    for name in ("town", "trade", "state", "guild", "illness", "note"):
        frequent, rare = _words(random_, name, 2), _words(random_, f"{name}rare", 8)
        chosen[name] = [random_.choice(rare if random_.random() < 0.05 else frequent) for _ in range(rows)]
    for name in ("town", "trade"):
        leaves = sorted({*chosen[name], *_words(random_, f"{name}unheld", 3)})
        groups = _words(random_, f"{name}group", 4)
        lines = [f"{leaf},{groups[i % 4] if i < 6 else groups[0]},*" for i, leaf in enumerate(leaves)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = pa.table(chosen)
    columns = {
        "town": {"role": "quasi", "hierarchy": "town.csv"},
        "trade": {"role": "quasi", "hierarchy": "trade.csv", "least": 1},
        "state": {"role": "quasi", "hierarchy": "suppress"},
        "guild": {"role": "quasi", "hierarchy": "sets"},
        "illness": {"role": "sensitive"},
        "note": {"role": "plain"},
    }
    return table, columns


def _policy(columns: dict[str, Any], form: str, algorithm: str, file_format: str) -> dict[str, Any]:
    columns = {name: dict(column) for name, column in columns.items()}
    if form != "generalized":
        columns["trade"].pop("least")
    if algorithm in {*LEVELS, "tds", "anatomy"}:
        columns["guild"]["hierarchy"] = "suppress"
    privacy: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 4}]
    if form == "anatomy":
        privacy = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    return {
        "columns": columns,
        "privacy": privacy,
        "algorithm": {"name": algorithm, "suppression": 0.4},
        "publish": {"form": form, "format": file_format},
    }


def _secrets(release: Release) -> Iterator[str]:
    """The values that rows of the original have, and no published row."""
    published = release.recoding.class_of >= 0
    for name in release.source.arrow.column_names:
        values = release.source.arrow[name].to_pylist()
        held = {value for value, kept in zip(values, published, strict=True) if kept}
        yield from {value for value in values if value not in held}


def _public_bytes(folder: Path) -> bytes:
    """Every byte of the public files; those of Parquet also as they are when they are read."""
    found = b""
    for path in sorted((folder / "public").iterdir()):
        found += path.read_bytes()
        if path.suffix == ".parquet":
            found += str(pq.read_table(path).to_pydict()).encode() + str(pq.read_schema(path)).encode()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize(("form", "algorithm"), SIDE_BY_SIDE)
def test_trust_07_what_only_suppressed_rows_hold_is_in_no_public_byte(
    form: str, algorithm: str, file_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over generated tables with hierarchies of every kind, no dictionary, label list or page names such a value."""
    monkeypatch.chdir(tmp_path)
    seen = 0
    for seed in range(4):
        random_ = random.Random(f"{form} {algorithm} {file_format} {seed}")
        table, columns = _table(random_, tmp_path)
        try:
            release = prepare(table, _policy(columns, form, algorithm, file_format))
        except Infeasible:
            continue
        folder = release.save(tmp_path / f"release{seed}")
        secrets, public = list(_secrets(release)), _public_bytes(folder)
        assert [secret for secret in secrets if secret.encode() in public] == []
        assert b"unheld" not in public
        seen += len(secrets)
    assert seen or form != "generalized" or algorithm not in LEVELS, "no row with a value of its own was suppressed"


def test_trust_07_leaves_below_the_lowest_level_stay_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a column is told from a level on, its dictionary names labels of that level which published rows have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("a,A,*\nb,A,*\nc,C,*\nrare,RARE,*\nnobody,NOBODY,*\n")
    columns = {"q": {"role": "quasi", "hierarchy": "q.csv", "least": 1}}
    policy = {
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "algorithm": {"name": "optimal", "suppression": 0.1},
    }
    folder = prepare(pa.table({"q": ["a", "b", "c"] * 5 + ["rare"]}), policy).save(tmp_path / "release")
    public = _public_bytes(folder)
    assert b"RARE" not in public
    assert b"NOBODY" not in public


def test_trust_07_a_declared_public_domain_is_listed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy may declare the leaves of a file public; then a query can name one that no published row has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("a,A,*\nb,A,*\nc,C,*\nrare,A,*\n")
    rows = pa.table({"q": ["a", "b"] * 4 + ["c"] * 5 + ["a"], "s": ["x", "y"] * 7})

    def covers(**column: Any) -> Any:
        columns = {"q": {"role": "quasi", "hierarchy": "q.csv", **column}, "s": {"role": "sensitive"}}
        policy = {
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "algorithm": {"name": "optimal", "suppression": 0.1},
        }
        release = prepare(rows, policy)
        folder = release.save(tmp_path / f"release{len(column)}")
        assert sf.verify(folder).satisfied
        return next(entry["covers"] for entry in _manifest(folder)["columns"] if entry["name"] == "q")

    assert covers() == {"A": ["a", "b"], "C": ["c"]}
    assert covers(public_domain=True) == {"A": ["a", "b", "rare"], "C": ["c"]}


def test_trust_07_taxonomies_of_a_join_name_published_labels_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release after another states the paths of labels that are published now or were before, and of no others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("a,A,*\nb,A,*\nc,C,*\nCANARY,CANARYGROUP,*\n")
    ledger = Ledger.create(tmp_path / "ledger")
    rows = {"q": ["a", "b", "c"] * 10, "s": ["x", "y", "z"] * 10}
    for name, more in (("first", {"q": [], "s": []}), ("second", {"q": ["CANARY", "a"], "s": ["x", "y"]})):
        table = {column: [*values, *more[column]] for column, values in rows.items()}
        lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
        policy = load(
            {
                "data": {"source": f"{name}.csv"},
                "columns": {"q": {"role": "quasi", "hierarchy": "q.csv"}, "s": {"role": "sensitive"}},
                "privacy": [{"model": "k-anonymity", "k": 5}],
                "algorithm": {"name": "optimal", "suppression": 0.1},
            }
        )
        recorded = make_recorded_release(ledger, policy, population=None, name=name)
        recorded.save(tmp_path / name)
    assert "taxonomies" in _manifest(tmp_path / "second")
    assert b"CANARY" not in _public_bytes(tmp_path / "second")


def _manifest(folder: Path) -> Any:
    return json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
