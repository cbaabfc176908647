"""Columns: what each column holds, what it is to the people in the table, and how many rows the choice singles out.

The role of a column is chosen from a list, beside the role that was proposed, with its reason and its grade of danger.
Each change is written into the policy at once, and the risk of the raw table stands above, before and after it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.app.page_frame import Screen, address, figure_list, form, message, screen_page, select, submit
from sfumato.app.policy_desk import PolicyVersion
from sfumato.app.workbench import Workbench, read_form
from sfumato.page.charts import column_bars
from sfumato.page.html import Markup, join, name, note, section, table, tag
from sfumato.page.wording import amount, label, percent, plural
from sfumato.policy import Role
from sfumato.serving.refused_request import Refused

PER_PAGE = 60
"""Columns of a page: a survey has hundreds."""

ROLE_WORDS = {
    "identifier": ("left out", "names a person; never published"),
    "individual": ("person", "says which rows are one person's; published as a random pseudonym"),
    "quasi": ("known to others", "a quasi-identifier: generalized until nobody stands out"),
    "sensitive": ("secret", "what nobody may learn of a person; published within the limits of the requirements"),
    "plain": ("as it is", "neither; published as it is, for you know that nobody else has it"),
    "weight": ("survey weight", "how many people a row stands for; published as it is"),
}
"""What each role is called, and what it means."""

_GRADES = {"danger": "look here first", "check": "check this", "note": "costs detail"}


class ColumnsScreen:
    """The screen, and what its forms do."""

    key, title = "columns", "Columns"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """Show a page of the columns."""
        policy, page = request.query_params.get("policy", ""), request.query_params.get("page", "1")
        desk = self.bench.desk(policy)
        state = desk.read()
        screen = Screen(self.key, self.title, policy, state)
        found = await self.bench.ask("describe_table", str(desk.path))
        earlier = desk.earlier()
        now = (quasi_of(state), person_of(state))
        before = now if earlier is None else (quasi_of(earlier), person_of(earlier))
        risk, risk_before = await self.bench.ask("measure_risks", str(desk.path), [now, before])
        changed = before != now
        columns = found["columns"]
        pages = max(-(-len(columns) // PER_PAGE), 1)
        at = min(max(int(page), 1), pages) if page.isdecimal() and len(page) < 6 else 1
        shown = list(enumerate(columns))[(at - 1) * PER_PAGE : at * PER_PAGE]
        lines = [column_item(screen, place, column, state, at) for place, column in shown]
        return HTMLResponse(
            screen_page(
                screen,
                tag("h1", "What is each column to the people in it?"),
                *[message("note", sentence) for sentence in found["warnings"]],
                risk_panel(risk, risk_before if changed else None, state),
                self._singling_out(policy, now[0]),
                *_strangers(state, columns),
                tag("ol", *lines, class_="columns", start=str((at - 1) * PER_PAGE + 1)),
                pager("/columns", policy, at, pages),
                tag(
                    "p",
                    tag("a", "Go on: what is promised", href=address("/requirements", policy=policy), class_="next"),
                ),
            )
        )

    def _singling_out(self, policy: str, quasi: Sequence[str]) -> Markup:
        """Say which columns single people out; worked out after the page, since it looks at every column's absence."""
        if not quasi:
            return join([])
        href = address("/columns/alone", policy=policy)
        inside = tag("p", "Counting, column by column…", hx_get=href, hx_trigger="load", hx_swap="outerHTML")
        return tag("details", tag("summary", "Which columns single people out"), inside, class_="alone", open="")

    async def show_alone(self, request: Request) -> Response:
        """Give the part of the page that says which columns single rows out."""
        policy = request.query_params.get("policy", "")
        desk = self.bench.desk(policy)
        state = desk.read()
        lines = await self.bench.ask("find_singling_columns", str(desk.path), quasi_of(state), person_of(state))
        rows = (await self.bench.ask("describe_table", str(desk.path)))["rows"]
        head = ("Column", "Alone by this column", "Alone by all the others")
        cells = [(name(one["name"]), amount(one["alone"], rows), amount(one["without"], rows)) for one in lines]
        how = note("The first column is the one whose absence would help most: without it, fewest rows are alone.")
        return HTMLResponse(tag("div", how, table(head, cells, "figures alone")))

    async def change_role(self, request: Request) -> Response:
        """Give a column another role, with a hierarchy where the role needs one."""
        fields = await read_form(request)
        policy, role = fields["policy"], fields["role"]
        if role not in ROLE_WORDS:
            raise Refused("there is no such role", 400)
        desk = self.bench.desk(policy)
        state = desk.read()
        columns = (await self.bench.ask("describe_table", str(desk.path)))["columns"]
        place = fields["column"]
        if not place.isdecimal() or int(place[:6]) >= len(columns):
            raise Refused("the table has no such column any more; open it again", 409)
        column = columns[int(place)]["name"]
        files: dict[str, str] = {}
        entry, lines = await self.bench.ask("propose_entry", str(desk.path), column, role)
        if lines and not (desk.path.parent / entry["hierarchy"]).exists():  # one that somebody edited is kept
            files[entry["hierarchy"]] = lines
        document = {**state.document, "columns": {**state.document.get("columns", {}), column: entry}}
        desk.change(fields["version"], f"{column}: {ROLE_WORDS[role][0]}", document, files=files)
        return RedirectResponse(address("/columns", policy=policy, page=fields["page"]), 303)


def quasi_of(state: PolicyVersion) -> list[str]:
    """List the quasi-identifiers of a policy."""
    return state.with_role("quasi")


def person_of(state: PolicyVersion) -> str:
    """Name the column that says whose row it is; empty where there is none."""
    return next(iter(state.with_role("individual")), "")


def risk_panel(risk: Mapping[str, Any], before: Mapping[str, Any] | None, state: PolicyVersion) -> Markup:
    """Say what the raw table gives away under the roles as they are, and what the last change did to that."""
    if not risk["columns"]:
        return message("bad", "No column is known to others: choose at least one, or nothing can be promised.")
    rows, unit = risk["rows"], risk["unit"]
    figures: list[tuple[object, object]] = [
        (f"{rows:,}", "rows" if unit == "row" else "rows, several per person"),
        (f"{risk['columns']:,}", "columns known to others"),
        (percent(risk["unique_share"]), f"of rows are alone: {risk['uniques']:,}"),
        (percent(risk["average"]), "chance of being found, on average"),
    ]
    remarks: list[object] = []
    if before is not None:
        was = before.get("unique_share", 0.0)
        words = "fewer" if risk["unique_share"] < was else "more" if risk["unique_share"] > was else "as many"
        remarks.append(
            tag(
                "p",
                f"{state.last}. Rows that are alone: ",
                tag("b", f"{percent(was)} → {percent(risk['unique_share'])}"),
                f", {words} than before." if words != "as many" else ", as many as before.",
                class_="change",
                data_announce="",
            )
        )
    how = note(
        "This is the table as it came, before anything is generalized: whoever knows the values of these columns of a "
        "person finds a row that is alone for certain."
    )
    return section("The raw table", figure_list(figures), *remarks, how)


def column_item(screen: Screen, place: int, column: Mapping[str, Any], state: PolicyVersion, page: int) -> Markup:
    """Write a column: what it holds, its histogram, its role, and what was proposed with its reason."""
    entry = state.columns.get(column["name"], {})
    role = str(entry.get("role", ""))
    facts = [
        "no values" if column["kind"] == "empty" else f"{column['kind']}, {plural(column['distinct'], 'value')}",
        *([f"{column['missing']:,} missing"] if column["missing"] else []),
    ]
    head = tag("div", tag("h2", name(column["name"])), tag("p", ", ".join(facts), class_="note"), class_="what")
    chart = _histogram(column)
    choices = [(key, f"{words[0]} ({key})") for key, words in ROLE_WORDS.items()]
    if role not in ROLE_WORDS:
        choices.insert(0, ("", "choose a role"))
    identity = f"role-{place}"
    control = tag(
        "div",
        tag("label", "Role", tag("span", f" of {column['name']}", class_="unseen"), for_=identity),
        select("role", choices, role, id=identity),
        tag("input", type="hidden", name="column", value=place),
        tag("input", type="hidden", name="page", value=page),
        tag("noscript", submit("Set")),
        tag("p", ROLE_WORDS[role][1] if role in ROLE_WORDS else "a column without a role blocks publication"),
        class_="role",
    )
    setting = form(screen, "/columns/role", control, hx_trigger="change, submit", id=f"form-{place}")
    why = _reason(column, role)
    told = _generalized(screen, place, entry) if role in {Role.QUASI, Role.SENSITIVE} else None
    return tag(
        "li", head, chart, setting, tag("div", why, *([told] if told else []), class_="why"), id=f"column-{place}"
    )


def _histogram(column: Mapping[str, Any]) -> Markup:
    """Draw the bins; the same figures stand in a table that opens."""
    bins = column["bins"]
    if not bins:
        return tag("div", note("nothing to draw"), class_="picture")
    total = sum(count for _, count in bins)
    # a column of texts without frequent values is one bar of others, which says nothing
    picture = column_bars([count / total for _, count in bins], title=f"How often the values of {column['name']} occur")
    lines = [(label(text), f"{count:,}", percent(count / total)) for text, count in bins]
    figures = tag("details", tag("summary", "values"), table(("value", "rows", "share"), lines, "figures"))
    return tag("div", picture, figures, class_="picture")


def _reason(column: Mapping[str, Any], role: str) -> Markup:
    """Say what was proposed and why, and how closely to look."""
    grade = column.get("grade")
    badge = tag("span", _GRADES[grade], class_=f"grade {grade}") if grade in _GRADES else ""
    proposed = ROLE_WORDS[column["role"]][0]
    other = tag("b", f"Proposed: {proposed}. ") if role != column["role"] else ""
    again = f" It {column['again']}." if column.get("again") else ""
    reason = f"{column['reason'][:1].upper()}{column['reason'][1:]}."
    return tag("p", badge, " " if badge else "", other, reason, again)


def _generalized(screen: Screen, place: int, entry: Mapping[str, Any]) -> Markup | None:
    """Say how a column is told less exactly, in words."""
    words = hierarchy_in_words(entry.get("hierarchy"))
    if not words:
        return None
    least = f"; never more exactly than level {entry['least']}" if entry.get("least") else ""
    way = address("/hierarchy", policy=screen.policy, column=place)
    link = tag("a", "Change", tag("span", " how it is told", class_="unseen"), href=way)
    return tag("p", tag("b", "Told as: "), words, least, ". ", link, class_="told")


def hierarchy_in_words(hierarchy: object) -> str:
    """Say what a hierarchy does.

    >>> hierarchy_in_words({"intervals": [5, 10], "top": 90}), hierarchy_in_words("suppress")
    ('intervals of 5, 10 (top 90), then nothing', 'the value, or nothing')
    """
    if isinstance(hierarchy, str):
        words = {"suppress": "the value, or nothing", "sets": "sets of values, as the algorithm chooses them"}
        return words.get(hierarchy, f"groups from the file {hierarchy}")
    if not isinstance(hierarchy, Mapping):
        return ""
    rest = {key: value for key, value in hierarchy.items() if key not in {"intervals", "mask", "dates", "ranges"}}
    more = ", ".join(f"{key} {_plain(value)}" for key, value in rest.items())
    besides = f" ({more})" if more else ""
    if "intervals" in hierarchy:
        return f"intervals of {_plain(hierarchy['intervals'])}{besides}, then nothing"
    if "mask" in hierarchy:
        return f"fewer and fewer characters, from the {hierarchy['mask']}{besides}"
    if "dates" in hierarchy:
        return f"its {_plain(hierarchy['dates'])}{besides}, then nothing"
    if "ranges" in hierarchy:
        return f"ranges of numbers, as the algorithm chooses them{besides}"
    return f"what its {', '.join(hierarchy)} say"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _strangers(state: PolicyVersion, columns: Sequence[Mapping[str, Any]]) -> list[Markup]:
    """Name columns of the policy that the table does not have; patterns may stand for several."""
    known = {column["name"] for column in columns}
    strange = [one for one in state.columns if one not in known and not any(sign in one for sign in "*?[")]
    if not strange:
        return []
    return [message("bad", f"The table has no {', '.join(strange[:8])}, which the policy names.")]


def pager(path: str, policy: str, at: int, pages: int) -> Markup:
    """Write links to the pages of a long list."""
    if pages == 1:
        return join([])
    links = [
        tag("li", tag("a", f"{page}", href=address(path, policy=policy, page=page), **_current(page == at)))
        for page in range(1, pages + 1)
    ]
    return tag("nav", tag("ul", *links), class_="pager", aria_label="Pages")


def _current(is_current: bool) -> dict[str, str]:
    return {"aria_current": "page"} if is_current else {}
