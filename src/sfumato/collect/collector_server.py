"""A collector that runs: the application of a form behind a port, until somebody stops it."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from sfumato.collect.answer_store import AnswerStore
from sfumato.collect.collection_form import CollectionForm
from sfumato.collect.collector_app import collector_app
from sfumato.serving.local_server import address_of, listen, quiet_options, serve_until_stopped


def run_collector(
    form: CollectionForm, store: Path, *, host: str, port: int, ready: Callable[[str, int], Any]
) -> tuple[int, int]:
    """Serve a form until a signal to stop; gives how many answers there were before, and are now.

    `ready` is told the address and how many answers there are, when requests are taken.
    """
    with contextlib.closing(listen(host, port)) as listening:
        mask = os.umask(0o077)  # the store is its owner's alone
        try:
            answers = AnswerStore(store, form.noise)
        finally:
            os.umask(mask)
        before = answers.count
        ready(address_of(host, listening), before)
        serve_until_stopped(server_options(form, answers), listening)
        return before, answers.count


def server_options(form: CollectionForm, answers: AnswerStore) -> uvicorn.Config:
    """Say how uvicorn runs the application of a form."""
    return quiet_options(collector_app(form, answers))
