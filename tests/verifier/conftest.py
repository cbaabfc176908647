"""Published tables and releases to look at, and ways to change what was written."""

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from sfumato import anonymize

COLUMNS: dict[str, Any] = {
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 3}},
    "illness": {"role": "sensitive"},
    "visits": {"role": "plain"},
}
PRIVACY: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 4},
    {"model": "distinct-l-diversity", "column": "illness", "l": 2},
    {"model": "t-closeness", "column": "illness", "t": 0.9, "distance": "variational"},
]


class Written:
    """A release on disk, and ways to change it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.public = folder, folder / "public"

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as it stands."""
        found: dict[str, Any] = json.loads((self.public / "manifest.json").read_text())
        return found

    @property
    def table(self) -> Path:
        """The published table."""
        return next(path for path in self.public.iterdir() if path.stem == "table")

    def rewrite(self, account: str = "public/manifest.json", **change: Any) -> None:
        """Change top-level keys of an account."""
        path = self.folder / account
        path.write_text(json.dumps(json.loads(path.read_text()) | change))

    def sign(self) -> None:
        """Write the hashes of table and manifest as they are now, as somebody who holds the whole folder could."""
        content = self.table.read_bytes()
        known = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        self.rewrite(files={self.table.name: known})
        manifest = hashlib.sha256((self.public / "manifest.json").read_bytes()).hexdigest()
        self.rewrite("private/audit.json", manifest_sha256=manifest)

    def load(self) -> list[dict[str, Any]]:
        """The rows of the published table."""
        if self.table.suffix == ".parquet":
            return list(pq.read_table(self.table).to_pylist())
        texts = dict.fromkeys(["sex", "zip", "illness"], pa.string())
        options = pc.ConvertOptions(column_types=texts, strings_can_be_null=True, quoted_strings_can_be_null=False)
        return list(pc.read_csv(self.table, convert_options=options).to_pylist())

    def store(self, rows: list[dict[str, Any]]) -> None:
        """Write rows in place of the published table; the manifest stays as it is."""
        write = pq.write_table if self.table.suffix == ".parquet" else pc.write_csv
        write(pa.Table.from_pylist(rows), self.table)


def hospital(rows: int = 200, seed: int = 1) -> pa.Table:
    """Made-up patients."""
    draw = random.Random(seed)
    return pa.table(
        {
            "sex": [draw.choice("fm") for _ in range(rows)],
            "zip": [draw.choice(["431", "432", "433", "501"]) for _ in range(rows)],
            "illness": [draw.choice(["flu", "cold", "ulcer", None]) for _ in range(rows)],
            "visits": pa.array([draw.randrange(9) for _ in range(rows)], pa.int64()),
        }
    )


@pytest.fixture
def patients() -> tuple[pa.Table, dict[str, Any]]:
    """Two hundred made-up patients, and the roles of their columns."""
    return hospital(), COLUMNS


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Written]:
    """A function that makes a release of a table, the patients if none is given."""

    def make(table: Any = None, *, kind: str = "csv", folder: str = "release", **policy: Any) -> Written:
        rules: dict[str, Any] = {
            "columns": COLUMNS,
            "privacy": PRIVACY,
            "algorithm": {"name": "optimal", "seed": 1},
            "publish": {"format": kind},
            **policy,
        }
        return Written(anonymize(hospital() if table is None else table, rules).save(tmp_path / folder))

    return make
