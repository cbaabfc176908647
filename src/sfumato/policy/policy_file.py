"""The file of a policy: its paths as they lead from its folder, its hierarchies beside it, and writing both.

The policy comes last, under a name of its own until then: a policy that is there has its files.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from sfumato.errors import OutputError
from sfumato.policy.database_url import DatabaseUrl, is_url
from sfumato.policy.options import fitting_options
from sfumato.policy.toml_text import write_toml

_HIERARCHY_WORDS = ("suppress", "sets")


def move_paths(document: Mapping[str, Any], old: Path, new: Path, data: str | Path | None = None) -> dict[str, Any]:
    """Copy a document of the folder `old`, with its paths as they are written from the folder `new`.

    `data` is the table in place of the document's own; it starts where the program runs.

    >>> move_paths({"data": {"source": "a.csv"}, "columns": {}, "privacy": []}, Path("x"), Path("x/y"))["data"]
    {'source': '../a.csv'}
    """
    moved: Any = deepcopy(dict(document))
    if old.resolve() != new.resolve():
        for table, key in _file_keys(moved):
            table[key] = _move_path(table[key], old, new)
    if data is not None:
        options = fitting_options(moved.get("data", {}), data)
        moved["data"] = {**options, "source": _move_path(str(data), Path(), new)}
    return dict(moved)


def _file_keys(document: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """List every key that names a file, with the table it is in."""
    columns = list(document["columns"].values())
    hierarchies = [column for column in columns if isinstance(column.get("hierarchy"), str)]
    publish = document.get("publish", {})
    keys = [(document.get("data", {}), "source"), (publish, "sign"), (publish.get("to", {}), "url")]
    keys += [(column, "key") for column in columns]
    keys += [(column, "hierarchy") for column in hierarchies if column["hierarchy"] not in _HIERARCHY_WORDS]
    keys += [(requirement, "costs") for requirement in document["privacy"]]
    keys += [(release, "table") for release in document.get("previous", [])]
    return [(table, key) for table, key in keys if key in table]


def _move_path(text: str, old: Path, new: Path) -> str:
    """Write a path of the folder `old` as it is from the folder `new`; of URLs only those of files have one.

    >>> _move_path("sqlite:///a.db", Path("one"), Path("two")), _move_path("mysql://host/a", Path("one"), Path("two"))
    ('sqlite:///../one/a.db', 'mysql://host/a')
    """
    if not is_url(text):
        return text if Path(text).is_absolute() else _relative_path(old / text, new)
    url = DatabaseUrl.read(text, folder=Path())
    if url.file is None or url.file.is_absolute():
        return text
    return f"{url.kind}:///{quote(_relative_path(old / url.file, new))}"


def _relative_path(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.parent.resolve() / path.name, folder.resolve())).as_posix()


# Hierarchy files: their folder, and their names, which every system takes.

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 60


def hierarchies_folder(policy: Path) -> Path:
    """Name the folder of a policy's hierarchies, beside it."""
    return policy.parent / f"{policy.stem}-hierarchies"


def hierarchy_file_names(names: Iterable[str], folder: str) -> dict[str, str]:
    """Name a file for each column: with a name that every system takes, and no name twice, however letters are cased.

    >>> hierarchy_file_names(["job", "Job", "Größe (cm)", "***"], "policy-hierarchies")["Größe (cm)"]
    'policy-hierarchies/Gr_e_cm.csv'
    """
    paths: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = _UNSAFE.sub("_", name).strip("_-")[:_LONGEST_NAME]
        stem, number = (plain or "column").lower(), 1
        while (numbered := stem if number == 1 else f"{stem}-{number}") in taken:
            number += 1
        taken.add(numbered)
        # a stem is in the spelling of its column where no other has it
        paths[name] = str(PurePosixPath(folder, f"{plain if plain.lower() == numbered else numbered}.csv"))
    return paths


# Writing


def save_policy_file(path: Path, document: dict[str, Any], lines: Mapping[str, str], *, force: bool) -> None:
    """Write a policy to `path`, and the `lines` of hierarchies, by column, into files of the folder beside it.

    Nothing is replaced unless `force` says so, and then only files of these names.
    """
    folder = hierarchies_folder(path)
    names = hierarchy_file_names(lines, folder.name)
    for column, file in names.items():
        document["columns"][column] = {**document["columns"][column], "hierarchy": file}
    texts = {path.parent / names[column]: text for column, text in lines.items()} | {path: write_toml(document)}
    for target in texts:
        if os.path.lexists(target) and (not force or not target.is_file()):
            raise OutputError(f"{target} exists already; choose another name, or replace it with force=True")
    drafts: dict[Path, Path] = {}
    made = not folder.exists() and bool(lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if lines:
            folder.mkdir(mode=0o700, exist_ok=True)  # it holds values of the table
        for target, text in texts.items():
            drafts[target] = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
            drafts[target].write_bytes(text.encode())
        for target, draft in drafts.items():
            draft.replace(target)
    except OSError as error:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        if made:
            shutil.rmtree(folder, ignore_errors=True)
        raise OutputError(
            f"cannot write {path}: {error.strerror or type(error).__name__}; choose another name"
        ) from None
