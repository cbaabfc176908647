"""Two tables as codes: the quasi-identifiers of each line of NSS, its class, and the bag of each class.

What a query or an attack works on: it holds what the two files hold, and no way back to which line of one belongs to
which line of the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram, count_values
from sfumato.encode import CodedColumn, EncodedTable, encode_column, value_totals
from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.recode import Recoding
from sfumato.table import read
from sfumato.table.guard import guarded, unguarded


@dataclass(frozen=True, eq=False)
class TwoTables:
    """NSS line by line, SS class by class.

    `quasi` are the quasi-identifiers, a code per line of NSS; `owner` is the class of each line, `sizes` the lines of
    each class, and `bags` how often each sensitive value stands in each class, by column.
    """

    quasi: tuple[CodedColumn, ...]
    class_of: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]

    @property
    def rows(self) -> int:
        """Lines of either table."""
        return len(self.class_of)


def of_recoding(encoded: EncodedTable, recoding: Recoding) -> TwoTables:
    """The two tables that a grouping of rows becomes, before any of it is shuffled."""
    assert recoding.group is not None  # noqa: S101 - two tables are made of groups; this tells the type checker
    rows = np.flatnonzero(recoding.group >= 0)
    owner = recoding.group[rows]
    quasi = tuple(replace(one.column, codes=one.column.codes.take(rows)) for one in encoded.quasi)
    sensitive = {name: replace(column, codes=column.codes.take(rows)) for name, column in encoded.sensitive.items()}
    bags = {name: _bag(column, owner) for name, column in sensitive.items()}
    return TwoTables(quasi, owner, np.bincount(owner), bags)


def of_files(public: Path, manifest: Mapping[str, Any]) -> TwoTables:
    """The two tables of a release, from its files."""
    name = manifest["class_id"]
    nss = coded(public / manifest["nss"], manifest, [name, *columns_of(manifest, "quasi")])
    known, owner, sizes = np.unique(_ids(nss[name]), return_inverse=True, return_counts=True)
    bags: dict[str, Histogram] = {}
    for file in manifest["ss"]:
        sensitive = [column for column in columns_of(manifest, "sensitive") if _table(manifest, column) == file]
        ss = coded(public / file, manifest, [name, *sensitive])
        place = _among(known, sizes, _ids(ss[name]), file)
        bags |= {column: _bag(ss[column], place) for column in sensitive}
    quasi = tuple(nss[column] for column in columns_of(manifest, "quasi"))
    return TwoTables(quasi, owner, sizes, bags)


def _among(known: IntArray, sizes: IntArray, ids: IntArray, file: str) -> IntArray:
    """The places of class numbers among those of NSS, which must be the same, as often."""
    found, counts = np.unique(ids, return_counts=True)
    if not (np.array_equal(found, known) and np.array_equal(counts, sizes)):
        why = f"{file} does not have as many rows of each class as the first table of the release"
        raise DataError(f"{why}; it was changed after publication: see sfumato verify")
    return np.searchsorted(known, ids)


def _bag(column: CodedColumn, owner: IntArray) -> Histogram:
    return count_values(owner, column.codes.astype(np.int64), np.ones(len(owner), dtype=np.int64), value_totals(column))


def columns_of(manifest: Mapping[str, Any], role: str) -> list[str]:
    """The names of the columns of a role, in the order of the manifest."""
    return [column["name"] for column in manifest["columns"] if column["role"] == role]


def _table(manifest: Mapping[str, Any], name: str) -> Any:
    return next(column["table"] for column in manifest["columns"] if column["name"] == name)


def coded(path: Path, manifest: Mapping[str, Any], names: list[str]) -> dict[str, CodedColumn]:
    """Columns of a published file as codes, the guard against formulas taken away."""
    csv = "csv" in manifest
    written = {guarded(name) if csv else name: name for name in names}
    others = [column["name"] for column in manifest["columns"] if column.get("table", path.name) == path.name]
    quasi, identifier = {"role": "quasi", "hierarchy": "suppress"}, {"role": "identifier"}
    columns = {guarded(name) if csv else name: identifier for name in others} | dict.fromkeys(written, quasi)
    data = {"null": [manifest["csv"]["null"]], "separator": ","} if csv else {}
    rules = load({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    table = read(path, rules)
    return {name: _unguarded(encode_column(table, there), name, csv=csv) for there, name in written.items()}


def _unguarded(column: CodedColumn, name: str, *, csv: bool) -> CodedColumn:
    texts = tuple(unguarded(text) if csv and text is not None else text for text in column.texts)
    return replace(column, name=name, texts=texts)


def _ids(column: CodedColumn) -> IntArray:
    try:
        numbers = np.array([int(text or "") for text in column.texts], dtype=np.int64)
    except (ValueError, OverflowError):
        raise DataError(f"column '{column.name}' of the release does not hold class numbers; it was changed") from None
    return numbers.take(column.codes)
