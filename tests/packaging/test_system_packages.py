"""What `make setup` does to the system: nothing, or one package, said aloud, where Python's venv module is missing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")

PYTHON = """#!/bin/sh
case "$*" in
*ensurepip*) test -e {done} ;;
*) echo "python $*" >> {log} ;;
esac
"""
APT = """#!/bin/sh
echo "apt-get $*" >> {log}
test "$1" = install && touch {done} || true
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs: a Python without venv, an apt-get that brings it, and an `id` that tells who runs."""
    paths = {"log": tmp_path / "log", "done": tmp_path / "installed"}
    programs = {"python": PYTHON, "apt-get": APT, "id": "#!/bin/sh\necho ${{WHO}}\n"}
    for name, text in programs.items():
        (tmp_path / name).write_text(text.format(**paths))
        (tmp_path / name).chmod(0o755)
    (tmp_path / "log").touch()
    return tmp_path


def _make(machine: Path, *arguments: str, user: int, target: str | None = None) -> tuple[int, str, str, str]:
    alone = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    environment = alone | {"PATH": f"{machine}:{os.environ['PATH']}", "WHO": str(user)}
    venv = machine / "venv"
    command = ["make", target or f"{venv}/bin/pip", f"VENV={venv}", f"PYTHON={machine / 'python'}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr, (machine / "log").read_text()


def test_the_superuser_is_told_what_is_installed(machine: Path) -> None:
    """One line says which package is installed and how to go without, and then the environment is made."""
    code, out, _, log = _make(machine, user=0)
    assert code == 0
    assert "installing the system package python3-venv by apt-get" in out.splitlines()[0]
    assert "SYSTEM=no" in out.splitlines()[0]
    assert [line.split()[:2] for line in log.splitlines()] == [
        ["apt-get", "update"],
        ["apt-get", "install"],
        ["python", "-m"],
    ]


@pytest.mark.parametrize(("arguments", "user"), [(["SYSTEM=no"], 0), ([], 1000), (["SYSTEM=no"], 1000)])
def test_nothing_is_installed_unasked(machine: Path, arguments: list[str], user: int) -> None:
    """With SYSTEM=no, or for anybody else, no package is installed, and a sentence says which one to install."""
    code, out, err, log = _make(machine, *arguments, user=user)
    assert (code, out, log) == (2, "", "")
    assert err.startswith("error: Python's venv module is missing; install it (Debian: apt-get install python3-venv)")


def test_a_whole_python_needs_nothing(machine: Path) -> None:
    """Where the module is there, the environment is made, and the system is left alone."""
    (machine / "installed").touch()
    code, _, _, log = _make(machine, user=0)
    assert code == 0
    assert log.startswith("python -m venv")
    assert "apt-get" not in log


HELPERS = pytest.mark.parametrize(
    ("missing", "there", "package", "name"),
    [("INITDB", "CHROMIUM", "postgresql", "PostgreSQL"), ("CHROMIUM", "INITDB", "chromium", "Chromium")],
)


@HELPERS
def test_a_helper_of_the_tests_is_installed_aloud(
    machine: Path, missing: str, there: str, package: str, name: str
) -> None:
    """The superuser is told in a line which package is installed, server or browser, and how to go without."""
    code, out, _, log = _make(machine, f"{missing}=", f"{there}=/usr/bin/true", user=0, target="servers")
    assert code == 0
    assert f"installing the system package {package} by apt-get" in out.splitlines()[0]
    assert "SYSTEM=no" in out.splitlines()[0]
    assert [line.split()[:2] for line in log.splitlines()] == [["apt-get", "update"], ["apt-get", "install"]]
    assert log.rstrip().endswith(package)


@HELPERS
@pytest.mark.parametrize(("arguments", "user"), [(["SYSTEM=no"], 0), ([], 1000)])
def test_no_helper_is_installed_unasked(  # noqa: PLR0913, PLR0917 - two tables of cases
    machine: Path, missing: str, there: str, package: str, name: str, arguments: list[str], user: int
) -> None:
    """Otherwise nothing is installed, and a line says that tests will be skipped."""
    given = (f"{missing}=", f"{there}=/usr/bin/true", *arguments)
    code, out, _, log = _make(machine, *given, user=user, target="servers")
    assert (code, log) == (0, "")
    assert out.startswith(f"there is no {name}, so that its tests will be skipped")


def test_helpers_that_are_there_are_taken(machine: Path) -> None:
    """Where PostgreSQL and Chromium are installed, nothing happens."""
    there = ("INITDB=/usr/bin/true", "CHROMIUM=/usr/bin/true")
    assert _make(machine, *there, user=0, target="servers")[1:] == ("", "", "")
