"""Real servers for the tests: PostgreSQL and MariaDB of the distribution, each in a folder of its own, gone afterwards.

A server is started by its own programs, as a user without rights, on a free port, and is known to nobody else. Where
its programs are not installed, the tests that need it are skipped with the reason.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "correct horse"  # noqa: S105 - of a server that lives for seconds


@dataclass(frozen=True)
class Server:
    """A server: the port it listens on, and the folder that it lives in."""

    kind: str
    port: int
    folder: Path

    @property
    def url(self) -> str:
        """How it is named in a policy, without a password."""
        return f"{self.kind}://sfumato@127.0.0.1:{self.port}/clinic"


def find_program(name: str) -> Path | None:
    """Find a program on the path, or where Debian keeps servers."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return Path(found).resolve() if found else versions[-1] if versions else None


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _as_nobody(folder: Path) -> dict[str, Any]:
    """Say how to run a program as somebody without rights, who owns the folder: servers refuse to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _run(*command: str | Path, **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **options)
    if done.returncode:
        pytest.skip(f"the server cannot be set up here: {(done.stderr or done.stdout).strip()[-200:]}")


def _wait_for(port: int, process: "subprocess.Popen[Any]", log: Path) -> None:
    for _ in range(300):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    pytest.skip(f"the server does not start here: {log.read_text(errors='replace')[-200:]}")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server with a user and an empty database, who asks for a password."""
    initdb, server = find_program("initdb"), find_program("postgres")
    if initdb is None or server is None:
        pytest.skip("there is no PostgreSQL server; install it (Debian: apt-get install postgresql), or say make test")
    folder = Path(tempfile.mkdtemp(prefix="sfumato-pg-"))
    port, who = _free_port(), _as_nobody(folder)
    secret = folder / "password"
    secret.write_text(PASSWORD + "\n")
    secret.chmod(0o644)
    data, log = folder / "data", folder / "log"
    try:
        options = [
            "-U",
            "sfumato",
            "-A",
            "scram-sha-256",
            f"--pwfile={secret}",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        ]
        _run(initdb, "-D", data, *options, **who)
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off", "port": port}
        command = [str(server), "-D", str(data), *(f"--{name}={value}" for name, value in settings.items())]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd="/", **who)
        try:
            _wait_for(port, process, log)
            _make_database(port)
            yield Server("postgresql", port, folder)
        finally:
            process.terminate()
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_database(port: int) -> None:
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    os.environ["PGPASSWORD"] = PASSWORD
    try:
        for _ in range(100):  # it listens before it answers
            try:
                connection = dbapi.connect(f"postgresql://sfumato@127.0.0.1:{port}/postgres", autocommit=True)
                break
            except dbapi.Error:
                time.sleep(0.1)
        with connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE clinic")
    finally:
        del os.environ["PGPASSWORD"]


@pytest.fixture(scope="session")
def mysql() -> Iterator[Server]:
    """A MariaDB server with a user and an empty database, who asks for a password."""
    server = find_program("mariadbd") or find_program("mysqld")
    install = find_program("mariadb-install-db") or find_program("mysql_install_db")
    if server is None or install is None:
        pytest.skip("there is no MariaDB server; install it (Debian: apt-get install mariadb-server)")
    folder = Path(tempfile.mkdtemp(prefix="sfumato-my-"))
    port, who = _free_port(), _as_nobody(folder)
    data, log, first = folder / "data", folder / "log", folder / "first.sql"
    first.write_text(
        "CREATE DATABASE clinic CHARACTER SET utf8mb4;\n"
        f"CREATE USER 'sfumato'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
        "GRANT ALL ON clinic.* TO 'sfumato'@'127.0.0.1';\n"
    )
    first.chmod(0o644)
    try:
        base = server.parents[1]
        _run(install, "--no-defaults", f"--datadir={data}", f"--basedir={base}", "--skip-test-db", **who)
        options = [f"--datadir={data}", f"--port={port}", "--bind-address=127.0.0.1", f"--socket={folder / 'socket'}"]
        options += [f"--init-file={first}", f"--basedir={base}", "--skip-name-resolve", f"--pid-file={folder / 'pid'}"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(server), "--no-defaults", *options], stdout=output, stderr=output, cwd="/", **who
            )
        try:
            _wait_for(port, process, log)
            yield Server("mysql", port, folder)
        finally:
            process.terminate()
            process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
