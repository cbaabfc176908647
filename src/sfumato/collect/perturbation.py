"""Perturbation: rows go in as they are and come out as the noise says, before anybody stores them.

`perturb` takes a frame. `perturb_stream` is a filter for files and pipes of any length: rows are read, perturbed and
written in batches, and a batch ends where the input has nothing more to give just now, so that somebody who types a
row sees it come out. Randomness is the operating system's, except where a seed is asked for by a test.

Every column must be known to the noise. One that is not would leave as it is, and that has to be said on purpose
(``{"kind": "plain"}``). An answer that was left out is sent as left out.
"""

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.correlated_noise import correlated_deviations
from sfumato.collect.noise import ColumnNoise, Noise, Unperturbed
from sfumato.collect.reports import PART, read_codes, read_numbers, read_sets, write_sets
from sfumato.core.randomness import Randomness
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import DataError, OutputError, listing
from sfumato.reading.outside_table import outside_column_names, read_outside_table
from sfumato.table.formula_guard import guard_formula, unguard_formula
from sfumato.table.frames import frame_kind, frame_of_kind
from sfumato.table.text_records import TEXT_SUFFIXES, TextRecords

_BATCH = 8192


def perturb(data: Any, noise: Any, *, seed: int | None = None) -> Any:
    """Perturb every row of a frame; a frame of the same kind comes out, a path or a list of columns as an Arrow table.

    >>> import pyarrow
    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "age": {"kind": "uniform", "half_width": 10, "domain": [0, 100]}}})
    >>> report = perturb(pyarrow.table({"age": [50]}), noise)["age"][0].as_py()
    >>> 40 <= report <= 60
    True
    """
    known = Noise.load(noise)
    names = outside_column_names(data, {})
    _check_known(names, known)
    table = read_outside_table(data, names, {}).arrow
    randomness = Randomness(seed)
    columns = perturb_columns([table[name] for name in names], names, known, randomness)
    perturbed = pa.table(dict(zip(names, columns, strict=True)))
    return frame_of_kind(perturbed, frame_kind(data)) if not isinstance(data, str | os.PathLike) else perturbed


def perturb_columns(columns: Sequence[Any], names: Sequence[str], noise: Noise, randomness: Randomness) -> list[Any]:
    """Perturb columns of Arrow, row by row: numbers as float64, answers and sets as text, plain columns as they are."""
    rows = len(columns[0]) if columns else 0
    drawn = correlated_deviations(noise, rows, randomness)
    return [
        _perturb_column(cells, name, noise.columns[name], randomness, drawn.get(name))
        for cells, name in zip(columns, names, strict=True)
    ]


def _perturb_column(
    cells: Any, name: str, entry: ColumnNoise, randomness: Randomness, drawn: NDArray[np.float64] | None
) -> Any:
    """Perturb one column; `drawn` are the deviations of its rows where they go together with those of other columns."""
    if isinstance(entry, Unperturbed):
        return cells
    if isinstance(entry, AdditiveNoise):
        values = read_numbers(cells, name)
        there = ~np.isnan(values)
        entry.check_values(np.where(there, values, entry.domain[0]), name)
        reports = np.full(len(values), np.nan)
        deviations = entry.draw(int(there.sum()), randomness) if drawn is None else drawn[there]
        reports[there] = entry.add(values[there], deviations)
        return pa.array(reports, from_pandas=True)
    if isinstance(entry, FlipNoise):
        return pa.array(write_sets(entry.perturb(read_sets(cells, entry.items, name), randomness), entry.items))
    codes = read_codes(cells, entry.values, name)
    there = codes >= 0
    answers = np.full(len(codes), None, dtype=object)
    if isinstance(entry, UnaryNoise):
        answers[there] = write_sets(entry.perturb(codes[there], randomness), entry.values, empty=PART)
    else:
        answers[there] = np.array(entry.values, dtype=object)[entry.perturb(codes[there], randomness)]
    return pa.array(answers, pa.string())


def _check_known(names: Sequence[str], noise: Noise) -> None:
    """Refuse columns that the noise does not know, and a table that lacks one it does."""
    unknown = [name for name in names if name not in noise.columns]
    if unknown:
        raise DataError(
            f"the noise does not know the column {listing(unknown)}, which would leave as it is; "
            'leave it out of the data, or give it a noise (or "kind": "plain" if it may be seen by anybody)'
        )
    missing = [name for name in noise.columns if name not in names]
    if missing:
        raise DataError(
            f"the data has no column {listing(missing)}, which the noise perturbs; add it, or mend the noise"
        )


def perturb_stream(
    source: str | Path, noise: Noise, target: str | Path, *, seed: int | None = None, separator: str | None = None
) -> int:
    """Perturb a table file or standard input (``-``) into a CSV file or standard output (``-``); give the rows.

    A file appears whole or not at all. What is on standard output has been sent, whatever comes after.
    """
    randomness = Randomness(seed)
    batches = _read_batches(source, separator)
    names = next(batches)
    _check_known(names, noise)
    if str(target) == "-":
        output = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="")
        try:
            return _write_rows(batches, names, noise, randomness, output)
        finally:
            output.detach()  # standard output stays open for whoever writes to it next
    path = Path(target)
    stage = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with stage.open("w", encoding="utf-8", newline="") as file:
                rows = _write_rows(batches, names, noise, randomness, file)
                file.flush()
                os.fsync(file.fileno())
            stage.replace(path)
        finally:
            with suppress(FileNotFoundError):
                stage.unlink()
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or type(error).__name__}; choose another") from None
    return rows


def _write_rows(
    batches: Iterator[list[str]], names: list[str], noise: Noise, randomness: Randomness, file: IO[str]
) -> int:
    """Perturb and write batch after batch, each flushed when it is done."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([guard_formula(name) for name in names])
    file.flush()
    rows = 0
    formats = [_cell_format(noise.columns[name]) for name in names]
    for batch in batches:
        columns = [pa.array(cells, pa.string()) for cells in zip(*batch, strict=True)]
        try:
            perturbed = perturb_columns(columns, names, noise, randomness)
        except DataError as error:
            raise _count_from(error, rows) from None
        texts = [[write(cell) for cell in column.to_pylist()] for write, column in zip(formats, perturbed, strict=True)]
        writer.writerows(zip(*texts, strict=True))
        file.flush()
        rows += len(batch)
    if not rows:
        raise DataError("the data has no rows; there is nothing to perturb")
    return rows


def _cell_format(entry: ColumnNoise) -> Callable[[Any], str]:
    """Choose how a cell is written: a number with the decimal places of its grid, a text guarded against formulas."""
    if isinstance(entry, AdditiveNoise):
        decimals = max(entry.decimals, 0)
        return lambda cell: "" if cell is None else f"{cell:.{decimals}f}"
    return lambda cell: "" if cell is None else guard_formula(str(cell))


def _count_from(error: DataError, rows: int) -> DataError:
    """Count the row that an error names from the beginning of the input, not of the batch."""
    if not rows:
        return error
    return DataError(re.sub(r"in row ([\d,]+)", lambda m: f"in row {int(m[1].replace(',', '')) + rows:,}", str(error)))


def _read_batches(source: str | Path, separator: str | None) -> Iterator[Any]:
    """Read a header, then rows in batches: a pipe as it comes, text in pieces, Parquet by groups, all else at once."""
    path = Path(source)
    if str(source) == "-":
        yield from _read_text(io.FileIO(0, "rb", closefd=False), "standard input", separator)
    elif path.suffix.lower() in TEXT_SUFFIXES:
        with open_regular_file(path) as file:
            yield from _read_text(file.raw, path.name, separator)
    else:
        names = outside_column_names(path, {})
        yield names
        table = read_outside_table(path, names, {}).arrow
        for batch in table.to_batches(max_chunksize=_BATCH):
            columns = [[None if cell is None else str(cell) for cell in column.to_pylist()] for column in batch.columns]
            yield list(zip(*columns, strict=True))


def _read_text(file: Any, name: str, separator: str | None) -> Iterator[Any]:
    """Read CSV from a file or a pipe: the header, then all rows that are there, up to a batch, before it waits."""
    records = TextRecords(file, name, separator)
    yield records.names
    batch: list[list[str | None]] = []
    for record in records:
        batch.append([unguard_formula(cell) or None for cell in record])
        if len(batch) >= _BATCH or not records.ready():
            yield batch
            batch = []
    if batch:
        yield batch
