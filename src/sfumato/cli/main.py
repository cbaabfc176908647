"""``sfumato``: the commands, and how errors leave."""

import gc
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import typer

from sfumato._version import __version__
from sfumato.errors import SfumatoError, Stopped, is_lack_of_memory, shorten

_INTERRUPTED = 130
_NO_MEMORY = "the table does not fit into memory; run it on a larger machine or publish fewer columns"
_stop_signals: list[int] = []
"""The signals to stop that this process got."""
_UsageError: type[Any] = typer.BadParameter.__bases__[0]
"""Click's, or that of the copy of Click that later versions of typer bring along."""

COMMANDS = (
    "demo",
    "init",
    "anonymize",
    "apply",
    "verify",
    "keys",
    "risk",
    "chance",
    "query",
    "utility",
    "compare",
    "dimensions",
    "reproduce",
    "attack",
    "ledger",
    "collect",
    "rules",
    "condense",
    "audit",
    "party",
    "serve",
    "schema",
)
"""The commands in the order of the help text: each is a module of this package, with a function or an `app`."""


def build_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Put these commands together; only their modules are imported."""
    app = typer.Typer(
        name="sfumato",
        help="Publish tables about people: private by a stated definition, useful by a measured one, "
        "checked by code that did not make them.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_options)
    for name in names:
        module = import_module(f"sfumato.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    if version:
        print(f"sfumato {__version__}")  # noqa: T201 - what was asked for
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command; an error is one sentence on standard error, and never a traceback."""
    output = _open_output()
    # Importing makes many objects and hardly a cycle: looking for cycles rarely starts a command 0.05 s sooner.
    gc.set_threshold(50_000)
    sys.unraisablehook = _raise_again
    threading.excepthook = _forget_thread
    logging.getLogger("concurrent.futures").addHandler(logging.NullHandler())
    logging.getLogger("concurrent.futures").propagate = False
    signal.signal(signal.SIGTERM, _stop_in_order)
    signal.signal(signal.SIGINT, _stop_in_order)
    asked = sys.argv[1:] if arguments is None else arguments
    sys.exit(_report_lost_output(_run(asked), asked, output))


class LenientOutput(io.FileIO):
    """Standard output that lets a command do its work to the end where nobody can take its words any more.

    `error` is the first that writing met.
    """

    error: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write, until that fails for the first time."""
        try:
            return super().write(data) if self.error is None else len(data)
        except BlockingIOError:
            raise
        except OSError as error:
            self.error = error
            return len(data)


def _open_output() -> LenientOutput | None:
    """Put a lenient output in the place of standard output; what is closed of the standard streams leads nowhere.

    A stream that is closed would lend its number to the next file that is opened, and what is printed would go there.
    Where somebody has put another output in its place already, that stays.
    """
    if sys.stdout is not sys.__stdout__:
        return None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    output = LenientOutput(1, "wb", closefd=False)
    known = sys.stdout if isinstance(sys.stdout, io.TextIOWrapper) else None
    encoding, interactive = (None, False) if known is None else (known.encoding, known.line_buffering)
    # a terminal that lacks a letter is no reason to fail
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(output), encoding, "replace", line_buffering=interactive)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "wb", closefd=False), errors="replace", write_through=True)
    return output


def _report_lost_output(code: int, arguments: Sequence[str], output: LenientOutput | None) -> int:
    """Say that words were lost, but for a reader that left; the exit code is that of a release where one is out."""
    if output is None:
        return code
    sys.stdout.flush()
    if output.error is None or isinstance(output.error, BrokenPipeError) or code:
        return code
    why = f"could not be printed on standard output ({output.error.strerror})"
    if arguments and arguments[0] in {"anonymize", "apply", "demo"} and "--help" not in arguments:
        _print_sentence("warning", f"the release is out, but what it came to {why}; see its private/audit.json")
        return code
    return _print_error(f"the command did its work, but what it came to {why}; write to another place", 2)


def _run(arguments: list[str]) -> int:
    # The command that is asked for is enough, unless there may be none of that name, or all are to be listed.
    names = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    _stop_signals.clear()  # those of a command before, in the same process
    try:
        code = typer.main.get_command(build_app(names)).main(arguments, prog_name="sfumato", standalone_mode=False)
    except KeyboardInterrupt:
        return _stopped()
    except Exception as error:  # noqa: BLE001 - every error leaves as a sentence
        return _stopped() if _stop_signals and not isinstance(error, Stopped) else _report_error(error)
    if code == _INTERRUPTED:  # typer's way of passing on a Ctrl-C
        return _stopped()
    return code if isinstance(code, int) else 0


def _report_error(error: Exception) -> int:
    """An error in words, and the exit code."""
    match error:
        case SfumatoError():
            return _print_error(str(error), error.exit_code)
        case typer.Exit():
            return error.exit_code
        case typer.Abort():
            return _stopped()
    if isinstance(error, _UsageError):
        # It quotes what was typed, be it as long as it will.
        sentence = " ".join(map(shorten, error.format_message().rstrip(".").split()))
        return _print_error(f"{sentence}; see sfumato --help", 2)
    if is_lack_of_memory(error):
        return _print_error(_NO_MEMORY, 2)
    return _report_bug(error)


def _print_error(sentence: str, code: int) -> int:
    _print_sentence("error", sentence)
    return code


def _print_sentence(kind: str, sentence: str) -> None:
    with suppress(OSError):  # the exit code says it where nobody takes the words
        print(f"{kind}: {' '.join(sentence.split())}", file=sys.stderr)  # noqa: T201 - this is where errors go


def _stopped() -> int:
    return _print_error("stopped; no part of a release is left behind", _INTERRUPTED)


def _report_bug(error: Exception) -> int:
    """A bug of ours: its text may quote data, so only its place is shown."""
    if os.environ.get("SFUMATO_DEBUG"):
        traceback.print_exception(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} at {os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119 - a frame's
    return _print_error(f"this is a bug of sfumato ({where}); please report it, with SFUMATO_DEBUG=1 for details", 2)


def _stop_in_order(number: int, frame: FrameType | None) -> NoReturn:
    """End in an orderly way, so that what is half written is removed; libraries may make another error of it."""
    del frame
    _stop_signals.append(number)
    raise KeyboardInterrupt


def _forget_thread(lost: "threading.ExceptHookArgs") -> None:
    """What ends a thread that helps ends the command as well, which says so in a sentence: no second account of it."""
    if os.environ.get("SFUMATO_DEBUG"):
        threading.__excepthook__(lost)


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """A Ctrl-C that came while Python could not raise it comes once more, a moment later."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, _stop_in_order)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
