"""The files of earlier releases: where they are, whether they are the right ones, and their rows through DuckDB."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.linkage.earlier import ENCODINGS, Earlier
from sfumato.verifier.opening import open_on
from sfumato.verifier.published import Published
from sfumato.verifier.reading import Reading


def given(earlier: Sequence[Earlier], paths: Mapping[str, str | Path] | None) -> tuple[Earlier, ...]:
    """The earlier releases, with files that the caller names in place of those that the audit knows."""
    known = {each.name for each in earlier}
    strange = [name for name in paths or {} if name not in known]
    if strange:
        has = f"it has {listing(known)}" if known else "it has none"
        raise InputError(f"the release was made with no earlier release called {listing(strange)}; {has}")
    return tuple(replace(each, path=Path((paths or {}).get(each.name, each.path or ""))) for each in earlier)


def completed(asked: Sequence[Earlier], known: Sequence[Earlier]) -> tuple[Earlier, ...]:
    """Earlier releases as somebody asks for them, with the known file of the same name where they name none."""
    files = {each.name: each for each in known}

    def whole(each: Earlier) -> Earlier:
        file = files.get(each.name)
        if each.path is not None or file is None:
            return each
        return replace(each, path=file.path, sha256=file.sha256, rows=file.rows, csv=file.csv)

    return tuple(map(whole, asked))


def located(earlier: Sequence[Earlier]) -> list[Path]:
    """The file of each earlier release, which has to be the one that the current one was made with."""
    return [_located(each) for each in earlier]


def open_earlier(connection: Any, earlier: Sequence[Earlier], paths: Sequence[Path]) -> list[Published]:
    """Their rows, on a connection that may read these paths."""
    return [
        replace(open_on(connection, f"earlier_{place}", path, _reading(each)), label=f"earlier release '{each.name}'")
        for place, (each, path) in enumerate(zip(earlier, paths, strict=True))
    ]


def _located(earlier: Earlier) -> Path:
    way = f"name the file with --previous {earlier.name}=FILE"
    told = f" with the SHA-256 {earlier.sha256}" if earlier.sha256 else ""
    if earlier.path is None or not earlier.path.name:
        raise InputError(f"the table of the earlier release '{earlier.name}'{told} is needed here; {way}")
    path = earlier.path
    if not path.is_file():  # a pipe or a device may never end
        raise InputError(f"{path.name}, the earlier release '{earlier.name}'{told}, is not there as a file; {way}")
    if earlier.sha256 not in {None, _digest(path, way)}:
        raise NotVerified(
            f"{path.name} is not the earlier release '{earlier.name}' that this one was made with: its SHA-256 is not "
            f"{earlier.sha256}; {way}"
        )
    return path.resolve()


def _digest(path: Path, way: str) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path.name} cannot be read: {error.strerror}; {way}") from None


def _reading(earlier: Earlier) -> Reading | None:
    """How a CSV of somebody else is read; nothing for Parquet."""
    if earlier.csv is None:
        return None
    csv = earlier.csv
    return Reading(
        null=tuple(csv["null"]),
        separator=csv.get("separator", ","),
        guarded=csv.get("guarded", False),
        encoding=ENCODINGS[csv.get("encoding", "utf-8")],
        line_ends=None,
    )
