"""Keys of parties: a private key that stays with its party, and a certificate that goes into the consortium file.

Nobody vouches for a certificate but the party itself: it is self-signed, and the others pin it, that is, they keep a
copy and accept this one and no other. Whoever gets one compares its fingerprint with the party that sent it, by
telephone say. A certificate holds the party's name and how long it is good, and nothing else of its holder. Keys are
Ed25519 (RFC 8032), which TLS 1.3 knows; a P-256 key that somebody made with OpenSSL does as well.
"""

import hashlib
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, OutputError, PolicyError, RunAborted, UnreadableFile, quote
from sfumato.publish.signing_key import PASSPHRASE_VARIABLE, read_passphrase

DAYS_VALID = 730
"""Days that a certificate is good for, unless its maker says otherwise."""
_MOST_DAYS = 3650
_LARGEST_FILE = 16_384
_OTHERS = 0o077
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MAKE = "make one with sfumato party keys --name NAME --out DIR"


def check_party_name(name: str, key: str) -> str:
    """Refuse a name that is no good as a file's name, or in a sentence; `key` is where it was written.

    >>> check_party_name("st-mary", "--name")
    'st-mary'
    >>> check_party_name("../b", "--name")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: --name: must be letters, digits, - _ and ., at most 64 of them, a letter or digit first,
    not '../b'
    """
    if not _NAME.fullmatch(name):
        rule = "must be letters, digits, - _ and ., at most 64 of them, a letter or digit first"
        raise PolicyError(f"{rule}, not {quote(name)}", key=key)
    return name


@dataclass(frozen=True)
class PartyCertificate:
    """A certificate that is pinned: its bytes in DER, from when until when it is good, and its public key."""

    der: bytes
    pem: str
    starts: datetime
    ends: datetime
    public_key: bytes

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the certificate, as ``openssl x509 -noout -fingerprint -sha256`` prints it."""
        digest = hashlib.sha256(self.der).hexdigest().upper()
        return ":".join(digest[place : place + 2] for place in range(0, len(digest), 2))

    def check_validity(self, name: str) -> None:
        """End a run in which the certificate of party `name` is not good today."""
        now = datetime.now(UTC)
        if now > self.ends:
            raise RunAborted(
                f"the certificate of party {quote(name)} expired on {self.ends:%Y-%m-%d}; have its holder make new "
                "keys with sfumato party keys, and give all parties the new certificate",
                peer=name,
            )
        if now < self.starts:
            raise RunAborted(
                f"the certificate of party {quote(name)} is good from {self.starts:%Y-%m-%d} on, and it is "
                f"{now:%Y-%m-%d}; check the clock of this machine",
                peer=name,
            )


@dataclass(frozen=True)
class PartyKeyFiles:
    """Keys of a party on disk."""

    private: Path
    certificate: Path
    fingerprint: str
    ends: datetime
    encrypted: bool


def make_party_keys(name: str, folder: Path, *, days: int = DAYS_VALID) -> PartyKeyFiles:
    """Make the key and the certificate of a party, ``NAME.key`` and ``NAME.pem``, in a folder; none is replaced.

    The key is for its owner alone, and encrypted where the environment variable SFUMATO_KEY_PASSPHRASE has a
    passphrase.

    Raises:
        OutputError: there are such files already, or the folder cannot be written.
    """
    check_party_name(name, "--name")
    if not 1 <= days <= _MOST_DAYS:
        raise InputError(f"--days must be from 1 to {_MOST_DAYS}, not {days}")
    passphrase = read_passphrase()
    private_pem, certificate_pem = _generate(name, days, passphrase)
    private, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    for path in (private, certificate):
        if path.exists() or path.is_symlink():
            raise OutputError(f"{path} exists already, and a key is never replaced; choose another --out or --name")
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content, mode in ((private, private_pem, 0o600), (certificate, certificate_pem, 0o644)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            written.append(path)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
    except BaseException as error:
        for path in written:
            with suppress(OSError):
                path.unlink()
        if isinstance(error, OSError):
            raise OutputError(f"cannot write into {folder}: {error.strerror}; choose another --out") from None
        raise
    made = parse_certificate(certificate_pem, str(certificate))
    return PartyKeyFiles(private, certificate, made.fingerprint, made.ends, passphrase is not None)


def _generate(name: str, days: int, passphrase: bytes | None) -> tuple[bytes, bytes]:
    from cryptography import x509  # noqa: PLC0415 - when needed
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - same
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - same
    from cryptography.x509.oid import ExtendedKeyUsageOID  # noqa: PLC0415 - same

    private = Ed25519PrivateKey.generate()
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # the clock of another machine may be late
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False)
        .sign(private, None)
    )
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase is not None:
        encryption = serialization.BestAvailableEncryption(passphrase)
    encoding = serialization.Encoding.PEM
    try:
        private_pem = private.private_bytes(encoding, serialization.PrivateFormat.PKCS8, encryption)
    except ValueError:  # of a thousand characters and more
        raise InputError(f"the passphrase in {PASSPHRASE_VARIABLE} is too long; give a shorter one") from None
    return private_pem, certificate.public_bytes(encoding)


def read_certificate(path: Path, key: str) -> PartyCertificate:
    """Read the certificate of a party from a PEM file; `key` is the key of the consortium file that names it."""
    try:
        content = read_regular_file(path, most=_LARGEST_FILE, what="a certificate")
    except UnreadableFile as error:
        raise PolicyError(f"the certificate {path} {error.reason}; ask the party for it", key=key) from None
    try:
        return parse_certificate(content, str(path))
    except InputError as error:
        raise PolicyError(str(error), key=key) from None


def parse_certificate(content: bytes, where: str) -> PartyCertificate:
    """Take the one certificate out of the content of a PEM file."""
    from cryptography import x509  # noqa: PLC0415 - when needed
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - same

    try:
        found = x509.load_pem_x509_certificates(content)
    except ValueError:
        raise InputError(f"{where} holds no certificate in PEM; {_MAKE}") from None
    if len(found) != 1:
        raise InputError(f"{where} holds {len(found)} certificates, and a party has one; leave the others out")
    certificate = found[0]
    try:
        public = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except ValueError:
        raise InputError(f"the key of the certificate {where} is of no kind that is known here; {_MAKE}") from None
    return PartyCertificate(
        certificate.public_bytes(Encoding.DER),
        certificate.public_bytes(Encoding.PEM).decode(),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        public,
    )


def check_private_key(path: Path, certificate: PartyCertificate, name: str) -> bytes | None:
    """Refuse a file that is not the key of a certificate, and one that others may read; give its passphrase, if any.

    Raises:
        InputError: there is no such file, others may read it, or it holds no key.
        RunAborted: it is the key of another certificate than the one that the others have pinned.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415 - when needed

    try:
        content = read_regular_file(path, most=_LARGEST_FILE, what="a key")
        mode = stat.S_IMODE(path.stat().st_mode)
    except UnreadableFile as error:
        raise InputError(f"the key {path} {error.reason}; {_MAKE}, or name another file") from None
    private, passphrase = _load_key(content, path)
    if passphrase is None and mode & _OTHERS:
        why = f"others on this machine may use the key {path} (mode {mode:o}), and speak in your name"
        raise InputError(f"{why}; take that from them with chmod 600, and make another if they may have")
    public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if public != certificate.public_key:
        raise RunAborted(
            f"the key {path} does not belong to the certificate that the consortium has for party {quote(name)}; give "
            "the key that was made with it, or give all parties the right certificate",
            peer=name,
        )
    return passphrase


def _load_key(content: bytes, path: Path) -> tuple[Any, bytes | None]:
    """Load a private key, and give the passphrase that it took."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - when needed
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - same

    passphrase = None
    try:
        try:
            return load_pem_private_key(content, None), None
        except TypeError:  # the way in which cryptography says that it wants a passphrase
            passphrase = read_passphrase()
            if passphrase is None:
                way = f"put its passphrase into the environment variable {PASSPHRASE_VARIABLE}"
                raise InputError(f"the key {path} is encrypted; {way}") from None
            return load_pem_private_key(content, passphrase), passphrase
    except (ValueError, UnsupportedAlgorithm):
        if passphrase is not None:
            why = f"the passphrase in {PASSPHRASE_VARIABLE} does not open the key {path}"
            raise InputError(f"{why}; give the one that it was made with") from None
        what = "is a certificate; name the key" if b"CERTIFICATE" in content else f"holds no private key; {_MAKE}"
        raise InputError(f"{path} {what}") from None
