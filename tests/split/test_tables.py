"""Two tables as codes: from memory and from files the same, and changed files are noticed."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.release import anonymize
from sfumato.split import TwoTables, of_files, of_recoding
from sfumato.verifier.files import read_json

Rules = Callable[..., dict[str, Any]]
Class = tuple[tuple[tuple[str | None, ...], ...], tuple[tuple[str | None, int], ...]]

ROLES = {"=q": "quasi", "r": "quasi", "s": "sensitive", "t": "sensitive", "p": "plain"}


@pytest.fixture
def table() -> Any:
    """Rows with NULLs and with what a spreadsheet would run."""
    return pa.table(
        {
            "=q": ["=1", "@x", None, "=1", "y", "y"],
            "r": [1, 2, 2, 1, 3, None],
            "s": ["-a", None, "b", "b", "=c", "b"],
            "t": [1.5, 2.5, None, 1.5, 2.5, 2.5],
            "p": list("uvwxyz"),
        }
    )


def _classes(tables: TwoTables, column: str) -> Counter[Class]:
    """The quasi-identifiers and the bag of each class, whatever its number."""
    lines: dict[int, list[tuple[str | None, ...]]] = {}
    for place, owner in enumerate(tables.class_of.tolist()):
        lines.setdefault(owner, []).append(tuple(one.texts[one.codes[place]] for one in tables.quasi))
    bags: dict[int, list[tuple[str | None, int]]] = {}
    bag = tables.bags[column]
    for owner, value, count in zip(bag.class_of.tolist(), bag.value.tolist(), bag.count.tolist(), strict=True):
        bags.setdefault(owner, []).append((bag.domain.values[value], count))
    return Counter((tuple(sorted(lines[key], key=str)), tuple(sorted(bags[key], key=str))) for key in lines)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("ss", ["together", "apart"])
def test_files_hold_what_memory_does(rules: Rules, table: Any, tmp_path: Path, kind: str, ss: str) -> None:
    """The written files read back as the same classes, lines and bags."""
    publish = {"form": "lossy-join", "format": kind, "ss": ss}
    release = anonymize(table, rules(ROLES, publish=publish))
    public = release.save(tmp_path / "release") / "public"
    before = of_recoding(release.encoded, release.recoding)
    after = of_files(public, read_json(public / "manifest.json"))
    assert sorted(before.sizes.tolist()) == sorted(after.sizes.tolist())
    for column in ("s", "t"):
        assert _classes(before, column) == _classes(after, column)


@pytest.mark.parametrize("changed", ["x", "", "99", "1" * 30])
def test_changed_classes_are_an_error(rules: Rules, table: Any, tmp_path: Path, changed: str) -> None:
    """A class that is no number, or that the other table does not have, is a sentence."""
    public = anonymize(table, rules(ROLES, publish={"form": "lossy-join"})).save(tmp_path / "release") / "public"
    header, first, *lines = (public / "ss.csv").read_text().splitlines()
    rest = first.split(",", 1)[1]
    (public / "ss.csv").write_text("\n".join([header, f"{changed},{rest}", *lines]) + "\n")
    with pytest.raises(DataError, match="it was changed"):
        of_files(public, read_json(public / "manifest.json"))
