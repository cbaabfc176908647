"""Change a release so that its promise is broken, mend its hashes, and see whether the verifier notices."""

import hashlib
import json
import shutil
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.case import CsvCell, FuzzCase, Row
from fuzz.oracle import Finding, Oracle
from fuzz.published import PublishedFiles
from sfumato.errors import NotVerified
from sfumato.verifier import verify

_TRIES = 12


def judge_tampering(case: FuzzCase, release: Path, copy: Path) -> list[Finding]:
    """Look for a change by which a requirement is broken, make it in a copy, and object if the verifier passes it.

    Two rows of different classes exchange their sensitive values, or one row moves to the class of another.
    """
    random, oracle = Random(case.seed), Oracle(case)
    files = PublishedFiles(case, release / "public")
    table = list(files.tables)[-1] if case.names("sensitive") else next(iter(files.tables))
    rows = files.tables[table]
    for _ in range(_TRIES if len(rows) > 1 else 0):
        one, other = random.sample(range(len(rows)), 2)
        names = [name for name in rows[0] if name in _exchanged(case, random)]
        swap = random.random() < 0.5
        changed = [dict(row) for row in rows]
        for name in names:
            changed[one][name] = rows[other][name]
            if swap:
                changed[other][name] = rows[one][name]
        if changed == rows or not _is_broken(case, oracle, files, table, changed):
            continue
        shutil.copytree(release, copy)
        _exchange_cells(copy / "public" / table, names, one, other, swap=swap)
        if PublishedFiles(case, copy / "public").tables[table] != changed:
            return [Finding("tampering went wrong", table)]
        mend_hashes(copy, table)
        try:
            verdict = verify(copy)
        except NotVerified:
            return []
        return (
            [Finding("the verifier passes a broken promise", f"{names}, {one}, {other}")] if verdict.satisfied else []
        )
    return []


def _exchanged(case: FuzzCase, random: Random) -> list[str]:
    kinds = [case.names("sensitive"), case.names("quasi")] if case.form == "generalized" else [case.names("sensitive")]
    return random.choice([names for names in kinds if names])


def _is_broken(case: FuzzCase, oracle: Oracle, files: PublishedFiles, table: str, changed: list[Row]) -> bool:
    """Tell whether the definitions are broken once a table has other rows; labels stay such as the policy has."""
    tables = {**files.tables, table: changed}
    other = PublishedFiles(case, files.public)
    other.__dict__["tables"] = tables  # in place of what would be read
    return bool(oracle.broken(other.classes, other.first))


def _exchange_cells(path: Path, names: list[str], one: int, other: int, *, swap: bool) -> None:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        order = list(range(table.num_rows))
        order[one] = other
        if swap:
            order[other] = one
        for name in names:
            column = table.column(name).take(pa.array(order))
            table = table.set_column(table.column_names.index(name), table.field(name), column)
        pq.write_table(table, path)
        return
    files = PublishedFiles(FuzzCase(0, {}, {}, {}), path.parent)
    records = files.cells(path.name)
    header = files.header(path.name)
    for name in names:
        place = header.index(name)
        first, second = records[one + 1][place], records[other + 1][place]
        records[one + 1][place] = second
        if swap:
            records[other + 1][place] = first
    path.write_text(
        "".join(",".join(map(_write_cell, cells)) + "\n" for cells in records), encoding="utf-8", newline=""
    )


def _write_cell(cell: CsvCell) -> str:
    return '"' + cell.text.replace('"', '""') + '"' if cell.quoted else cell.text


def mend_hashes(release: Path, table: str) -> None:
    """Let the manifest have the hash of a changed table, and the audit that of the changed manifest."""
    manifest, audit = release / "public" / "manifest.json", release / "private" / "audit.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    raw = (release / "public" / table).read_bytes()
    content["files"][table] = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    manifest.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    account = json.loads(audit.read_text(encoding="utf-8"))
    account["manifest_sha256"] = hashlib.sha256(manifest.read_bytes()).hexdigest()
    audit.write_text(json.dumps(account, ensure_ascii=False), encoding="utf-8")
