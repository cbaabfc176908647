"""The signature of a release: whether its manifest is, byte by byte, what the owner of a key signed.

A manifest is mostly what it says of itself: what a release protects, when it was published, what a label covers. None
of that can be counted from the tables, so whoever changes it breaks no promise. A signature by a key that the reader
knows covers it all: ``manifest.json.sig`` holds an Ed25519 signature (RFC 8032) of the bytes ``sfumato-signature/1``, a
zero byte, and ``manifest.json``, which has the SHA-256 of every other public file.

The file says which key signed, so that a damaged release is found out by anybody; but whose key that is it cannot say.
Only a key that the reader has from elsewhere makes a signature mean something. Then nothing of the manifest is looked
at before the signature holds. There is exactly one way of writing the file: not a space in it can be changed.
"""

import base64
import hashlib
import json
import stat
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import InputError, NotVerified, quote
from sfumato.verifier.release_files import CHANGED, SIGNATURE, JsonObject, read_bytes

_FORMAT = "sfumato-signature/1"
_KEY_INFO = bytes.fromhex("302a300506032b6570032100")
"""How the SubjectPublicKeyInfo of an Ed25519 key begins in DER (RFC 8410, Section 10.1); its 32 bytes follow."""
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
_LARGEST_KEY, _LARGEST_SIGNATURE = 16_384, 1_024


@dataclass(frozen=True)
class TrustedKey:
    """A public key that the reader knows, as its 32 bytes, and what a sentence calls it."""

    public_key: bytes
    name: str

    @classmethod
    def from_pem(cls, content: bytes, name: str) -> "TrustedKey":
        """Read a public key in PEM.

        Raises:
            InputError: it holds something else, such as a private key or one of another algorithm.
        """
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only where a key is given
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - same
        from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - same

        if b"PRIVATE KEY" in content:
            raise InputError(f"{name} is a private key; give the public one of the pair, and keep this one to yourself")
        try:
            key = load_pem_public_key(content)
        except (ValueError, UnsupportedAlgorithm):
            raise InputError(f"{name} holds no public key in PEM; ask whoever published the release for it") from None
        if not isinstance(key, Ed25519PublicKey):
            raise InputError(f"the key {name} is not of Ed25519, with which releases are signed; ask for the right one")
        return cls(key.public_bytes_raw(), name)

    @classmethod
    def read(cls, path: Path) -> "TrustedKey":
        """Read a public key from a PEM file."""
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # a pipe or a device may never end
                raise InputError(f"{path} is not a regular file; name the file of a public key")
            if status.st_size > _LARGEST_KEY:
                raise InputError(f"{path} has more than {_LARGEST_KEY:,} bytes, so it is no public key; name another")
            return cls.from_pem(path.read_bytes(), str(path))
        except FileNotFoundError:
            raise InputError(
                f"there is no key {path}; ask whoever published the release for their public key"
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no file can have that name"
            raise InputError(f"the key {quote(str(path))} cannot be read: {reason}; name another") from None

    @property
    def fingerprint(self) -> str:
        """By what people compare keys."""
        return key_fingerprint(self.public_key)


@dataclass(frozen=True)
class ManifestSignature:
    """What ``manifest.json.sig`` holds: a public key, and a signature under it."""

    public_key: bytes
    signature: bytes

    @classmethod
    def read(cls, public: Path) -> "ManifestSignature":
        """Read the signature of a release; raise `NotVerified` where there is none, or it is not in the one form."""
        path = public / SIGNATURE
        if path.is_file() and path.stat().st_size > _LARGEST_SIGNATURE:
            raise NotVerified(f"{SIGNATURE} is not a signature: {CHANGED}")
        content = read_bytes(path)
        try:
            found = json.loads(content)
            parts = (base64.b64decode(found[key], validate=True) for key in ("public_key", "signature"))
            signature = cls(*parts)
            sound = signature.render() == content
        except (ValueError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            raise NotVerified(f"{SIGNATURE} is not a signature: {CHANGED}")
        return signature

    @property
    def fingerprint(self) -> str:
        """That of the key."""
        return key_fingerprint(self.public_key)

    def render(self) -> bytes:
        """Write the content of the file, in the one way in which it is written."""
        content = {
            "format": _FORMAT,
            "algorithm": "Ed25519",
            "fingerprint": self.fingerprint,
            "public_key": base64.b64encode(self.public_key).decode(),
            "signature": base64.b64encode(self.signature).decode(),
        }
        return (json.dumps(content, indent=2) + "\n").encode()

    def covers(self, manifest: bytes) -> bool:
        """Whether it is a signature of this manifest under its own key."""
        return is_signed(self.public_key, self.signature, _FORMAT.encode() + b"\0" + manifest)


def key_fingerprint(public_key: bytes) -> str:
    """The SHA-256 of a key's SubjectPublicKeyInfo, as `openssl pkey -pubin -outform DER | sha256sum` gives it.

    >>> key_fingerprint(bytes(32))[:16]
    '722abd12e99a5367'
    """
    return hashlib.sha256(_KEY_INFO + public_key).hexdigest()


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature holds (RFC 8032, Section 5.1.7).

    >>> is_signed(bytes(32), bytes(64), b"anything")
    False
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only where there is a signature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - same

    if len(public_key) != _KEY_BYTES or len(signature) != _SIGNATURE_BYTES:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def require_signature(public: Path, manifest: bytes, key: TrustedKey) -> None:
    """Raise `NotVerified` where a manifest, as its bytes, is not signed by a key that the reader trusts."""
    if not (path := public / SIGNATURE).is_symlink() and not path.exists():
        way = "ask whoever published it for a signed one, or leave --signed-by out"
        raise NotVerified(f"the release is not signed: {SIGNATURE} is missing; {way}")
    signature = ManifestSignature.read(public)
    if signature.public_key != key.public_key:
        raise NotVerified(
            f"the release is signed by the key {signature.fingerprint}, and not by that in {key.name}, which is "
            f"{key.fingerprint}; do not rely on it"
        )
    if not signature.covers(manifest):
        raise NotVerified(
            f"manifest.json is not what the key in {key.name} signed: it or its signature was changed after "
            "publication; do not rely on it"
        )


def signature_problems(public: Path, content: bytes, manifest: JsonObject) -> list[str]:
    """Say what is wrong with the signature that a manifest speaks of; `content` are the bytes of the manifest.

    Where it speaks of none there is nothing to say: a file of that name does not belong to the release then.
    """
    stated = manifest.get("signed_by")
    if stated is None:
        return []
    try:
        signature = ManifestSignature.read(public)
    except NotVerified as error:
        return [str(error)]
    if signature.fingerprint != stated:
        return [f"{SIGNATURE} is by the key {signature.fingerprint}, and manifest.json says {stated}"]
    if not signature.covers(content):
        return [f"{SIGNATURE} is not a signature of manifest.json as it is: {CHANGED}"]
    return []
