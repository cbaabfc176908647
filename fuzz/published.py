"""A release as whoever gets the public folder reads it: with nothing but a CSV reader, Arrow and the documentation."""

import html
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.case import CsvCell, FuzzCase, Row, Text, read_csv_text

_GUARDED = re.compile(r"'+[=+\-@\t\r\0]")
_FORMULA = re.compile(r"[=+\-@\t\r\0]")
_NEGATIVE = re.compile(r"-(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class PublishedFiles:
    """The public folder of a release of a case."""

    case: FuzzCase
    public: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest."""
        content: dict[str, Any] = json.loads((self.public / "manifest.json").read_text(encoding="utf-8"))
        return content

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """The rows of each table, by the name of its file; the first has the quasi-identifiers."""
        names = [self.manifest["table"]] if "table" in self.manifest else [self.manifest["nss"], *self.manifest["ss"]]
        return {name: self._read(name) for name in names}

    @property
    def class_id(self) -> str | None:
        """The column that two tables share."""
        name: str | None = self.manifest.get("class_id")
        return name

    @property
    def first(self) -> list[Row]:
        """The table with the quasi-identifiers."""
        return next(iter(self.tables.values()))

    @cached_property
    def classes(self) -> list[list[Row]]:
        """The rows of each class; of two tables, lines of the same class put together in any order."""
        class_id = self.class_id
        groups: dict[tuple[Text, ...], list[Row]] = {}
        if class_id is None:
            for row in self.first:
                groups.setdefault(tuple(row[name] for name in self.case.names("quasi")), []).append(row)
            return list(groups.values())
        for number, rows in enumerate(self.tables.values()):
            taken: Counter[tuple[Text, ...]] = Counter()
            for row in rows:
                key = (row[class_id],)
                if number == 0:
                    groups.setdefault(key, []).append(dict(row))
                else:
                    groups[key][taken[key]].update(row)
                taken[key] += 1
        return list(groups.values())

    def _read(self, name: str) -> list[Row]:
        if name.endswith(".parquet"):
            table = pq.read_table(self.public / name)
            columns = {each: table.column(each).cast(pa.string()).to_pylist() for each in table.column_names}
            return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        _, *records = self.cells(name)
        names, null = self.header(name), self.manifest["csv"]["null"]
        rows: list[Row] = []
        for cells in records:
            if len(cells) != len(names):
                raise ValueError(f"{name}: a record has {len(cells)} cells, and the header {len(names)}")
            texts = [None if not cell.quoted and cell.text == null else unguard(cell.text) for cell in cells]
            rows.append(dict(zip(names, texts, strict=True)))
        return rows

    def cells(self, name: str) -> list[list[CsvCell]]:
        """The cells of a CSV file as they are written."""
        return read_csv_text((self.public / name).read_bytes().decode("utf-8"))

    def header(self, name: str) -> list[str]:
        """The names of the columns of a CSV file."""
        return [unguard(cell.text) for cell in self.cells(name)[0]]

    def formulas(self) -> list[str]:
        """Cells that a spreadsheet would run."""
        found = []
        for name in self.tables:
            if name.endswith(".csv"):
                for cells in self.cells(name):
                    texts = [cell.text for cell in cells]
                    found += [text for text in texts if _FORMULA.match(text) and not _NEGATIVE.fullmatch(text)]
        return found

    @cached_property
    def everything(self) -> bytes:
        """All that the public folder says: the bytes of its files, and what JSON, HTML and Parquet hide in them."""
        parts: list[bytes] = []
        for path in sorted(self.public.rglob("*")):
            raw = path.read_bytes()
            parts.append(raw)
            if path.suffix == ".json":
                parts.append(json.dumps(json.loads(raw), ensure_ascii=False).encode())
                parts.append("\n".join(_strings(json.loads(raw))).encode())
            elif path.suffix == ".html":
                parts.append(html.unescape(raw.decode("utf-8")).encode())
            elif path.suffix == ".parquet":
                table = pq.read_table(path)
                for column in table.columns:
                    for chunk in column.chunks:
                        values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
                        parts += [str(value).encode() for value in values.cast(pa.string()).to_pylist()]
        return b"\n".join(parts)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in _strings(item))]
    return [text for item in value for text in _strings(item)] if isinstance(value, list) else []


def unguard(text: str) -> str:
    """Reverse the formula rule.

    >>> unguard("'=1+1"), unguard("''=1"), unguard("'tis"), unguard("-5")
    ('=1+1', "'=1", "'tis", '-5')
    """
    return text[1:] if _GUARDED.match(text) else text
