"""Two tables as codes: from memory and from files the same, and what a person's classes have in common."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.release import Release, anonymize
from sfumato.split import TwoTables, common_values, tables_from_files, tables_from_recoding
from sfumato.verifier.release_files import read_json

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
    before = tables_from_recoding(release.encoded, release.recoding)
    after = tables_from_files(public, read_json(public / "manifest.json"))
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
        tables_from_files(public, read_json(public / "manifest.json"))


def _expected(release: Release) -> tuple[int, int]:
    """The same by plain loops over the published tables."""
    bags: dict[int, set[str]] = {}
    for row in release.ss.to_pylist():
        bags.setdefault(row["class_id"], set()).add(row["s"])
    classes: dict[str, set[int]] = {}
    for row in release.nss.to_pylist():
        classes.setdefault(row["who"], set()).add(row["class_id"])
    several = [places for places in classes.values() if len(places) > 1]
    return len(several), sum(len(set.intersection(*(bags[place] for place in places))) == 1 for places in several)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_like_plain_loops(rules: Rules, form: str) -> None:
    """Persons in several classes, and those whose bags share one value alone, on random tables."""
    seen = 0
    for seed in range(8):
        random = Random(seed)
        rows = 60
        table = pa.table(
            {
                "who": [str(random.randrange(25)) for _ in range(rows)],
                "q": [random.choice("abcdef") for _ in range(rows)],
                "s": [random.choice("uvwxyz") for _ in range(rows)],
            }
        )
        privacy = [{"model": "alpha-deassociation", "column": "s", "alpha": 0.5}]
        roles = {"who": "individual", "q": "quasi", "s": "sensitive"}
        release = anonymize(table, rules(roles, privacy=privacy, suppression=0.3, publish={"form": form}))
        found = common_values(release.encoded, release.recoding)["s"]
        assert (found.several_classes, found.single_value) == _expected(release)
        seen += found.single_value or 0
    assert seen


def test_nothing_where_rows_name_nobody(rules: Rules) -> None:
    """Without a column of persons there is nobody to follow through the classes."""
    table = pa.table({"q": ["a", "a"], "s": ["x", "y"]})
    release = anonymize(table, rules({"q": "quasi", "s": "sensitive"}, publish={"form": "lossy-join"}))
    assert common_values(release.encoded, release.recoding) == {}
