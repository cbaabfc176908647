"""Several files that are one table: a folder of Parquet files, or all that a pattern such as data/*.csv matches."""

import glob
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sfumato.errors import DataError, listing, quote

_PATTERN = ("*", "?", "[")
_PARQUET = (".parquet", ".pq")
_PART = re.compile(r"part-[0-9]{5,}(\.csv|\.csv\.gz|\.parquet)")
"""How the files are called that a release has in place of one table."""
_RELEASE = ("manifest.json", "public")


def find_files(path: Path) -> list[Path] | None:
    """Find the files that a folder or a pattern stands for, in the order of their names; ``None`` for one file.

    A file that is there is itself, whatever signs are in its name. Hidden files, and those that programs leave beside
    Parquet files (_SUCCESS, _metadata), belong to no table.
    """
    if os.path.isdir(path):  # noqa: PTH112 - never raises, whatever a name is
        return find_parts(path) or _find_parquet_files(path)
    if not any(sign in str(path) for sign in _PATTERN) or os.path.lexists(path):
        return None
    found = (Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 - of any depth, and absolute
    files = sorted(file for file in found if not file.is_dir())
    if not files:
        raise DataError(f"no file matches {quote(str(path))}; check the pattern, and the folder that it starts from")
    return files


def find_parts(folder: Path) -> list[Path]:
    """Find the files of a folder that holds the table of a release and nothing else, part-00000.csv and on.

    There are none where it holds anything else, parts of several formats, or not all parts from 0 on.
    """
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are enough
    except OSError:  # whoever reads it will say so
        return []
    endings = {found[1] if (found := _PART.fullmatch(name)) else None for name in names}
    whole = {*names} == {f"part-{number:05}{ending}" for number in range(len(names)) for ending in endings}
    return [folder / name for name in names] if whole else []


def list_digest(files: Iterable[tuple[str, str]]) -> str:
    """The SHA-256 of a list of files with theirs, as sha256sum prints it.

    >>> list_digest([("part-00000.csv", "0" * 64)])[:16]
    'd42504326d9fdf09'
    """
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def _find_parquet_files(folder: Path) -> list[Path]:
    name = folder.name or str(folder)
    if any((folder / part).exists() for part in _RELEASE):
        raise DataError(f"{name} is the folder of a release; name the table in it, as {name}/public/table.csv")
    try:
        inside = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    except OSError:
        raise DataError(f"{name} may not be read; ask for permission to read it") from None
    files = [path for path in inside if path.suffix.lower() in _PARQUET and not path.is_dir()]
    folders = [path.name for path in inside if path.is_dir()]
    told = [folder for folder in folders if "=" in folder]
    if told:
        raise DataError(
            f"{name} is divided into folders whose names hold a column ({listing(told, most=1)}), which its files do "
            "not have; write it as one Parquet file, so that the column gets a role, or name the files without it by "
            f"{name}/**/*.parquet"
        )
    if not files and folders:
        raise DataError(
            f"{name} has folders alone ({listing(folders, most=3)}); name the files in them by a pattern, such as "
            f"{name}/**/*.parquet"
        )
    if not files:
        raise DataError(f"{name} is a folder without Parquet files; name a file, or a pattern such as {name}/*.csv")
    if folders:
        raise DataError(
            f"{name} has folders beside its files ({listing(folders, most=3)}), which may hold rows of it as well; "
            f"name the files by a pattern, such as {name}/*.parquet or {name}/**/*.parquet"
        )
    return files


def check_same_columns(names: Mapping[str, Sequence[str]]) -> None:
    """Refuse files that have not the same columns; their order is free. `names` are those of each file.

    >>> check_same_columns({"a.csv": ["age", "sex"], "b.csv": ["sex", "years"]})
    Traceback (most recent call last):
    sfumato.errors.DataError: b.csv has not the columns of a.csv: it lacks 'age' and has 'years' besides;
    name files with the same columns
    """
    first, *others = names
    for file in others:
        missing = [name for name in names[first] if name not in names[file]]
        added = [name for name in names[file] if name not in names[first]]
        parts = [f"lacks {listing(missing, most=5)}"] if missing else []
        parts += [f"has {listing(added, most=5)} besides"] if added else []
        if parts:
            why = " and ".join(parts)
            raise DataError(f"{file} has not the columns of {first}: it {why}; name files with the same columns")
