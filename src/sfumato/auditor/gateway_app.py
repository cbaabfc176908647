"""The web application of a gateway: whoever has a token asks, and is answered from the ledger, one after the other.

| path | gives |
|---|---|
| ``POST /ask`` with ``{"sql": ".."}`` | an answer, or why there is none |
| ``GET /history`` | what the user asked, and was told |
| ``GET /about`` | which columns there are, which are protected, and an example |
| ``GET /`` | a page that does the same |

All but the page and its script and style need ``Authorization: Bearer TOKEN``. Without a token that is right, nothing
of a request is read, and every reply is the same. It sets no cookie, and writes no log of requests.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlglot.tokens import Tokenizer
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.auditor.audited_statement import LONGEST_STATEMENT
from sfumato.auditor.gateway_tokens import GatewayTokens
from sfumato.auditor.query_ledger import QueryLedger
from sfumato.errors import SfumatoError
from sfumato.page.html import note, paragraph, read_style, served_document, tag
from sfumato.serving.refused_request import Refused
from sfumato.serving.web_manners import SAFE_HEADERS, error_handlers, give_fixed, read_json_body

_LONGEST_BODY = 8 * LONGEST_STATEMENT
_MOST_WAITING = 1000
_SHOWN = 200
"""The latest statements of a user that the history gives."""
_LOG = logging.getLogger(__name__)
Result = TypeVar("Result")


def gateway_app(ledger: QueryLedger, tokens: GatewayTokens) -> Starlette:
    """Make the application of a ledger; it closes the ledger when it ends."""
    gateway = _Gateway(ledger, tokens)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        gateway.thread.shutdown()
        ledger.close()

    routes = [
        Route("/", give_fixed(gateway_page(), "text/html")),
        Route("/gateway.js", give_fixed(_read("gateway.js"), "text/javascript")),
        Route("/style.css", give_fixed(read_style("style.css") + _read("gateway.css"), "text/css")),
        Route("/ask", gateway.for_users(gateway.ask), methods=["POST"]),
        Route("/history", gateway.for_users(gateway.history)),
        Route("/about", gateway.for_users(gateway.about)),
    ]
    errors = error_handlers("there is nothing here; the page is at /")
    return Starlette(routes=routes, middleware=[SAFE_HEADERS], exception_handlers=errors, lifespan=lifespan)


class _Gateway:
    """What the requests to one ledger share. All that touches the ledger is done by its one thread, in turn."""

    def __init__(self, ledger: QueryLedger, tokens: GatewayTokens) -> None:
        self.ledger, self.tokens = ledger, tokens
        self.thread = ThreadPoolExecutor(1, "query-ledger")
        self.waiting = 0

    def for_users(
        self, reply: Callable[[Request, str], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Let users with a token through, and tell all others the same, whatever they ask for."""

        async def check(request: Request) -> Response:
            kind, _, token = request.headers.get("authorization", "").partition(" ")
            user = self.tokens.find_user(token.strip())
            if user is None or kind.lower() != "bearer":
                said = {"error": "a token is needed: Authorization: Bearer TOKEN"}
                return JSONResponse(said, 401, {"WWW-Authenticate": "Bearer", "Connection": "close"})
            return await reply(request, user)

        return check

    async def ask(self, request: Request, user: str) -> Response:
        """Answer a statement; the reply is sent when it is recorded."""
        try:
            body = await read_json_body(request, _LONGEST_BODY, f"a request has at most {_LONGEST_BODY:,} bytes")
        except ClientDisconnect:
            return Response(status_code=400)
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            raise Refused('the body is no JSON; send {"sql": "select .."}', 400) from None
        if not isinstance(content, dict) or set(content) != {"sql"} or not isinstance(content["sql"], str):
            raise Refused('send {"sql": "select .."} and nothing else', 400)
        answer = await self.run(partial(self.ledger.ask, content["sql"], user))
        return JSONResponse(answer.as_json())

    async def history(self, request: Request, user: str) -> Response:
        """List what the user asked."""
        del request
        entries = await self.run(partial(self.ledger.history, user, _SHOWN))
        return JSONResponse({"user": user, "entries": entries})

    async def about(self, request: Request, user: str) -> Response:
        """Say what can be asked about."""
        del request
        settings = self.ledger.settings
        known: dict[str, Any] = {"user": user, "table": settings.name, "on": settings.conditions}
        return JSONResponse(known | {"protected": settings.protected, "example": example_statement(self.ledger)})

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do something with the ledger, after all that came before."""
        if self.waiting >= _MOST_WAITING:
            raise Refused("the gateway has too much to do just now; ask again in a minute", 503)
        self.waiting += 1
        try:
            # whoever leaves meanwhile does not stop it: it is recorded as it is decided
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self.thread, work))
        except SfumatoError as error:
            _LOG.error("a statement could not be recorded (%s); look at the ledger's disk", type(error).__name__)
            raise Refused(
                "the ledger cannot be used just now, and nothing was answered; ask again later", 503
            ) from None
        finally:
            self.waiting -= 1


def example_statement(ledger: QueryLedger) -> str:
    """Write a statement about a ledger's columns that can be read, whatever their names are.

    >>> import tempfile, pyarrow
    >>> from sfumato.auditor.query_ledger import AuditSettings
    >>> people = pyarrow.table({"age group": ["old"] * 5, "illness": ["flu"] * 5, "pay": [-1, 2, 3, 4, 5]})
    >>> settings = AuditSettings(("illness", "pay"), ("age group",))
    >>> example_statement(QueryLedger.create(Path(tempfile.mkdtemp(), "audit.db"), people, settings))
    'select "age group", avg(pay) group by "age group"'
    """
    settings, table = ledger.settings, ledger.table
    by = _as_identifier(settings.conditions[0])
    numbers = [name for name in settings.protected if table.protected[name].is_number]
    if numbers and "sum" in settings.figures:
        return f"select {by}, avg({_as_identifier(numbers[0])}) group by {by}"
    if numbers:
        return f"select {by}, {settings.figures[0]}({_as_identifier(numbers[0])}) group by {by}"
    return f"select {by}, count({_as_identifier(settings.protected[0])}) group by {by}"


def _as_identifier(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]+", name) and name.upper() not in Tokenizer.KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def gateway_page() -> str:
    """Give the page: a token, a statement, its answer, and what was asked before."""
    token = tag(
        "form",
        tag("label", "Your token", for_="token"),
        tag("input", id="token", type="password", autocomplete="off", spellcheck="false", required=""),
        tag("button", "Open", type="submit", class_="main"),
        id="enter",
    )
    statement = tag(
        "form",
        tag("p", id="about", class_="note"),
        tag("label", "Your query", for_="sql"),
        tag("textarea", id="sql", rows="4", spellcheck="false", required=""),
        tag("p", tag("button", "Ask", type="submit", class_="main", id="send")),
        id="ask",
        hidden="",
    )
    answer = tag("section", tag("h2", "Answer"), tag("div", id="answer", aria_live="polite"), id="said", hidden="")
    earlier = tag("section", tag("h2", "What you asked"), tag("div", id="history"), id="earlier", hidden="")
    footer = tag(
        "footer",
        note(
            "Counts, sums, averages, maxima and minima are answered until they would, together with all earlier "
            "answers to anybody, give a single person's value away. Whether a query is answered depends on what was "
            "asked and answered before, and not on its own answer."
        ),
        tag("noscript", paragraph("This page needs its script: it sends your query.")),
    )
    heading = tag("h1", "Ask the table")
    trouble = tag("p", id="trouble", role="alert")
    parts = [heading, token, trouble, statement, answer, earlier, footer]
    return served_document("gateway.js", "Ask the table", *parts)


def _read(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")
