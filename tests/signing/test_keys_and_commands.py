"""Keys on disk, and the three commands: what they print, what they refuse in one sentence, and what they leave."""

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, NotVerified, OutputError, PolicyError, SfumatoError
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.ledger.entries import read_entries
from sfumato.ledger.event_chain import Event
from sfumato.policy import load
from sfumato.publish.signing_key import SigningKey, read_signing_key
from sfumato.release import folder as folders
from sfumato.release import key_folder, prepare
from sfumato.release.key_folder import KeyFolder, write_key_folder
from sfumato.verifier import TrustedKey

Runs = Callable[..., Any]
Signed = Callable[..., Path]

PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
INFO, PLAIN = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.NoEncryption()
OTHERS: dict[str, Callable[[], Any]] = {
    "RSA": lambda: rsa.generate_private_key(65537, 2048),
    "ECDSA": lambda: ec.generate_private_key(ec.SECP256R1()),
    "Ed448": ed448.Ed448PrivateKey.generate,
    "X25519": x25519.X25519PrivateKey.generate,
}


def left(folder: Path) -> list[str]:
    """Every file and folder below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def pair_here(tmp_path: Path) -> KeyFolder:
    """A pair of keys in the folder where commands run."""
    return write_key_folder(tmp_path / "keys")


# Making keys


def test_keys_are_for_their_owner(runs: Runs, tmp_path: Path) -> None:
    """The private key can be read by nobody else, and the fingerprint that is printed is that of the public one."""
    printed = json.loads(runs("keys", "--out", "a/keys", "--json").out)
    assert printed.keys() == {"private", "public", "fingerprint", "encrypted"}
    assert left(tmp_path) == ["a", "a/keys", "a/keys/private.pem", "a/keys/public.pem"]
    modes = [(tmp_path / "a" / name).stat().st_mode & 0o777 for name in ("keys", "keys/private.pem", "keys/public.pem")]
    assert modes[:2] == [0o700, 0o600]
    assert modes[2] & 0o400
    assert TrustedKey.read(Path(printed["public"])).fingerprint == printed["fingerprint"]
    assert b"PRIVATE" not in Path(printed["public"]).read_bytes()


def test_keys_are_told_in_words(runs: Runs) -> None:
    """Which to keep, which to give away, and the fingerprint to compare."""
    told = runs("keys", "--out", "keys").out
    assert "keep         keys/private.pem (not encrypted): whoever has it signs in your name" in told
    assert "give away    keys/public.pem" in told
    assert TrustedKey.read(Path("keys/public.pem")).fingerprint in told


def test_every_pair_is_another(tmp_path: Path) -> None:
    """Keys are fresh each time."""
    assert len({write_key_folder(tmp_path / str(number)).fingerprint for number in range(20)}) == 20


@pytest.mark.parametrize("what", ["keys", "file", "folder", "link"])
def test_no_key_is_replaced(runs: Runs, tmp_path: Path, what: str) -> None:
    """Where there is something already, nothing is written, and what is there stays as it is."""
    target = tmp_path / "keys"
    match what:
        case "keys":
            write_key_folder(target)
        case "file":
            target.write_text("precious")
        case "folder":
            target.mkdir()
            (target / "notes.txt").write_text("precious")
        case "link":
            target.symlink_to(tmp_path / "nowhere")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = runs("keys", "--out", "keys")
    assert (done.code, done.sentence) == (2, "keys exists already, and a key is never replaced; choose another --out")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_empty_folder_is_taken(runs: Runs, tmp_path: Path) -> None:
    """Somebody may have made it for the keys."""
    (tmp_path / "keys").mkdir()
    assert runs("keys", "--out", "keys").code == 0
    assert left(tmp_path / "keys") == ["private.pem", "public.pem"]


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("fails", [1, 2])
def test_a_failed_write_leaves_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int, *, empty: bool
) -> None:
    """Whichever of the two files cannot be written, nothing is left but the empty folder that was there before."""
    if empty:
        (tmp_path / "keys").mkdir()
    before, calls, original = left(tmp_path), [], key_folder._write_new

    def fail(*arguments: Any) -> None:
        calls.append(arguments)
        original(*arguments)
        if len(calls) == fails:
            raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(key_folder, "_write_new", fail)
    with pytest.raises(OutputError, match="there is no space left on its disk"):
        write_key_folder(tmp_path / "keys")
    assert left(tmp_path) == before


def test_a_disk_that_does_not_confirm_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that are there although their disk did not confirm it are told of, with what to look after."""
    original = folders.flush_to_disk

    def fail(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        original(path)

    monkeypatch.setattr(folders, "flush_to_disk", fail)
    (mishap,) = write_key_folder(tmp_path / "keys").mishaps
    assert mishap.startswith("the keys are there, but its disk does not confirm that it keeps it")
    assert left(tmp_path) == ["keys", "keys/private.pem", "keys/public.pem"]


def test_a_place_that_cannot_be_written(runs: Runs, tmp_path: Path) -> None:
    """A file in the way, and no --out at all: a sentence each."""
    (tmp_path / "file").write_text("x")
    assert "a part of its path is a file" in runs("keys", "--out", "file/keys").sentence
    assert "--out" in runs("keys").sentence
    assert left(tmp_path) == ["file"]


KILLED = """
import json, os, shutil, sys, time
from pathlib import Path
from sfumato.release import key_folder

target, found, original = Path(sys.argv[1]), [], key_folder._write_new
key_folder.SigningKey.generate()  # so that all is imported before the first fork

def slowly(*arguments):
    time.sleep(0.003)
    original(*arguments)
    time.sleep(0.003)

def hidden():
    return [path.name for path in target.parent.iterdir() if path != target]

key_folder._write_new = slowly
for number in range(60):
    before, begun, process = hidden(), time.monotonic(), os.fork()
    if process == 0:
        key_folder.write_key_folder(target)
        time.sleep(60)
    while number % 4 and hidden() == before and not target.exists() and time.monotonic() < begun + 20:
        time.sleep(0.0005)  # whatever the machine's pace, most kills come after it began to write
    time.sleep(number * 0.0005)
    os.kill(process, 9)
    os.waitpid(process, 0)
    found.append([sorted(path.name for path in target.iterdir()) if target.exists() else [], hidden()])
    shutil.rmtree(target, ignore_errors=True)
print(json.dumps(found))
"""
"""Makes keys in forked children, and kills each at a later moment than the one before."""


@pytest.mark.slow
def test_a_kill_leaves_a_whole_pair_or_none(tmp_path: Path) -> None:
    """Killed at sixty moments, keys are there whole or not at all, and the next run clears what was hidden."""
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "keys"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) == 60
    assert [names for names, _ in found if names not in ([], ["private.pem", "public.pem"])] == []
    assert any(hidden for _, hidden in found), "no kill came while something was being written"
    assert any(names for names, _ in found), "no kill came after the keys had appeared"
    assert all(len(hidden) <= 1 for _, hidden in found), "what one run leaves, the next one clears"
    write_key_folder(tmp_path / "keys")
    assert left(tmp_path) == ["keys", "keys/private.pem", "keys/public.pem"]


# Private keys


def test_an_encrypted_key_signs_with_its_passphrase(
    runs: Runs, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A passphrase in the environment encrypts the key and opens it again; without it, or with another, a sentence."""
    monkeypatch.setenv("SFUMATO_KEY_PASSPHRASE", "Zürich 8000")
    assert "(encrypted under SFUMATO_KEY_PASSPHRASE)" in runs("keys", "--out", "keys").out
    assert b"ENCRYPTED" in (tmp_path / "keys" / "private.pem").read_bytes()
    sign = ("anonymize", job, "--sign", "keys/private.pem", "--out")
    assert runs(*sign, "release").code == 0
    assert runs("verify", "release", "--signed-by", "keys/public.pem").code == 0
    monkeypatch.setenv("SFUMATO_KEY_PASSPHRASE", "Genf 1200")
    wrong = runs(*sign, "other")
    assert wrong.sentence.startswith("the passphrase in SFUMATO_KEY_PASSPHRASE does not open the key keys/private.pem;")
    assert "Genf" not in wrong.err
    for unset in ("", None):
        monkeypatch.delenv("SFUMATO_KEY_PASSPHRASE") if unset is None else monkeypatch.setenv(
            "SFUMATO_KEY_PASSPHRASE", unset
        )
        lacking = runs(*sign, "other")
        assert (lacking.code, "is encrypted; put its passphrase into" in lacking.sentence) == (2, True)
    assert not (tmp_path / "other").exists()


def test_a_key_without_a_passphrase_does_not_mind_one(pair_here: KeyFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable may be set for another key."""
    monkeypatch.setenv("SFUMATO_KEY_PASSPHRASE", "unneeded")
    assert read_signing_key(pair_here.private).fingerprint == pair_here.fingerprint


def test_a_passphrase_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files can be encrypted with a thousand characters and not with more; nothing is written."""
    monkeypatch.setenv("SFUMATO_KEY_PASSPHRASE", "x" * 5000)
    with pytest.raises(InputError, match="SFUMATO_KEY_PASSPHRASE is too long"):
        write_key_folder(tmp_path / "keys")
    assert left(tmp_path) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o602])
def test_a_key_that_others_may_use_is_refused(
    tmp_path: Path, pair_here: KeyFolder, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Whoever can read it can sign in its owner's name; an encrypted one tells them nothing."""
    pair_here.private.chmod(mode)
    with pytest.raises(InputError, match=rf"\(mode {mode:o}\), and sign in your name; .* chmod 600"):
        read_signing_key(pair_here.private)
    monkeypatch.setenv("SFUMATO_KEY_PASSPHRASE", "secret")
    locked = write_key_folder(tmp_path / "locked")
    locked.private.chmod(mode)
    assert read_signing_key(locked.private).fingerprint == locked.fingerprint


def test_a_key_is_not_printed_or_pickled(pair_here: KeyFolder) -> None:
    """Neither a log nor another process gets to see it."""
    key = read_signing_key(pair_here.private)
    assert repr(key) == str(key) == "SigningKey(…)"
    with pytest.raises(TypeError, match="stays in memory"):
        pickle.dumps(key)


def test_no_byte_of_the_private_key_is_written(tmp_path: Path, pair_here: KeyFolder, job: Path) -> None:
    """Nothing in the release holds the secret: not as bytes, hexadecimal, Base64 or PEM."""
    loaded: Any = serialization.load_pem_private_key(pair_here.private.read_bytes(), None)
    secret: bytes = loaded.private_bytes_raw()
    folder = prepare(None, load(job)).save(tmp_path / "release", sign=pair_here.private)
    body = pair_here.private.read_bytes().splitlines()[1]
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not [form for form in (secret, secret.hex().encode(), body, body[20:50]) if form in content], path


# Signing


def test_the_three_commands(runs: Runs, job: Path, tmp_path: Path) -> None:
    """Make keys, sign, verify: in words and as JSON, with the fingerprint in each."""
    fingerprint = json.loads(runs("keys", "--out", "keys", "--json").out)["fingerprint"]
    made = runs("anonymize", job, "--sign", "keys/private.pem", "--json")
    assert json.loads(made.out)["signed_by"] == fingerprint
    assert f"signed by {fingerprint}\n" in runs("anonymize", job, "--sign", "keys/private.pem", "--out", "two").out
    unchecked = json.loads(runs("verify", "release", "--json").out)
    assert unchecked["satisfied"]
    assert (unchecked["signed_by"], unchecked["signature"]) == (None, {"fingerprint": fingerprint, "trusted": False})
    checked = json.loads(runs("verify", "release", "--signed-by", "keys/public.pem", "--json").out)
    assert (checked["signed_by"], checked["signature"]["trusted"], checked["satisfied"]) == (fingerprint, True, True)
    told = runs("verify", "release").out
    assert f"signed by the key {fingerprint}, which was not held against a key that you trust; --signed-by" in told
    assert (
        f"signed by the key {fingerprint}, as asked"
        in runs("verify", "release/public", "--signed-by", "keys/public.pem").out
    )
    manifest = json.loads((tmp_path / "release" / "public" / "manifest.json").read_text())
    assert manifest["signed_by"] == fingerprint
    audit = json.loads((tmp_path / "release" / "private" / "audit.json").read_text())
    assert audit["policy"]["publish"]["sign"] == "keys/private.pem"


@pytest.mark.slow
def test_an_unsigned_release_is_as_it_was(runs: Runs, job: Path, tmp_path: Path) -> None:
    """Without a key there is no signature, no key of JSON, and nothing of cryptography is loaded."""
    made = json.loads(runs("anonymize", job, "--json").out)
    assert "signed_by" not in made
    assert left(tmp_path / "release" / "public") == ["manifest.json", "summary.html", "table.csv"]
    verdict = json.loads(runs("verify", "release", "--json").out)
    assert verdict.keys() == {"satisfied", "rows", "classes", "privacy", "problems"}
    script = (
        "import sys, sfumato as sf\nfrom sfumato.release import prepare\n"
        "prepare(None, 'policy.toml').save('third')\nassert sf.verify('third').satisfied\n"
        "print([name for name in sys.modules if name.startswith('cryptography')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"


def test_the_policy_names_a_key(runs: Runs, job: Path, tmp_path: Path, stranger: KeyFolder) -> None:
    """Its path starts at the policy, wherever the command runs; --sign wins, and starts where the command runs."""
    (tmp_path / "office").mkdir()
    pair = write_key_folder(tmp_path / "office" / "keys")
    policy = tmp_path / "office" / "policy.toml"
    policy.write_text(job.read_text() + '[publish]\nsign = "keys/private.pem"\n')
    shutil.copy(tmp_path / "visits.csv", tmp_path / "office")
    assert json.loads(runs("anonymize", policy, "--json").out)["signed_by"] == pair.fingerprint
    given = runs("anonymize", policy, "--out", "other", "--sign", stranger.private, "--json")
    assert json.loads(given.out)["signed_by"] == stranger.fingerprint
    assert runs("verify", "release", "--policy", policy, "--signed-by", pair.public).code == 0
    release = prepare(None, policy)
    assert release.signed_by is None
    release.save(tmp_path / "third")
    assert release.signed_by == pair.fingerprint


def test_a_policy_that_is_written_elsewhere_finds_its_key(job: Path, tmp_path: Path, runs: Runs) -> None:
    """`compare --write` moves the path of the key with the other paths."""
    write_key_folder(tmp_path / "keys")
    job.write_text(job.read_text() + '[publish]\nsign = "keys/private.pem"\n')
    (tmp_path / "sub").mkdir()
    done = runs("compare", job, "--algorithms", "optimal", "--write", "sub/chosen.toml", "--choose", "1")
    assert done.code == 0, done.err
    assert load(tmp_path / "sub" / "chosen.toml").publish.sign == tmp_path / "sub" / "../keys/private.pem"


@pytest.mark.parametrize("sign", ["", 5, ["k"], True])
def test_a_path_is_a_text(sign: Any, job: Path, tmp_path: Path) -> None:
    """What cannot be a path is refused when the policy is loaded."""
    import tomllib

    tables = tomllib.loads(job.read_text()) | {"publish": {"sign": sign}}
    with pytest.raises(PolicyError, match=r"publish\.sign: must be "):
        load(tables)


@pytest.mark.slow
@pytest.mark.parametrize("kind", OTHERS)
def test_a_key_of_another_algorithm_is_refused(
    runs: Runs, job: Path, tmp_path: Path, signed: Signed, kind: str
) -> None:
    """Neither signs with it nor takes it as the reader's key: releases are signed with Ed25519."""
    key = OTHERS[kind]()
    (tmp_path / "private.pem").write_bytes(key.private_bytes(PEM, PKCS8, PLAIN))
    (tmp_path / "private.pem").chmod(0o600)
    (tmp_path / "public.pem").write_bytes(key.public_key().public_bytes(PEM, INFO))
    done = runs("anonymize", job, "--sign", "private.pem", "--out", "other")
    assert (done.code, done.sentence[:38]) == (2, "the key private.pem is not of Ed25519;")
    done = runs("verify", signed(), "--signed-by", "public.pem")
    assert (done.code, done.sentence[:37]) == (2, "the key public.pem is not of Ed25519,")
    assert not (tmp_path / "other").exists()


BAD_KEYS: dict[str, tuple[str, str]] = {
    "public": ("is a public key; sign with the private one", ""),
    "private": ("", "is a private key; give the public one of the pair"),
    "missing": ("does not exist", "there is no key"),
    "folder": ("is a folder", "is not a regular file"),
    "pipe": ("is a pipe and not a regular file", "is not a regular file"),
    "large": ("which no key has", "so it is no public key"),
    "empty": ("holds no private key in PEM", "holds no public key in PEM"),
    "binary": ("holds no private key in PEM", "holds no public key in PEM"),
    "cut": ("is a public key", "holds no public key in PEM"),
    "ssh": ("holds no private key in PEM", "holds no public key in PEM"),
    "below a file": ("does not exist", "cannot be read: Not a directory"),
}


@pytest.mark.parametrize("what", BAD_KEYS)
def test_a_bad_key_file_is_one_sentence(
    runs: Runs, job: Path, tmp_path: Path, signed: Signed, pair: KeyFolder, what: str
) -> None:
    """Whatever is named as a key: one sentence, exit code 2, and nothing is left on disk."""
    folder = signed()
    path = tmp_path / "key"
    contents = {
        "public": pair.public.read_bytes(),
        "private": pair.private.read_bytes(),
        "large": b"x" * 20_000,
        "empty": b"",
        "binary": bytes(range(256)),
        "cut": pair.public.read_bytes()[:60],
        "ssh": b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me",
    }
    if what in contents:
        path.write_bytes(contents[what])
        path.chmod(0o600)
    elif what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "below a file":
        path.write_text("x")
        path /= "key"
    before, (signing, reading) = left(tmp_path), BAD_KEYS[what]
    if signing:
        done = runs("anonymize", job, "--sign", path, "--out", "other")
        assert (done.code, signing in done.sentence) == (2, True), done.err
    if reading:
        done = runs("verify", folder, "--signed-by", path)
        assert (done.code, reading in done.sentence) == (2, True), done.err
    assert left(tmp_path) == before


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_bytes_as_a_key_end_in_a_sentence(pair: KeyFolder, tmp_path: Path, data: Any) -> None:
    """Keys that were cut, doubled or changed anywhere are read or refused; no other error comes out."""
    for original, read in ((pair.private, read_signing_key), (pair.public, TrustedKey.read)):
        content = bytearray(original.read_bytes())
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
        path = tmp_path / "key"
        path.write_bytes(content)
        path.chmod(0o600)
        try:
            assert len(read(path).fingerprint) == 64
        except SfumatoError as error:
            assert "\n" not in str(error)  # noqa: PT017 - whether it is raised depends on the bytes


def test_a_key_among_what_is_published_is_refused(runs: Runs, job: Path, tmp_path: Path, pair_here: KeyFolder) -> None:
    """In the folder of the release, behind a link there, as the table, or as the key of pseudonyms: refused first."""
    runs("anonymize", job)
    inside = tmp_path / "release" / "private" / "private.pem"
    shutil.copy(pair_here.private, inside)
    linked = tmp_path / "linked.pem"
    linked.symlink_to(inside)
    for key in (inside, linked):
        done = runs("anonymize", job, "--sign", key, "--force")
        assert (done.code, "lies in the folder of the release; move it elsewhere" in done.sentence) == (2, True)
    assert inside.exists()
    done = runs("anonymize", job, "--sign", pair_here.private, "--data", "keys/private.pem", "--out", "other")
    assert done.sentence.endswith("is the table itself; name the file of the key alone")
    job.write_text(job.read_text().replace("[[", 'who = { role = "individual", key = "keys/private.pem" }\n[[', 1))
    done = runs("anonymize", job, "--sign", pair_here.private, "--out", "other")
    assert "keys/private.pem is the key that releases are signed with" in done.sentence
    assert not (tmp_path / "other").exists()


def test_python_refuses_the_same(job: Path, tmp_path: Path, pair_here: KeyFolder) -> None:
    """`save` looks where the key is before it writes anything."""
    release = prepare(None, load(job))
    with pytest.raises(InputError, match="lies in the folder of the release"):
        release.save(tmp_path, sign=pair_here.private, force=True)
    with pytest.raises(InputError, match="does not exist"):
        release.save(tmp_path / "release", sign=tmp_path / "nothing")
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("how", ["other bytes", "cut", "no space"])
def test_a_signature_that_does_not_hold_is_not_published(
    job: Path, tmp_path: Path, pair_here: KeyFolder, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The verifier holds the written signature against the public key before the folder appears."""
    release, original, before = prepare(None, load(job)), SigningKey.sign, left(tmp_path)

    def wrong(key: SigningKey, manifest: bytes) -> bytes:
        if how == "no space":
            raise OSError(errno.ENOSPC, "no space")
        return original(key, manifest + b" ") if how == "other bytes" else original(key, manifest)[:-1]

    monkeypatch.setattr(SigningKey, "sign", wrong)
    with pytest.raises(OutputError if how == "no space" else NotVerified):
        release.save(tmp_path / "release", sign=pair_here.private)
    assert left(tmp_path) == before
    monkeypatch.undo()
    assert sf.verify(release.save(tmp_path / "release", sign=pair_here.private), signed_by=pair_here.public).satisfied


def test_force_replaces_a_signed_release(runs: Runs, job: Path, tmp_path: Path, pair_here: KeyFolder) -> None:
    """A signed release is a release like others: it is exchanged for one that is signed, or is not."""
    for sign in (["--sign", "keys/private.pem"], ["--sign", "keys/private.pem"], []):
        assert runs("anonymize", job, "--force", *sign).code == 0
        assert (tmp_path / "release" / "public" / "manifest.json.sig").exists() is bool(sign)
        assert runs("verify", "release", "--signed-by", "keys/public.pem").code == (0 if sign else 1)


# The ledger


def test_a_ledger_keeps_the_signature(runs: Runs, job: Path, tmp_path: Path, pair_here: KeyFolder) -> None:
    """The copy of a signed release holds under the key, however it was recorded, and a tampered one does not."""
    for number, ledger in enumerate(("one", "two")):
        runs("ledger", "init", ledger)
        sign = ["anonymize", job, "--out", f"release{number}", "--sign", "keys/private.pem"]
        made = runs(*sign, *(["--ledger", ledger] if ledger == "one" else []))
        assert made.code == 0, made.err
        if ledger == "two":
            assert runs("ledger", "add", ledger, f"release{number}").code == 0
        (entry,) = Ledger.open(ledger).entries()
        assert sorted(entry.signed_files) == ["manifest.json.sig", "summary.html"]
        assert sf.verify(entry.folder, signed_by=pair_here.public).signed_by == pair_here.fingerprint
        assert runs("ledger", "check", ledger).code == 0
        for name in entry.signed_files:
            path = entry.folder / "public" / name
            content = path.read_bytes()
            path.write_bytes(content + b" ")
            assert f"{name} was changed after it was recorded" in " ".join(Ledger.open(ledger).check().problems)
            path.unlink()
            assert f"{name} is missing" in " ".join(Ledger.open(ledger).check().problems)
            path.write_bytes(content)


@pytest.mark.slow
def test_a_second_release_of_a_ledger_is_signed_with_the_key_of_the_command(
    runs: Runs, job: Path, tmp_path: Path, pair_here: KeyFolder
) -> None:
    """Where earlier promises change the policy, the key that the command names is still the one that signs."""
    (tmp_path / "office").mkdir()
    for name in ("policy.toml", "visits.csv"):
        shutil.copy(tmp_path / name, tmp_path / "office")
    runs("ledger", "init", "ledger")
    for name in ("spring", "autumn"):
        options = ["--ledger", "ledger", "--out", name, "--sign", "keys/private.pem"]
        made = runs("anonymize", "office/policy.toml", *options)
        assert made.code == 0, made.err
        assert runs("verify", name, "--signed-by", "keys/public.pem").code == 0
    rules = load("office/policy.toml").replace(
        sign="keys/private.pem"
    )  # by Python, where nothing but the policy says so
    recorded = make_recorded_release(Ledger.open("ledger"), rules, population=None, name="winter")
    recorded.save(tmp_path / "winter")
    assert recorded.release.signed_by == pair_here.fingerprint
    assert runs("ledger", "check", "ledger").code == 0


def test_a_ledger_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Events from before releases were signed say nothing of a signature, and their entries have none."""
    body = {"event": "recorded", "number": 1, "time": "2026-01-01", "name": "spring", "population": "default"}
    body |= {"manifest_sha256": "0" * 64, "tables": {"table.csv": "1" * 64}, "account_sha256": None, "rows": 4}
    old = Event(1, body | {"promise": [], "policy": None, "previous": {}}, "")
    assert read_entries([old], tmp_path)[1].signed_files == {}
    for wrong in (["manifest.json.sig"], {"../key": "1" * 64}, "manifest.json.sig"):
        with pytest.raises(InputError, match="says nothing that this version knows"):
            read_entries([Event(1, {**old.body, "signed_files": wrong}, "")], tmp_path)


def test_a_release_whose_signature_does_not_fit_is_not_recorded(
    runs: Runs, signed: Signed, tmp_path: Path, pair: KeyFolder
) -> None:
    """A ledger takes only what holds, and a signature that is of another manifest does not."""
    folder, another = signed(), signed("generalized", "parquet", "another")
    shutil.copy(another / "public" / "manifest.json.sig", folder / "public")
    runs("ledger", "init", "ledger")
    done = runs("ledger", "add", "ledger", folder)
    assert (done.code, "manifest.json.sig is not a signature of manifest.json as it is" in done.sentence) == (1, True)
