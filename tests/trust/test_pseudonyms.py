"""TRUST 8: pseudonyms are random, or HMAC under a key that is kept apart and that nothing written holds."""

import base64
import hashlib
import hmac
import json
import os
import pickle
import secrets
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.policy import load
from sfumato.publish.pseudonyms import PseudonymKey, key_warnings, read_key
from sfumato.release import pipeline as releases
from sfumato.release import prepare

Saves = Callable[..., Path]
Runs = Callable[..., Any]
TableOf = Callable[[Path], Any]

FORMATS = pytest.mark.parametrize("kind", ["csv", "parquet"])
HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_224", "sha3_256")


def policy_of(key: Path | None = None, **tables: Any) -> dict[str, Any]:
    """Persons with a zip and an illness, in classes of two persons at least; without a key file, random pseudonyms."""
    person = {"role": "individual"} | ({"key": str(key)} if key else {})
    zips = {"role": "quasi", "hierarchy": {"mask": "right"}}
    return {
        "columns": {"person": person, "zip": zips, "illness": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": {"name": "optimal"},
        **tables,
    }


def visits(persons: list[Any], kind: Any = None) -> Any:
    """Two rows for each of these persons, each pair with an illness of its own."""
    rows = len(persons)
    return pa.table(
        {
            "person": pa.array(persons * 2, kind),
            "zip": [("4350", "4351")[row % 2] for row in range(rows)] * 2,
            "illness": [f"illness {row}" for row in range(rows)] * 2,
        }
    )


def named(table: Any, persons: list[Any]) -> dict[Any, str]:
    """The pseudonym of each person, told by the illness that they alone have."""
    found = {place: set[str]() for place in range(len(persons))}
    for pseudonym, illness in zip(table["person"].to_pylist(), table["illness"].to_pylist(), strict=True):
        found[int(illness.split()[1])].add(pseudonym)
    assert all(len(each) == 1 for each in found.values())
    return {persons[place]: each.pop() for place, each in found.items()}


def hmac_by_hand(key: bytes, text: str) -> str:
    """HMAC-SHA256 as RFC 2104 writes it, its first 32 hexadecimal digits."""
    block = (hashlib.sha256(key).digest() if len(key) > 64 else key).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block) + text.encode()).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()[:32]


def bytes_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file in a folder, by its name; with a Parquet file all that its compressed parts hold."""
    for path in folder.rglob("*"):
        if path.is_file():
            inside = unpacked(path) if path.suffix == ".parquet" else b""
            yield str(path.relative_to(folder)), path.read_bytes() + inside


def unpacked(path: Path) -> bytes:
    """The cells and the dictionaries of a Parquet file, values that no row has among them, and its metadata."""
    written = pq.ParquetFile(path, read_dictionary=pq.read_schema(path).names)
    columns = [chunk for column in written.read().columns for chunk in column.chunks]
    cells = [
        str(chunk.dictionary.to_pylist() if hasattr(chunk, "dictionary") else chunk.to_pylist()) for chunk in columns
    ]
    return "\n".join([*cells, str(written.metadata.metadata), str(written.metadata.to_dict())]).encode()


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key as a data holder would make one, apart from releases."""
    return made(tmp_path / "apart", "person.key")


def made(folder: Path, name: str) -> Path:
    """A new key file that only its owner may read."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(secrets.token_hex(32) + "\n")
    path.chmod(0o600)
    return path


NAMES: list[Any] = [f"person {number}" for number in range(20)]


@FORMATS
def test_without_a_key_releases_share_no_pseudonym(saves: Saves, table_of: TableOf, kind: str) -> None:
    """Two releases of one table have no pseudonym in common, each person one in each, and the manifest says random."""
    policy = policy_of(publish={"format": kind})
    first, second = (saves(visits(NAMES), policy) for _ in range(2))
    one, other = (named(table_of(folder), NAMES) for folder in (first, second))
    assert len(set(one.values())) == len(set(other.values())) == len(NAMES)
    assert not set(one.values()) & set(other.values())
    assert _entry(first)["pseudonyms"] == "random"
    assert "under a key" not in json.loads((first / "public" / "manifest.json").read_text())["protects"]


@pytest.mark.parametrize("keyed", [False, True])
def test_no_pseudonym_is_a_hash(key: Path, *, keyed: bool) -> None:
    """No pseudonym is a plain hash of a value, whole or cut, in hexadecimal or otherwise, with or without a key."""
    found = sf.anonymize(visits(NAMES), policy_of(key if keyed else None)).table["person"].to_pylist()
    forms = [form.encode() for name in NAMES for form in (name, f"{name}\n", name.upper(), f"person{name}")]
    digests = [hashlib.new(name, form, usedforsecurity=False).digest() for name in HASHES for form in forms]
    texts = " ".join(f"{digest.hex()} {base64.b64encode(digest).decode()}" for digest in digests)
    assert hashlib.sha256(b"person 7").hexdigest()[:16] in texts
    assert not [name for name in found if name.removeprefix("p")[:12] in texts]


@FORMATS
def test_under_a_key_a_person_keeps_the_pseudonym(
    saves: Saves, table_of: TableOf, key: Path, tmp_path: Path, kind: str
) -> None:
    """Releases of different tables under one key agree on every person they share, and under another key on none."""
    policy = policy_of(key, publish={"format": kind})
    others = [*reversed(NAMES[10:]), *(f"stranger {number}" for number in range(10))]
    folder = saves(visits(NAMES), policy)
    first, second = named(table_of(folder), NAMES), named(table_of(saves(visits(others), policy)), others)
    assert {name: first[name] for name in NAMES[10:]} == {name: second[name] for name in NAMES[10:]}
    assert len({*first.values(), *second.values()}) == 30
    renewed = policy_of(made(tmp_path, "another.key"), publish={"format": kind})
    assert not {*first.values()} & {*named(table_of(saves(visits(NAMES), renewed)), NAMES).values()}
    assert _entry(folder)["pseudonyms"] == "keyed"
    assert "same one in every release under that key" in (folder / "public" / "manifest.json").read_text()
    assert sf.verify(folder).satisfied


def test_a_keyed_pseudonym_is_hmac_of_the_text(key: Path) -> None:
    """A pseudonym is a letter and 128 bits of HMAC-SHA256 of the value, as the definition says and Python computes."""
    names = [*NAMES, "", " ", "Zoë", "NULL", "名", "x" * 10_000]
    secret = key.read_bytes().strip()
    found = named(sf.anonymize(visits(names), policy_of(key)).table, names)
    assert found == {name: f"p{hmac_by_hand(secret, name)}" for name in names}
    assert found == {name: f"p{hmac.new(secret, name.encode(), 'sha256').hexdigest()[:32]}" for name in names}


@pytest.mark.parametrize("length", [32, 64, 65, 200])
def test_keys_of_any_length(tmp_path: Path, length: int) -> None:
    """Keys below, at and above the block of the hash are used as HMAC says, byte by byte where they are no text."""
    secret = b"\n" + bytes(range(200, 200 + 30)) * 10 + b"\n"
    secret = secret[: length - 1] + b"\n"
    (tmp_path / "raw.key").write_bytes(secret)
    found = named(sf.anonymize(visits(NAMES), policy_of(tmp_path / "raw.key")).table, NAMES)
    assert found == {name: f"p{hmac_by_hand(secret, name)}" for name in NAMES}


def test_white_space_around_a_text_is_no_part_of_the_key(tmp_path: Path) -> None:
    """A key that an editor ends with another line end, or with none, is the same key."""
    text, found = secrets.token_hex(32), []
    for number, form in enumerate((text, f"{text}\n", f"{text}\r\n", f" \t{text} \n\n")):
        (tmp_path / f"{number}.key").write_bytes(form.encode())
        found.append(named(sf.anonymize(visits(NAMES), policy_of(tmp_path / f"{number}.key")).table, NAMES))
    assert found[0] == found[1] == found[2] == found[3]


def test_the_report_says_that_releases_can_be_joined(saves: Saves, key: Path) -> None:
    """Whoever reads the report of a release under a key learns what several of them are together."""
    reports = [saves(visits(NAMES), policy_of(each)) / "private" / "report.html" for each in (key, None)]
    said = ["whoever has several of these releases can join them" in report.read_text() for report in reports]
    assert said == [True, False]


def test_numbers_and_their_texts_are_one_person(key: Path) -> None:
    """A person given as a number has the pseudonym of the number's text, in whatever frame it comes."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    numbers = list(range(6))
    table, policy = visits(numbers, pa.int64()), policy_of(key)
    expected = {number: f"p{hmac_by_hand(key.read_bytes().strip(), str(number))}" for number in numbers}
    frames = [table, visits(numbers, pa.int8()), visits([str(n) for n in numbers])]
    for frame in frames:
        assert named(sf.anonymize(frame, policy).table, numbers) == expected
    for frame in (pandas.DataFrame(table.to_pydict()), polars.from_arrow(table)):
        found = sf.anonymize(frame, policy).table
        assert named({name: pa.array(list(found[name])) for name in ("person", "illness")}, numbers) == expected


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(24, 2)], ids=str)
def test_numbers_of_several_spellings_are_refused(key: Path, kind: Any) -> None:
    """7 and 7.0 would be two persons in two releases: under a key such a column is an error, without one it is not."""
    table = visits(list(range(6)), pa.int64())
    table = table.set_column(table.column_names.index("person"), "person", table["person"].cast(kind))
    with pytest.raises(sf.PolicyError, match=r"columns.person.key: its values are of the type .* or text"):
        sf.anonymize(table, policy_of(key))
    assert sf.anonymize(table, policy_of(None)).rows == table.num_rows


@FORMATS
def test_the_nameless_are_one_person_that_no_release_shares(
    saves: Saves, table_of: TableOf, key: Path, kind: str
) -> None:
    """NULL is one person in a release, with or without a key; it is no text's pseudonym, and another in the next."""
    names = [None, "", "NULL", "None", "nan", "null"]
    for policy in (policy_of(publish={"format": kind}), policy_of(key, publish={"format": kind})):
        first, second = (named(table_of(saves(visits(names), policy)), names) for _ in range(2))
        texts = {found[name] for found in (first, second) for name in names[1:]}
        assert not texts & {first[None], second[None]}
        assert first[None] != second[None]
        assert len(set(first.values())) == len(names)
        assert len({len(pseudonym) for pseudonym in first.values()}) == 1
        assert (first[""] == second[""]) == ("key" in policy["columns"]["person"])


def test_null_counts_as_one_person(key: Path) -> None:
    """Rows without a name do not make a class of two persons, under a key as without."""
    table = pa.table({"person": [None, None, "a", "b"], "zip": ["1", "1", "2", "2"], "illness": list("abcd")})
    for policy in (policy_of(), policy_of(key)):
        assert set(sf.anonymize(table, policy).table["zip"].to_pylist()) == {"*"}


def test_a_seed_and_a_key_go_together(key: Path) -> None:
    """A seed makes the order repeatable and does not enter pseudonyms, which are those of the key."""
    found = []
    for seed in (1, 1, 2):
        table = sf.anonymize(visits(NAMES), policy_of(key, algorithm={"name": "optimal", "seed": seed})).table
        found.append((table["person"].to_pylist(), named(table, NAMES)))
    assert found[0] == found[1]
    assert found[0][0] != found[2][0]
    assert found[0][1] == found[2][1] == named(sf.anonymize(visits(NAMES), policy_of(key)).table, NAMES)


@pytest.mark.parametrize("keyed", [False, True])
def test_pseudonyms_are_listed_in_an_order_of_their_own(key: Path, *, keyed: bool) -> None:
    """What lists the pseudonyms, such as the dictionary of a Parquet file, is sorted by them and not by the names."""
    names = [f"{number:04}" for number in range(2000)]
    release = prepare(visits(names), policy_of(key if keyed else None))
    listed = release.tables["table"].columns["person"].values.to_pylist()
    assert listed == sorted(listed)
    found = named(release.table, names)
    place = {pseudonym: number for number, pseudonym in enumerate(listed)}
    places = np.array([place[found[name]] for name in names])
    assert sorted(places.tolist()) == list(range(2000))
    assert abs(np.corrcoef(places, np.arange(2000))[0, 1]) < 5 / np.sqrt(2000)


@FORMATS
def test_who_is_suppressed_has_no_pseudonym_in_any_file(saves: Saves, key: Path, kind: str) -> None:
    """Whoever has the key cannot find in a release that a person was in the table and was not published."""
    table = pa.table({"person": [*NAMES, "GONE"], "zip": ["4350"] * 20 + ["99"], "illness": ["flu"] * 21})
    algorithm = {"name": "optimal", "suppression": 0.1}
    folder = saves(table, policy_of(key, algorithm=algorithm, publish={"format": kind}))
    secret, found = key.read_bytes().strip(), dict(bytes_of(folder))
    shown = [name for name in found if hmac_by_hand(secret, NAMES[0]).encode() in found[name]]
    assert shown == [f"public/table.{kind}"]
    assert not [name for name in found if hmac_by_hand(secret, "GONE").encode() in found[name]]


def traces(secret: bytes) -> list[bytes]:
    """The key and what would give it away or confirm a guess of it, in the forms that a file may hold it."""
    raw = [secret, bytes.fromhex(secret.decode())]
    raw += [
        hashlib.new(name, form, usedforsecurity=False).digest() for name in HASHES for form in (*raw, raw[0] + b"\n")
    ]
    return [form for each in raw for form in (each, each.hex().encode(), base64.b64encode(each).rstrip(b"="))]


@pytest.mark.parametrize("form", ["generalized", "lossy-join", "anatomy"])
@FORMATS
def test_the_key_is_in_no_byte(runs: Runs, tmp_path: Path, key: Path, kind: str, form: str) -> None:
    """The key, its bytes and its hashes are in no file, no output and no warning; the audit keeps the file's name."""
    rows = "\n".join(f"id{row % 20},{4350 + row % 2},i{row % 5}" for row in range(40))
    (tmp_path / "t.csv").write_text(f"person,zip,illness\n{rows}\n")
    diversity = 'model = "distinct-l-diversity"\ncolumn = "illness"\nl = 2\n'
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nperson = { role = "individual", key = "apart/person.key" }\n'
        'zip = { role = "quasi", hierarchy = "suppress" }\nillness = { role = "sensitive" }\n'
        f'[[privacy]]\n{diversity}[publish]\nform = "{form}"\nformat = "{kind}"\n'
        + ("" if form == "anatomy" else '[algorithm]\nname = "optimal"\n')
    )
    key.chmod(0o644)
    outcome = runs("anonymize", "p.toml", "--out", "release", "--json")
    assert outcome.code == 0, outcome.err
    found = {**dict(bytes_of(tmp_path / "release")), "out": outcome.out.encode(), "err": outcome.err.encode()}
    assert len(found) == 8
    secret = key.read_bytes().strip()
    assert [(name, trace) for name, content in found.items() for trace in traces(secret) if trace in content] == []
    audit = json.loads((tmp_path / "release" / "private" / "audit.json").read_text())
    assert audit["policy"]["columns"]["person"]["key"] == "apart/person.key"
    assert b"person.key" not in b"".join(content for name, content in found.items() if name.startswith("public"))


def test_the_key_is_in_no_value(key: Path) -> None:
    """Neither the policy nor the key as a value shows what is in the file, and the key cannot be stored as one."""
    policy, secret = load(policy_of(key)), key.read_text().strip()
    found = read_key(policy, None)
    assert isinstance(found, PseudonymKey)
    assert secret not in repr(policy) + repr(found) + str(found) + repr(policy.document)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(found)


def test_the_key_is_in_no_traceback(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A traceback with all local variables, as some tools store it, does not show the key."""

    def broken(*_: Any) -> None:
        raise RuntimeError("a search that fails")

    monkeypatch.setattr(releases, "_recode", broken)
    with pytest.raises(RuntimeError, match="a search that fails") as caught:
        prepare(visits(NAMES), policy_of(key))
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "Key(…)" in told
    assert key.read_text().strip() not in told


def test_a_refused_key_is_in_no_traceback(tmp_path: Path) -> None:
    """What is in a file that is refused as a key is in no message and in no local variable of the traceback."""
    (tmp_path / "short.key").write_text("CANARY hunter2")
    with pytest.raises(PolicyError) as caught:
        sf.anonymize(visits(NAMES), policy_of(tmp_path / "short.key"))
    told = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "short.key" in told
    assert "CANARY" not in told


def never(*_: Any) -> None:
    """What must not be reached."""
    raise AssertionError("too late")


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "there is no file .*person.key; check the path, or make a key with .*openssl rand"),
    "under a file": (lambda path: _write(path.parent, b""), "there is no file .*; check the path"),
    "empty": (lambda path: _write(path, b""), "has fewer than 32 bytes; make another with .*openssl rand -hex 32"),
    "short": (lambda path: _write(path, b"0123456789abcdef0123456789abcde"), "has fewer than 32 bytes; make another"),
    "blank": (lambda path: _write(path, b" " * 100 + b"\n"), "has fewer than 32 bytes"),
    "padded": (lambda path: _write(path, b"0123456789abcdef" + b"\n" * 40), "has fewer than 32 bytes"),
    "repeated": (
        lambda path: _write(path, b"0123456" * 20),
        "is not random, since it has fewer than 8 different bytes",
    ),
    "zeros": (lambda path: _write(path, bytes(64)), "is not random"),
    "large": (
        lambda path: _write(path, bytes(range(256)) * 17),
        "has more than 4,096 bytes, so it is no key; make one",
    ),
    "folder": (lambda path: path.mkdir(), "is a folder; name a file that holds the key"),
    "loop": (lambda path: path.symlink_to(path), "cannot be read: .*; name another"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_files_that_are_no_key_are_refused(runs: Runs, tmp_path: Path, fault: str) -> None:
    """A bad key file is one sentence that names the policy's key and the way out, and nothing is left on disk."""
    make, words = REFUSED[fault]
    path = tmp_path / "apart" / "person.key"
    if fault != "under a file":
        path.parent.mkdir()
    make(path)
    _table_and_policy(tmp_path, "apart/person.key")
    before = sorted(tmp_path.rglob("*"))
    outcome = runs("anonymize", "p.toml", "--out", "new/release")
    assert outcome.code == 2
    assert outcome.sentence.startswith("columns.person.key: ")
    with pytest.raises(PolicyError, match=words) as caught:
        sf.anonymize(None, tmp_path / "p.toml")
    assert caught.value.key == "columns.person.key"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_key_files_that_cannot_be_read(key: Path, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    """A key file that the system does not give out is one sentence."""

    def denied(*_: object, **__: object) -> int:
        raise error

    policy = load(policy_of(key))
    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(PolicyError, match=r"^columns\.person\.key: .*(may not be read; ask|Input/output error; name)"):
        prepare(visits(NAMES), policy)


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    """A name that the system cannot even look for is a sentence as well."""
    for name in ("x" * 300, "\ud800"):
        with pytest.raises(PolicyError, match=r"^columns\.person\.key: .* cannot be read: .*; name another$"):
            prepare(visits(NAMES), policy_of(tmp_path / name))


def test_a_bad_key_is_refused_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a search whose result cannot be published; not even the table is read."""
    for name in ("_recode", "_read", "encode"):
        monkeypatch.setattr(releases, name, never)
    with pytest.raises(PolicyError, match="there is no file"):
        prepare(visits(NAMES), policy_of(tmp_path / "missing.key"))


def test_the_key_is_neither_the_table_nor_the_policy(runs: Runs, tmp_path: Path) -> None:
    """What others know is no secret: the table, under another name too, and the policy itself are refused as keys."""
    _table_and_policy(tmp_path, "t.csv")
    words = "t.csv is the table itself; name a file that holds the key alone and is kept apart"
    assert runs("anonymize", "p.toml").sentence.endswith(words)
    (tmp_path / "other.key").hardlink_to(tmp_path / "t.csv")
    _table_and_policy(tmp_path, "other.key", source="none.csv")
    assert "other.key is the table itself" in runs("anonymize", "p.toml", "--data", "t.csv").sentence
    _table_and_policy(tmp_path, "p.toml")
    sentence = runs("anonymize", "p.toml").sentence
    assert sentence.startswith("p.toml, line 4: columns.person.key: p.toml is the policy itself; name a file")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("linked", [False, True])
def test_the_key_is_not_kept_in_the_release(
    runs: Runs, tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch, *, linked: bool
) -> None:
    """A key, or a link to one, in the folder that a release would replace is refused, and stays where it is."""
    _table_and_policy(tmp_path, "apart/person.key")
    assert runs("anonymize", "p.toml").code == 0
    inside = tmp_path / "release" / "private" / "person.key"
    inside.symlink_to(key) if linked else inside.write_bytes(key.read_bytes())
    _table_and_policy(tmp_path, "release/private/person.key")
    before = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as patched:
        patched.setattr(releases, "_recode", never)
        sentence = runs("anonymize", "p.toml", "--force").sentence
    assert sentence.startswith("columns.person.key: release/private/person.key lies in the folder of the release; keep")
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(PolicyError, match="lies in the folder of the release"):
        prepare(None, tmp_path / "p.toml").save(tmp_path / "release", force=True)
    assert runs("anonymize", "p.toml", "--out", "elsewhere").code == 0


def test_a_release_is_verified_where_the_key_is_not(runs: Runs, tmp_path: Path, key: Path) -> None:
    """Verifying against the policy, and the risk under it, need no key: it is not even looked for."""
    _table_and_policy(tmp_path, "apart/person.key")
    assert runs("anonymize", "p.toml").code == 0
    key.unlink()
    assert json.loads(runs("verify", "release", "--policy", "p.toml", "--json").out)["satisfied"] is True
    assert runs("risk", "t.csv", "--policy", "p.toml", "--json").code == 0
    assert "there is no file" in runs("anonymize", "p.toml", "--out", "again").sentence


def test_others_who_may_read_the_key_are_warned_of(key: Path) -> None:
    """A key that others on the machine may read is told of, with its mode and the way out; one's own is not."""
    policy = load(policy_of(key))
    assert list(key_warnings(policy)) == []
    for mode in (0o640, 0o604, 0o620):
        key.chmod(mode)
        [sentence] = key_warnings(policy)
        assert sentence.startswith(f"others on this machine may use the key file {key.name} (mode {mode:o})")
        assert sentence.endswith("chmod 600")
        assert prepare(visits(NAMES), policy).warnings.count(sentence) == 1
    key.unlink()
    assert list(key_warnings(policy)) == list(key_warnings(load(policy_of()))) == []


@pytest.mark.parametrize("keyed", [False, True])
@FORMATS
def test_further_identifiers_are_dropped(saves: Saves, key: Path, kind: str, *, keyed: bool) -> None:
    """Beside persons, identifying columns leave no value in any file, nor a name or a statistic in Parquet's own."""
    table = visits([f"CANARYperson{number}" for number in range(20)])
    for name in ("ssn", "mail"):
        table = table.append_column(name, pa.array([f"CANARY{name}{row}" for row in range(40)]))
    table = table.replace_schema_metadata({"origin": "CANARYschema"})
    policy = policy_of(key if keyed else None, publish={"format": kind})
    policy["columns"] |= {"ssn": {"role": "identifier"}, "mail": {"role": "identifier"}}
    folder = saves(table, policy)
    assert [name for name, content in bytes_of(folder) if b"CANARY" in content] == []
    if kind == "parquet":
        written = pq.ParquetFile(folder / "public" / "table.parquet")
        assert written.schema_arrow.names == ["person", "zip", "illness"]
        shown = written.read()["person"].to_pylist()
        assert sorted(Counter(shown).values()) == [2] * 20


def _table_and_policy(folder: Path, key: str, source: str = "t.csv") -> None:
    """A table of forty rows of twenty persons, and a policy that names this key, on its line 4."""
    rows = "\n".join(f"id{row % 20},{4350 + row % 2},i{row % 5}" for row in range(40))
    (folder / "t.csv").write_text(f"person,zip,illness\n{rows}\n")
    (folder / "p.toml").write_text(
        f'[data]\nsource = "{source}"\n[columns]\nperson = {{ role = "individual", key = "{key}" }}\n'
        'zip = { role = "quasi", hierarchy = "suppress" }\nillness = { role = "sensitive" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n[algorithm]\nname = "optimal"\n'
    )


def _entry(folder: Path) -> dict[str, Any]:
    """What the manifest says of the individual column."""
    columns = json.loads((folder / "public" / "manifest.json").read_text())["columns"]
    found: dict[str, Any] = next(column for column in columns if column["name"] == "person")
    return found
