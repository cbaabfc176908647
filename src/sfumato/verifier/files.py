"""The files of a release: which are there, and whether they are those that were published."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified

SUMMARY = "summary.html"
"""The page that may stand beside the tables."""

FORMATS = frozenset({".csv", ".parquet"})


def public_folder(folder: Path) -> Path:
    """The public part of a release, which may be named itself."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a release folder; name the folder that anonymize wrote")
    return folder / "public" if (folder / "public").is_dir() else folder


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of the release."""
    try:
        content = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise NotVerified(f"{path.name} is not JSON; it was changed after publication") from None
    if not isinstance(content, dict):
        raise NotVerified(f"{path.name} does not hold a JSON object; it was changed after publication")
    return content


def read_audit(public: Path) -> dict[str, Any]:
    """The private account beside a public folder, or nothing."""
    path = public.resolve().parent / "private" / "audit.json"
    return read_json(path) if path.exists() else {}


def read_bytes(path: Path) -> bytes:
    """The content of a plain file of the release."""
    try:
        return _plain(path).read_bytes()
    except OSError as error:
        raise NotVerified(f"{path.name} cannot be read: {error.strerror}") from None


def table_path(public: Path, name: str) -> Path:
    """The published table, which is a plain file in the folder itself and nowhere else."""
    path = inside(public, name)
    if path.suffix not in FORMATS:
        raise NotVerified(f"{name} is no table that this version can verify; it reads CSV and Parquet")
    return path


def inside(public: Path, name: str) -> Path:
    """A plain file in the folder, refused if its name leads elsewhere.

    >>> inside(Path("release"), "../../etc/passwd")
    Traceback (most recent call last):
    sfumato.errors.NotVerified: manifest.json names '../../etc/passwd', which is not a file of the release
    """
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0"):
        raise NotVerified(f"manifest.json names {name!r}, which is not a file of the release")
    return _plain(public / name)


def file_problems(public: Path, manifest: Mapping[str, Any], tables: Iterable[str]) -> list[str]:
    """Files that are not as the manifest describes them, or that do not belong here."""
    files = manifest["files"].items()
    problems = [problem for name, known in files for problem in _problems(inside(public, name), known)]
    return problems + beside_problems(public, manifest, tables)


def beside_problems(public: Path, manifest: Mapping[str, Any], tables: Iterable[str]) -> list[str]:
    """What stands beside the tables: the manifest, the page that it lists, and nothing else.

    The page is for reading, and no promise rests on it: it may be gone, but where it is there it is the one published.
    """
    page = {known["file"]: known for known in [manifest.get("summary")] if known is not None}
    there = {name: known for name, known in page.items() if _is_there(public / name)}
    problems = [problem for name, known in there.items() for problem in _problems(inside(public, name), known)]
    expected = {*tables, "manifest.json", *page}
    extra = sorted(path.name for path in public.iterdir() if path.name not in expected)
    return problems + [f"{name} does not belong to the release" for name in extra]


def manifest_problems(public: Path, audit: Mapping[str, Any]) -> list[str]:
    """A manifest that is not the one that was published, where the private account tells."""
    known = audit.get("manifest_sha256")
    found = hashlib.sha256(read_bytes(public / "manifest.json")).hexdigest()
    return [] if known in {None, found} else ["manifest.json is not the file that was published: its SHA-256 differs"]


def _problems(path: Path, known: Mapping[str, Any]) -> list[str]:
    problems = []
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise NotVerified(f"{path.name} cannot be read: {error.strerror}") from None
    if digest != known["sha256"]:
        problems.append(f"{path.name} is not the file that was published: its SHA-256 differs from the manifest's")
    if known.get("bytes", path.stat().st_size) != path.stat().st_size:
        problems.append(f"{path.name} has not as many bytes as the manifest says")
    return problems


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _plain(path: Path) -> Path:
    if path.is_symlink():
        raise NotVerified(f"{path.name} is a link to another place; a release holds its files itself")
    if not path.exists():
        raise NotVerified(f"{path.name} is missing from the release")
    if not path.is_file():
        raise NotVerified(f"{path.name} is not a file")
    return path
