"""Files for the data holder: written whole or not at all, readable by their owner alone, and never over another's."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.errors import OutputError

_PRIVATE, _SHARED = 0o600, 0o644


def write_file(path: Path, text: str, *, private: bool = False) -> None:
    """Write one file; a private one is readable by its owner alone."""
    with _errors_as_sentences(path):
        _write(path, text, _PRIVATE if private else _SHARED)


def check_folder(folder: Path, names: tuple[str, ...], *, force: bool) -> None:
    """Refuse a folder with files of these names, unless `force` replaces them, and one with any others."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is not a folder; choose another --out")
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if there - set(names):
        raise OutputError(f"{folder} holds other files than a comparison; choose another --out")
    if there and not force:
        raise OutputError(f"{folder} exists already; choose another --out, or replace it with --force")


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write private files into a folder, which is made where it is not there; where one fails, leave none."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    with _errors_as_sentences(folder):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, text in texts.items():
                _write(folder / name, text, _PRIVATE)
        except BaseException:
            for path in new:
                with suppress(OSError):  # others may have put something there
                    for name in texts if path == folder else ():
                        (path / name).unlink(missing_ok=True)
                    path.rmdir()
            raise


def _write(path: Path, text: str, mode: int) -> None:
    """Write under another name and rename, so that there is never half a file of this name."""
    stage = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
            file.write(text)
        stage.replace(path)
    finally:
        stage.unlink(missing_ok=True)


@contextmanager
def _errors_as_sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or type(error).__name__}; choose another") from None
