"""Who may ask the server of pages anything: the one browser that came with the token, on this machine, from our pages.

One middleware stands before every route, those of style and script included. A request must be

1. for a host that is ours, ``127.0.0.1`` or ``localhost`` with our port: a page of another name that resolves to this
   machine (DNS rebinding) gets nothing;
2. from our own pages, where its browser says where it is from: ``Origin`` and ``Sec-Fetch-Site``; and whoever would
   change something has to say so;
3. with the cookie. The address that ``sfumato serve`` prints has a token, which is taken once in exchange for it.

Replies carry what a browser may do with them, and nothing is kept in a cache. No cookie is for other sites
(``SameSite=Strict``), and no script can read it (``HttpOnly``).
"""

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.app.page_frame import plain_page
from sfumato.serving.web_manners import REPLY_HEADERS

APP_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = REPLY_HEADERS | {
    "Content-Security-Policy": APP_POLICY,
    "Referrer-Policy": "same-origin",  # with none, a browser would not say that our own forms are ours
}
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""For the page of a release, which brings its style along: it may run nothing, load nothing and send nothing."""

ENTRANCE = "/enter"
_SAFE_METHODS = ("GET", "HEAD")


class Access:
    """The token and the cookie of one server; `port` is known when it listens."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token: str | None = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers keep those of all ports together."""
        return f"sfumato-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host header may say."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def why_refused(self, scope: Scope) -> tuple[int, str] | None:
        """Say why a request is refused, with the code of the reply; nothing where it is let through."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 421, "This address is not that of the server; open the address that sfumato serve printed."
        origins, site = headers.getlist("origin"), headers.get("sec-fetch-site")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return 403, "This came from another site, and nothing was done."
        entering = scope["path"] == ENTRANCE
        if site not in ((None, "same-origin", "none") if not entering else (None, "same-origin", "none", "same-site")):
            return 403, "This came from another site, and nothing was done."
        if scope["method"] not in _SAFE_METHODS and not origins and site != "same-origin":
            return 403, "This does not say which page it came from, and nothing was done."
        if not entering and not self._has_cookie(headers):
            return 403, (
                "This browser has not been let in. Open the address that sfumato serve printed; it works once, so stop "
                "the server and start it again for a new one."
            )
        return None

    def enter(self, scope: Scope) -> Response:
        """Take the token, once, and give the cookie."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given, target = query.get("token", [""])[0], query.get("to", ["/"])[0]
        if self.token is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            if self._has_cookie(Headers(scope=scope)):  # the same browser, by its back button
                return RedirectResponse("/", 303)
            why = "was used already" if self.token is None else "is not the one that sfumato serve printed"
            return HTMLResponse(
                plain_page(
                    "Not let in",
                    f"The token of this address {why}. It works once: stop the server and start it again for a new "
                    "address.",
                ),
                403,
            )
        self.token = None
        inside = target if target.startswith("/") and not target.startswith(("//", "/\\")) else "/"
        reply = RedirectResponse(inside, 303)
        reply.set_cookie(self.cookie, self._secret, httponly=True, samesite="strict", path="/")
        return reply

    def _has_cookie(self, headers: Headers) -> bool:
        for line in headers.getlist("cookie"):
            try:
                found = SimpleCookie(line).get(self.cookie)
            except CookieError:
                continue
            if found is not None and hmac.compare_digest(found.value.encode(), self._secret.encode()):
                return True
        return False


class AccessMiddleware:
    """Stands before every route."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, take its token, or let it through; every reply gets its headers."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket, which nothing here has

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self.access.why_refused(scope)
        if refused is not None:
            reply: Response = HTMLResponse(plain_page("Not let in", refused[1]), refused[0])
            reply.headers["Connection"] = "close"
            await reply(scope, receive, send_with_headers)
        elif scope["path"] == ENTRANCE and scope["method"] in _SAFE_METHODS:
            await self.access.enter(scope)(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)
