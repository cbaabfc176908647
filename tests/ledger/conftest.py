"""A release to record, others like it, and a ledger to record them in."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.ledger import Ledger

Makes = Callable[..., Path]


def alike(release: Path, target: Path) -> Path:
    """Another release: a copy whose manifest says so, signed as its owner could sign it."""
    shutil.copytree(release, target)
    manifest, audit = target / "public" / "manifest.json", target / "private" / "audit.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"title": target.name}))
    if audit.exists():
        sha256 = hashlib.sha256(manifest.read_bytes()).hexdigest()
        audit.write_text(json.dumps(json.loads(audit.read_text()) | {"manifest_sha256": sha256}))
    return target


@pytest.fixture(scope="session")
def original(people: Any, roles: dict[str, Any], rules: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release that others are copies of; its t-closeness cannot be checked without the private account."""
    policy = rules(roles, k=5)
    policy["privacy"].append({"model": "t-closeness", "column": "illness", "t": 0.9, "distance": "variational"})
    return anonymize(people, policy | {"algorithm": {"name": "optimal", "suppression": 0.05, "seed": 7}}).save(
        tmp_path_factory.mktemp("made") / "original"
    )


@pytest.fixture
def makes(original: Path, tmp_path: Path) -> Makes:
    """Makes another release of that name."""

    def make(name: str) -> Path:
        return alike(original, tmp_path / name)

    return make


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger without entries."""
    return Ledger.create(tmp_path / "ledger")
