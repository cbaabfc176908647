"""The verifier's verdict on a release, or on the copy of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.verifier import Verdict, verify


def verdict_on(folder: Path, previous: Mapping[str, Path]) -> Verdict:
    """Re-check a release; `previous` are the tables of earlier releases that its promise speaks of."""
    given: dict[str, Any] = {"previous": dict(previous)} if previous else {}
    return verify(folder, **given)
