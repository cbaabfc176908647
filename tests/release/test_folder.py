"""The release folder: whole or not at all, and never in the place of something else."""

import ctypes
import errno
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import NotVerified, OutputError
from sfumato.release import folder as folders
from sfumato.release import prepare
from sfumato.release import write_release as writing

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]


@pytest.fixture
def policy(rules: Rules, roles: dict[str, Any]) -> dict[str, Any]:
    """The policy for `people`."""
    return rules(roles)


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_release_holds(people: Any, policy: dict[str, Any], saves: Saves) -> None:
    """Two parts, six files, and nothing beside the folder; the private part is for its owner only."""
    folder = saves(people, policy, "release")
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        "private/audit.json",
        "private/recoding.json",
        "private/report.html",
        "public/manifest.json",
        "public/summary.html",
        "public/table.csv",
    ]
    assert _left(folder.parent) == ["release"]
    assert (folder / "private").stat().st_mode & 0o077 == 0


def test_what_exists_is_kept(people: Any, policy: dict[str, Any], saves: Saves) -> None:
    """A release is not replaced unless asked to, and then whole."""
    folder = saves(people, policy, "release")
    before = (folder / "public" / "table.csv").read_bytes()
    with pytest.raises(OutputError, match=r"exists already; choose another --out, or replace it with --force"):
        saves(people, policy, "release")
    assert (folder / "public" / "table.csv").read_bytes() == before
    saves(people, policy, "release", force=True)
    assert (folder / "public" / "table.csv").read_bytes() != before
    assert sf.verify(folder).satisfied
    assert _left(folder.parent) == ["release"]


@pytest.mark.parametrize(
    "what", ["file", "folder", "web project", "notes in a release", "broken manifest", "dead link"]
)
def test_force_replaces_nothing_but_a_release(
    people: Any, policy: dict[str, Any], saves: Saves, tmp_path: Path, what: str
) -> None:
    """A file, a folder of something else or a release with something added is never removed."""
    target = tmp_path / "release"
    if what == "notes in a release":
        saves(people, policy, "release")
    if what == "file":
        target.write_text("precious")
    elif what == "dead link":
        target.symlink_to(tmp_path / "nowhere")
    else:
        (target / "public").mkdir(parents=True, exist_ok=True)
        content = {"web project": '{"name": "app"}', "broken manifest": "sfumato"}.get(what)
        if content:
            (target / "public" / "manifest.json").write_text(content)
        elif what == "folder":
            (target / "public" / "precious.txt").write_text("precious")
        else:
            (target / "notes.txt").write_text("precious")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    why = "holds notes.txt, which no release has" if what == "notes in a release" else "is not a release"
    with pytest.raises(OutputError, match=f"{why}, so --force does not replace it"):
        saves(people, policy, "release", force=True)
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_force_fills_an_empty_folder_and_follows_a_link(
    people: Any, policy: dict[str, Any], saves: Saves, tmp_path: Path
) -> None:
    """An empty folder may become a release, and a link to a release stays a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "release").symlink_to(tmp_path / "real")
    saves(people, policy, "release", force=True)
    assert (tmp_path / "release").is_symlink()
    assert sf.verify(tmp_path / "real").satisfied


def test_a_disk_that_cannot_exchange(
    people: Any, policy: dict[str, Any], saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two folders cannot be exchanged in one step, the old release is moved away first and then removed."""
    folder = saves(people, policy, "release")
    before = (folder / "public" / "table.csv").read_bytes()
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    monkeypatch.setattr(folders, "_RENAME_EXCHANGE", 1 << 20)
    saves(people, policy, "release", force=True)
    assert (folder / "public" / "table.csv").read_bytes() != before
    assert _left(folder.parent) == ["release"]


def test_missing_folders_are_made(people: Any, policy: dict[str, Any], tmp_path: Path) -> None:
    """The folders on the way to the release are made."""
    assert prepare(people, policy).save(tmp_path / "a" / "b" / "release").is_dir()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "there is no space left on its disk"),
        (errno.EDQUOT, "your disk quota is used up"),
        (errno.EACCES, "you have no permission there"),
        (errno.EPERM, "you have no permission there"),
        (errno.EROFS, "its disk is read-only"),
        (errno.EIO, "Input/output error"),
    ],
)
@pytest.mark.parametrize("where", ["mkdir", "write_text", "rename"])
def test_a_disk_that_refuses(  # noqa: PLR0913, PLR0917 - the cases are what they are
    people: Any,
    policy: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    words: str,
    where: str,
) -> None:
    """Whatever the disk says no to, and when: one sentence with the way out, and nothing is left."""
    original = getattr(Path, where)

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        if ".release.sfumato-" in str(self):
            raise OSError(code, os.strerror(code))
        return original(self, *arguments, **options)

    release = prepare(people, policy)
    monkeypatch.setattr(Path, where, refuse)
    with pytest.raises(OutputError, match=f"cannot write .*release: {words}"):
        release.save(tmp_path / "a" / "release")
    assert _left(tmp_path) == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_disk_that_is_really_full(
    people: Any, rules: Rules, roles: dict[str, Any], small_disk: Path, kind: str
) -> None:
    """On a disk without space the table is not written, in either format, and nothing is left."""
    release = prepare(people, rules(roles, publish={"format": kind}))
    with pytest.raises(OutputError, match="there is no space left on its disk"):
        release.save(small_disk / "release")
    assert _left(small_disk) == ["filled"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A full disk of 64 kB, where the machine lets us mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs rights that this user does not have")
    try:
        (disk / "filled").write_bytes(bytes(60 << 10))
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def nobody() -> Iterator[None]:
    """This process as a user without rights, where it may become one."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o500, 0o000], ids=["may not write", "may not enter"])
def test_no_permission_for_real(people: Any, policy: dict[str, Any], request: pytest.FixtureRequest, mode: int) -> None:
    """A folder that this user may not write into, or not even enter, is refused and stays as it is."""
    with tempfile.TemporaryDirectory() as outer:
        locked = Path(outer) / "locked"
        locked.mkdir()
        Path(outer).chmod(0o755)
        locked.chmod(mode | (mode >> 6))
        release = prepare(people, policy)
        request.getfixturevalue("nobody")
        with pytest.raises(OutputError, match="you have no permission there"):
            release.save(locked / "release")
        if os.getuid() == 0:
            os.seteuid(0)
        locked.chmod(0o700)
        assert _left(locked) == []


def test_places_that_cannot_be(people: Any, policy: dict[str, Any], tmp_path: Path) -> None:
    """A file in the way and a name that is too long are refused in a sentence."""
    (tmp_path / "file").write_text("precious")
    release = prepare(people, policy)
    with pytest.raises(OutputError, match="a part of its path is a file"):
        release.save(tmp_path / "file" / "release")
    with pytest.raises(OutputError, match="its name is too long"):
        release.save(tmp_path / "new" / ("x" * 300))
    assert _left(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, NotVerified("no"), RuntimeError])
def test_any_failure_leaves_nothing(
    people: Any, policy: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    """However a run ends before its end, the folders it made are gone."""

    def fail(_: Path, **__: Any) -> None:
        raise error

    release = prepare(people, policy)
    monkeypatch.setattr(writing, "verify", fail)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        release.save(tmp_path / "a" / "b" / "release")
    assert _left(tmp_path) == []


def test_the_next_run_clears_what_a_killed_one_left(
    people: Any, policy: dict[str, Any], saves: Saves, tmp_path: Path
) -> None:
    """Hidden folders of this target whose writer is gone are removed; others, and those of a living one, stay."""
    name = "re[le]ase*"
    dead, alive = (tmp_path / f".{name}.sfumato-{digit * 16}" for digit in "ab")
    other, notes = tmp_path / f".x.sfumato-{'a' * 16}", tmp_path / f".{name}.sfumato-notes"
    for folder in (dead, alive, other, notes):
        (folder / "public").mkdir(parents=True)
    descriptor = os.open(alive, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    saves(people, policy, name)
    os.close(descriptor)
    assert _left(tmp_path) == sorted([alive.name, other.name, notes.name, name])


def test_a_folder_taken_for_a_leftover_is_made_again(
    people: Any, policy: dict[str, Any], saves: Saves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose hidden folder another run clears before it is locked makes it again."""
    original = fcntl.flock
    cleared: list[Path] = []

    def too_late(descriptor: int, operation: int) -> None:
        if not cleared:
            cleared.extend(tmp_path.glob(".release.sfumato-*"))
            cleared[0].rmdir()
        original(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", too_late)
    assert sf.verify(saves(people, policy, "release")).satisfied
    assert cleared
    assert _left(tmp_path) == ["release"]


@pytest.mark.parametrize("name", ["private/notes.txt", "public/notes.txt", "public/table.parquet", "private/.DS_Store"])
def test_force_removes_no_file_that_sfumato_did_not_write(
    people: Any, policy: dict[str, Any], saves: Saves, name: str
) -> None:
    """A file beside those of a release stops --force, which names it; so does a table that the manifest has not."""
    folder = saves(people, policy, "release")
    (folder / name).write_text("precious")
    before = sorted((path, path.is_file() and path.read_bytes()) for path in folder.rglob("*"))
    with pytest.raises(
        OutputError, match=f"release holds {name}, which no release has, so --force does not .*move that"
    ):
        saves(people, policy, "release", force=True)
    assert sorted((path, path.is_file() and path.read_bytes()) for path in folder.rglob("*")) == before
    assert _left(folder.parent) == ["release"]


def _link(folder: Path, part: str) -> None:
    (folder / part).rename(folder.parent / "elsewhere")
    (folder / part).symlink_to(folder.parent / "elsewhere")


@pytest.mark.parametrize("part", ["public", "private", "public/table.csv", "private/audit.json"])
def test_force_follows_no_link_in_a_release(people: Any, policy: dict[str, Any], saves: Saves, part: str) -> None:
    """A part or a file that is a link to another place is no part of a release, and what it leads to stays."""
    folder = saves(people, policy, "release")
    _link(folder, part)
    with pytest.raises(OutputError, match=f"release holds {part}, which no release has"):
        saves(people, policy, "release", force=True)
    assert (folder.parent / "elsewhere").exists()


def test_force_keeps_folders_in_a_release(people: Any, policy: dict[str, Any], saves: Saves) -> None:
    """A folder in a part is never removed, not even one that is called like a file of a release; all are counted."""
    folder = saves(people, policy, "release")
    (folder / "private" / "report.html").unlink()
    (folder / "private" / "report.html").mkdir()
    (folder / "public" / "old").mkdir()
    with pytest.raises(OutputError, match=r"release holds private/report.html and 1 more, which no release has"):
        saves(people, policy, "release", force=True)


@pytest.mark.parametrize("form", ["generalized", "anatomy"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_force_replaces_every_release_that_sfumato_writes(
    people: Any, rules: Rules, roles: dict[str, Any], saves: Saves, form: str, kind: str
) -> None:
    """Releases of one table and of two, in both formats, and signed ones, are replaced by any other."""
    policy = rules(roles, publish={"format": kind, "form": form})
    policy["privacy"] = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    folder = saves(people, policy, "release")
    (folder / "public" / "manifest.json.sig").write_text("a signature")
    saves(people, rules(roles), "release", force=True)
    assert sf.verify(folder).satisfied
    assert not (folder / "public" / "manifest.json.sig").exists()


def test_what_is_added_while_a_release_is_made_is_kept(people: Any, policy: dict[str, Any], saves: Saves) -> None:
    """What somebody puts into the old release at the last moment stops --force as well."""
    folder = saves(people, policy, "release")

    def add(_: Path) -> None:
        (folder / "private" / "notes.txt").write_text("precious")

    with pytest.raises(OutputError, match=r"private/notes.txt"):
        prepare(people, policy).save(folder, force=True, before=add)
    assert (folder / "private" / "notes.txt").read_text() == "precious"
    assert _left(folder.parent) == ["release"]


def test_what_fails_after_the_rename_takes_nothing_back(
    people: Any, policy: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that does not confirm the rename is a mishap of a release that is out, and not an error."""
    original = folders.flush_to_disk

    def fail(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        original(path)

    release = prepare(people, policy)
    monkeypatch.setattr(folders, "flush_to_disk", fail)
    assert not release.is_out
    assert sf.verify(release.save(tmp_path / "release")).satisfied
    assert release.is_out
    (mishap,) = release.mishaps
    assert mishap.startswith("the release is out, but its disk does not confirm that it keeps it (Input/output error)")


def test_an_interruption_after_the_rename(
    people: Any, policy: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is stopped right after the rename can tell that the release is out; and that it is not, right before."""
    original = Path.rename

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    def rename_and_stop(self: Path, target: Path) -> None:
        original(self, target)
        raise KeyboardInterrupt

    release = prepare(people, policy)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "release", before=stop)
    assert not release.is_out
    monkeypatch.setattr(Path, "rename", rename_and_stop)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "release")
    assert release.is_out
    assert sf.verify(tmp_path / "release").satisfied


def test_an_old_release_is_put_back(people: Any, policy: dict[str, Any], saves: Saves, tmp_path: Path) -> None:
    """What a run was killed with between the two steps of a disk that cannot exchange is back after the next run."""
    folder = saves(people, policy, "release")
    before = (folder / "public" / "table.csv").read_bytes()
    folder.rename(tmp_path / f".release.sfumato-old-{'a' * 16}")
    with pytest.raises(OutputError, match="exists already"):
        saves(people, policy, "release")
    assert (folder / "public" / "table.csv").read_bytes() == before
    shutil.copytree(folder, tmp_path / f".release.sfumato-old-{'b' * 16}")
    saves(people, policy, "release", force=True)
    assert _left(tmp_path) == ["release"]
