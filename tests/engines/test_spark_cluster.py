"""A cluster of two workers, one of which is killed amid the run: the release is right all the same."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.spark_session import has_spark
from sfumato.policy import load
from sfumato.policy.toml_text import write_toml
from sfumato.testing.engine_contract import make_release, published_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not has_spark(), reason="no PySpark, or no Java, is installed"),
]

FILES, ROWS = 16, 25_000


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Cluster:
    """A master and two workers of Spark's own, as processes that are led by their groups."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.home, self.folder, self.port = Path(pyspark.__file__).parent, folder, _free_port()
        self.environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(folder)}
        self.environment |= {"SPARK_DAEMON_MEMORY": "256m", "PYSPARK_PYTHON": sys.executable}
        settings = ("spark.executor.memory 512m", "spark.driver.memory 512m", "spark.network.timeout 60s")
        (folder / "spark-defaults.conf").write_text("\n".join(settings) + "\n", encoding="ascii")
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        self._wait_for_port()
        for number in range(2):
            work = folder / f"worker-{number}"
            work.mkdir()
            options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "600m", "--webui-port", "0")
            self._start("worker.Worker", *options, "--work-dir", str(work), self.master)

    @property
    def master(self) -> str:
        """Its URL."""
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, name: str, *options: str) -> None:
        command = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
        with (self.folder / f"{len(self.processes)}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
            )

    def _wait_for_port(self) -> None:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.2)
        pytest.fail("the master did not start")

    def kill(self, number: int) -> None:
        """Kill a process with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[number].pid, signal.SIGKILL)
        self.processes[number].wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that is gone afterwards."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    for number in range(len(made.processes)):
        made.kill(number)


def test_killed_worker(tmp_path: Path, cluster: Cluster) -> None:
    """Half of the cluster dies while rows are labelled and written; every row is published once."""
    source = tmp_path / "in"
    source.mkdir()
    draw = np.random.default_rng(1)
    for number in range(FILES):
        columns: dict[str, Any] = {name: draw.integers(0, 9, ROWS) for name in ("a", "b", "c", "d")}
        columns["row"] = np.arange(ROWS) + number * ROWS
        pq.write_table(pa.table(columns), source / f"{number}.parquet")
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    document = {
        "data": {"source": str(source)},
        "columns": dict.fromkeys("abcd", quasi) | {"row": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 30}],
        "algorithm": {"name": "mondrian"},
        "publish": {"rows_per_file": 50_000},
    }
    policy = tmp_path / "policy.toml"
    policy.write_text(write_toml(document), encoding="utf-8")
    command = [sys.executable, "-P", "-c", "from sfumato.cli import main; main()", "anonymize", str(policy)]
    options = ["--engine", "spark", "--master", cluster.master, "--out", str(tmp_path / "release")]
    run = subprocess.Popen(
        [*command, *options],
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while run.poll() is None and not [*tmp_path.glob(".release.sfumato-*/public/.table-tasks")]:
            time.sleep(0.05)
        time.sleep(1)
        was_running = run.poll() is None
        cluster.kill(1)
        out, errors = run.communicate(timeout=900)
    finally:
        run.kill()
    assert was_running, errors
    assert run.returncode == 0, errors
    assert str(source) not in out + errors
    assert "WARN" not in errors
    rows = published_rows(tmp_path / "release", "table")
    assert sorted(int(dict(row)["row"]) for row in rows) == list(range(FILES * ROWS))
    make_release(load(policy), None, tmp_path / "memory")
    assert rows == published_rows(tmp_path / "memory", "table")
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".release")]
