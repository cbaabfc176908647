"""Published CSV packed by gzip: the same text, read by verifier, queries, attacks and earlier releases alike."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import NotVerified
from sfumato.verifier import verify

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]
Saves = Callable[..., Path]

GZ = {"format": "csv.gz"}


def test_the_same_text_packed(saves: Saves, rules: Rules, people: Any, roles: dict[str, str]) -> None:
    """Unpacked it is the CSV that would have been written, and the same rows give the same bytes."""
    seeded = {"algorithm": {"seed": 1}}
    plain = saves(people, rules(roles, **seeded))
    packed = saves(people, rules(roles, publish=GZ, **seeded))
    again = saves(people, rules(roles, publish=GZ, **seeded))
    content = (packed / "public/table.csv.gz").read_bytes()
    assert gzip.decompress(content) == (plain / "public/table.csv").read_bytes()
    assert content == (again / "public/table.csv.gz").read_bytes()
    manifest = json.loads((packed / "public/manifest.json").read_text())
    assert manifest["files"]["table.csv.gz"] == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert "null" in manifest["csv"]
    assert verify(packed).satisfied


@pytest.mark.parametrize("form", ["generalized", "lossy-join"])
def test_every_reader_reads_it(runs: Runs, rules: Rules, people: Any, roles: dict[str, str], form: str) -> None:
    """The commands verify, risk, query, utility and attack take a packed release as any other."""
    from pyarrow import parquet as pq

    from sfumato.release import prepare

    pq.write_table(people, "people.parquet")
    prepare(people, rules(roles, publish=GZ | {"form": form})).save("packed")
    commands = [
        ("verify", "packed"),
        ("risk", "packed"),
        ("query", "packed", "select count(*) where sex = 'f'", "--json"),
        ("utility", "packed", "--original", "people.parquet"),
        ("attack", "homogeneity", "packed"),
        ("attack", "link", "packed", "--known", "people.parquet", "--on", "sex,zip"),
    ]
    for command in commands:
        done = runs(*command)
        assert done.code == 0, (command, done.err)


def test_it_is_replaced_like_any_release(saves: Saves, rules: Rules, people: Any, roles: dict[str, str]) -> None:
    """--force knows a packed table for a part of a release."""
    folder = saves(people, rules(roles, publish=GZ), "one")
    saves(people, rules(roles), "one", force=True)
    assert {path.name for path in (folder / "public").iterdir()} == {"manifest.json", "summary.html", "table.csv"}


def _hash_again(folder: Path) -> None:
    path = folder / "public/manifest.json"
    manifest = json.loads(path.read_text())
    content = (folder / "public/table.csv.gz").read_bytes()
    manifest["files"]["table.csv.gz"] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    path.write_text(json.dumps(manifest))
    (folder / "private/audit.json").unlink()


@pytest.mark.parametrize("damage", ["cut", "junk", "not packed"])
def test_a_damaged_file_is_not_verified(
    saves: Saves, rules: Rules, people: Any, roles: dict[str, str], damage: str
) -> None:
    """A packed table that cannot be unpacked does not pass, though its hash is as the manifest says."""
    folder = saves(people, rules(roles, publish=GZ))
    path = folder / "public/table.csv.gz"
    content = path.read_bytes()
    path.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "junk": content[:10] + b"\xff" * 50,
            "not packed": gzip.decompress(content),
        }[damage]
    )
    _hash_again(folder)
    with pytest.raises(NotVerified, match=r"^table.csv.gz cannot be read: [^\n]*$"):
        verify(folder)


def test_changed_rows_are_found(saves: Saves, rules: Rules, people: Any, roles: dict[str, str]) -> None:
    """A row of its own in a packed table breaks the promise, as in any other."""
    folder = saves(people, rules(roles, publish=GZ))
    path = folder / "public/table.csv.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"x,y,flu,1\n"))
    _hash_again(folder)
    assert not verify(folder).satisfied


def test_an_earlier_release_may_be_packed(
    saves: Saves, rules: Rules, people: Any, roles: dict[str, str], tmp_path: Path
) -> None:
    """A packed release can be joined with the next, by the search and by the verifier alike."""
    first = saves(people, rules(roles, publish=GZ))
    policy = rules(roles, previous=[{"name": "first", "table": str(first / "public/table.csv.gz")}])
    policy["privacy"].append({"model": "xy-anonymity", "x": ["sex", "first.sex"], "y": ["$row"], "k": 2})
    second = saves(people, policy)
    assert verify(second).satisfied
