"""The folder that the server was started in: what can be opened there, and the refusal of every way out of it.

Files are named in addresses by their path from that folder. Nothing is uploaded and nothing is read elsewhere.
"""

import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sfumato.serving.refused_request import Refused

TABLE_ENDINGS = (
    *(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson"),
    *(".xlsx", ".xls", ".xlsb", ".ods", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
    *(".db", ".sqlite", ".sqlite3", ".duckdb"),
)
"""Files that may be tables, by the ends of their names."""

_DEEPEST, _MOST_FOLDERS = 3, 2000
MOST_FILES = 200
"""So many files of each kind are listed."""
_LONGEST_PATH = 2000
_LARGEST_POLICY = 1 << 20


@dataclass(frozen=True)
class FoundFile:
    """A file that can be opened: its path from the folder, its size in bytes, and when it was changed."""

    path: str
    size: int
    changed: float


@dataclass(frozen=True)
class WorkFolder:
    """The folder of one server.

    >>> import tempfile
    >>> folder = WorkFolder(Path(tempfile.mkdtemp()).resolve())
    >>> folder.find("../etc/passwd")
    Traceback (most recent call last):
    sfumato.serving.refused_request.Refused: that is not in the folder that sfumato serve was started in; ...
    """

    root: Path

    def find(self, name: str) -> Path:
        """Give the path of a name from an address; what is outside of the folder, links included, is refused."""
        outside = Refused(
            "that is not in the folder that sfumato serve was started in; start it in the folder of the table", 404
        )
        if not name or "\0" in name or name.startswith("/") or len(name) > _LONGEST_PATH:
            raise outside
        path = self.root / name
        try:
            real = path.resolve()
            path.exists()  # which says whether there can be such a name at all
        except (OSError, RuntimeError):
            raise outside from None
        if not real.is_relative_to(self.root) or ".." in Path(name).parts:
            raise outside
        return path

    def name_of(self, path: Path) -> str:
        """Write a path of the folder as addresses name it."""
        return path.relative_to(self.root).as_posix()

    def find_files(self) -> tuple[list[FoundFile], list[FoundFile]]:
        """List policies and tables, the latest first; folders of releases and hidden ones are not looked into."""
        policies, tables = list[FoundFile](), list[FoundFile]()
        for entry in _walk(self.root):
            with suppress(OSError):
                status = entry.stat()
                found = FoundFile(self.name_of(Path(entry.path)), status.st_size, status.st_mtime)
                name = entry.name.lower()
                if name.endswith(".toml"):
                    policies += [found] if _is_policy(Path(entry.path), status.st_size) else []
                elif name.endswith(TABLE_ENDINGS):
                    tables.append(found)
        for listed in (policies, tables):
            listed.sort(key=lambda found: (-found.changed, found.path))
        return policies, tables


def _walk(root: Path) -> Iterator["os.DirEntry[str]"]:
    """Go through regular files that are no links out of the folder, down to some depth."""
    waiting, looked_at = [(str(root), 0)], 0
    while waiting and looked_at < _MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        looked_at += 1
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    has_values = entry.name.endswith("-hierarchies")
                    if depth < _DEEPEST and not has_values and not _is_release(entry.path):
                        waiting.append((entry.path, depth + 1))
                elif entry.is_file() and Path(entry.path).resolve().is_relative_to(root):
                    yield entry


def _is_release(folder: str) -> bool:
    return Path(folder, "public", "manifest.json").exists()


def _is_policy(path: Path, size: int) -> bool:
    """Tell whether a TOML file has columns, as policies have."""
    if size > _LARGEST_POLICY:
        return False
    try:
        return "columns" in tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
