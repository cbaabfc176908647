"""The key that releases are signed with, and the signature that it puts beside a manifest.

The signature is a file of its own, ``manifest.json.sig``, over the bytes of ``manifest.json`` as they are written.
Inside the manifest it would be over a text that lacks it, and signer and reader would have to agree on how JSON is
spelt, digit by digit. The manifest has the SHA-256 of every other public file and the fingerprint of the key, so that
one signature covers all, and nobody can put theirs in its place without changing what is signed.

What is signed are the bytes ``sfumato-signature/1``, a zero byte, and the manifest. So whatever else the key may have
signed is no signature of a release. The algorithm is Ed25519 (RFC 8032), by the package cryptography; the fingerprint
is the SHA-256 of the public key as a SubjectPublicKeyInfo (RFC 8410) in DER.

Whether a signature holds is for the verifier to say, which has its own code for all of this.
"""

import base64
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, PolicyError, UnreadableFile
from sfumato.policy import Policy
from sfumato.policy.columns import check_key_file, is_same_file
from sfumato.publish.key_places import lies_within

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

SIGNATURE_FILE = "manifest.json.sig"
"""The file of the signature, beside the manifest."""
SIGNATURE_FORMAT = "sfumato-signature/1"
PASSPHRASE_VARIABLE = "SFUMATO_KEY_PASSPHRASE"  # noqa: S105 - the name of the variable, not what is in it
"""The environment variable with the passphrase of an encrypted key."""

_LARGEST_FILE = 16_384
_OTHERS = 0o077
_MAKE = "make a pair of keys with sfumato keys --out DIR"


class SigningKey:
    """A private Ed25519 key, and the file it is from. It is not printed and not pickled.

    >>> SigningKey.generate()
    SigningKey(…)
    """

    __slots__ = ("_private", "path")

    def __init__(self, private: "Ed25519PrivateKey", path: Path | None = None) -> None:
        self._private = private
        self.path = path

    @classmethod
    def generate(cls) -> "SigningKey":
        """Make a new key, with the operating system's randomness."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - when needed

        return cls(Ed25519PrivateKey.generate())

    def __repr__(self) -> str:
        return "SigningKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key stays in memory; it is not pickled or copied")

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key, as `openssl pkey -pubin -outform DER | sha256sum` gives it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - when needed

        der = self._private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(der).hexdigest()

    @property
    def public_pem(self) -> bytes:
        """The public key as a PEM file has it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - when needed

        return self._private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def private_pem(self, passphrase: bytes | None = None) -> bytes:
        """The private key as a PEM file has it (PKCS#8), encrypted where there is a passphrase."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - when needed

        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if passphrase is not None:
            encryption = serialization.BestAvailableEncryption(passphrase)
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        return self._private.private_bytes(encoding, form, encryption)

    def sign(self, manifest: bytes) -> bytes:
        """Sign the bytes of a manifest, and give the content of the file that goes beside it."""
        public = self._private.public_key().public_bytes_raw()
        signature = self._private.sign(SIGNATURE_FORMAT.encode() + b"\0" + manifest)
        content = {
            "format": SIGNATURE_FORMAT,
            "algorithm": "Ed25519",
            "fingerprint": self.fingerprint,
            "public_key": base64.b64encode(public).decode(),
            "signature": base64.b64encode(signature).decode(),
        }
        return (json.dumps(content, indent=2) + "\n").encode()


def choose_signing_key(policy: Policy, given: "str | Path | SigningKey | None") -> SigningKey | None:
    """Read the key that is given, or else the one that the policy names; ``None`` where there is neither.

    Raises:
        InputError: there is no such file, others may read it, or what is in it is no private Ed25519 key.
    """
    if given is None:
        return None if policy.publish.sign is None else read_signing_key(policy.publish.sign, option="publish.sign")
    return given if isinstance(given, SigningKey) else read_signing_key(Path(given))


def read_signing_key(path: Path, *, option: str = "") -> SigningKey:
    """Read a private key from a PEM file; `option` is the key of the policy that names it, where one does.

    A key that others may read is refused, unless it is encrypted: whoever has it can sign in its owner's name, and no
    release would tell. A passphrase is taken from the environment variable SFUMATO_KEY_PASSPHRASE.
    """
    content, mode = _read_file(path, option)
    private, encrypted = _load_private_key(content, path, option)
    if not encrypted and mode & _OTHERS:
        why = f"others on this machine may use the key {path} (mode {mode:o}), and sign in your name"
        raise PolicyError(f"{why}; take that from them with chmod 600, and make another if they may have", key=option)
    return SigningKey(private, path)


def read_passphrase() -> bytes | None:
    """Read the passphrase from the environment; ``None`` where there is none, or an empty one."""
    return os.environb.get(PASSPHRASE_VARIABLE.encode()) or None


def check_signing_key_apart(key: SigningKey | None, policy: Policy, folder: Path, data: Path | None) -> None:
    """Refuse a key that would be given away: one in the folder of the release, or one that is the table itself."""
    if key is None or key.path is None:
        return
    check_key_file(policy.columns, key.path, "the key that releases are signed with")
    if data is not None and is_same_file(key.path, data):
        raise InputError(f"the signing key {key.path} is the table itself; name the file of the key alone")
    if lies_within(key.path, folder):
        raise InputError(f"the signing key {key.path} lies in the folder of the release; move it elsewhere")


def _load_private_key(content: bytes, path: Path, option: str) -> "tuple[Ed25519PrivateKey, bool]":
    """Load the key of a file, and say whether it is encrypted there."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - when needed

    encrypted = False
    try:
        try:
            private = _parse(content, None)
        except TypeError:  # the way in which cryptography says that it wants a passphrase
            encrypted, passphrase = True, read_passphrase()
            if passphrase is None:
                way = f"put its passphrase into the environment variable {PASSPHRASE_VARIABLE}"
                raise PolicyError(f"the key {path} is encrypted; {way}", key=option) from None
            private = _parse(content, passphrase)
    except ValueError:
        if encrypted:
            why = f"the passphrase in {PASSPHRASE_VARIABLE} does not open the key {path}"
            raise PolicyError(f"{why}; give the one that it was made with", key=option) from None
        if b"PUBLIC KEY" in content:
            raise PolicyError(f"{path} is a public key; sign with the private one of the pair", key=option) from None
        raise PolicyError(f"{path} holds no private key in PEM; {_MAKE}", key=option) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise PolicyError(f"the key {path} is not of Ed25519; {_MAKE}", key=option)
    return private, encrypted


def _parse(content: bytes, passphrase: bytes | None) -> "PrivateKeyTypes":
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - when needed
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - same

    try:
        return load_pem_private_key(content, passphrase)
    except UnsupportedAlgorithm as error:
        raise ValueError from error


def _read_file(path: Path, option: str) -> tuple[bytes, int]:
    """Read a file of keys, and who may use it."""
    try:
        content = read_regular_file(path, most=_LARGEST_FILE, what="a key")
        return content, stat.S_IMODE(path.stat().st_mode)
    except UnreadableFile as error:
        raise PolicyError(f"the key {path} {error.reason}; {_MAKE}, or name another file", key=option) from None
