"""What the screens of one server share: the folder, the policies on the desk, the processes that work, and the runs.

Two processes are kept: one holds the table that is looked at, the other waits to make a release, so that a run begins
at once. There is one run at a time; it is over when its process has answered or was stopped.
"""

import asyncio
import hashlib
import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request

from sfumato.app.policy_desk import PolicyDesk, PolicyVersion
from sfumato.app.work_folder import WorkFolder
from sfumato.app.work_process import WorkFailed, WorkProcess, WorkStopped
from sfumato.errors import SfumatoError
from sfumato.serving.refused_request import Refused

_QUESTIONS, _RELEASES = "sfumato.app.table_questions", "sfumato.app.release_job"
LONGEST_FORM = 8 << 20
"""Bytes of a form: a hierarchy of ten thousand values takes less."""
_MOST_FIELDS = 50_000
_STOPPING = 3.0
"""Seconds that a run which is stopped has to be over."""


@dataclass
class Run:
    """A run of a policy: what it does, since when, and how it ended."""

    policy: str
    version: str
    target: Path
    process: WorkProcess
    began: float = field(default_factory=time.monotonic)
    doing: str = "starting"
    done: int = 0
    every: int = 0
    since: float = field(default_factory=time.monotonic)
    ended: float | None = None
    outcome: str = "running"
    sentence: str = ""
    kind: str = ""
    nearest: dict[str, float] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    before: tuple[int, int] | None = None
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, however."""
        return self.outcome != "running"

    @property
    def seconds(self) -> float:
        """How long it takes, or took."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def left(self) -> float | None:
        """How many seconds what it does will still take, as far as that can be told from what is done."""
        if not self.every or not self.done:
            return None
        return (time.monotonic() - self.since) * (self.every - self.done) / self.done

    def tell(self, doing: str, done: int, every: int) -> None:
        """Take what the process says of how far it is."""
        if doing != self.doing:
            self.doing, self.since = doing, time.monotonic()
        self.done, self.every = done, every


class Workbench:
    """All that the requests to one server share."""

    def __init__(self, root: Path) -> None:
        self.folder = WorkFolder(root)
        self._turn = threading.Lock()
        self._reader: WorkProcess | None = None
        self._spare: WorkProcess | None = None
        self._run: Run | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the processes, which take a moment to import what they need."""
        with self._turn:
            if not self._closed:
                self._reader = self._reader or WorkProcess(_QUESTIONS)
                self._spare = self._spare or WorkProcess(_RELEASES)

    def close(self) -> None:
        """End all processes."""
        with self._turn:
            self._closed = True
            processes = [self._reader, self._spare, None if self._run is None else self._run.process]
        for process in processes:
            if process is not None:
                process.stop()

    # What is asked of the table

    async def ask(self, question: str, *arguments: Any) -> Any:
        """Ask the process that holds the table; where it is gone, a new one."""
        return await asyncio.to_thread(self._ask, question, arguments)

    def _ask(self, question: str, arguments: tuple[Any, ...]) -> Any:
        with self._turn:
            if self._closed:
                raise Refused("the server is stopping; start it again", 503)
            if self._reader is None or not self._reader.is_alive:
                self._reader = WorkProcess(_QUESTIONS)
            reader = self._reader
        return reader.ask(question, *arguments)

    # Policies

    def desk(self, name: str) -> PolicyDesk:
        """Find a policy by its name in addresses and forms."""
        path = self.folder.find(name)
        if not path.name.endswith(".toml") or not path.is_file():
            raise Refused("there is no such policy in the folder; choose one", 404)
        return PolicyDesk(path)

    def release_folder(self, name: str) -> Path:
        """Name the folder of a policy's release, beside it."""
        path = self.folder.find(name)
        return path.parent / f"{path.stem}-release"

    def view_file(self, name: str) -> Path:
        """Name the file of what screens show of a policy's release."""
        return self.desk(name).folder / "view.json"

    # Runs

    def run_of(self, name: str) -> Run | None:
        """Give the latest run of a policy, if it was made since the server was started."""
        run = self._run
        return run if run is not None and run.policy == name else None

    @property
    def running(self) -> Run | None:
        """The run that is not over, of whatever policy."""
        run = self._run
        return run if run is not None and not run.is_over else None

    def start_run(self, name: str, state: PolicyVersion) -> Run:
        """Begin a run of a policy as it stands, in a process of its own."""
        with self._turn:
            if self._closed:
                raise Refused("the server is stopping; start it again", 503)
            if self.running is not None:
                raise Refused("a run is under way; wait for it, or stop it first", 409)
            process = self._spare if self._spare is not None and self._spare.is_alive else WorkProcess(_RELEASES)
            self._spare = None
            target = self.release_folder(name)
            run = Run(name, state.version, target, process, before=_identity(target))
            self._run = run
        thread = threading.Thread(target=self._follow, args=(run, state.path, self.view_file(name)), daemon=True)
        thread.start()
        return run

    def _follow(self, run: Run, policy: Path, view: Path) -> None:
        """Wait for a run to end, and keep how it ended."""
        outcome = "failed"
        try:
            run.found = run.process.ask("make_release", str(policy), str(run.target), str(view), tell=run.tell)
            outcome = "done"
        except WorkStopped as error:
            outcome, run.sentence = "stopped", str(error)
        except WorkFailed as error:
            run.sentence, run.kind, run.nearest = str(error), error.kind, error.nearest
        except SfumatoError as error:
            run.sentence = str(error)
        except BaseException as error:
            run.sentence = f"this is a bug of sfumato ({type(error).__name__}); please report it"
            raise
        finally:
            run.ended = time.monotonic()
            if outcome == "stopped":
                run.process.wait()
                self._clear(run)
                if _identity(run.target) != run.before:
                    run.sentence = "it was stopped when the release was out already: it is whole and verified"
                    outcome = "done"
            run.outcome = outcome
            run.over.set()
            run.process.stop()
            self.warm()

    def _clear(self, run: Run) -> None:
        """Clear away what a process left that had to be ended by force; another one waits for that already."""
        with suppress(SfumatoError):
            self._ask("clear_stopped", (str(run.target),))

    async def stop_run(self, name: str) -> None:
        """Stop the run of a policy; it is over, and nothing of it is left, when this returns."""
        run = self.run_of(name)
        if run is None or run.is_over:
            return
        await asyncio.to_thread(run.process.stop)
        await asyncio.to_thread(run.over.wait, _STOPPING)

    def read_view(self, name: str) -> dict[str, Any]:
        """Read what screens show of a policy's release, if it is of the release that is there."""
        folder = self.release_folder(name)
        try:
            content = json.loads(self.view_file(name).read_text(encoding="utf-8"))
            digest = hashlib.sha256((folder / "public" / "manifest.json").read_bytes()).hexdigest()
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) and content.get("manifest") == digest else {}


def _identity(folder: Path) -> tuple[int, int] | None:
    """Tell a folder from one that takes its place."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Form:
    """The fields of a form that was sent, each once unless it is asked for as a list."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def __getitem__(self, field_name: str) -> str:
        """Give a field; one that is missing is empty."""
        return self._fields.get(field_name, [""])[0]

    def all(self, field_name: str) -> list[str]:
        """Give every value of a field, in their order."""
        return self._fields.get(field_name, [])

    def names(self) -> list[str]:
        """List the fields."""
        return list(self._fields)


async def read_form(request: Request) -> Form:
    """Read the body of a form; one that is too long, or no form, is refused."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused("send a form", 415)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_FORM:
            raise Refused("this form is too long", 413)
    try:
        text = body.decode("ascii")
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except (ValueError, UnicodeError):
        raise Refused("this form cannot be read", 400) from None
    request.state.policy = fields.get("policy", [""])[0]  # for the way back, where something is refused
    request.state.column = fields.get("column", [""])[0]
    return Form(fields)
