"""Run: a release is made in another process, with what is done and how long it still takes; it can be stopped.

Where no release can meet the requirements, the nearest values that one can are buttons.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.app.page_frame import Screen, address, form, listed, message, screen_page, submit
from sfumato.app.policy_desk import PolicyVersion
from sfumato.app.requirement_sentences import SENTENCES
from sfumato.app.requirements_screen import verdict_line
from sfumato.app.work_process import WorkFailed
from sfumato.app.workbench import Run, Workbench, read_form
from sfumato.page.html import Markup, facts, join, name, note, section, some_names, tag
from sfumato.page.wording import keys, percent, plural
from sfumato.serving.refused_request import Refused

_EVERY = "every 400ms"


class RunScreen:
    """The screen, and what its forms do."""

    key, title = "run", "Run"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """Show what will be applied, and the run if there is one."""
        policy = request.query_params.get("policy", "")
        desk = self.bench.desk(policy)
        state = desk.read()
        screen = Screen(self.key, self.title, policy, state)
        return HTMLResponse(
            screen_page(
                screen,
                tag("h1", "Make the release"),
                summary_of(state),
                await self.panel(screen, state),
            )
        )

    async def show_progress(self, request: Request) -> Response:
        """Give the part of the page that follows a run."""
        policy = request.query_params.get("policy", "")
        state = self.bench.desk(policy).read()
        return HTMLResponse(await self.panel(Screen(self.key, self.title, policy, state), state))

    async def panel(self, screen: Screen, state: PolicyVersion) -> Markup:
        """Write the part of the page that is about the run; while it runs, it asks for itself anew."""
        run = self.bench.run_of(screen.policy)
        other = self.bench.running
        if run is not None and not run.is_over:
            return running_panel(screen, run)
        parts: list[object] = []
        if run is not None:
            parts += await self._ended(screen, state, run)
        folder = self.bench.release_folder(screen.policy)
        if other is not None and other.policy != screen.policy:
            way = address("/run", policy=other.policy)
            parts.append(message("note", "Another policy is running: ", tag("a", other.policy, href=way), "."))
        elif state.fault:
            parts.append(note("It can be run when the policy holds together."))
        else:
            again = (folder / "public").is_dir()
            what = "Run it again" if again else "Run it"
            hint = f"The release in {folder.name} is replaced when the new one is whole and verified." if again else ""
            parts.append(form(screen, "/run/start", submit(what, class_="main"), class_="start"))
            parts += [note(hint)] if hint else []
        return tag("section", *parts, id="run-panel")

    async def _ended(self, screen: Screen, state: PolicyVersion, run: Run) -> list[object]:
        """Say how a run ended."""
        took = f" It took {seconds_in_words(run.seconds)}."
        if run.outcome == "done":
            link = tag("a", "Look at the release", href=address("/release", policy=screen.policy), class_="next")
            old = "" if run.version == state.version else " The policy was changed since: run it again to apply that."
            done = tag("strong", "The release is out, whole and verified.")
            warned = run.found.get("warnings", [])
            said: list[object] = [message("good", done, took, old, data_announce="")]
            said += [tag("h2", "What you should know before it leaves the house"), listed(warned)] if warned else []
            return [*said, tag("p", link)]
        if run.outcome == "stopped":
            return [message("note", "Stopped: no part of a release is left behind.", took, data_announce="")]
        failed = tag("strong", "No release was made. ")
        said = [message("bad", failed, f"{run.sentence}.")]
        if run.kind == "Infeasible" and not state.fault:
            said.append(await self._ways_out(screen, state))
        return said

    async def _ways_out(self, screen: Screen, state: PolicyVersion) -> Markup:
        """Offer the nearest requirements that the table can meet."""
        try:
            found: list[dict[str, Any]] = await self.bench.ask("judge_requirements", str(state.path))
        except WorkFailed:
            return join([])
        lines = [
            verdict_line(screen, place, one, state, "run")
            for place, one in enumerate(found)
            if one["known"] and not one["holds"]
        ]
        if not lines:
            way = tag("a", "Change what is promised", href=address("/requirements", policy=screen.policy))
            return tag("p", way, ", or let more rows be left out.")
        return section("The nearest that the table can meet", listed(lines, "verdicts"))

    async def start(self, request: Request) -> Response:
        """Begin a run of the policy that was on the page."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.check(fields["version"])
        if state.fault:
            raise Refused(f"the policy does not hold together: {state.fault}", 422)
        self.bench.start_run(fields["policy"], state)
        return RedirectResponse(address("/run", policy=fields["policy"]), 303)

    async def stop(self, request: Request) -> Response:
        """Stop the run."""
        fields = await read_form(request)
        self.bench.desk(fields["policy"])
        await self.bench.stop_run(fields["policy"])
        return RedirectResponse(address("/run", policy=fields["policy"]), 303)


def running_panel(screen: Screen, run: Run) -> Markup:
    """Say what a run does, how far it is, and how long that still takes."""
    share = run.done / run.every if run.every else None
    bar_of = {"value": f"{share:.4f}", "max": "1"} if share is not None else {}
    said = [f"{run.doing[:1].upper()}{run.doing[1:]}"]
    if share is not None:
        said.append(percent(share))
    elif run.done:
        said.append(plural(run.done, "row"))
    left = run.left
    time_left = f"about {seconds_in_words(left)} left" if left is not None and run.seconds > 0.8 else ""
    follow = {
        "hx_get": address("/run/progress", policy=screen.policy),
        "hx_trigger": _EVERY,
        "hx_swap": "outerHTML",
        "hx_target": "#run-panel",
        "hx_select": "#run-panel",
    }
    return tag(
        "section",
        tag("p", ", ".join(said), tag("small", time_left or f"{seconds_in_words(run.seconds)} so far"), class_="doing"),
        tag("progress", aria_label=run.doing, **bar_of),
        form(screen, "/run/stop", submit("Stop", id="stop")),
        id="run-panel",
        class_="running",
        **follow,
    )


def summary_of(state: PolicyVersion) -> Markup:
    """Say what will be applied, from the policy alone."""
    lines: list[tuple[object, object]] = [("Table", str(state.table("data").get("source", "?")))]
    for title, roles in (
        ("Known to others", ("quasi",)),
        ("Secret", ("sensitive",)),
        ("As it is", ("plain", "weight")),
        ("Person", ("individual",)),
        ("Left out", ("identifier",)),
    ):
        columns = state.with_role(*roles)
        if columns:
            lines.append((title, some_names(columns, 20)))
    promises = [_promise(entry) for entry in state.requirements]
    lines.append(("Promised", listed(promises, "promises") if promises else "nothing"))
    search = state.table("algorithm")
    share = search.get("suppression", 0)
    may = percent(float(share)) if isinstance(share, int | float) else "?"
    lines.append(("How", f"{search.get('name', 'auto')}; at most {may} of the rows are left out"))
    lines.append(("Policy", name(state.path.name)))
    return section("What will be applied", facts(lines))


def _promise(entry: dict[str, Any]) -> str:
    model = str(entry.get("model", "?"))
    words = SENTENCES.get(model)
    return words.promise(entry) if words else f"{model}: {keys({k: v for k, v in entry.items() if k != 'model'})}"


def seconds_in_words(seconds: float) -> str:
    """Write a time.

    >>> seconds_in_words(0.4), seconds_in_words(75), seconds_in_words(4000)
    ('less than a second', '1 min 15 s', '1 h 6 min')
    """
    if seconds < 1:
        return "less than a second"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
