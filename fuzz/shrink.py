"""Make a failing case smaller while it fails in the same way: fewer rows, columns, requirements and keys."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fuzz.case import FuzzCase

Fails = Callable[[FuzzCase], bool]


def shrink(case: FuzzCase, fails: Fails, *, tries: int = 300) -> FuzzCase:
    """Take away what can be taken away; `fails` says whether a smaller case still fails in the same way."""
    left = tries
    while left > 0:
        for smaller in _smaller(case):
            left -= 1
            if left <= 0 or fails(smaller):
                break
        else:
            return case
        if left > 0:
            case = smaller
    return case


def _smaller(case: FuzzCase) -> Iterator[FuzzCase]:
    """Smaller cases, the boldest first."""
    rows = len(case.rows)
    part = rows // 2
    while part:
        for start in range(0, rows, part):
            kept = [row for row in range(rows) if not start <= row < start + part]
            if kept:
                yield case.select(kept)
        part //= 2
    for place in range(len(case.rules) if len(case.rules) > 1 else 0):
        yield case.with_document(privacy=[rule for i, rule in enumerate(case.rules) if i != place])
    for name in case.columns:
        if len(case.columns) > 1:
            yield _without_column(case, name)
    for table in ("algorithm", "publish"):
        for key in case.document.get(table, {}):
            keys = {other: value for other, value in case.document[table].items() if other != key}
            yield case.with_document(**{table: keys})
    for name, entry in case.document["columns"].items():
        for key in ("least", "weight"):
            if key in entry:
                fewer = {other: value for other, value in entry.items() if other != key}
                yield case.with_document(columns={**case.document["columns"], name: fewer})
        if entry["role"] == "quasi" and entry.get("hierarchy") != "suppress":
            simple = {"role": "quasi", "hierarchy": "suppress"}
            yield case.with_document(columns={**case.document["columns"], name: simple})
    if case.way != "csv" and all(kind == "string" for kind in case.types.values()):
        yield replace(case, way="csv")


def _without_column(case: FuzzCase, name: str) -> FuzzCase:
    """The case without a column; requirements that name it fail to be read, which is another failure."""
    document: dict[str, Any] = {
        **case.document,
        "columns": {other: entry for other, entry in case.document["columns"].items() if other != name},
    }
    columns = {other: cells for other, cells in case.columns.items() if other != name}
    return replace(case, columns=columns, types={other: case.types[other] for other in columns}, document=document)
