"""A Spark session: found or started, quiet, and with an answer in a sentence to whatever goes wrong in it.

PySpark is an extra, imported when somebody asks for it. Spark writes about its start, and about every task that fails,
to standard error; since such lines may hold paths and cells, a session of ours writes none. What a user has to know
comes back from the tasks as a block (`spark_tasks`), or is read off the error that Spark raises, and told without it.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato import errors
from sfumato.errors import DataError, InputError, RunAborted, quote
from sfumato.table.optional_library import import_library

_SETTINGS = {
    "spark.app.name": "sfumato",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.driver.maxResultSize": "0",
    "spark.sql.caseSensitive": "true",
}
"""Settings of a session of ours: it shows nothing, and logs nothing."""
_OF_JOBS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 26),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""Settings under which blocks are moved, in a session beside the user's own."""
_TASK = re.compile(r"sfumato-task:(memory|errno (\d+))")
_TOLD: dict[str, type[errors.SfumatoError]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.SfumatoError) and kind is not errors.PolicyError
}


def import_spark() -> Any:
    """Import PySpark's sessions; say how to install it where it is missing."""
    return import_library("pyspark.sql", "pyspark", "spark", "--engine spark runs on Spark")


def find_session(master: str | None, frame: Any = None) -> tuple[Any, bool]:
    """Find the Spark session of a DataFrame or of this process, or start one; also tells whether it was started.

    Without a `master`, Spark's own settings say where jobs run, and this machine if they do not.
    """
    sql = import_spark()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # it need not
    found = frame.sparkSession if frame is not None else sql.SparkSession.getActiveSession()
    if found is not None:
        if not hasattr(found, "sparkContext") or type(found).__module__.startswith("pyspark.sql.connect"):
            raise InputError(
                "a session of Spark Connect runs no functions of sfumato; use a classic one, as "
                "SparkSession.builder.master(…) gives"
            )
        context = found.sparkContext
        if master is not None and context.master != master:
            raise InputError(
                f"this process has a Spark session already, of {quote(context.master)}; leave the master out, or stop "
                "that session"
            )
        return found, False
    return _start(sql, master), True


def _start(sql: Any, master: str | None) -> Any:
    """Start a session whose Java process writes nothing."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise InputError(
            "--engine spark needs Java 17 or later, which is not installed here; install it, or set JAVA_HOME"
        )
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - an extra
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - an extra

    local = master is None or master.startswith("local")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf().setAll(list(_SETTINGS.items()))
    if master is not None:
        conf.setMaster(master)
    if local:  # nobody else has to reach it
        conf.set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1")
    try:
        gateway = None
        if SparkContext._gateway is None:  # noqa: SLF001 - PySpark asks for it with a gateway of one's own
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            gateway = launch_gateway(conf, popen_kwargs=quiet)
        context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told in our words
        if "JAVA_GATEWAY_EXITED" in str(error) and master is None:
            raise InputError(
                "Java does not start Spark; --engine spark needs Java 17 or later, and JAVA_HOME to lead to it"
            ) from None
        named = "Spark" if master is None else f"Spark with the master {quote(master)}"
        raise InputError(
            f"{named} does not start; write --master as local[2], spark://host:7077 or yarn, and check that it runs, "
            "and that Java is 17 or later"
        ) from None
    return sql.SparkSession(context)


def session_for_jobs(session: Any) -> Any:
    """Give a session on the same cluster for our jobs, whose settings change nothing in the user's."""
    own = session.newSession()
    for key, value in _OF_JOBS.items():
        own.conf.set(key, value)
    return own


@contextmanager
def spark_errors() -> Iterator[None]:
    """Say what Spark raises in a sentence, without a word of Spark's."""
    import_spark()
    from py4j.protocol import Py4JError, Py4JNetworkError  # noqa: PLC0415 - comes with PySpark
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

    try:
        yield
    except (PySparkException, Py4JError, Py4JNetworkError, ConnectionError) as error:
        raise explain_spark_error(error) from None


def explain_spark_error(error: BaseException) -> Exception:
    """Say what an error of Spark means."""
    text = str(error)
    if (found := _TASK.search(text)) is not None:
        if found[2] is None:
            return RunAborted("a task of Spark ran out of memory; give executors more, or more and smaller tasks")
        reason = os.strerror(int(found[2])) if found[2] != "0" else "unknown trouble"
        return RunAborted(f"a task of Spark could not read or write ({reason}); see to the disks of the cluster")
    if "No module named" in text:
        missing = re.search(r"No module named '([A-Za-z0-9_]+)", text)
        name = missing[1] if missing else "sfumato"
        return RunAborted(
            f"the workers of the cluster have no Python package {name}; install the same sfumato[spark] on all of them"
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return RunAborted("the workers of the cluster have another Python; install the same version on all of them")
    if any(
        word in text for word in ("ExecutorLostFailure", "exited unrelated", "Python worker exited", "EOFException")
    ):
        return RunAborted("Spark lost the workers of a task several times; see whether they have memory enough")
    if "No space left" in text:
        return RunAborted("a disk of the cluster is full; free some space")
    if any(
        word in text for word in ("shut down", "stopped SparkContext", "Connection refused", "Answer from Java side")
    ):
        return RunAborted("Spark stopped before the work was done; check that the cluster runs and can be reached")
    condition = getattr(error, "getCondition", lambda: None)()
    kind = condition if isinstance(condition, str) else type(error).__name__
    return RunAborted(f"Spark ended the work with the error {kind}; see to the cluster, and try again")


def raise_told(told: str, explain: Callable[[str, str], Exception | None]) -> None:
    """Raise the error that a task put into words; `explain` says what is not a sentence for a user."""
    content = json.loads(told)
    kind, message = content["kind"], content["message"]
    found = explain(kind, message)
    if found is not None:
        raise found
    if kind in _TOLD:
        raise DataError(message) if kind == "UnreadableFile" else _TOLD[kind](message)
    raise RuntimeError(f"{kind} in a task at {message}")  # a bug of ours


def has_spark() -> bool:
    """Tell whether Spark can be started here: PySpark and Java are installed."""
    java = shutil.which("java") is not None or Path(os.environ.get("JAVA_HOME", "/none"), "bin", "java").exists()
    return java and importlib.util.find_spec("pyspark") is not None
