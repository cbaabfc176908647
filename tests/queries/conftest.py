"""What the tests of queries share: releases written by hand, and releases opened to be asked."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.queries import OpenRelease, open_release
from sfumato.table.formula_guard import guard_formula

Rows = Sequence[Mapping[str, Any]]
Writes = Callable[..., Path]
Opens = Callable[..., OpenRelease]


def _cell(value: Any, null: str) -> str:
    if value is None:
        return null
    text = guard_formula(value) if isinstance(value, str) else str(value)
    return '"' + text.replace('"', '""') + '"'


def _write(path: Path, names: Sequence[str], rows: Rows, null: str) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: [row[name] for row in rows] for name in names}), path)
        return
    lines = [[_cell(name, null) for name in names], *([_cell(row[name], null) for name in names] for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8", newline="")


@pytest.fixture(scope="session")
def writes(tmp_path_factory: pytest.TempPathFactory) -> Writes:
    """Writes the public part of a release: rows of each table, and what the manifest says of columns."""

    def write(
        tables: Mapping[str, Rows],
        *,
        form: str = "lossy-join",
        entries: Mapping[str, Any] | None = None,
        null: str = "",
    ) -> Path:
        folder = tmp_path_factory.mktemp("public")
        columns = []
        for file, rows in tables.items():
            names = list(rows[0])
            _write(folder / file, names, rows, null)
            for name in names:
                role = "quasi" if file.startswith(("nss", "table")) else "sensitive"
                entry = {"name": name, "role": role, "type": "string", **((entries or {}).get(name, {}))}
                columns += [] if name == "class_id" else [entry | ({} if form == "generalized" else {"table": file})]
        files = list(tables)
        two = {"nss": files[0], "ss": files[1:], "class_id": "class_id"}
        manifest = {"form": form, "columns": columns, "csv": {"null": null}}
        manifest |= {"table": files[0]} if form == "generalized" else two
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def opens(writes: Writes) -> Iterator[Opens]:
    """Writes a release and opens it."""
    opened = []

    def open_(tables: Mapping[str, Rows], **said: Any) -> OpenRelease:
        opened.append(open_release(writes(tables, **said)))
        return opened[-1]

    yield open_
    for release in opened:
        release.close()


@pytest.fixture
def paper(opens: Opens) -> OpenRelease:
    """Tables 5 and 6 of the paper."""
    people = [
        ("clerk", 1975, "4350", 1),
        ("manager", 1955, "4350", 1),
        ("clerk", 1955, "5432", 2),
        ("factory worker", 1955, "5432", 2),
        ("factory worker", 1975, "4350", 3),
        ("technical supporter", 1940, "4350", 3),
    ]
    ill = [(1, "HIV"), (1, "flu"), (2, "flu"), (2, "fever"), (3, "flu"), (3, "fever")]
    nss = [dict(zip(("Job", "Birth", "Postcode", "class_id"), each, strict=True)) for each in people]
    return opens({"nss.csv": nss, "ss.csv": [{"class_id": number, "Illness": illness} for number, illness in ill]})
