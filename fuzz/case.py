"""A case: a table, a policy and the files that the policy names, as plain data that can be written down and read again.

Cells are texts, ``None`` for NULL. A column has the type that it comes in; the text of a cell is what that type prints,
so that whoever checks a release needs texts alone.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather  # noqa: PLR0402 - as the others
import pyarrow.parquet as pq

Text = str | None
Row = dict[str, Text]

TYPES: dict[str, Any] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "date": pa.date32(),
    "bool": pa.bool_(),
    "category": pa.dictionary(pa.int32(), pa.string()),
}
"""The types of columns, by the names that cases give them."""


UNUSED = "categoryofnobody"
"""A category that columns of categories have, and no row."""
FILES = ("csv", "parquet", "feather", "jsonl")
"""The ways in which a table comes in as a file."""


@dataclass(frozen=True)
class FuzzCase:
    """What one run of sfumato is given.

    `columns` are the cells by name, and `types` their types; `document` is the policy, `files` the texts of the files
    that stand beside it, and `way` how the table comes in: as a file (csv, parquet) or as a frame. `known` are values
    of columns that earlier releases were made of.
    """

    seed: int
    columns: dict[str, list[Text]]
    types: dict[str, str]
    document: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    way: str = "csv"
    known: dict[str, list[Text]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[Row]:
        """The table row by row."""
        return [dict(zip(self.columns, cells, strict=True)) for cells in zip(*self.columns.values(), strict=True)]

    def names(self, role: str) -> list[str]:
        """The columns of a role, in the table's order."""
        return [name for name in self.columns if self.document["columns"][name]["role"] == role]

    @property
    def person(self) -> str | None:
        """The column that says whose row it is."""
        return next(iter(self.names("individual")), None)

    @property
    def nulls(self) -> list[str]:
        """The texts that the policy reads as missing."""
        return list(self.document.get("data", {}).get("null", [""]))

    @property
    def rules(self) -> list[dict[str, Any]]:
        """The requirements."""
        return list(self.document["privacy"])

    @property
    def algorithm(self) -> dict[str, Any]:
        """The [algorithm] table."""
        return dict(self.document.get("algorithm", {}))

    @property
    def form(self) -> str:
        """The form of the release."""
        return str(self.document.get("publish", {}).get("form", "generalized"))

    @property
    def identity(self) -> str:
        """The column of which every row has its own value, where there is one: it tells which row was published."""
        return "tag" if "tag" in self.columns else ""

    def with_document(self, **tables: Any) -> "FuzzCase":
        """Make the same case under a policy with other tables."""
        return replace(self, document={**self.document, **tables})

    def select(self, rows: list[int]) -> "FuzzCase":
        """Make the same case of some of the rows."""
        return replace(self, columns={name: [cells[i] for i in rows] for name, cells in self.columns.items()})

    def write(self, folder: Path) -> None:
        """Write the case for people and for `read`: the case itself, and its files as sfumato reads them."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "seed": self.seed,
            "way": self.way,
            "types": self.types,
            "document": self.document,
            "files": self.files,
            "known": self.known,
            "columns": self.columns,
        }
        (folder / "case.json").write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
        self.write_inputs(folder)

    @classmethod
    def read(cls, folder: Path) -> "FuzzCase":
        """Read a case that was written."""
        content = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        return cls(**content)

    def write_inputs(self, folder: Path) -> None:
        """Write the files that the policy names, the table among them where it comes in as a file."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
        if self.way == "csv":
            separator = self.document.get("data", {}).get("separator", ",")
            text = write_csv_text(list(self.columns), self.rows, nulls=self.nulls, separator=separator)
            (folder / "table.csv").write_text(text, encoding="utf-8", newline="")
        else:
            self.write_table(folder / f"table.{self.way if self.way in FILES else 'parquet'}")

    def write_table(self, path: Path) -> None:
        """Write the table as a file of the kind that its name says."""
        table = self.arrow()
        if path.suffix == ".jsonl":
            lines = [json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist()]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        elif path.suffix == ".feather":
            feather.write_feather(table, path)
        else:
            pq.write_table(table, path)

    def data(self, folder: Path) -> Any:
        """What `sfumato.anonymize` is handed: the path of a file, or a frame."""
        if self.way in FILES:
            return folder / f"table.{self.way}"
        table = self.arrow()
        if self.way == "pandas":
            return table.to_pandas(integer_object_nulls=True, date_as_object=True)
        if self.way == "duckdb":
            import duckdb  # noqa: PLC0415 - same

            return duckdb.from_arrow(table)
        if self.way == "polars":
            import polars as pl  # noqa: PLC0415 - few cases need it, and it takes a while

            return pl.from_arrow(table)
        return table

    def arrow(self) -> Any:
        """The table as Arrow, each column in its type."""
        return pa.table({name: to_arrow(cells, self.types[name]) for name, cells in self.columns.items()})


def to_arrow(cells: list[Text], kind: str) -> Any:
    """Turn texts into an Arrow array of a type.

    >>> to_arrow(["1", None], "int64").to_pylist()
    [1, None]
    """
    texts = pa.array(cells, pa.string())
    if kind != "category":
        return texts.cast(TYPES[kind])
    coded = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, pa.concat_arrays([coded.dictionary, pa.array([UNUSED])]))


def printed(values: list[Any], kind: str) -> list[Text]:
    """The texts that values of a type are printed as.

    >>> printed([1.0, 2.5, None], "double")
    ['1', '2.5', None]
    """
    texts: list[Text] = pa.array(values, TYPES[kind]).cast(pa.string()).to_pylist()
    return texts


def write_csv_text(names: list[str], rows: list[Row], *, nulls: list[str], separator: str = ",") -> str:
    """Write rows as CSV: NULL is the first of the null texts without quotes, and no other cell could be taken for it.

    >>> print(write_csv_text(["a", "b"], [{"a": None, "b": ""}, {"a": "x,y", "b": "q"}], nulls=[""]))
    a,b
    ,""
    "x,y",q
    <BLANKLINE>
    """

    def cell(text: Text) -> str:
        if text is None:
            return nulls[0]
        special = set(text) & {separator, '"', "\r", "\n"} or text != text.strip() or text in nulls or not text
        return '"' + text.replace('"', '""') + '"' if special else text

    lines = [separator.join(map(cell, names))]
    lines += [separator.join(cell(row[name]) for name in names) for row in rows]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class CsvCell:
    """A cell as it stands in a file: its text, and whether it was in quotes."""

    text: str
    quoted: bool


def read_csv_text(text: str, separator: str = ",") -> list[list[CsvCell]]:
    r"""Read CSV cell by cell, so that an empty cell and a quoted empty text can be told apart.

    >>> [(cell.text, cell.quoted) for cell in read_csv_text('a,"b""c"\n,""\n')[1]]
    [('', False), ('', True)]
    """
    records: list[list[CsvCell]] = []
    cells: list[CsvCell] = []
    letters: list[str] = []
    stream, quoted = io.StringIO(text, newline=""), False
    while letter := stream.read(1):
        if letter == '"' and not letters and not quoted:
            quoted = True
            while letter := stream.read(1):
                if letter == '"':
                    place = stream.tell()
                    if stream.read(1) != '"':
                        stream.seek(place)
                        break
                letters.append(letter)
        elif letter in {separator, "\n"}:
            cells.append(CsvCell("".join(letters), quoted))
            letters, quoted = [], False
            if letter == "\n":
                records.append(cells)
                cells = []
        else:
            letters.append(letter)
    if letters or cells or quoted:
        records.append([*cells, CsvCell("".join(letters), quoted)])
    return records


def read_rows(text: str, nulls: list[str], separator: str = ",") -> tuple[list[str], list[Row]]:
    r"""Read CSV as names and rows; a cell that is one of the null texts, and not in quotes, is NULL.

    >>> read_rows('a,b\n,""\n', [""])
    (['a', 'b'], [{'a': None, 'b': ''}])
    """
    head, *records = read_csv_text(text, separator)
    names = [cell.text for cell in head]
    rows: list[Row] = []
    for cells in records:
        if len(cells) != len(names):
            raise ValueError(f"a record has {len(cells)} cells, and the header {len(names)}")
        texts = [None if not cell.quoted and cell.text in nulls else cell.text for cell in cells]
        rows.append(dict(zip(names, texts, strict=True)))
    return names, rows


def policy_texts(value: Any) -> set[str]:
    """Every text and number of a policy: what it declares, such as the ends of a domain, may stand in a public file.

    >>> sorted(policy_texts({"a": [{"b": "c"}, -840852817633]}))
    ['-840852817633', 'a', 'b', 'c']
    """
    if isinstance(value, str):
        return {value}
    if isinstance(value, int | float):
        return {str(value)}
    if isinstance(value, Mapping):
        return set(value) | {text for item in value.values() for text in policy_texts(item)}
    if isinstance(value, list | tuple):
        return {text for item in value for text in policy_texts(item)}
    return set()
