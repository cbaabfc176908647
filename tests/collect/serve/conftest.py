"""A collector for the tests: a form with every kind of noise, and a real server on a free port of this machine."""

import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sfumato.collect.answer_store import AnswerStore
from sfumato.collect.collection_form import CollectionForm, noise_digest
from sfumato.collect.collector_server import server_options
from sfumato.collect.submission import write_submission

FORM = """
title = "How do you work with the editor?"
text = "Seven questions."

[[question]]
name = "age"
text = "How old are you?"
kind = "laplace"
scale = 20.0
domain = [10, 90]

[[question]]
name = "hours"
text = "How many hours a week do you have it open?"
kind = "gaussian"
sigma = 15.0
domain = [0, 60]

[[question]]
name = "files"
text = "How many files are in it?"
kind = "uniform"
half_width = 5000.0
domain = [0, 20000]

[[question]]
name = "use"
text = "What do you mostly use it for?"
kind = "response"
values = ["programs", "papers", "notes"]
keep = 0.5

[[question]]
name = "sex"
text = "Which one are you?"
kind = "matrix"
values = ["f", "m"]
matrix = [[0.8, 0.2], [0.3, 0.7]]

[[question]]
name = "language"
text = "Which language?"
kind = "unary"
values = ["Ada", "Basic", "C", "Dart", "Eiffel", "Forth", "Go", "Haskell", "Icon", "Java", "Kotlin", "Lisp", "ML"]
keep = 0.5
add = 0.25

[[question]]
name = "features"
text = "Which of these did you use?"
kind = "flip"
items = ["macros", "spelling", "themes"]
keep = 0.8
"""
REPORTS: dict[str, Any] = {
    "age": 41.25,
    "hours": -3.5,
    "files": 123.0,
    "use": "notes",
    "sex": "f",
    "language": ["Ada", "Go"],
    "features": [],
}
"""Reports that the noise of the form can produce."""


@dataclass(frozen=True)
class RunningCollector:
    """A collector that runs, and how to talk to it."""

    form: CollectionForm
    port: int
    store: AnswerStore

    @property
    def address(self) -> str:
        """Where its page is."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def digest(self) -> str:
        """The name of its noise."""
        return noise_digest(self.form.noise)

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request; gives status, headers and content of the reply."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, {key.lower(): value for key, value in reply.getheaders()}, reply.read()

    def post(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """Send a submission; gives the status, and what is said."""
        status, _, content = self.ask("POST", "/answers", body, Content_Type="application/json")
        said: dict[str, Any] = json.loads(content)
        return status, said

    def submit(self, key: str | None = None, **changed: Any) -> tuple[int, dict[str, Any]]:
        """Send reports that are right but for what is changed."""
        return self.post(write_submission(key or os.urandom(16).hex(), self.digest, REPORTS | changed))


@pytest.fixture(scope="session")
def form() -> CollectionForm:
    """The form of the tests."""
    import tomllib

    return CollectionForm.read(tomllib.loads(FORM))


@pytest.fixture(scope="session")
def form_text() -> str:
    """The form as it is written."""
    return FORM


@contextmanager
def run_here(form: CollectionForm, path: Path) -> Iterator[RunningCollector]:
    """Serve a form from a thread of this process, with its store at a path."""
    store = AnswerStore(path, form.noise)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(server_options(form, store))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield RunningCollector(form, listening.getsockname()[1], store)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


Starts = Callable[..., Any]


@pytest.fixture(scope="session")
def starts() -> Starts:
    """Serves a form with a store of its own."""
    return run_here


@pytest.fixture
def collector(form: CollectionForm, tmp_path: Path) -> Iterator[RunningCollector]:
    """A collector that runs."""
    with run_here(form, tmp_path / "answers.duckdb") as running:
        yield running
