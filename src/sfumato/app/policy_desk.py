"""A policy on the desk: its file is the only state, every change is written at once, and undo is the file's history.

The history stands in a hidden folder beside the file: a numbered record of each version, and the texts it is made of,
by their hash. A version is the policy with its hierarchy files. Whoever changes something says which version they saw;
where another is there by now, nothing is written, and they are told what came in between. A change by another program,
such as an editor, is a version like any other as soon as something is changed here.
"""

import fcntl
import hashlib
import json
import os
import secrets
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import OutputError, PolicyError, SfumatoError
from sfumato.policy import Policy
from sfumato.policy.policy import plain_tables, read_policy_file
from sfumato.policy.policy_edits import edit_policy
from sfumato.policy.policy_file import hierarchies_folder
from sfumato.serving.refused_request import Refused

MOST_VERSIONS = 500
"""So many versions are kept; the oldest go first."""
_ELSEWHERE = "the file was changed by another program"


class StaleVersion(Refused):
    """Somebody changed the policy in between; `since` are the changes, in the words of the history."""

    def __init__(self, since: list[str]) -> None:
        self.since = since
        super().__init__(
            "the policy was changed since this page was shown, in another tab or by another program; nothing of what "
            "you just did was written",
            409,
        )


@dataclass(frozen=True)
class PolicyVersion:
    """A policy as it stands: its text, its tables, what is wrong with it if anything, and the names of its version.

    `undo` and `redo` say what the steps back and forth would be about, `last` what the last change was.
    """

    path: Path
    text: str
    document: dict[str, Any]
    version: str
    fault: str = ""
    fault_key: str = ""
    undo: str = ""
    redo: str = ""
    last: str = ""

    @property
    def columns(self) -> dict[str, dict[str, Any]]:
        """The [columns] table."""
        found = self.document.get("columns")
        entries = found.items() if isinstance(found, dict) else ()
        return {name: entry for name, entry in entries if isinstance(entry, dict)}

    @property
    def requirements(self) -> list[dict[str, Any]]:
        """The [[privacy]] tables."""
        found = self.document.get("privacy")
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []

    def table(self, name: str) -> dict[str, Any]:
        """Give one of the other tables; an empty one where it is not written."""
        found = self.document.get(name)
        return found if isinstance(found, dict) else {}

    def with_role(self, *roles: str) -> list[str]:
        """List the columns of these roles."""
        return [name for name, entry in self.columns.items() if entry.get("role") in roles]


class PolicyDesk:
    """One policy file, and all that is done to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.parent / f".{path.name}.history"

    def read(self) -> PolicyVersion:
        """Read the policy as it stands; one that is no TOML is refused, one that makes no sense says so in `fault`."""
        try:
            text = read_policy_file(self.path).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise PolicyError(f"{self.path.name} is not UTF-8 text; save it as a TOML file in UTF-8") from None
        try:
            document = plain_tables(tomllib.loads(text))
        except (ValueError, RecursionError):
            raise PolicyError(f"{self.path.name} is no TOML; mend it in an editor, or open another") from None
        fault = key = ""
        try:
            Policy.read(document, folder=self.path.parent)
        except PolicyError as error:
            fault, key = str(error), error.key
        except SfumatoError as error:
            fault = str(error)
        files = self._hierarchy_texts(document)
        version = _version(text, files)
        undo, redo, last = self._steps(version)
        return PolicyVersion(self.path, text, document, version, fault, key, undo, redo, last)

    def change(
        self,
        seen: str,
        what: str,
        document: Mapping[str, Any],
        *,
        files: Mapping[str, str] | None = None,
        text: str | None = None,
    ) -> PolicyVersion:
        """Write another document, and `files` of hierarchies by their names in it; `text` where that is known."""
        with self._locked():
            now = self._check(seen)
            wanted = text if text is not None else edit_policy(now.text, dict(document))
            self._remember(now, now.last or "as it was opened", first=True)
            self._write(wanted, files or {})
            after = self.read()
            self._remember(after, what)
        return self.read()

    def check(self, seen: str) -> PolicyVersion:
        """Read the policy, unless it is another by now than the one that somebody saw."""
        return self._check(seen)

    def step(self, seen: str, by: int) -> PolicyVersion:
        """Go one version back (-1) or forth (1)."""
        with self._locked():
            now = self._check(seen)
            if by < 0:
                self._remember(now, now.last or "as it was opened", first=True)
            at = self._at() + by
            record = self._record(at)
            if record is None:
                raise Refused("there is no such step in the history of this policy", 409)
            texts = {name: self._text(digest) for name, digest in record["files"].items()}
            self._write(self._text(record["text"]), texts)
            self._put("at", str(at))
        return self.read()

    def begin(self, what: str) -> None:
        """Make the policy as it stands the first version of a new history."""
        with self._locked():
            now = self.read()
            self._put("at", "0")
            for old in self.folder.glob("[0-9]*.json"):
                old.unlink()
            self._remember(now, what)

    def earlier(self) -> PolicyVersion | None:
        """Give the document of the version before this one, if there is one."""
        try:
            record = self._record(self._at() - 1)
            if record is None or self._record_version(self._record(self._at())) != self.read().version:
                return None
            text = self._text(record["text"])
            return PolicyVersion(self.path, text, plain_tables(tomllib.loads(text)), "", last=record["what"])
        except (OSError, ValueError, SfumatoError):
            return None

    # The file and its hierarchies

    def _write(self, text: str, files: Mapping[str, str]) -> None:
        """Replace the files of hierarchies and then the policy, each by a rename."""
        allowed = hierarchies_folder(self.path)
        try:
            for name, content in files.items():
                target = self.path.parent / name
                if target.parent != allowed:
                    raise OutputError(f"{target.name} is not in the folder of this policy's hierarchies")
                allowed.mkdir(mode=0o700, exist_ok=True)
                _replace_file(target, content)
            _replace_file(self.path, text)
        except OSError as error:
            raise OutputError(
                f"cannot write {self.path.name}: {error.strerror or type(error).__name__}; make room, or allow it"
            ) from None

    def _hierarchy_texts(self, document: Mapping[str, Any]) -> dict[str, str]:
        """Read the hierarchy files of a policy that are in its own folder of them."""
        columns, texts = document.get("columns"), dict[str, str]()
        folder = hierarchies_folder(self.path)
        for entry in columns.values() if isinstance(columns, dict) else ():
            name = entry.get("hierarchy") if isinstance(entry, dict) else None
            if isinstance(name, str) and (self.path.parent / name).parent == folder:
                with suppress(OSError, ValueError):
                    texts[name] = (self.path.parent / name).read_bytes().decode("utf-8")
        return texts

    # The history

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep everybody else from writing: other threads, tabs and servers."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)  # it holds what the hierarchies hold
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise OutputError(
                f"cannot keep the history of {self.path.name} beside it: {error.strerror}; allow writing there"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _check(self, seen: str) -> PolicyVersion:
        now = self.read()
        if now.version != seen:
            raise StaleVersion(self._changes_since(seen, now))
        return now

    def _changes_since(self, seen: str, now: PolicyVersion) -> list[str]:
        records = [self._record(at) for at in range(1, self._at() + 1)]
        versions = [self._record_version(record) for record in records]
        after = versions.index(seen) + 1 if seen in versions else len(records)
        said = [record["what"] for record in records[after:] if record is not None]
        return [*said, *([] if now.version in versions else [_ELSEWHERE])] or [_ELSEWHERE]

    def _steps(self, version: str) -> tuple[str, str, str]:
        """Say what undo and redo would be about, and what the last change was."""
        at = self._at()
        current = self._record(at)
        if current is None:
            return "", "", ""
        if self._record_version(current) != version:
            return _ELSEWHERE, "", _ELSEWHERE
        following = self._record(at + 1)
        undo = current["what"] if self._record(at - 1) is not None else ""
        return undo, following["what"] if following is not None else "", current["what"]

    def _remember(self, now: PolicyVersion, what: str, *, first: bool = False) -> None:
        """Add a version to the history, unless it is the current one; with `first`, only what is not there yet."""
        at, files = self._at(), self._hierarchy_texts(now.document)
        current = self._record(at)
        if current is not None and self._record_version(current) == now.version:
            return
        if first and current is not None:
            what = _ELSEWHERE
        record = {
            "what": what,
            "version": now.version,
            "text": self._keep(now.text),
            "files": {name: self._keep(content) for name, content in files.items()},
        }
        for later in self.folder.glob("[0-9]*.json"):
            if int(later.stem) > at:
                later.unlink()
        self._put(f"{at + 1:06d}.json", json.dumps(record, indent=1))
        self._put("at", str(at + 1))
        for old in sorted(self.folder.glob("[0-9]*.json"))[:-MOST_VERSIONS]:
            old.unlink()

    def _at(self) -> int:
        try:
            return int((self.folder / "at").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _record(self, at: int) -> dict[str, Any] | None:
        try:
            record = json.loads((self.folder / f"{at:06d}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and {"what", "version", "text", "files"} <= record.keys() else None

    def _record_version(self, record: Mapping[str, Any] | None) -> str:
        return "" if record is None else str(record["version"])

    def _keep(self, text: str) -> str:
        digest = hashlib.sha256(text.encode()).hexdigest()
        if not (self.folder / digest).exists():
            self._put(digest, text)
        return digest

    def _text(self, digest: str) -> str:
        try:
            text = (self.folder / Path(digest).name).read_bytes().decode()
        except OSError:
            raise OutputError("a version of the history is gone from the disk; the policy was left as it is") from None
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            raise OutputError("a version of the history is damaged; the policy was left as it is")
        return text

    def _put(self, name: str, text: str) -> None:
        _replace_file(self.folder / name, text)


def _version(text: str, files: Mapping[str, str]) -> str:
    """Name a version by what it holds."""
    content = json.dumps([text, sorted(files.items())], ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()[:20]


def _replace_file(path: Path, text: str) -> None:
    """Write a file whole: beside its place, onto the disk, and under its name."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o777)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
