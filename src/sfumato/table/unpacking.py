"""Compressed files: gzip, Zstandard, and zip archives of one file, unpacked into memory and never onto a disk.

What is in a file may be a thousand times its size. So it is counted while it is unpacked, and what does not fit into
the memory that may be used is refused as soon as that shows.
"""

import gzip
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from sfumato.core.memory import check_memory, find_memory_allowed
from sfumato.errors import DataError, is_lack_of_memory, listing
from sfumato.table.table import PackedFile, TableFile, UnpackedFile, open_table_file

_PIECE = 1 << 20
_MARKS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"}
_ENDINGS = (".gz", ".gzip", ".zst", ".zstd", ".zip")
_ZIPPED = (".xlsx", ".xlsm", ".xlsb", ".ods")
"""Workbooks, which are zip archives and formats of their own."""
_STRAY = ("__MACOSX/", ".DS_Store")
_ENCRYPTED = 1
_DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    zlib.error,
    zipfile.BadZipFile,
    pa.ArrowException,
)
"""What the libraries raise of a file that is none of theirs."""


def find_compression(path: Path) -> str | None:
    """Tell how a file is compressed, by its first bytes; ``None`` where it is not, or is a workbook."""
    if path.suffix.lower() in _ZIPPED:
        return None
    with open_table_file(path) as file:
        head = file.read(4)
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)


def packed(path: Path) -> PackedFile:
    """Give what is in a compressed file as a file that is unpacked while it is read, and never held.

    Its beginning is looked at here; what is damaged further on is refused where it is reached.
    """
    compression = find_compression(path)
    assert compression is not None  # noqa: S101 - whoever asks has found one
    with _opened_content(path, compression) as (suffix, _):
        pass

    def opener() -> BufferedReader:
        return BufferedReader(_UnpackedStream(path, compression), _PIECE)

    return PackedFile(path.name, suffix, opener)


class _UnpackedStream(RawIOBase):
    """The content of a compressed file, as bytes from its beginning on; what is damaged is a `DataError`."""

    def __init__(self, path: Path, compression: str) -> None:
        self._path, self._compression = path, compression
        self._stack = ExitStack()
        _, self._content = self._stack.enter_context(_opened_content(path, compression))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack the next bytes."""
        with _said_damaged(self._path, self._compression):
            piece = self._content.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close the file as well."""
        self._stack.close()
        super().close()


@contextmanager
def _opened_content(path: Path, compression: str) -> Iterator[tuple[str, Any]]:
    """Open a compressed file to read what is in it; gives its ending as well."""
    with open_table_file(path) as file:
        with _said_damaged(path, compression):
            suffix, content = _OPENERS[compression](file, path)
        with content:
            yield suffix, content


@contextmanager
def _said_damaged(path: Path, compression: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise DataError(
            f"{path.name} cannot be unpacked as {compression}: it is damaged or cut off; fetch it once more"
        ) from None


@contextmanager
def unpacked(path: Path, *, most: int | None = None) -> Iterator[TableFile]:
    """Give what is in a compressed file as a file, and any other file as it is; of `most` bytes only the first.

    Raises:
        DataError: it is damaged, holds several files, or more than fits into memory.
    """
    compression = find_compression(path)
    if compression is None:
        yield path
        return
    with _said_damaged(path, compression), _opened_content(path, compression) as (suffix, content):
        descriptor = _unpack(content, path, most)
    try:
        yield UnpackedFile(path.name, suffix, descriptor)
    finally:
        os.close(descriptor)


def _unpack(content: Any, path: Path, most: int | None) -> int:
    """Copy the content into memory, piece by piece, and return the descriptor that it lies under."""
    allowed, size = find_memory_allowed(), 0
    descriptor = os.memfd_create("sfumato", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as target:
            while (most is None or size < most) and (piece := content.read(_PIECE)):
                size += len(piece)
                if size > allowed:
                    check_memory(size, f"{path.name}, unpacked,")
                target.write(piece)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _open_gzip(file: BufferedReader, path: Path) -> tuple[str, gzip.GzipFile]:
    return _inner_suffix(path.name), gzip.GzipFile(fileobj=file)


def _open_zstandard(file: BufferedReader, path: Path) -> tuple[str, Any]:
    return _inner_suffix(path.name), pa.CompressedInputStream(pa.PythonFile(file), "zstd")


def _open_zip(file: BufferedReader, path: Path) -> tuple[str, IO[bytes]]:
    """Open the one file that an archive holds; folders and what some systems add are no files."""
    archive = zipfile.ZipFile(file)
    if {"[Content_Types].xml", "content.xml"} & set(archive.namelist()):
        raise DataError(f"{path.name} is a workbook or a document; let its name end in .xlsx or .ods if it is one")
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith(_STRAY)]
    if len(members) != 1:
        names = f": {listing((one.filename for one in members), most=5)}" if members else ""
        raise DataError(f"{path.name} holds {len(members)} files{names}; take the table out, or pack it alone")
    (member,) = members
    if member.flag_bits & _ENCRYPTED:
        raise DataError(f"{path.name} is encrypted; unpack it, and name the file that was in it")
    return _inner_suffix(member.filename), archive.open(member)


_OPENERS: dict[str, Callable[[BufferedReader, Path], tuple[str, Any]]] = {
    "gzip": _open_gzip,
    "Zstandard": _open_zstandard,
    "zip": _open_zip,
}


def _inner_suffix(name: str) -> str:
    """Find the ending of what is in a compressed file of this name.

    >>> _inner_suffix("visits.csv.gz"), _inner_suffix("visits.gz"), _inner_suffix("data/visits.TSV")
    ('.csv', '', '.tsv')
    """
    path = PurePosixPath(name)
    path = path.with_suffix("") if path.suffix.lower() in _ENDINGS else path
    return path.suffix.lower()
