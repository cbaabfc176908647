"""Release: what came out, before and after, what it cost, what risk is left, and some classes row by row.

All of it is about the release that lies in the folder beside the policy. What may leave the house is given as an
archive; what stays is shown here and given to nobody.
"""

import json
import tempfile
import zipfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from sfumato.app.access import REPORT_POLICY
from sfumato.app.page_frame import (
    Screen,
    address,
    empty_state,
    figure_list,
    form,
    labelled,
    listed,
    message,
    screen_page,
    submit,
)
from sfumato.app.workbench import Workbench, read_form
from sfumato.page.charts import bar, grid, paired_bars
from sfumato.page.html import Markup, join, name, note, section, table, tag
from sfumato.page.wording import found_keys, keys, label, percent, plural
from sfumato.serving.refused_request import Refused

_LARGEST_ACCOUNT = 1 << 27
_CHUNK = 1 << 20


class ReleaseScreen:
    """The screen, and what its links and forms do."""

    key, title = "release", "Release"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """Show the release of a policy."""
        policy = request.query_params.get("policy", "")
        state = self.bench.desk(policy).read()
        screen = Screen(self.key, self.title, policy, state)
        folder = self.bench.release_folder(policy)
        manifest, audit = _read_json(folder / "public" / "manifest.json"), _read_json(folder / "private" / "audit.json")
        if not manifest or not audit:
            way = tag("a", "Run the policy", href=address("/run", policy=policy), class_="next")
            return HTMLResponse(
                screen_page(
                    screen,
                    tag("h1", "The release"),
                    empty_state("There is no release of this policy yet", tag("p", way, " to make one.")),
                )
            )
        view = self.bench.read_view(policy)
        saved = request.query_params.get("saved", "")
        parts: list[object] = [
            tag("h1", "The release"),
            *([message("good", "A copy is kept as ", name(saved), ".", data_announce="")] if saved else []),
            *_changed_since(audit, state.document),
            opening(manifest, audit, view),
            leaving(screen, folder),
            *findings(audit),
        ]
        if view.get("columns"):
            parts += [before_and_after(view), *pairwise(view), *costs(view), *side_by_side(view)]
        elif not view:
            parts.append(
                message(
                    "note",
                    "This release was made elsewhere. Its report has the figures; run the policy here to see its "
                    "columns before and after.",
                )
            )
        return HTMLResponse(screen_page(screen, *parts))

    async def show_report(self, request: Request) -> Response:
        """Give the private report as it is; it may run nothing and load nothing."""
        folder = self.bench.release_folder(request.query_params.get("policy", ""))
        try:
            text = (folder / "private" / "report.html").read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise Refused("there is no report of this policy; run it first", 404) from None
        return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})

    async def give_archive(self, request: Request) -> Response:
        """Give all that may leave the house, as an archive."""
        folder = self.bench.release_folder(request.query_params.get("policy", ""))
        public = folder / "public"
        if not (public / "manifest.json").is_file():
            raise Refused("there is no release of this policy; run it first", 404)
        spooled = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when it has been sent
        with zipfile.ZipFile(spooled, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(public.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    archive.write(path, Path(folder.name) / path.relative_to(public))
        size = spooled.tell()
        spooled.seek(0)

        async def send() -> AsyncIterator[bytes]:
            with spooled:
                while part := spooled.read(_CHUNK):
                    yield part

        shown = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in folder.name)
        given = {"Content-Disposition": f'attachment; filename="{shown}.zip"', "Content-Length": str(size)}
        return StreamingResponse(send(), media_type="application/zip", headers=given)

    async def save(self, request: Request) -> Response:
        """Copy the release, public and private part, under another name, where the next run does not replace it."""
        fields = await read_form(request)
        folder = self.bench.release_folder(fields["policy"])
        target = self.bench.folder.find(fields["name"])
        await self.bench.ask("save_copy", str(folder), str(target))
        return RedirectResponse(address("/release", policy=fields["policy"], saved=fields["name"]), 303)


def opening(manifest: Mapping[str, Any], audit: Mapping[str, Any], view: Mapping[str, Any]) -> Markup:
    """Show the figures that a decision turns on."""
    kept = all(one.get("satisfied") for one in audit.get("privacy", []))
    rows, came = manifest.get("rows", 0), audit.get("input", {}).get("rows", 0)
    figures: list[tuple[object, object]] = [
        ("✓ kept" if kept else "✗ not kept", "the promise, as the verifier found it in the files"),
        (f"{rows:,}", f"rows are published, of {came:,}"),
    ]
    risk = view.get("risk")
    if risk:
        before, after = risk["before"]["highest"], risk["after"]["highest"]
        figures.append((f"{percent(before)} → {percent(after)}", "highest chance of finding somebody, before → after"))
    if "ncp" in audit.get("utility", {}):
        figures.append((percent(audit["utility"]["ncp"]), "of detail is lost (NCP)"))
    warned = audit.get("warnings") or view.get("warnings") or []
    more = section("Before it leaves the house", listed(warned, "limits")) if warned else ""
    return join([figure_list(figures), more])


def leaving(screen: Screen, folder: Path) -> Markup:
    """Offer what may leave the house, and the report that stays."""
    archive = tag(
        "a", "Download public/ as a zip", href=address("/release/public.zip", policy=screen.policy), class_="next"
    )
    report = tag(
        "a",
        "Open the private report",
        href=address("/release/report", policy=screen.policy),
        target="_blank",
        rel="noopener",
    )
    keep = form(
        screen,
        "/release/save",
        labelled("Keep a copy as", tag("input", name="name", value="", required="", placeholder=f"{folder.name}-1")),
        submit("Keep"),
        class_="fields inline",
    )
    where = note(
        "It lies in ", tag("code", f"{folder.name}/"), ". The part private/ stays here, and the next run replaces it."
    )
    return tag("div", tag("p", archive, " ", report, class_="ways"), keep, where, class_="leaving")


def findings(audit: Mapping[str, Any]) -> list[Markup]:
    """Show each requirement with what the verifier found."""
    lines = [
        (
            join(
                [
                    tag("span", "✓" if one["satisfied"] else "✗", class_="yes" if one["satisfied"] else "no"),
                    " ",
                    one["model"],
                ]
            ),
            keys(one["required"]),
            found_keys(one["model"], one.get("achieved", {})),
        )
        for one in audit.get("privacy", [])
    ]
    how = note("Found by a second implementation, in the written files. It shares no code with what made them.")
    return [section("Promise and verdict", table(("Promised", "asked", "found"), lines, "figures wide"), how)]


def before_and_after(view: Mapping[str, Any]) -> Markup:
    """Draw each column before and after."""
    figures = []
    for column in view["columns"]:
        words = {"quasi": "known to others", "sensitive": "secret", "plain": "as it is"}.get(column["role"], "")
        head = tag("h3", name(column["name"]), tag("small", words))
        chart = paired_bars(
            column["bins"], column["before"], column["after"], title=f"{column['name']}, before and after"
        )
        figures.append(tag("figure", head, chart))
    how = note(
        "Shares of the rows that came in. A row under a label that covers several bins counts in each by the share of "
        "the label there, as for a reader who knows no more than the label."
    )
    return section("Columns, before and after", how, tag("div", *figures, class_="charts"))


def pairwise(view: Mapping[str, Any]) -> list[Markup]:
    """Show how strongly pairs of columns go together, before and after."""
    pairs = view.get("pairs")
    if not pairs:
        return []
    names = pairs["names"]
    charts = [
        tag("figure", tag("h3", title), grid(names, pairs[key], title=f"Association of pairs of columns, {key}"))
        for title, key in (("before", "before"), ("after", "after"))
    ]
    change = f" On average, a pair changed by {pairs['change']:.2f}." if pairs["change"] is not None else ""
    how = note(
        "Cramér's V of each pair: 0 where two columns have nothing to do with each other, 1 where one tells the other.",
        change,
    )
    return [section("Pairs of columns, before and after", how, tag("div", *charts, class_="charts"))]


def costs(view: Mapping[str, Any]) -> list[Markup]:
    """Show what each column known to others lost."""
    lines = [
        (
            join(
                [
                    name(one["name"]),
                    tag("small", f"{plural(one['values'], 'value')} → {plural(one['labels'], 'label')}"),
                ]
            ),
            percent(one["ncp"]),
            bar(one["ncp"]),
        )
        for one in view.get("costs", [])
    ]
    if not lines:
        return []
    how = note("From 0% (as it came) to 100% (nothing left).")
    return [section("What it cost", how, table(("Column", "lost (NCP)", ""), lines, "losses"))]


def side_by_side(view: Mapping[str, Any]) -> list[Markup]:
    """Show some classes: what is published, and the rows it was made of."""
    parts = []
    for place, one in enumerate(view.get("classes", [])):
        columns = list(one["labels"])
        secret = list(one["sensitive"])
        lines = []
        for row in range(len(next(iter(one["labels"].values()), []))):
            cells = [_pair(one["labels"][column][row], one["values"][column][row]) for column in columns]
            lines.append((f"{row + 1}", *cells, *[label(one["sensitive"][column][row]) for column in secret]))
        left = one["rows"] - len(lines)
        more = f", {len(lines)} of them here" if left else ""
        which = "The smallest class" if not place else "A class"
        head = (
            "",
            *[name(column) for column in columns],
            *[join([name(column), tag("small", "secret")]) for column in secret],
        )
        title = tag("summary", f"{which} of {plural(one['rows'], 'row')}{more}")
        inside = tag("div", table(head, lines, "rows"), class_="scroll", tabindex="0", role="region", aria_label=which)
        parts.append(tag("details", title, inside, **({"open": ""} if not place else {})))
    if not parts:
        return []
    how = note(
        "Above, what is published; below it, small, the value it stands for. The values below are your table's, and ",
        "are in no published file. Classes were drawn at random when the release was made.",
    )
    return [section("Some classes, row by row", how, *parts)]


def _pair(published: str | None, came: str | None) -> Markup:
    same = published == came
    under = "" if same else tag("small", label(came))
    return tag("span", tag("span", label(published)), under, class_="same" if same else "told")


def _changed_since(audit: Mapping[str, Any], document: Mapping[str, Any]) -> list[Markup]:
    """Say where the policy is another by now."""
    used = audit.get("policy", {})
    parts = [
        part for part in ("data", "columns", "privacy", "algorithm", "publish") if used.get(part) != document.get(part)
    ]
    if not parts:
        return []
    return [message("note", "The policy was changed since this release was made. Run it again to apply that.")]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST_ACCOUNT:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
