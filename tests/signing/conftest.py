"""Keys, signed releases to copy and to tamper with, and Ed25519 as RFC 8032 itself writes it."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato import anonymize
from sfumato.release.key_folder import KeyFolder, write_key_folder

FORMS = [("generalized", "csv"), ("generalized", "parquet"), ("lossy-join", "csv"), ("anatomy", "parquet")]
"""Every form, and both formats."""

Signed = Callable[..., Path]


class Rfc8032:
    """Ed25519 by the code of RFC 8032, Section 6, in Python's integers alone; slow, and of nobody's library."""

    p = 2**255 - 19
    q = 2**252 + 27742317777372353535851937790883648493

    def __init__(self, secret: bytes) -> None:
        head = hashlib.sha512(secret).digest()
        number = int.from_bytes(head[:32], "little")
        self.scalar, self.prefix = (number & ((1 << 254) - 8)) | (1 << 254), head[32:]
        self.public = self._pack(self._times(self.scalar, self._base()))

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        r = self._hash(self.prefix + message)
        point = self._pack(self._times(r, self._base()))
        s = (r + self._hash(point + self.public + message) * self.scalar) % self.q
        return point + s.to_bytes(32, "little")

    def _hash(self, content: bytes) -> int:
        return int.from_bytes(hashlib.sha512(content).digest(), "little") % self.q

    def _base(self) -> tuple[int, int, int, int]:
        y = 4 * pow(5, -1, self.p) % self.p
        d = -121665 * pow(121666, -1, self.p) % self.p
        square = (y * y - 1) * pow(d * y * y + 1, -1, self.p)
        x = pow(square, (self.p + 3) // 8, self.p)
        if (x * x - square) % self.p:
            x = x * pow(2, (self.p - 1) // 4, self.p) % self.p
        x = self.p - x if x & 1 else x
        return x, y, 1, x * y % self.p

    def _add(self, one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int, int, int]:
        p, d = self.p, -121665 * pow(121666, -1, self.p) % self.p
        a = (one[1] - one[0]) * (other[1] - other[0]) % p
        b = (one[1] + one[0]) * (other[1] + other[0]) % p
        c, e = 2 * one[3] * other[3] * d % p, 2 * one[2] * other[2] % p
        f, g, h, i = b - a, e - c, e + c, b + a
        return f * g % p, h * i % p, g * h % p, f * i % p

    def _times(self, number: int, point: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        total = (0, 1, 1, 0)
        while number:
            if number & 1:
                total = self._add(total, point)
            point, number = self._add(point, point), number >> 1
        return total

    def _pack(self, point: tuple[int, int, int, int]) -> bytes:
        inverse = pow(point[2], -1, self.p)
        x, y = point[0] * inverse % self.p, point[1] * inverse % self.p
        return (y | ((x & 1) << 255)).to_bytes(32, "little")


@pytest.fixture(scope="session")
def rfc8032() -> type[Rfc8032]:
    """Ed25519 by somebody else's code."""
    return Rfc8032


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> KeyFolder:
    """The keys of the data holder."""
    return write_key_folder(tmp_path_factory.mktemp("holder") / "keys")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> KeyFolder:
    """The keys of somebody else."""
    return write_key_folder(tmp_path_factory.mktemp("stranger") / "keys")


def visits() -> Any:
    """Twenty-four rows: enough for every form, small enough to verify hundreds of times."""
    rows = range(24)
    return pa.table(
        {
            "sex": ["fm"[row % 2] for row in rows],
            "town": [("Bern", "Thun", "Chur")[row % 3] for row in rows],
            "illness": [("flu", "cold", "ulcer", "HIV")[row % 4] for row in rows],
            "nights": [row % 5 for row in rows],
        }
    )


def policy_of(form: str = "generalized", kind: str = "csv", **publish: Any) -> dict[str, Any]:
    """A policy for these rows, in a form and a format."""
    return {
        "columns": {
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "town": {"role": "quasi", "hierarchy": {"mask": "right", "length": 4}},
            "illness": {"role": "sensitive"},
            "nights": {"role": "plain"},
        },
        "privacy": [{"model": "distinct-l-diversity", "column": "illness", "l": 2}],
        "algorithm": {} if form != "anatomy" else {"name": "anatomy"},
        "publish": {"form": form, "format": kind, **publish},
    }


@pytest.fixture(scope="session")
def originals(pair: KeyFolder, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    """A signed release of every form."""
    folder = tmp_path_factory.mktemp("signed")
    return {
        (form, kind): anonymize(visits(), policy_of(form, kind)).save(folder / f"{form}-{kind}", sign=pair.private)
        for form, kind in FORMS
    }


@pytest.fixture
def signed(originals: dict[tuple[str, str], Path], tmp_path: Path) -> Signed:
    """Gives a copy of a signed release that may be tampered with: what a reader gets, or the `whole` folder.

    The audit knows the hash of the manifest, so that with it a tampering would be found out without any signature.
    """

    def copy(form: str = "generalized", kind: str = "csv", name: str = "release", *, whole: bool = False) -> Path:
        folder = Path(shutil.copytree(originals[form, kind], tmp_path / name))
        if not whole:
            shutil.rmtree(folder / "private")
        return folder

    return copy


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A policy file with its table, for the command."""
    (tmp_path / "visits.csv").write_text("sex,illness\nf,flu\nf,HIV\nm,flu\nm,cold\n")
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "visits.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        'illness = { role = "sensitive" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    return tmp_path / "policy.toml"
