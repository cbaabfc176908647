"""What is signed, and how: held against RFC 8032, its test vectors, its own code, and OpenSSL."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.publish.signing_key import SigningKey
from sfumato.release.key_folder import KeyFolder
from sfumato.verifier.manifest_signature import TrustedKey, is_signed, key_fingerprint

Signed = Callable[..., Path]

VECTORS = {
    "TEST 1": """
        9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60
        d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a
        -
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b|
        d25bf5f0595bbe24655141438e7a100b
    """,
    "TEST 2": """
        4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb
        3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c
        72
        92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c|
        387b2eaeb4302aeeb00d291612bb0c00
    """,
    "TEST 3": """
        c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7
        fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025
        af82
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659|
        4a7c15e9716ed28dc027beceea1ec40a
    """,
}
"""RFC 8032, Section 7.1: secret key, public key, message (- for none), signature; | goes on in the next line."""
PREFIX = b"sfumato-signature/1\0"


def vector(name: str) -> list[bytes]:
    """The four parts of a vector."""
    return [bytes.fromhex(part.strip("-")) for part in re.sub(r"\|\s+", "", VECTORS[name]).split()]


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_of_the_rfc_hold(rfc8032: Any, name: str) -> None:
    """Our check takes the signatures of the RFC and nothing beside them; so does the code that the tests go by."""
    secret, public, message, signature = vector(name)
    assert is_signed(public, signature, message)
    assert not is_signed(public, signature, message + b"\0")
    assert not is_signed(public, signature[:-1] + bytes([signature[-1] ^ 1]), message)
    reference = rfc8032(secret)
    assert (reference.public, reference.sign(message)) == (public, signature)


def test_a_signature_is_not_malleable(rfc8032: Any) -> None:
    """S plus the order of the group would be another signature of the same message; it is refused (Section 5.1.7)."""
    secret, public, message, signature = vector("TEST 3")
    larger = int.from_bytes(signature[32:], "little") + rfc8032.q
    assert not is_signed(public, signature[:32] + larger.to_bytes(32, "little"), message)
    assert is_signed(public, signature, message)
    assert rfc8032(secret).public == public


def test_what_is_signed_is_the_manifest_under_a_name(rfc8032: Any, tmp_path: Path, signed: Signed) -> None:
    """With the key of TEST 1, the file beside a manifest is the one that the RFC's own code gives, to the byte."""
    secret, public = vector("TEST 1")[:2]
    manifest = (signed() / "public" / "manifest.json").read_bytes()
    info = bytes.fromhex("302a300506032b6570032100") + public
    by_hand = {
        "format": "sfumato-signature/1",
        "algorithm": "Ed25519",
        "fingerprint": hashlib.sha256(info).hexdigest(),
        "public_key": base64.b64encode(public).decode(),
        "signature": base64.b64encode(rfc8032(secret).sign(PREFIX + manifest)).decode(),
    }
    key = SigningKey(Ed25519PrivateKey.from_private_bytes(secret))
    assert key.sign(manifest) == (json.dumps(by_hand, indent=2) + "\n").encode()
    assert key.fingerprint == key_fingerprint(public) == by_hand["fingerprint"]
    assert TrustedKey.from_pem(key.public_pem, "key").public_key == public


def test_a_release_that_the_rfc_signed_is_taken(rfc8032: Any, tmp_path: Path, signed: Signed) -> None:
    """A release whose signature was made without a line of ours, or of cryptography, holds under the RFC's key."""
    secret, public = vector("TEST 2")[:2]
    info = bytes.fromhex("302a300506032b6570032100") + public
    folder, fingerprint = signed() / "public", hashlib.sha256(info).hexdigest()
    account = json.loads((folder / "manifest.json").read_text()) | {"signed_by": fingerprint}
    (folder / "manifest.json").write_text(json.dumps(account))
    content = {"format": "sfumato-signature/1", "algorithm": "Ed25519", "fingerprint": fingerprint}
    content["public_key"] = base64.b64encode(public).decode()
    signature = rfc8032(secret).sign(PREFIX + (folder / "manifest.json").read_bytes())
    content["signature"] = base64.b64encode(signature).decode()
    (folder / "manifest.json.sig").write_text(json.dumps(content, indent=2) + "\n")
    pem = f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(info).decode()}\n-----END PUBLIC KEY-----\n"
    (tmp_path / "rfc.pem").write_text(pem)
    verdict = sf.verify(folder, signed_by=tmp_path / "rfc.pem")
    assert verdict.complaints == ()
    assert verdict.signed_by == fingerprint


@pytest.mark.skipif(shutil.which("openssl") is None, reason="OpenSSL is not at hand")
def test_openssl_takes_it_too(signed: Signed, pair: KeyFolder, tmp_path: Path) -> None:
    """The lines of the guide: a reader without sfumato checks fingerprint and signature with OpenSSL."""
    public = signed() / "public"
    signature = json.loads((public / "manifest.json.sig").read_text())["signature"]
    (tmp_path / "message").write_bytes(PREFIX + (public / "manifest.json").read_bytes())
    (tmp_path / "signature").write_bytes(base64.b64decode(signature))
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", pair.public, "-outform", "DER"], capture_output=True, check=True
    ).stdout
    assert hashlib.sha256(der).hexdigest() == pair.fingerprint
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(pair.public), "-rawin"]
    done = subprocess.run(
        [*command, "-in", str(tmp_path / "message"), "-sigfile", str(tmp_path / "signature")],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
