"""``sfumato``: the commands, and how errors leave."""

import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import typer

from sfumato._version import __version__
from sfumato.errors import SfumatoError, Stopped

_INTERRUPTED = 130
_stop_signals: list[int] = []
"""The signals to stop that this process got."""
_UsageError: type[Any] = typer.BadParameter.__bases__[0]
"""Click's, or that of the copy of Click that later versions of typer bring along."""

_DUCKDB_MEMORY = "OutOfMemoryException"
"""DuckDB's error where memory runs out, by its name: DuckDB is imported by those commands alone that need it."""

COMMANDS = (
    "demo",
    "init",
    "anonymize",
    "verify",
    "risk",
    "chance",
    "query",
    "utility",
    "compare",
    "dimensions",
    "reproduce",
    "attack",
    "ledger",
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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to fail
    # Importing makes many objects and hardly a cycle: looking for cycles rarely starts a command 0.05 s sooner.
    gc.set_threshold(50_000)
    sys.unraisablehook = _raise_again
    signal.signal(signal.SIGTERM, _stop_in_order)
    signal.signal(signal.SIGINT, _stop_in_order)
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    # The command that is asked for is enough, unless there may be none of that name, or all are to be listed.
    names = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
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
        case _ if isinstance(error, MemoryError) or type(error).__name__ == _DUCKDB_MEMORY:
            return _print_error(
                "the table does not fit into memory; run it on a larger machine or publish fewer columns", 2
            )
    if isinstance(error, _UsageError):
        return _print_error(f"{error.format_message().rstrip('.')}; see sfumato --help", 2)
    return _report_bug(error)


def _print_error(sentence: str, code: int) -> int:
    print(f"error: {' '.join(sentence.split())}", file=sys.stderr)  # noqa: T201 - this is where errors go
    return code


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


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    """A Ctrl-C that came while Python could not raise it comes once more, a moment later."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, _stop_in_order)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
