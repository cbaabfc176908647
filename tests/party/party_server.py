"""A warm process that starts ``sfumato`` as forks of itself, so that parties are processes and start at once.

Each line of its standard input is a request in JSON, and each is answered by a line. ``start`` forks a process that
runs a command, with its standard output and error in files; ``at`` tells that process to stop or kill itself before its
n-th use of a channel, ``at_step`` before it sends the first message of its n-th step. ``wait`` gives the exit code of a
process and the most memory that it had, in megabytes.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import signal
import sys
import time
from typing import Any

from sfumato.cli.main import _run, main
from sfumato.party.tls_channel import TlsChannel

_WARM = (
    "cryptography.hazmat.primitives.serialization",
    "cryptography.x509",
    "encodings.idna",
    "encodings.utf_8_sig",
    "pyarrow.compute",
    "rbcl",
    "rich.table",
    "sfumato.cli.printing",
    "sfumato.party.anonymize_together",
    "sfumato.party.contingency",
    "sfumato.party.party_run",
    "sfumato.party.private_intersection",
    "sfumato.party.secure_comparison",
    "sfumato.party.secure_sum",
    "sfumato.party.secure_union",
    "sfumato.party.set_cardinality",
    "sfumato.party.shared_k_means",
    "sfumato.party.shared_naive_bayes",
    "sfumato.party.shared_rules",
    "sfumato.party.vector_distance",
)
"""What a party imports when it runs."""

_ended: dict[int, tuple[int, float]] = {}


def start(request: dict[str, Any]) -> int:
    """Fork a process that runs a command; give its number."""
    child = os.fork()
    _ended.pop(child, None)  # numbers of processes come round again
    if child:
        return child
    os.chdir(request["folder"])
    for number, name in ((0, os.devnull), (1, request["out"]), (2, request["err"])):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(name, flags), number)
    if request.get("at"):
        hurt_at(*request["at"])
    if request.get("at_step"):
        kill_at_step(request["at_step"])
    try:
        main(request["arguments"])
    except SystemExit as ended:
        sys.stdout.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def hurt_at(count: int, name: str) -> None:
    """Have this process send itself a signal before its n-th use of a channel."""
    uses = 0

    def hurt(method: Any) -> Any:
        def use(*arguments: Any) -> Any:
            nonlocal uses
            uses += 1
            if uses == count:
                time.sleep(0.03)  # what was sent before is on its way
                os.kill(os.getpid(), getattr(signal, name))
            return method(*arguments)

        return use

    TlsChannel._send_payload = hurt(TlsChannel._send_payload)  # type: ignore[method-assign]
    TlsChannel._receive_payload = hurt(TlsChannel._receive_payload)  # type: ignore[method-assign]


def kill_at_step(count: int) -> None:
    """Have this process kill itself before it sends the first message of its n-th step."""
    steps: set[str] = set()
    send = TlsChannel._send_payload

    def use(channel: TlsChannel, step: str, payload: bytes) -> None:
        steps.add(step)
        if len(steps) == count:
            time.sleep(0.03)  # what was sent before is on its way
            os.kill(os.getpid(), signal.SIGKILL)
        send(channel, step, payload)

    replacement: Any = use  # a function in place of a method: mypy's workers do not agree on its type
    TlsChannel._send_payload = replacement  # type: ignore[method-assign]


def wait(child: int, seconds: float) -> tuple[int, float] | None:
    """Wait for a process; one that takes longer is killed, and is nothing."""
    end = time.monotonic() + seconds
    while child not in _ended:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            _ended[child] = (os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024)
        elif time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        else:
            time.sleep(0.005)
    return _ended[child]


def serve() -> None:
    """Answer requests until there are no more."""
    for module in _WARM:
        importlib.import_module(module)
    with contextlib.redirect_stdout(io.StringIO()):
        _run(["party", "run", "--help"])
    gc.collect()
    gc.freeze()
    answer("ready")
    for line in sys.stdin:
        request = json.loads(line)
        found = start(request) if request["do"] == "start" else wait(request["process"], request["seconds"])
        answer(json.dumps(found))


def answer(line: str) -> None:
    """Write a line to who started this."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve()
