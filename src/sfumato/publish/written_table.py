"""A table as it was written: one file, or a folder of several that are one table.

A large table is cut into files, ``table/part-00000.csv`` and on. Their names are numbers, and nothing in them says who
wrote which: neither names nor contents tell of the machine or of how the work was shared. Every file of CSV has the
header, so that each can be read by itself, and all have the same columns, in the same order and of the same types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.table.several_files import list_digest


@dataclass(frozen=True)
class WrittenTable:
    """A table as it was written: its file, and the SHA-256 of its bytes in hexadecimal.

    Where it is several files, `path` is their folder, `parts` are the files in their order, and the SHA-256 is that of
    the list of theirs, as ``sha256sum *`` prints it in the folder.
    """

    path: Path
    sha256: str
    parts: "tuple[WrittenTable, ...]" = ()

    @property
    def files(self) -> "tuple[WrittenTable, ...]":
        """Its files: itself, or its parts."""
        return self.parts or (self,)

    def entries(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of its files, by their paths below ``public``."""
        folder = f"{self.path.name}/" if self.parts else ""
        return {
            f"{folder}{file.path.name}": {"sha256": file.sha256, "bytes": file.path.stat().st_size}
            for file in self.files
        }


def part_name(number: int, ending: str) -> str:
    """The name of a part, counted from 0, with the ending of its format.

    >>> part_name(3, ".csv.gz")
    'part-00003.csv.gz'
    """
    return f"part-{number:05}{ending}"


def gather_parts(folder: Path, parts: Sequence[WrittenTable], ending: str) -> WrittenTable:
    """Make files that were written somewhere on the same disk the parts of one table, in the order given.

    They are moved into the folder, such as ``public/table``, which is made where it is missing, and named by their
    numbers. Each has the whole header, and columns as the others have them; the verifier looks.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as made:
    ...     files = [Path(made, name) for name in ("task-7", "task-2")]
    ...     written = [WrittenTable(file, "0" * 64) for file in files if file.touch() is None]
    ...     list(gather_parts(Path(made, "table"), written, ".csv").entries())
    ['table/part-00000.csv', 'table/part-00001.csv']
    """
    folder.mkdir(exist_ok=True)
    named = [WrittenTable(folder / part_name(number, ending), part.sha256) for number, part in enumerate(parts)]
    waiting = [folder / f".{part.path.name}" for part in named]  # so that no part takes the name of one to be moved
    for part, place in zip(parts, waiting, strict=True):
        part.path.rename(place)
    for place, part in zip(waiting, named, strict=True):
        place.rename(part.path)
    return WrittenTable(folder, list_digest(sorted((part.path.name, part.sha256) for part in named)), tuple(named))


def stated_digest(files: Mapping[str, Any], table: str) -> str:
    """The SHA-256 of a table from what a manifest says of its files: its own, or that of the list of its parts.

    >>> stated_digest({"table.csv": {"sha256": "ab"}}, "table.csv")
    'ab'
    """
    if table in files:
        return str(files[table]["sha256"])
    folder = f"{table}/"
    parts = ((name.removeprefix(folder), entry["sha256"]) for name, entry in files.items() if name.startswith(folder))
    return list_digest(sorted(parts))
