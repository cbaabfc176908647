"""Runs `sfumato` in forks of one process that has imported it already: `python command_server.py FOLDER`.

Starting Python and importing numpy, pyarrow, DuckDB and all of sfumato takes longer than most commands take. Here it is
done once. `FOLDER/sfumato` is then a command like the installed one: it has its caller's arguments, folder, environment
and streams, ends with the exit code or by the signal that ended the work, and passes on the signals that it gets.
Whoever kills it kills what it started.

What differs from a process of its own: what is imported lazily is there already, texts are hashed as in the first
process, the variables that Python reads when it starts say nothing but the encoding of what is printed, and modules are
not taken down at the end. Tests of these things start the real command.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any, NoReturn

STATUS = struct.Struct("!i")
CLIENT = """#!{python} -IS
import json, os, signal, socket, struct, sys

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

closed = [number for number in range(3) if not is_open(number)]
for number in closed:
    os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), closed]).encode()
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [struct.pack("!i", len(request))], [0, 1, 2])
server.sendall(request)
child = struct.unpack("!i", server.recv(4, socket.MSG_WAITALL))[0]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(child, number))
for number in range(3):
    os.close(number)  # nobody waits for more from here
status = os.waitstatus_to_exitcode(struct.unpack("!i", server.recv(4, socket.MSG_WAITALL))[0])
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


def import_all() -> None:
    """Import every module of sfumato, and what pyarrow would import at the first array."""
    import sfumato

    for module in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
        importlib.import_module(module.name)
    importlib.import_module("pandas")
    importlib.import_module("sfumato.cli.main").build_app()


def receive(connection: socket.socket) -> tuple[list[int], Any]:
    """The streams, and arguments, folder and environment, of who calls."""
    head, streams, _, _ = socket.recv_fds(connection, STATUS.size, 3)
    (length,) = STATUS.unpack(head)
    return streams, json.loads(connection.recv(length, socket.MSG_WAITALL))


def become(streams: list[int], folder: str, environment: dict[str, str], closed: list[int]) -> None:
    """Take the streams, the folder and the environment of who calls."""
    os.setsid()
    for number, sent in enumerate(streams):
        os.dup2(sent, number)
        os.close(sent)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    made: list[io.TextIOWrapper | None] = [
        io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding),
        _writer(1, encoding, "strict", lines=os.isatty(1)),
        _writer(2, encoding, "backslashreplace", lines=True),
    ]
    for number in closed:
        os.close(number)
        made[number] = None  # as Python has it
    for name, stream in zip(("stdin", "stdout", "stderr"), made, strict=True):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _writer(number: int, encoding: str, errors: str, *, lines: bool) -> io.TextIOWrapper:
    raw = io.FileIO(number, "wb", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines)


def watch(connection: socket.socket, child: int) -> NoReturn:
    """Tell who calls how the child ended; kill the child if the caller is gone."""
    connection.sendall(STATUS.pack(child))
    ended = os.pidfd_open(child)
    ready, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in ready:  # the caller never sends more, so that this is its end
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        connection.sendall(STATUS.pack(status))
    os._exit(0)


def serve(folder: Path) -> list[str]:
    """Fork for every call, until standard input ends; returns in the child alone, with the arguments of its call."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    listener.listen()
    command = folder / "sfumato"
    command.write_text(CLIENT.format(python=sys.executable, address=str(folder / "socket")))
    command.chmod(0o755)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        if 0 in select.select([listener.fileno(), 0], [], [])[0]:  # who started this is gone
            sys.exit()
        connection, _ = listener.accept()
        with contextlib.suppress(ChildProcessError):  # those that have ended since
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork():
            connection.close()
            continue
        listener.close()
        streams, (arguments, *surroundings) = receive(connection)
        child = os.fork()
        if child:
            for stream in streams:
                os.close(stream)
            watch(connection, child)
        connection.close()
        become(streams, *surroundings)
        return list(arguments)


def run(arguments: list[str]) -> NoReturn:
    """Run the command and end as Python would, but take nothing down: that would visit all that was imported."""
    from sfumato.cli import main

    sys.argv = ["sfumato", *arguments]
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    import_all()
    gc.collect()
    gc.freeze()
    run(serve(Path(sys.argv[1])))
