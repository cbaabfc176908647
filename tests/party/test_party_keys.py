"""Keys of parties: for their owner alone, with a certificate that others can check."""

import re
import subprocess
from pathlib import Path

import pytest

from sfumato.errors import InputError, OutputError, RunAborted
from sfumato.party.party_keys import check_private_key, make_party_keys, read_certificate
from sfumato.publish.signing_key import PASSPHRASE_VARIABLE


def test_keys_are_made_as_openssl_reads_them(tmp_path: Path) -> None:
    """The key is readable by its owner alone; OpenSSL prints the same fingerprint, and trusts the certificate."""
    made = make_party_keys("st-mary", tmp_path / "keys", days=10)
    assert made.private.stat().st_mode & 0o777 == 0o600
    told = subprocess.run(
        ["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", made.certificate],
        capture_output=True,
        check=True,
        text=True,
    )
    assert made.fingerprint in told.stdout
    subprocess.run(
        ["openssl", "verify", "-CAfile", made.certificate, made.certificate], check=True, capture_output=True
    )
    read = read_certificate(made.certificate, "certificate")
    assert (read.ends - read.starts).days == 11
    assert check_private_key(made.private, read, "st-mary") is None


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    """Where there is a key or a certificate of that name, nothing is written."""
    (tmp_path / "a.pem").write_text("mine")
    with pytest.raises(OutputError, match=r"a\.pem exists already"):
        make_party_keys("a", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.pem"]


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    """A key with the rights of a usual file is refused, unless it is encrypted."""
    made = make_party_keys("a", tmp_path)
    made.private.chmod(0o644)
    with pytest.raises(InputError, match=r"others on this machine may use the key .*chmod 600"):
        check_private_key(made.private, read_certificate(made.certificate, ""), "a")


def test_a_passphrase_locks_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that was made with a passphrase opens with it alone."""
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open sesame")
    made = make_party_keys("a", tmp_path)
    certificate = read_certificate(made.certificate, "")
    assert made.encrypted
    assert check_private_key(made.private, certificate, "a") == b"open sesame"
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open barley")
    with pytest.raises(InputError, match="does not open the key"):
        check_private_key(made.private, certificate, "a")
    monkeypatch.delenv(PASSPHRASE_VARIABLE)
    with pytest.raises(InputError, match="is encrypted; put its passphrase"):
        check_private_key(made.private, certificate, "a")


def test_files_that_are_no_key_are_refused(tmp_path: Path) -> None:
    """A certificate in place of a key, prose, nothing, another's key: each has its sentence."""
    made, other = make_party_keys("a", tmp_path), make_party_keys("b", tmp_path)
    certificate = read_certificate(made.certificate, "")
    (tmp_path / "prose").write_text("Dear Sir")
    for path, message in (
        (made.certificate, "is a certificate; name the key"),
        (tmp_path / "prose", "holds no private key; make one"),
        (tmp_path / "nothing", "does not exist"),
    ):
        with pytest.raises(InputError, match=message):
            check_private_key(path, certificate, "a")
    with pytest.raises(RunAborted, match="does not belong to the certificate"):
        check_private_key(other.private, certificate, "a")


@pytest.mark.parametrize(("name", "days", "message"), [("a/b", 5, "--name: must be letters"), ("a", 0, "--days must")])
def test_odd_names_and_times_are_refused(tmp_path: Path, name: str, days: int, message: str) -> None:
    """A name that is no file's name, and a certificate for no day, are refused, and nothing is written."""
    with pytest.raises(InputError, match=re.escape(message)):
        make_party_keys(name, tmp_path / "new", days=days)
    assert not (tmp_path / "new").exists()
