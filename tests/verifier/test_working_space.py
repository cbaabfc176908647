"""Verifying within so much memory: what does not fit goes to disk and is removed, and too little of either is said."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sfumato as sf
from sfumato.datasets import hospital, hospital_policy
from sfumato.errors import InputError
from sfumato.verifier.sql import connect
from sfumato.verifier.working_space import working_space

Runs = Callable[..., Any]

MANY = "CREATE TABLE many AS SELECT hash(range) AS h, count(*) AS n FROM range(3000000) GROUP BY h"


def test_what_does_not_fit_goes_into_the_folder_and_is_removed(tmp_path: Path) -> None:
    """The folder is there meanwhile, for its owner alone, and holds what was moved."""
    with working_space(300_000_000, 1, tmp_path):
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        connection = connect()
        connection.execute(MANY)
        assert any(folder.rglob("*"))
        assert connection.execute("SELECT count(*) FROM many").fetchall() == [(3_000_000,)]
        connection.close()
    assert not list(tmp_path.iterdir())


def test_too_little_memory_or_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is a fault of the release."""
    with (
        pytest.raises(InputError, match=r"took all the disk space .*; free some, or allow more memory"),
        working_space(1, 1, tmp_path),
    ):
        raise duckdb.OutOfMemoryException("failed to offload data block of size 1: max_temp_directory_size")
    with (
        pytest.raises(InputError, match="verifying takes more than the 300 MB of memory"),
        working_space(300_000_000, 1, tmp_path),
    ):
        raise duckdb.OutOfMemoryException("could not allocate block of size 256.0 KiB")
    with pytest.raises(MemoryError), working_space(None, None, tmp_path):
        raise MemoryError
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with working_space(None, None, None):  # where no folder can be made, everything has to fit
        assert connect().execute("SELECT 1").fetchall() == [(1,)]
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    """And that of a living one is not, nor what others have put there."""
    script = (
        "import os, signal, sys\nfrom sfumato.verifier.working_space import working_space\n"
        "with working_space(None, None, sys.argv[1]):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, env=os.environ)
    (tmp_path / "notes").mkdir()
    (left,) = (path for path in tmp_path.iterdir() if path.name != "notes")
    with working_space(None, None, tmp_path):
        assert not left.exists()
        with working_space(None, None, tmp_path):
            assert len(list(tmp_path.iterdir())) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_release_is_verified_within_what_is_asked(runs: Runs, tmp_path: Path) -> None:
    """By Python as by the command, whose sizes are read as people write them."""
    sf.anonymize(hospital(300), hospital_policy()).save(tmp_path / "release")
    assert sf.verify(tmp_path / "release", memory=500_000_000, threads=1, spill=tmp_path).satisfied
    assert runs("verify", "release", "--memory", "500MB").code == 0
    refused = runs("verify", "release", "--memory", "plenty")
    assert (refused.code, refused.err) == (
        2,
        "error: --memory is 'plenty'; write how much memory may be used, as in 4GB or 500MB\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
