"""Hierarchy files, in and out: one line per leaf, ``leaf,parent,…,*``."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from sfumato.errors import HierarchyError, OutputError, PolicyError
from sfumato.hierarchy.base import ROOT, Hierarchy

_SEPARATORS = ",;\t"
Line = tuple[int, list[str]]


def read(path: Path) -> list[Line]:
    r"""The lines of a hierarchy file with their numbers: all end in the root and are equally long.

    A shorter line repeats the label before the root. Blank lines and empty cells after the root are left out.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = file.write_text("cook;service;*\nnone;*")
    >>> read(file)
    [(1, ['cook', 'service', '*']), (2, ['none', 'none', '*'])]
    """
    lines = _split(_text(path), path.name)
    if not lines:
        raise HierarchyError(f"{path.name} is empty; write one line per leaf, as in leaf,parent,*")
    for line, cells in lines:
        _check(cells, f"{path.name}, line {line}")
    depth = max(len(cells) for _, cells in lines)
    return [(line, [*cells[:-1], *[cells[-2]] * (depth - len(cells)), ROOT]) for line, cells in lines]


def write(hierarchy: Hierarchy, path: Path) -> None:
    """Writes a hierarchy as a file; what is shown is what is applied.

    Reading it again and binding it to the same values gives the same matrix and labels, and the same losses
    and ranks where the bound values are the whole domain. NULL is an empty cell.

    >>> import tempfile
    >>> from sfumato.hierarchy.mask import Mask
    >>> file = Path(tempfile.mkdtemp(), "zip.csv")
    >>> write(Mask("right").bind(["43", "41"], column="zip"), file)
    >>> file.read_text().splitlines()
    ['43,4*,*', '41,4*,*']
    """
    if {None, ""} <= set(hierarchy.labels[0]):
        raise HierarchyError(f"{path.name}: a file cannot tell NULL from the empty text; mend one of them")
    out = io.StringIO(newline="")
    # Lines end in CR LF, since csv quotes just the line ends that it writes, and a value may hold either.
    csv.writer(out).writerows(_rows(hierarchy))
    try:
        path.write_bytes(out.getvalue().encode())
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}") from error


def _rows(hierarchy: Hierarchy) -> Iterator[list[str]]:
    ranks = range(len(hierarchy.matrix)) if hierarchy.ranks is None else hierarchy.ranks.tolist()
    codes = hierarchy.matrix.tolist()
    for leaf in sorted(range(len(codes)), key=ranks.__getitem__):
        yield [level[code] or "" for level, code in zip(hierarchy.labels, codes[leaf], strict=True)]


def _text(path: Path) -> str:
    data = _bytes(path)
    save = "save it as UTF-8 text"
    if b"\0" in data:
        raise HierarchyError(f"{path.name} is not a text file: byte {data.index(0)} is NUL; {save}")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise HierarchyError(f"{path.name} is not UTF-8 at byte {error.start}; {save}") from error


def _bytes(path: Path) -> bytes:
    try:
        special = path.exists() and not path.is_file()
        data = b"" if special else path.read_bytes()
    except (OSError, ValueError) as error:
        raise PolicyError(f"{path.name} cannot be read: {getattr(error, 'strerror', error)}") from error
    if special:
        raise PolicyError(f"{path.name or 'it'} is a folder or a device, not a hierarchy file")
    return data


def _split(text: str, name: str) -> list[Line]:
    """Under each separator in turn; the right one makes most lines end in the root, and most cells."""
    found = [_rows_of(text, separator) for separator in _SEPARATORS]
    if not any(isinstance(lines, list) for lines in found):
        raise HierarchyError(f"{name} is not a CSV file: {found[0]}; mend its quotes")
    return max((lines for lines in found if isinstance(lines, list)), key=_fit)


def _rows_of(text: str, separator: str) -> list[Line] | str:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        lines = [(reader.line_num, _trimmed(cells)) for cells in reader]
    except csv.Error as error:
        return f"line {reader.line_num}, {error}"
    return [(line, cells) for line, cells in lines if cells]


def _trimmed(cells: list[str]) -> list[str]:
    """Without empty cells at the end, which spreadsheets add to lines shorter than others."""
    while cells and not cells[-1]:
        cells = cells[:-1]
    return cells


def _fit(lines: list[Line]) -> tuple[int, int]:
    rooted = sum(len(cells) > 1 and cells[-1] == ROOT for _, cells in lines)
    return rooted, sum(len(cells) for _, cells in lines)


def _check(cells: list[str], where: str) -> None:
    if cells[-1] != ROOT:
        fault = f"ends in {cells[-1]!r} and not in the common root '*'"
        raise HierarchyError(f"{where} {fault}; end every line in '*', and leave out a header")
    if len(cells) < 2:
        raise HierarchyError(f"{where} has a root and no leaf; write it as leaf,parent,*")
    # An empty label would be read as NULL; on NULL's own line that is what it is to say.
    if cells[0] and "" in cells:
        raise HierarchyError(f"{where} has an empty label at level {cells.index('')}; give it a name")
