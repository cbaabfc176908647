"""What the tests from outside share: short policies, files to read, releases to look into, the command to run."""

import csv
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# One thread of OpenBLAS and OpenMP for each of pytest's workers, and for what it starts: the workers fill the cores,
# and threads that wait for one another by spinning cost more than they save. It has to be said before numpy comes in.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings

# A busy machine fails no test: Hypothesis measures neither an example nor the making of one.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

Rules = Callable[..., dict[str, Any]]
Reads = Callable[..., dict[str, list[Any]]]
Saves = Callable[..., Path]
Runs = Callable[..., "Outcome"]
Cells = Callable[[Path], list[dict[str, str]]]


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line on standard error, which begins as an error does; nothing else was printed."""
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        assert "bug of sfumato" not in self.err
        return self.err.removeprefix("error: ").rstrip("\n")


def _role(role: Any) -> dict[str, Any]:
    if isinstance(role, Mapping):
        return dict(role)
    return {"role": role, "hierarchy": "suppress"} if role == "quasi" else {"role": role}


@pytest.fixture(scope="session")
def rules() -> Rules:
    """Makes a policy from the roles of the columns; whole tables of it can be given as keywords."""

    def make(columns: Mapping[str, Any], *, k: int = 2, suppression: float = 0.0, **tables: Any) -> dict[str, Any]:
        return {
            "columns": {name: _role(role) for name, role in columns.items()},
            "privacy": [{"model": "k-anonymity", "k": k}],
            "algorithm": {"suppression": suppression},
            **tables,
        }

    return make


@pytest.fixture
def reads(tmp_path: Path, rules: Rules) -> Reads:
    """Writes a file and reads it back as columns: the first a quasi-identifier, the others plain."""

    def reader(content: str | bytes, columns: str = "a b", *, name: str = "t.csv", **data: Any) -> dict[str, list[Any]]:
        from sfumato.policy import load
        from sfumato.table import read_table

        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        first, *others = columns.split()
        policy = load(rules({first: "quasi"} | dict.fromkeys(others, "plain"), data=data))
        found: dict[str, list[Any]] = read_table(path, policy).arrow.to_pydict()
        return found

    return reader


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    """Anonymizes a table under a policy and gives the folder of the release."""
    count = 0

    def saver(data: Any, policy: Any, name: str | None = None, *, force: bool = False) -> Path:
        from sfumato.release import prepare

        nonlocal count
        count += 1
        return prepare(data, policy).save(tmp_path / (name or f"release{count}"), force=force)

    return saver


@pytest.fixture
def runs(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs the command in a folder of its own, and gives how it ended."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | os.PathLike[str]) -> Outcome:
        from sfumato.cli.main import _run

        capfd.readouterr()
        code = _run([os.fspath(argument) for argument in arguments])
        printed = capfd.readouterr()
        return Outcome(code, printed.out, printed.err)

    return run


@pytest.fixture(scope="session")
def command_folder() -> Iterator[Path]:
    """A folder with a `sfumato` that is a process of its own, and starts at once: command_server.py says how."""
    server = [sys.executable, str(Path(__file__).with_name("command_server.py"))]
    with (
        tempfile.TemporaryDirectory(prefix="sfumato-") as folder,  # the path of a socket has to be short
        subprocess.Popen([*server, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield Path(folder)
        process.communicate()


@pytest.fixture(scope="session")
def cells() -> Cells:
    """Reads a published CSV file as any program would: one dict of texts a row."""

    def reader(path: Path) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))

    return reader


@pytest.fixture(scope="session")
def people() -> Any:
    """Forty people in four classes: a name, two quasi-identifiers, an illness and a number."""
    rows = range(40)
    return pa.table(
        {
            "name": [f"Person {row}" for row in rows],
            "sex": ["f" if row % 2 else "m" for row in rows],
            "zip": ["4350" if row % 4 < 2 else "4351" for row in rows],
            "illness": [("flu", "ulcer", "flu", "HIV", "cold")[row % 5] for row in rows],
            "visits": [row - 20 for row in rows],
        }
    )


@pytest.fixture(scope="session")
def roles() -> dict[str, Any]:
    """The roles of the columns of `people`."""
    return {"name": "identifier", "sex": "quasi", "zip": "quasi", "illness": "sensitive", "visits": "plain"}
