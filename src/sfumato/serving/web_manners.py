"""How our web applications reply: headers that keep a browser to itself, bodies of a largest size, words for errors."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.serving.refused_request import Refused

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser may load and do for our pages: our style and script, and requests to where they came from."""

REPLY_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every reply of our servers says, besides what a browser may load."""

ErrorHandlers = dict[Any, Callable[[Request, Any], Awaitable[Response]]]


class _SafeHeaders:
    """Sends with every reply what a browser may do with it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in (REPLY_HEADERS | {"Content-Security-Policy": CONTENT_POLICY}).items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers)


SAFE_HEADERS = Middleware(_SafeHeaders)


def give_fixed(content: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    """Give the same content to everybody."""

    async def give(request: Request) -> Response:
        del request
        return Response(content, media_type=kind)

    return give


async def read_json_body(request: Request, most: int, too_long: str) -> bytes:
    """Read the body of a request that says it is JSON, unless it has more than `most` bytes: then stop reading.

    A client that leaves in between raises ClientDisconnect.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused("send application/json", 415)
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said[:20]) > most:
        raise Refused(too_long, 413)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise Refused(too_long, 413)
    return bytes(body)


def error_handlers(missing: str) -> ErrorHandlers:
    """Say how errors leave: as JSON, with the sentence `missing` where there is nothing."""

    async def refuse(request: Request, error: Refused) -> Response:
        del request
        return JSONResponse({"error": str(error)}, status_code=error.status)

    async def say(request: Request, error: HTTPException) -> Response:
        del request
        sentence = {404: missing, 405: "this is not done here"}
        return JSONResponse(
            {"error": sentence.get(error.status_code, error.detail)},
            status_code=error.status_code,
            headers=error.headers,
        )

    return {HTTPException: say, Refused: refuse}
