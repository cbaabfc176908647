"""TRUST 1, for a reader who has the publisher's key: whatever is changed in a signed release, it is refused."""

import copy
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import NotVerified
from sfumato.publish.signing_key import read_signing_key
from sfumato.release.key_folder import KeyFolder

Signed = Callable[..., Path]

KINDS = [("generalized", "csv"), ("generalized", "parquet"), ("lossy-join", "csv"), ("anatomy", "parquet")]
FORMS = pytest.mark.parametrize(("form", "kind"), KINDS)


def holds(folder: Path, key: Path | None) -> bool:
    """Whether a reader with this key would take the release; anything but a sentence is a bug."""
    try:
        return sf.verify(folder, signed_by=key).satisfied
    except NotVerified:
        return False


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every leaf of a JSON value, and to every list and table in it."""
    if path:
        yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(part, (*path, key))


def changed(value: Any, path: tuple[Any, ...], how: Callable[[Any], Any] | None) -> Any:
    """A copy with the value at a path changed, or left out."""
    value = copy.deepcopy(value)
    part = value
    for key in path[:-1]:
        part = part[key]
    if how is None:
        del part[path[-1]]
    else:
        part[path[-1]] = how(part[path[-1]])
    return value


def other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value} "
        case list():
            return [*value, *value[:1]]
        case dict():
            return {**value, "more": 1}
    return "something"


def write_json(path: Path, content: Any) -> None:
    """Write JSON as the manifest is written."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@FORMS
def test_an_untouched_release_holds(signed: Signed, pair: KeyFolder, form: str, kind: str) -> None:
    """The folder and its public part hold under the key of the pair, and the verdict says whose it is."""
    folder = signed(form, kind, whole=True)
    for part in (folder, folder / "public"):
        verdict = sf.verify(part, signed_by=pair.public)
        assert verdict.complaints == ()
        assert verdict.signed_by == pair.fingerprint


@FORMS
def test_the_manifest_has_the_hash_of_every_other_public_file(signed: Signed, form: str, kind: str) -> None:
    """What is signed covers all that may leave the house: tables, page, and nothing is without a hash."""
    public = signed(form, kind) / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    stated = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    stated[manifest["summary"]["file"]] = manifest["summary"]["sha256"]
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in public.iterdir()}
    assert there.keys() - stated.keys() == {"manifest.json", "manifest.json.sig"}
    assert stated == {name: there[name] for name in stated}


@pytest.mark.slow
@FORMS
def test_no_field_of_the_manifest_can_be_changed(signed: Signed, pair: KeyFolder, form: str, kind: str) -> None:
    """Every leaf, list and table of the JSON, changed, emptied or left out: refused, each of them."""
    public = signed(form, kind) / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    ways: list[Callable[[Any], Any] | None] = [other, lambda _: None, None]
    taken = []
    for path in leaves(manifest):
        for how in ways:
            write_json(public / "manifest.json", changed(manifest, path, how))
            if holds(public, pair.public):
                taken.append(path)
    assert taken == []
    write_json(public / "manifest.json", manifest)
    assert holds(public, pair.public), "written as it was, it holds: it was the change that was refused"


def test_what_breaks_no_promise_is_refused_all_the_same(signed: Signed, pair: KeyFolder) -> None:
    """Changes that pass without a key, because a manifest is what it says of itself, do not pass with one."""
    public = signed() / "public"
    content = (public / "manifest.json").read_bytes()
    manifest = json.loads(content)
    del manifest["signed_by"]  # somebody who takes the signature away, so that it does not stand in the way
    (public / "manifest.json.sig").unlink()
    page = "<p>All of this is anonymous.</p>"
    unseen: dict[str, Any] = {
        "protects": "Everybody, against everything.",
        "published": "1999-01-01",
        "sfumato": "9.9.9",
        "algorithm": "optimal",
        "title": "Something new",
        "columns": [entry | {"covers": {"Bern": ["Thun"]}} for entry in manifest["columns"]],
        "summary": {"file": "summary.html", "sha256": hashlib.sha256(page.encode()).hexdigest()},
    }
    for key, value in unseen.items():
        if key == "summary":
            (public / "summary.html").write_text(page)
        write_json(public / "manifest.json", manifest | {key: value})
        assert holds(public, None), f"{key} is found out even without a key"
        assert not holds(public, pair.public), key


@pytest.mark.slow
@FORMS
def test_no_file_can_be_changed_added_removed_or_renamed(
    signed: Signed, pair: KeyFolder, tmp_path: Path, form: str, kind: str
) -> None:
    """Each public file: a byte turned, cut, longer, emptied, gone, renamed, a folder or a link in its place."""
    names = sorted(path.name for path in (signed(form, kind) / "public").iterdir())
    assert len(names) == (4 if form == "generalized" else 5)

    def turn(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

    def link(path: Path) -> None:
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")

    def fold(path: Path) -> None:
        path.unlink()
        path.mkdir()

    ways: dict[str, Callable[[Path], object]] = {
        "turned": turn,
        "cut": lambda path: path.write_bytes(path.read_bytes()[:-1]),
        "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
        "empty": lambda path: path.write_bytes(b""),
        "gone": lambda path: path.unlink(),
        "renamed": lambda path: path.rename(path.with_name(f"{path.name}.old")),
        "doubled": lambda path: shutil.copy(path, path.with_name(f"{path.name}.old")),
        "link": link,
        "folder": fold,
    }
    for name in names:
        for way, tamper in ways.items():
            folder = signed(form, kind, f"{name}-{way}")
            tamper(folder / "public" / name)
            assert not holds(folder, pair.public), (name, way)


@pytest.mark.parametrize("name", ["raw.csv", ".hidden", "manifest.json.sig2", "public.pem"])
def test_no_file_can_be_added(signed: Signed, pair: KeyFolder, name: str) -> None:
    """Not even the publisher's public key: a reader has to have it from elsewhere."""
    folder = signed()
    shutil.copy(pair.public, folder / "public" / name)
    assert f"{name} does not belong to the release" in sf.verify(folder, signed_by=pair.public).complaints


@pytest.mark.slow
def test_no_byte_of_the_signature_can_be_changed(signed: Signed, pair: KeyFolder) -> None:
    """Each bit of each byte of the file, and each byte gone or doubled: there is one way of writing a signature."""
    path = signed() / "public" / "manifest.json.sig"
    content = path.read_bytes()
    taken = []
    for place in range(len(content)):
        before, byte, after = content[:place], content[place], content[place + 1 :]
        tampered = [before + bytes([byte ^ (1 << bit)]) + after for bit in range(8)]
        for new in (*tampered, before + after, before + bytes([byte, byte]) + after):
            path.write_bytes(new)
            if new != content and refused_at_once(path, pair):
                continue
            taken.append((place, new))
    assert taken == []
    path.write_bytes(content)
    assert holds(path.parent, pair.public)


def refused_at_once(path: Path, pair: KeyFolder) -> bool:
    """Whether a signature is refused, which needs no look at the tables."""
    from sfumato.verifier.manifest_signature import TrustedKey, require_signature

    try:
        require_signature(path.parent, (path.parent / "manifest.json").read_bytes(), TrustedKey.read(pair.public))
    except NotVerified:
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_hundreds_of_random_tamperings_are_refused(signed: Signed, pair: KeyFolder, seed: int) -> None:
    """Bytes turned, cut out, put in or moved anywhere in any public file of any form: not one release is taken."""
    draw = random.Random(seed)
    form, kind = [("generalized", "csv"), ("generalized", "parquet"), ("lossy-join", "csv"), ("anatomy", "parquet")][
        seed
    ]
    public = signed(form, kind) / "public"
    contents = {path: path.read_bytes() for path in sorted(public.iterdir())}
    taken = []
    for number in range(100):
        path = draw.choice(list(contents))
        content = contents[path]
        start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
        end = min(end, start + draw.choice([1, 4, 64, len(content)]))
        part = content[start:end]
        new = draw.choice(
            [
                b"",
                part[::-1],
                draw.randbytes(len(part)),
                part * 2,
                part + draw.randbytes(3),
                part.swapcase(),
                b" " + part,
            ]
        )
        tampered = content[:start] + new + content[end:]
        if tampered == content:
            continue
        path.write_bytes(tampered)
        if holds(public, pair.public):
            taken.append((number, path.name, start, end))
        path.write_bytes(content)
    assert taken == []
    assert holds(public, pair.public)


def test_another_key_is_refused(signed: Signed, stranger: KeyFolder, pair: KeyFolder) -> None:
    """A release that somebody else has signed, properly and with their own fingerprint in it, is not taken."""
    folder = signed()
    with pytest.raises(NotVerified, match=f"signed by the key {pair.fingerprint}, and not by "):
        sf.verify(folder, signed_by=stranger.public)
    manifest = folder / "public" / "manifest.json"
    write_json(manifest, json.loads(manifest.read_text()) | {"signed_by": stranger.fingerprint})
    key = read_signing_key(stranger.private)
    (folder / "public" / "manifest.json.sig").write_bytes(key.sign(manifest.read_bytes()))
    assert holds(folder / "public", stranger.public)
    assert not holds(folder / "public", pair.public)


def test_nobody_can_put_their_signature_in_place_of_another(signed: Signed, stranger: KeyFolder) -> None:
    """The manifest names the key, so that another's signature of the same manifest is refused even under their key."""
    folder = signed()
    manifest = (folder / "public" / "manifest.json").read_bytes()
    (folder / "public" / "manifest.json.sig").write_bytes(read_signing_key(stranger.private).sign(manifest))
    (problem,) = sf.verify(folder, signed_by=stranger.public).complaints
    assert problem.startswith(f"manifest.json.sig is by the key {stranger.fingerprint}, and manifest.json says ")


def test_the_signature_of_another_release_is_refused(signed: Signed, pair: KeyFolder) -> None:
    """A signature is of one manifest, whoever else the same key has signed."""
    folder, another = signed(), signed("generalized", "parquet", "another")
    shutil.copy(another / "public" / "manifest.json.sig", folder / "public")
    with pytest.raises(NotVerified, match=r"is not what the key in .* signed: it or its signature was changed"):
        sf.verify(folder, signed_by=pair.public)
    (problem,) = sf.verify(folder).complaints
    assert problem.startswith("manifest.json.sig is not a signature of manifest.json as it is: it was changed ")


def test_a_signature_of_something_else_is_none(signed: Signed, pair: KeyFolder) -> None:
    """What the key signed without the words that mark a release, be it the very bytes of a manifest, is refused."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    from sfumato.verifier.manifest_signature import ManifestSignature

    public = signed() / "public"
    key: Any = load_pem_private_key(pair.private.read_bytes(), None)
    found = ManifestSignature.read(public)
    bare = ManifestSignature(found.public_key, key.sign((public / "manifest.json").read_bytes()))
    (public / "manifest.json.sig").write_bytes(bare.render())
    assert not holds(public, pair.public)


def test_a_signature_that_was_taken_away_is_missed(signed: Signed, pair: KeyFolder) -> None:
    """With a key it is refused; without one the manifest says that there was a signature."""
    folder = signed()
    (folder / "public" / "manifest.json.sig").unlink()
    with pytest.raises(NotVerified, match=r"the release is not signed: manifest\.json\.sig is missing; ask "):
        sf.verify(folder, signed_by=pair.public)
    assert sf.verify(folder).complaints == ("manifest.json.sig is missing from the release",)


def test_the_page_may_be_gone_unless_a_key_is_given(signed: Signed, pair: KeyFolder) -> None:
    """No promise rests on the page; but a reader who asks for what was signed gets all of it."""
    folder = signed()
    (folder / "public" / "summary.html").unlink()
    assert sf.verify(folder).satisfied
    assert sf.verify(folder, signed_by=pair.public).complaints == ("summary.html is missing from the release",)
