"""Compressed tables: read as what is in them, and bounded by the memory there is."""

import gzip
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from sfumato.core.memory import VARIABLE
from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import column_names, read_table
from sfumato.table.files import file_digest
from sfumato.table.unpacking import unpacked

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

TEXT = b"age,town\n34,Bern\n35,Thun\n"
FOUND = {"age": ["34", "35"], "town": ["Bern", "Thun"]}


def _zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


def _zip(content: bytes, name: str = "visits.csv", others: dict[str, bytes] | None = None) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other, more in (others or {}).items():
            archive.writestr(other, more)
    return stream.getvalue()


FILES: dict[str, bytes] = {
    "t.csv.gz": gzip.compress(TEXT),
    "t.csv.zst": _zstd(TEXT),
    "t.zip": _zip(TEXT),
    "t.tsv.gz": gzip.compress(TEXT.replace(b",", b"\t")),
    "t.txt.gz": gzip.compress(TEXT.replace(b",", b";")),
    "t.gz": gzip.compress(TEXT),
    "t.data": TEXT,
    "t.txt": TEXT.replace(b",", b"|"),
    "T.CSV.GZ": gzip.compress(TEXT),
    "twice.csv.gz": gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]),
    "really-packed.csv": gzip.compress(TEXT),
    "mac.zip": _zip(TEXT, others={"__MACOSX/._visits.csv": b"x"}),
    "folder.zip": _zip(TEXT, "data/2020/visits.txt"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_in_it_is_read(tmp_path: Path, rules: Rules, name: str) -> None:
    """A packed table is read like the table in it, its separator found, its names known beforehand."""
    (tmp_path / name).write_bytes(FILES[name])
    policy = load(rules({"age": "quasi", "town": "plain"}))
    assert column_names(tmp_path / name, policy.source) == ["age", "town"]
    assert read_table(tmp_path / name, policy).arrow.to_pydict() == FOUND


def test_other_formats_are_unpacked_too(tmp_path: Path, rules: Rules) -> None:
    """Parquet in a zip and JSON Lines in gzip are what they are inside."""
    stream = io.BytesIO()
    pq.write_table(pa.table({"age": [34, 35], "town": ["Bern", "Thun"]}), stream)
    (tmp_path / "t.zip").write_bytes(_zip(stream.getvalue(), "t.parquet"))
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"age": 34, "town": "Bern"}\n{"age": 35, "town": "Thun"}\n'))
    for name in ("t.zip", "t.jsonl.gz"):
        table = read_table(tmp_path / name, load(rules({"age": "quasi", "town": "plain"})))
        assert table.arrow.to_pydict() == {"age": [34, 35], "town": ["Bern", "Thun"]}


def test_from_init_to_a_release(tmp_path: Path, runs: Runs) -> None:
    """A packed table goes through init and anonymize, and the audit has the hash of the file as it is."""
    rows = "".join(f"{30 + n % 5},{('Bern', 'Thun', 'Köniz')[n % 3]}\n" for n in range(60))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"age,town\n{rows}".encode("cp1252")))
    assert runs("init", "t.csv.gz").code == 0
    assert 'encoding = "cp1252"' in (tmp_path / "policy.toml").read_text()
    assert runs("anonymize", "policy.toml").code == 0
    audit = (tmp_path / "release/private/audit.json").read_text()
    assert file_digest(tmp_path / "t.csv.gz") in audit
    assert not list(tmp_path.glob(".*"))


DAMAGED: dict[str, tuple[bytes, str]] = {
    "cut.csv.gz": (gzip.compress(TEXT * 100)[:-20], "cannot be unpacked as gzip: it is damaged or cut off"),
    "wrong.csv.gz": (gzip.compress(TEXT)[:10] + b"\xff" * 40, "cannot be unpacked as gzip"),
    "cut.csv.zst": (_zstd(os.urandom(3000).hex().encode())[:-50], "cannot be unpacked as Zstandard"),
    "wrong.csv.zst": (_zstd(TEXT)[:6] + b"\xff" * 40, "cannot be unpacked as Zstandard"),
    "cut.zip": (_zip(TEXT)[:-30], "cannot be unpacked as zip"),
    "wrong.zip": (_zip(TEXT).replace(b"\x01\x02", b"\x09\x09", 1), "cannot be unpacked as zip|holds 0 files"),
    "none.zip": (_zip(b"", "folder/"), "holds 0 files; take the table out"),
    "two.zip": (_zip(TEXT, "a.csv", {"b.csv": TEXT}), "holds 2 files: 'a.csv', 'b.csv'; take the table out"),
    "empty.csv.gz": (gzip.compress(b""), "is empty; a table needs a header"),
    "picture.png.gz": (gzip.compress(b"\x89PNG"), "'.png' files are not read"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archives(tmp_path: Path, rules: Rules, name: str) -> None:
    """What cannot be unpacked is one sentence that says so."""
    (tmp_path / name).write_bytes(DAMAGED[name][0])
    with pytest.raises(DataError, match=DAMAGED[name][1]):
        read_table(tmp_path / name, load(rules({"age": "quasi", "town": "plain"})))


def test_an_encrypted_archive(tmp_path: Path, rules: Rules) -> None:
    """An archive with a password is said to have one."""
    content = bytearray(_zip(TEXT))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    (tmp_path / "t.zip").write_bytes(content)
    with pytest.raises(DataError, match="is encrypted; unpack it"):
        read_table(tmp_path / "t.zip", load(rules({"age": "quasi"})))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.zip"])
def test_a_bomb_is_bounded(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A small file that unpacks to more than may be used is refused while it is unpacked."""
    content = b"age,town\n" + b"34,Bern\n" * 2_000_000
    packers: dict[str, Callable[[bytes], bytes]] = {"t.csv.gz": gzip.compress, "t.csv.zst": _zstd, "t.zip": _zip}
    (tmp_path / name).write_bytes(packers[name](content))
    monkeypatch.setenv(VARIABLE, "4MB")
    with pytest.raises(
        DataError, match=rf"{name}, unpacked, takes at least \d\.\d MB of memory, and 4.0 MB may be used"
    ):
        read_table(tmp_path / name, load(rules({"age": "quasi", "town": "plain"})))


def test_nothing_stays_open(tmp_path: Path) -> None:
    """What was unpacked is gone from memory afterwards, also after an error."""
    (tmp_path / "t.csv.gz").write_bytes(FILES["t.csv.gz"])
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a folder of the system
    with unpacked(tmp_path / "t.csv.gz"):
        assert len(os.listdir("/proc/self/fd")) == before + 1  # noqa: PTH208 - same
    (tmp_path / "t.csv.gz").write_bytes(DAMAGED["cut.csv.gz"][0])
    with pytest.raises(DataError), unpacked(tmp_path / "t.csv.gz"):
        pass
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - same
