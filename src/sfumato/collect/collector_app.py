"""The web application of a collector: its pages, the noise, the results, and the one place that takes answers.

| path | gives |
|---|---|
| ``GET /`` | the questions |
| ``GET /noise.json`` | the noise, as anybody may read it |
| ``POST /answers`` | keeps a submission (`sfumato.collect.submission`), and answers when it is on the disk |
| ``GET /results``, ``GET /results.json`` | the distributions recovered so far |

It sets no cookie, writes no log of requests, and looks at nobody's address.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sfumato.collect.answer_store import AnswerStore
from sfumato.collect.collection_form import CollectionForm, noise_digest
from sfumato.collect.collector_page import form_page, results_page
from sfumato.collect.group_commit import GroupCommit
from sfumato.collect.live_results import LiveResults
from sfumato.collect.submission import longest_submission, read_submission
from sfumato.page.html import read_style
from sfumato.serving.refused_request import Refused
from sfumato.serving.web_manners import SAFE_HEADERS, error_handlers, give_fixed, read_json_body


def collector_app(form: CollectionForm, store: AnswerStore) -> Starlette:
    """Make the application of a form; it closes the store when it ends."""
    collector = _Collector(form, store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        collector.groups.start()
        yield
        await collector.groups.stop()
        store.close()

    style = read_style("style.css") + read_style("chart.css") + _read("collector.css")
    routes = [
        Route("/", give_fixed(form_page(form), "text/html")),
        Route("/noise.json", give_fixed(json.dumps(form.noise.as_json(), indent=1) + "\n", "application/json")),
        Route("/collector.js", give_fixed(_read("collector.js"), "text/javascript")),
        Route("/style.css", give_fixed(style, "text/css")),
        Route("/answers", collector.take, methods=["POST"]),
        Route("/results", collector.show_results),
        Route("/results.json", collector.give_results),
    ]
    errors = error_handlers("there is nothing here; the questions are at /")
    return Starlette(routes=routes, middleware=[SAFE_HEADERS], exception_handlers=errors, lifespan=lifespan)


class _Collector:
    """What the requests of one collection share."""

    def __init__(self, form: CollectionForm, store: AnswerStore) -> None:
        self.form, self.store = form, store
        self.groups = GroupCommit(store.keep)
        self.noise, self.digest = form.noise, noise_digest(form.noise)
        self.longest = longest_submission(form.noise)
        self.results = LiveResults(form)
        self.computing = asyncio.Lock()

    async def take(self, request: Request) -> Response:
        """Keep a submission; the answer to it is sent after the flush."""
        try:
            body = await read_json_body(
                request, self.longest, f"no submission to this form has more than {self.longest:,} bytes; send one"
            )
        except ClientDisconnect:
            return Response(status_code=400)
        submission = read_submission(body, self.noise, self.digest)
        if not await self.groups.keep(submission):
            raise Refused("this key is that of another submission; draw a new one at random for each", 409)
        return JSONResponse({"kept": submission.key})

    async def show_results(self, request: Request) -> Response:
        """Give the results as a page."""
        del request
        return HTMLResponse(results_page(self.form, await self.recent_results()))

    async def give_results(self, request: Request) -> Response:
        """Give the results as JSON."""
        del request
        return JSONResponse(await self.recent_results())

    async def recent_results(self) -> dict[str, Any]:
        """Work the results out anew where answers came and the last look is a while ago; one at a time."""
        async with self.computing:
            if not self.results.is_fresh(self.store.count):
                table = await self.groups.run(self.store.read)
                return await asyncio.to_thread(self.results.compute, table)
        return self.results.last or {}


def _read(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")
