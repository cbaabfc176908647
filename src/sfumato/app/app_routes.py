"""The table of routes: every address that the server of pages answers, and the application around it.

| path | gives |
|---|---|
| ``/enter`` | takes the token, once, and gives the cookie (`access`) |
| ``/``, ``/open``, ``/columns``, ``/hierarchy``, ``/requirements``, ``/run``, ``/release`` | a screen |
| ``/columns/alone``, ``/requirements/feasible``, ``/run/progress`` | a part of one, asked for by the page |
| ``/release/report``, ``/release/public.zip`` | the private report, shown; what may leave the house |
| ``POST`` to the others | a change, answered by the way to the screen |

Policies are named in the query by their path in the folder. No value of a table is in any address, nothing is logged.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from sfumato.app.access import Access, AccessMiddleware
from sfumato.app.columns_screen import ColumnsScreen
from sfumato.app.hierarchy_screen import HierarchyScreen
from sfumato.app.open_screen import OpenScreen
from sfumato.app.page_frame import SCREENS, Screen, address, app_style, message, screen_page
from sfumato.app.policy_desk import StaleVersion
from sfumato.app.release_screen import ReleaseScreen
from sfumato.app.requirements_screen import RequirementsScreen
from sfumato.app.run_screen import RunScreen
from sfumato.app.workbench import Workbench, read_form
from sfumato.errors import SfumatoError
from sfumato.page.html import note, tag
from sfumato.serving.refused_request import Refused
from sfumato.serving.web_manners import give_fixed

Reply = Callable[[Request], Awaitable[Response]]


def app_routes(bench: Workbench) -> list[Route]:
    """List every route of a bench; tests ask each of them what it must refuse."""
    opening, columns, requirements = OpenScreen(bench), ColumnsScreen(bench), RequirementsScreen(bench)
    hierarchy, run, release = HierarchyScreen(bench), RunScreen(bench), ReleaseScreen(bench)

    def get(path: str, reply: Reply) -> Route:
        return Route(path, reply, methods=["GET"])

    def post(path: str, reply: Reply) -> Route:
        return Route(path, reply, methods=["POST"])

    return [
        get("/", _go_home),
        get("/open", opening.show),
        post("/open/table", opening.open_table),
        post("/open/demo", opening.open_demo),
        post("/open/database", opening.open_database),
        get("/columns", columns.show),
        get("/columns/alone", columns.show_alone),
        post("/columns/role", columns.change_role),
        get("/hierarchy", hierarchy.show),
        post("/hierarchy/preview", hierarchy.show_preview),
        post("/hierarchy/declare", hierarchy.declare),
        post("/hierarchy/begin", hierarchy.begin),
        post("/hierarchy/edit", hierarchy.edit),
        post("/hierarchy/import", hierarchy.take_file),
        post("/hierarchy/export", hierarchy.give_file),
        get("/requirements", requirements.show),
        get("/requirements/feasible", requirements.show_feasible),
        post("/requirements/add", requirements.add),
        post("/requirements/change", requirements.change),
        post("/requirements/remove", requirements.remove),
        post("/requirements/limits", requirements.set_limits),
        post("/requirements/preset", requirements.use_preset),
        get("/run", run.show),
        get("/run/progress", run.show_progress),
        post("/run/start", run.start),
        post("/run/stop", run.stop),
        get("/release", release.show),
        get("/release/report", release.show_report),
        get("/release/public.zip", release.give_archive),
        post("/release/save", release.save),
        post("/undo", _step(bench, -1)),
        post("/redo", _step(bench, 1)),
        get("/app.css", give_fixed(app_style(), "text/css")),
        get("/app.js", give_fixed(_read("app.js"), "text/javascript")),
        get("/htmx.js", give_fixed(_read("vendor/htmx.min.js"), "text/javascript")),
        get("/sortable.js", give_fixed(_read("vendor/Sortable.min.js"), "text/javascript")),
        get("/icon.svg", give_fixed(_read("icon.svg"), "image/svg+xml")),
    ]


def serve_app(bench: Workbench, access: Access, *, warm: bool = True) -> Starlette:
    """Make the application; it starts the processes of the bench before they are needed, and ends them with itself."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        if warm:
            await run_in_threadpool(bench.warm)
        yield
        await run_in_threadpool(bench.close)

    return Starlette(
        routes=app_routes(bench),
        middleware=[Middleware(AccessMiddleware, access=access)],
        exception_handlers={
            SfumatoError: _refuse,
            HTTPException: _say,
            ClientDisconnect: _gone,
            Exception: _own_fault,
        },
        lifespan=lifespan,
    )


async def _go_home(request: Request) -> Response:
    del request
    return RedirectResponse("/open", 303)


def _step(bench: Workbench, by: int) -> Reply:
    """Go a step back or forth in the history of a policy, and show the screen that asked for it."""

    async def step(request: Request) -> Response:
        fields = await read_form(request)
        bench.desk(fields["policy"]).step(fields["version"], by)
        screen = fields["screen"] if fields["screen"] in {*dict(SCREENS), "hierarchy"} else "columns"
        return RedirectResponse(address(f"/{screen}", policy=fields["policy"], column=fields["column"]), 303)

    return step


def _way_back(request: Request) -> tuple[str, str]:
    """Find the screen that a request belongs to: its address, and the name of the policy."""
    policy = getattr(request.state, "policy", "") or request.query_params.get("policy", "")
    key = request.url.path.strip("/").partition("/")[0]
    column = getattr(request.state, "column", "")
    if policy and key == "hierarchy" and column:
        return address("/hierarchy", policy=policy, column=column), policy
    here = f"/{key}" if key in dict(SCREENS) else "/columns"
    return (address(here, policy=policy) if policy and key != "open" else "/open"), policy


async def _refuse(request: Request, error: Exception) -> Response:
    """Say why something was not done, and where to go on."""
    status = error.status if isinstance(error, Refused) else 422
    back, _ = _way_back(request)
    if request.method == "GET" and status != 409:
        back = "/open"
    if isinstance(error, StaleVersion):
        changes = tag("ul", *[tag("li", f"{change}.") for change in error.since[-20:]])
        parts = [
            tag("h1", "The policy was changed meanwhile"),
            message("bad", f"{_sentence(error)} What came in between:"),
            changes,
            note("Look at it as it is now, and do again what you want to keep."),
        ]
    else:
        parts = [tag("h1", "That was not done"), message("bad", _sentence(error))]
    link = tag("p", tag("a", "Go on with it as it is now" if status == 409 else "Go on", href=back, class_="next"))
    return HTMLResponse(screen_page(Screen("", "Not done"), *parts, link), status)


async def _say(request: Request, error: Exception) -> Response:
    """Say that there is no such page."""
    del request
    status = error.status_code if isinstance(error, HTTPException) else 500
    said = {404: "There is no such page.", 405: "This is not done here."}.get(status, "That is not possible.")
    link = tag("p", tag("a", "Go to the tables", href="/open", class_="next"))
    return HTMLResponse(screen_page(Screen("", "Not here"), tag("h1", said), link), status)


async def _gone(request: Request, error: Exception) -> Response:
    """Whoever asked has left."""
    del request, error
    return Response(status_code=400)


async def _own_fault(request: Request, error: Exception) -> Response:
    """A bug of ours: its text may quote data, so only its place is told."""
    del request
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    said = (
        f"This is a bug of sfumato ({type(error).__name__}{place}); please report it. What you chose before is saved."
    )
    link = tag("p", tag("a", "Go to the tables", href="/open", class_="next"))
    parts = [tag("h1", "Something went wrong"), message("bad", said), link]
    return HTMLResponse(screen_page(Screen("", "Not done"), *parts), 500)


def _sentence(error: Exception) -> str:
    """Begin an error's words as a sentence, unless they begin with the name of a file, a column or a key."""
    text = str(error)
    begun = text[:1].upper() + text[1:] if re.match(r"[a-z]+ ", text) else text
    return begun if begun.endswith(".") else f"{begun}."


def _read(file: str) -> str:
    return Path(__file__).parent.joinpath(file).read_text(encoding="utf-8")
