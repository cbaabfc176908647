"""The files of a release: which there are, whether they are those that were published, and which columns are in each.

Of the forms ``generalized``, ``synthetic`` and ``uncertain`` there is one table. Of the forms ``lossy-join`` and
``anatomy`` there are two (Wong et al., lossy join, Section 5): NSS with what is not sensitive, the class id last, and
SS with the class id first, or one SS for each sensitive column.

A table is a file, or several in a folder of its name, numbered from 0 on: then ``files`` has no entry of the table, and
one of each part, ``table/part-00000.csv`` and on. By a hash such a table is known as by that of the list of its parts.

Anybody may have changed the folder. So a file is read only if it is a plain file in the folder itself, it is opened
without waiting for anybody who might write into it, and whatever is wrong is a sentence, never a traceback.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, quote

JsonObject = Mapping[str, Any]
"""A manifest, an audit or a part of one, as it was read."""

SUMMARY = "summary.html"
"""The page that may be beside the tables."""
SIGNATURE = "manifest.json.sig"
"""The signature of the manifest, which may be beside it."""

_MOST_SIGNS = 60
FORMATS = (".csv", ".csv.gz", ".parquet")
PART = re.compile(r"part-[0-9]{5,}(\.csv|\.csv\.gz|\.parquet)")
"""How each of the files is called that are one table."""
LARGEST_ACCOUNT = 1 << 27
"""Bytes of a manifest or an audit: a million labels take less."""
CHANGED = "it was changed after publication, or is of another version"

# Reading


def public_folder(folder: Path) -> Path:
    """Find the public part of a release; `folder` is the release, or the public part itself.

    `folder` may be a link, but no part of a release is one.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a release folder; name the folder that anonymize wrote")
    public = folder / "public"
    if public.is_symlink():
        raise NotVerified("public is a link to another place; a release holds its files itself")
    return public if public.is_dir() else folder


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file of the release."""
    return parse_json(read_bytes(path), path.name)


def parse_json(content: bytes, name: str) -> dict[str, Any]:
    """Parse the JSON object that a file of the release holds."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        raise NotVerified(f"{name} is not JSON; it was changed after publication") from None
    if not isinstance(parsed, dict):
        raise NotVerified(f"{name} does not hold a JSON object; it was changed after publication")
    return parsed


def read_audit(public: Path) -> dict[str, Any]:
    """Read the private account beside a public folder; it is empty where there is none."""
    private = public.resolve().parent / "private"
    if private.is_symlink():
        raise NotVerified("private is a link to another place; a release holds its files itself")
    path = private / "audit.json"
    return read_json(path) if path.is_symlink() or path.exists() else {}


def read_bytes(path: Path) -> bytes:
    """Read a manifest or an audit, a plain file of the release, as a whole."""
    _require_plain(path)
    try:
        with open_without_waiting(path) as stream:
            content = stream.read(LARGEST_ACCOUNT + 1)
    except OSError as error:
        raise NotVerified(f"{path.name} cannot be read: {error.strerror}") from None
    if len(content) > LARGEST_ACCOUNT:
        raise NotVerified(f"{path.name} has more than {LARGEST_ACCOUNT >> 20} MB, which no release has; it was changed")
    return content


def open_without_waiting(path: Path) -> BufferedReader:
    """Open a regular file; to open a pipe would wait for somebody who writes into it, and a device may never end.

    >>> open_without_waiting(Path("/dev/zero"))
    Traceback (most recent call last):
    OSError: [Errno 22] it is a pipe, a socket or a device
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device")
    return os.fdopen(descriptor, "rb")


def files_of_table(manifest: JsonObject, table: str) -> tuple[str, ...]:
    """Name the files of a table by their paths in the public folder: itself, or the parts in the folder of its name.

    >>> files_of_table({"files": {"table/part-00000.csv": {}, "table/part-00001.csv": {}}}, "table")
    ('table/part-00000.csv', 'table/part-00001.csv')
    """
    if table in manifest["files"]:
        return (table,)
    return tuple(sorted(name for name in manifest["files"] if name.startswith(f"{table}/")))


def table_paths(public: Path, manifest: JsonObject, table: str) -> tuple[Path, ...]:
    """Find the files of a published table."""
    files = files_of_table(manifest, table)
    return (table_path(public, table),) if files == (table,) else tuple(listed_file(public, name) for name in files)


def list_digest(files: Iterable[tuple[str, str]]) -> str:
    """Hash a list of files with their hashes, by name, as ``sha256sum *`` prints it: what a table of several has.

    >>> list_digest([("part-00000.csv", "0" * 64)])[:16]
    'd42504326d9fdf09'
    """
    return hashlib.sha256("".join(f"{sha256}  {name}\n" for name, sha256 in sorted(files)).encode()).hexdigest()


def stated_digest(manifest: JsonObject, table: str) -> str:
    """Give the hash that a manifest has of a table: that of its file, or of the list of its parts."""
    files = files_of_table(manifest, table)
    if files == (table,):
        return str(manifest["files"][table]["sha256"])
    return list_digest((name.rpartition("/")[2], manifest["files"][name]["sha256"]) for name in files)


def paths_digest(paths: Sequence[Path]) -> str:
    """Hash a file; or several that are one table, as a list of their hashes."""
    if len(paths) == 1 and not PART.fullmatch(paths[0].name):
        return _sha256(paths[0])
    return list_digest((path.name, _sha256(path)) for path in paths)


def listed_file(public: Path, name: str) -> Path:
    """Find a file whose hash the manifest has: in the public folder, or a part in the folder of its table."""
    folder, slash, part = name.partition("/")
    if not slash:
        return plain_file(public, name)
    if folder in {"", ".", ".."} or not PART.fullmatch(part) or any(sign in folder for sign in "\\\0"):
        raise NotVerified(f"manifest.json names {quote(name)}, which is not a file of the release")
    return _require_plain(parts_folder(public, folder) / part, name)


def parts_folder(public: Path, name: str) -> Path:
    """Find the folder of a table that is several files, which is a folder of the release and nowhere else."""
    path = public / name
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        raise NotVerified(f"the folder {name[:_MOST_SIGNS]} is missing from the release") from None
    if stat.S_ISLNK(mode):
        raise NotVerified(f"{name} is a link to another place; a release holds its files itself")
    if not stat.S_ISDIR(mode):
        raise NotVerified(f"{name} is not a folder, though the manifest has it as one: {CHANGED}")
    return path


def table_path(public: Path, name: str) -> Path:
    """Find a published table, which is a plain file in the folder itself and nowhere else."""
    path = plain_file(public, name)
    if not name.endswith(FORMATS):
        raise NotVerified(f"{name} is no table that this version can verify; it reads CSV, packed or not, and Parquet")
    return path


def plain_file(public: Path, name: str) -> Path:
    """Find a plain file in the folder; refuse a name that leads elsewhere.

    >>> plain_file(Path("release"), "../../etc/passwd")
    Traceback (most recent call last):
    sfumato.errors.NotVerified: manifest.json names '../../etc/passwd', which is not a file of the release
    """
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0"):
        raise NotVerified(f"manifest.json names {quote(name)}, which is not a file of the release")
    return _require_plain(public / name)


def _require_plain(path: Path, name: str | None = None) -> Path:
    name = path.name if name is None else name
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):  # also a name that no file can have
        raise NotVerified(f"{name[:_MOST_SIGNS]} is missing from the release") from None
    if stat.S_ISLNK(mode):
        raise NotVerified(f"{name} is a link to another place; a release holds its files itself")
    if not stat.S_ISREG(mode):
        raise NotVerified(f"{name} is not a file but a folder, a pipe or a device; a release holds its files itself")
    return path


# Hashes


def table_file_problems(public: Path, manifest: JsonObject) -> list[str]:
    """List what is wrong with the files whose hashes the manifest has."""
    files = manifest["files"].items()
    return [problem for name, entry in files for problem in _hash_problems(listed_file(public, name), entry, name)]


def other_file_problems(
    public: Path, manifest: JsonObject, tables: Iterable[str], *, complete: bool = False
) -> list[str]:
    """List what is wrong with files beside the tables: the manifest, its signature, its page, and nothing else.

    The page is for reading, and no promise rests on it: unless all is to be `complete` it may be gone, but if it is
    there it is the one published.
    """
    problems, expected, extra = [], {*tables, "manifest.json"}, list[str]()
    for table in tables:
        files = files_of_table(manifest, table)
        if files != (table,):
            inside = (f"{table}/{path.name}" for path in parts_folder(public, table).iterdir())
            extra += [name for name in inside if name not in files]
    if "signed_by" in manifest:
        expected.add(SIGNATURE)
    page = manifest.get("summary")
    if page is not None:
        path = public / page["file"]
        expected.add(page["file"])
        if path.is_symlink() or path.exists():
            problems += _hash_problems(plain_file(public, page["file"]), page, page["file"])
        elif complete:
            problems.append(f"{path.name} is missing from the release")
    extra += [path.name for path in public.iterdir() if path.name not in expected]
    return problems + [f"{name} does not belong to the release" for name in sorted(extra)]


def manifest_file_problems(content: bytes, audit: JsonObject) -> list[str]:
    """Say whether the manifest, as its bytes, is not the one that was published, where the audit has its hash."""
    stated = audit.get("manifest_sha256")
    digest = hashlib.sha256(content).hexdigest()
    same = stated is None or stated == digest
    return [] if same else ["manifest.json is not the file that was published: its SHA-256 differs"]


def _hash_problems(path: Path, entry: JsonObject, name: str) -> list[str]:
    problems = []
    if _sha256(path, name) != entry["sha256"]:
        problems.append(f"{name} is not the file that was published: its SHA-256 differs from the manifest's")
    if entry.get("bytes", path.stat().st_size) != path.stat().st_size:
        problems.append(f"{name} has not as many bytes as the manifest says")
    return problems


def _sha256(path: Path, name: str | None = None) -> str:
    """Hash a file as it is read, a piece at a time."""
    try:
        with open_without_waiting(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise NotVerified(f"{path.name if name is None else name} cannot be read: {error.strerror}") from None


# Layout


@dataclass(frozen=True)
class Layout:
    """The columns of each file, in order; the quasi-identifiers are in the first file.

    `class_id` is the column that links the files, where there are several.
    """

    files: Mapping[str, tuple[str, ...]]
    class_id: str | None = None

    @property
    def columns(self) -> set[str]:
        """All columns but the class id."""
        return {column for columns in self.files.values() for column in columns} - {self.class_id}

    @property
    def nss_columns(self) -> set[str]:
        """Where there are several files, the columns that are published with the quasi-identifiers."""
        return set() if self.class_id is None else set(next(iter(self.files.values()))) - {self.class_id}

    @property
    def ss_columns(self) -> set[str]:
        """The columns of the other files."""
        return {column for columns in list(self.files.values())[1:] for column in columns} - {self.class_id}

    def describe(self, file: str) -> str:
        """Say how a sentence names a file."""
        return "the table" if self.class_id is None else file


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


_ONE_TABLE: dict[str, Callable[[Any], bool]] = {"table": _is_text}
_TWO_TABLES: dict[str, Callable[[Any], bool]] = {"nss": _is_text, "ss": _are_names, "class_id": _is_text}
_FORMS = {"generalized": _ONE_TABLE, "lossy-join": _TWO_TABLES, "anatomy": _TWO_TABLES}
_FORMS |= {"synthetic": _ONE_TABLE, "uncertain": _ONE_TABLE}


def layout_keys(manifest: JsonObject) -> Mapping[str, Callable[[Any], bool]]:
    """List the keys that a manifest of its form must have, each with a test of its value.

    >>> list(layout_keys({"form": "anatomy"}))
    ['nss', 'ss', 'class_id']
    """
    form = manifest.get("form", "generalized")
    if not isinstance(form, str) or form not in _FORMS:
        raise NotVerified(f"this version cannot verify a release of the form {quote(form)}")
    return _FORMS[form]


def read_layout(manifest: JsonObject) -> Layout:
    """Read the files and columns that a manifest names, after it was checked."""
    if "class_id" not in layout_keys(manifest):
        return Layout({manifest["table"]: tuple(column["name"] for column in manifest["columns"])})
    class_id, (nss, *ss) = manifest["class_id"], _table_names(manifest)

    def columns(table: str) -> tuple[str, ...]:
        return tuple(column["name"] for column in manifest["columns"] if column["table"] == table)

    return Layout({nss: (*columns(nss), class_id), **{table: (class_id, *columns(table)) for table in ss}}, class_id)


def check_layout(manifest: JsonObject) -> None:
    """Refuse a manifest whose tables have no hash, or whose columns are not in the file where they belong.

    A sensitive column belongs into a file of SS, any other column into NSS.
    """
    tables, columns = _table_names(manifest), manifest["columns"]
    for table in tables:
        if not (files := files_of_table(manifest, table)):
            raise NotVerified(f"manifest.json has no hash of its table: {CHANGED}")
        if files != (table,):
            _check_parts(table, files)
    if "class_id" not in layout_keys(manifest):
        return
    if len(set(tables)) < len(tables):
        raise NotVerified(f"manifest.json names {quote(manifest['nss'])} as both of its tables: {CHANGED}")
    if manifest["class_id"] in {column["name"] for column in columns}:
        raise NotVerified(f"manifest.json calls the class id like a column of the table: {CHANGED}")
    for column in columns:
        name, role, table = column["name"], column["role"], column.get("table")
        if table not in tables:
            raise NotVerified(
                f"manifest.json puts column {quote(name)} into {quote(table)}, no table of the release: {CHANGED}"
            )
        if (role == "sensitive") is (table == tables[0]):
            raise NotVerified(f"manifest.json puts the {role} column {quote(name)} into {quote(table)}: {CHANGED}")
    empty = [table for table in tables if table not in {column["table"] for column in columns}]
    if empty:
        raise NotVerified(f"manifest.json puts no column into {quote(empty[0])}: {CHANGED}")


def _check_parts(table: str, files: Sequence[str]) -> None:
    """Refuse parts that are not numbered from 0 on, or are of several formats: other names might tell something."""
    endings = {found[1] if (found := PART.fullmatch(name.rpartition("/")[2])) else None for name in files}
    if {*files} != {f"{table}/part-{number:05}{ending}" for number in range(len(files)) for ending in endings}:
        raise NotVerified(f"manifest.json does not name the files of {quote(table)} properly: {CHANGED}")


def _table_names(manifest: JsonObject) -> list[str]:
    return [manifest["table"]] if "table" in layout_keys(manifest) else [manifest["nss"], *manifest["ss"]]
