"""Hierarchy: how the values of a column are told less exactly; declared by numbers, or groups by hand.

Whatever is declared is tried on the values of the column at once, before it is saved: the labels of each level with
their rows, and the values without a place. Groups are a tree: a node is dragged under another, or chosen and moved by
the keyboard, with the same result. Every change of the tree is in its file at once.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.app.page_frame import Screen, address, form, labelled, listed, message, screen_page, select, submit
from sfumato.app.policy_desk import PolicyDesk, PolicyVersion
from sfumato.app.tree_edits import (
    Lines,
    add_level,
    checked_text,
    drop_level,
    group_leaves,
    level_labels,
    move_nodes,
    place_values,
    rename_node,
)
from sfumato.app.workbench import Form, Workbench, read_form
from sfumato.core.regular_file import check_new_file, read_regular_file
from sfumato.errors import HierarchyError
from sfumato.hierarchy import File
from sfumato.hierarchy.dates import UNITS
from sfumato.page.html import Markup, name, note, section, table, tag
from sfumato.page.wording import label, plural
from sfumato.policy.policy_file import hierarchies_folder, hierarchy_file_names
from sfumato.serving.refused_request import Refused

_LARGEST_FILE = 64 << 20
_MOST_MISSING = 200
_WORDS = {
    "intervals": "intervals of numbers",
    "mask": "fewer and fewer characters",
    "dates": "units of the calendar",
    "suppress": "the value, or nothing",
    "ranges": "ranges, as the algorithm chooses",
    "sets": "sets, as the algorithm chooses",
    "groups": "groups by hand",
}


class HierarchyScreen:
    """The screen, and what its forms do."""

    key, title = "hierarchy", "Hierarchy"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """Show the hierarchy of a column, and the ways to change it."""
        policy, place = request.query_params.get("policy", ""), request.query_params.get("column", "")
        desk = self.bench.desk(policy)
        state = desk.read()
        column = await self.column_at(desk, place)
        screen = Screen(self.key, self.title, policy, state, place)
        declaration = state.columns.get(column, {}).get("hierarchy")
        kind = request.query_params.get("kind", "") or kind_of(declaration)
        kind = kind if kind in _WORDS else "suppress"
        links = [
            tag("a", words, href=address("/hierarchy", policy=policy, column=place, kind=key), **_chosen(key == kind))
            for key, words in _WORDS.items()
        ]
        back = tag("a", "Back to the columns", href=f"{address('/columns', policy=policy)}#column-{place}")
        now = declaration if kind == kind_of(declaration) else None
        if kind == "groups":
            inside = await self._groups(screen, desk, column, place, now)
        else:
            inside = await self._declared(screen, desk, column, place, kind, now)
        return HTMLResponse(
            screen_page(
                screen,
                tag("p", back),
                tag("h1", "How is ", name(column), " told less exactly?"),
                tag("nav", listed(links), class_="kinds", aria_label="Kinds of hierarchies"),
                *inside,
            )
        )

    async def column_at(self, desk: PolicyDesk, place: str) -> str:
        """Find the column at a place of the table."""
        columns = (await self.bench.ask("describe_table", str(desk.path)))["columns"]
        if not place.isdecimal() or int(place[:6]) >= len(columns):
            raise Refused("the table has no such column; go back to the columns", 404)
        return str(columns[int(place)]["name"])

    async def _declared(
        self, screen: Screen, desk: PolicyDesk, column: str, place: str, kind: str, now: Any
    ) -> list[object]:
        """Write the form of a hierarchy that is declared, and what it makes of the values."""
        shown = now if now is not None else usual_declaration(kind)
        found = await self.bench.ask("preview_hierarchy", str(desk.path), column, shown)
        asking = {
            "hx_post": "/hierarchy/preview",
            "hx_trigger": "input changed delay:250ms from:closest form",
            "hx_include": "closest form",
            "hx_target": "this",
            "hx_select": "unset",
            "hx_sync": "this:replace",
            "hx_swap": "innerHTML",
        }
        fields = tag("div", *declaration_fields(kind, shown), class_="fields")
        same = now is not None
        preview = tag("div", preview_part(found), id="preview", aria_live="polite", **asking)
        send = tag("p", submit("Use it so" if not same else "Use it as it is now", class_="main"))
        hidden = [
            tag("input", type="hidden", name="column", value=place),
            tag("input", type="hidden", name="kind", value=kind),
        ]
        return [form(screen, "/hierarchy/declare", *hidden, fields, send, preview)]

    async def show_preview(self, request: Request) -> Response:
        """Give what a declaration that is being typed would make of the values; nothing is written."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        column = await self.column_at(desk, fields["column"])
        try:
            declaration = read_declaration(fields)
        except Refused as error:
            return HTMLResponse(message("bad", f"{error}."))
        return HTMLResponse(
            preview_part(await self.bench.ask("preview_hierarchy", str(desk.path), column, declaration))
        )

    async def declare(self, request: Request) -> Response:
        """Save a declaration that suits the values."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.check(fields["version"])
        column = await self.column_at(desk, fields["column"])
        declaration = read_declaration(fields)
        found = await self.bench.ask("preview_hierarchy", str(desk.path), column, declaration)
        if found["fault"]:
            raise Refused(found["fault"], 422)
        desk.change(
            fields["version"], f"{column}: {_WORDS[fields['kind']]}", with_hierarchy(state, column, declaration)
        )
        return self.back(fields)

    # Groups by hand

    async def _groups(self, screen: Screen, desk: PolicyDesk, column: str, place: str, now: Any) -> list[object]:
        """Write the tree with its tools; where there are no groups yet, the ways to begin."""
        hidden = tag("input", type="hidden", name="column", value=place)
        policies = self.bench.folder.find_files()[1]
        files = [found.path for found in policies if found.path.lower().endswith(".csv") and found.size < _LARGEST_FILE]
        taking = form(
            screen,
            "/hierarchy/import",
            hidden,
            labelled("Take the groups from a file of this folder", select("file", [(one, one) for one in files], "")),
            submit("Take it"),
            class_="fields",
        )
        if not isinstance(now, str):
            begin = form(screen, "/hierarchy/begin", hidden, submit("Begin with the values", class_="main"))
            how = "Each value by itself, or the labels of the hierarchy as it is now: put them together from there."
            return [section("There are no groups yet", tag("p", how), begin, *([taking] if files else []))]
        lines: Lines = [tuple(line) for line in File(desk.path.parent / now).lines]
        found = await self.bench.ask("preview_hierarchy", str(desk.path), column, now)
        given = tag("input", name="name", required="", value=f"{Path(now).stem}-copy.csv", spellcheck="false")
        giving = form(
            screen, "/hierarchy/export", hidden, labelled("Write a copy into this folder", given), submit("Write"),
            class_="fields",
        )  # fmt: skip
        files_part = tag("details", tag("summary", "Files"), *([taking] if files else []), giving)
        return [
            *_placing(screen, hidden, lines, found["missing"]),
            section("The tree", note(_HOW), tree_form(screen, hidden, lines)),
            section("What that makes of the values", preview_part(found)),
            tag("section", files_part),
        ]

    async def begin(self, request: Request) -> Response:
        """Turn the hierarchy of a column into groups that can be changed by hand."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.check(fields["version"])
        column = await self.column_at(desk, fields["column"])
        declaration = state.columns.get(column, {}).get("hierarchy") or "suppress"
        text = await self.bench.ask("lines_of_column", str(desk.path), column, declaration)
        self.save_lines(desk, state, fields, column, text, "groups by hand")
        return self.back(fields)

    async def edit(self, request: Request) -> Response:
        """Change the tree: one edit, saved when it is a hierarchy."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.check(fields["version"])
        column = await self.column_at(desk, fields["column"])
        now = state.columns.get(column, {}).get("hierarchy")
        if not isinstance(now, str) or now in {"suppress", "sets"}:
            raise Refused("this column has no groups any more; look at it again", 409)
        lines: Lines = [tuple(line) for line in File(desk.path.parent / now).lines]
        what = fields["edit"]
        missing = []
        if what == "place":
            found = await self.bench.ask("preview_hierarchy", str(desk.path), column, now)
            missing = [value for value, _ in found["missing"]]
        text = checked_text(edited_lines(lines, fields, missing))
        self.save_lines(desk, state, fields, column, text, f"tree, {what}")
        return self.back(fields)

    async def take_file(self, request: Request) -> Response:
        """Take the groups from a file of the folder."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.check(fields["version"])
        column = await self.column_at(desk, fields["column"])
        text = checked_text(File(self.bench.folder.find(fields["file"])).lines)
        self.save_lines(desk, state, fields, column, text, f"groups from {Path(fields['file']).name}")
        return self.back(fields)

    async def give_file(self, request: Request) -> Response:
        """Write the groups into a file of the folder, which was not there."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        column = await self.column_at(desk, fields["column"])
        now = state.columns.get(column, {}).get("hierarchy")
        target = self.bench.folder.find(fields["name"])
        if not isinstance(now, str) or not target.name.lower().endswith(".csv"):
            raise Refused("groups are written into a file whose name ends with .csv; name it so", 422)
        check_new_file(target, "the copy", force=False)
        target.write_bytes(read_regular_file(desk.path.parent / now, most=_LARGEST_FILE, what="a hierarchy"))
        return self.back(fields)

    def save_lines(
        self, desk: PolicyDesk, state: PolicyVersion, fields: Form, column: str, text: str, what: str
    ) -> None:
        """Write the file of a column's groups, in the folder of this policy, and name it in the policy."""
        folder = hierarchies_folder(desk.path)
        now = state.columns.get(column, {}).get("hierarchy")
        others = [entry.get("hierarchy") for one, entry in state.columns.items() if one != column]
        own = isinstance(now, str) and (desk.path.parent / now).parent == folder and now not in others
        file = str(now) if own else ""
        for namesakes in range(len(others) + 2):
            if file:
                break
            named = list(hierarchy_file_names([*[column.upper()] * namesakes, column], folder.name).values())[-1]
            file = named if named not in others else ""
        document = with_hierarchy(state, column, file)
        desk.change(fields["version"], f"{column}: {what}", document, files={file: text})

    def back(self, fields: Form) -> Response:
        """Show the screen of the column again."""
        return RedirectResponse(address("/hierarchy", policy=fields["policy"], column=fields["column"]), 303)


_HOW = (
    "Drag a value or a group onto another group; or choose some with the keyboard, and move them by the list below. A "
    "group that nothing is in any more is gone."
)


def kind_of(declaration: Any) -> str:
    """Tell which kind of hierarchy is declared.

    >>> kind_of("job.csv"), kind_of({"intervals": [5]}), kind_of(None)
    ('groups', 'intervals', 'suppress')
    """
    if isinstance(declaration, str):
        return declaration if declaration in {"suppress", "sets"} else "groups"
    if isinstance(declaration, Mapping):
        return next((kind for kind in ("intervals", "mask", "dates", "ranges") if kind in declaration), "groups")
    return "suppress"


def usual_declaration(kind: str) -> Any:
    """Give a declaration of a kind to begin with."""
    usual: dict[str, Any] = {
        "intervals": {"intervals": [5, 10, 20]},
        "mask": {"mask": "right"},
        "dates": {"dates": ["month", "year"]},
        "ranges": {"ranges": True},
    }
    return usual.get(kind, kind)


def with_hierarchy(state: PolicyVersion, column: str, declaration: Any) -> dict[str, Any]:
    """Give the policy's tables with another hierarchy of a column; its role stays, and one without becomes known."""
    entry = {**state.columns.get(column, {"role": "quasi"}), "hierarchy": declaration}
    return {**state.document, "columns": {**state.document.get("columns", {}), column: entry}}


def declaration_fields(kind: str, shown: Any) -> list[Markup]:
    """Write the controls of a declaration."""
    if kind == "intervals":
        domain = shown.get("domain") or ["", ""]
        texts = [
            (
                "Widths, each a multiple of the one before",
                "widths",
                ", ".join(f"{one:g}" for one in shown["intervals"]),
            ),
            ("Lowest value there can be", "low", _number_text(domain[0])),
            ("Highest value there can be", "high", _number_text(domain[1])),
            ("Values below this share a label", "bottom", _number_text(shown.get("bottom"))),
            ("Values from this on share a label", "top", _number_text(shown.get("top"))),
        ]
        return [labelled(title, tag("input", name=key, value=value, autocomplete="off")) for title, key, value in texts]
    if kind == "mask":
        sides = [("right", "from the right"), ("left", "from the left")]
        length = tag("input", type="number", min="1", name="length", value=_number_text(shown.get("length")))
        return [
            labelled("Masked", select("mask", sides, shown["mask"])),
            labelled("Characters of a full value, if values differ in length", length),
        ]
    if kind == "dates":
        boxes = [
            tag(
                "label",
                tag(
                    "input",
                    type="checkbox",
                    name="unit",
                    value=unit,
                    **({"checked": ""} if unit in shown["dates"] else {}),
                ),
                f" {unit}",
                class_="box",
            )
            for unit in UNITS
        ]
        written = tag("input", name="format", value=shown.get("format", ""), autocomplete="off", placeholder="%d.%m.%Y")
        return [
            tag("fieldset", tag("legend", "Told as its"), *boxes),
            labelled("Written as, if not 2026-11-19", written),
        ]
    return [tag("p", f"{_WORDS[kind][:1].upper()}{_WORDS[kind][1:]}. There is nothing to set.")]


def read_declaration(fields: Form) -> Any:
    """Read a declaration from a form."""
    kind = fields["kind"]
    if kind == "intervals":
        widths = [
            _read_number(part, "a width") for part in fields["widths"].replace(";", ",").split(",") if part.strip()
        ]
        found: dict[str, Any] = {"intervals": widths}
        ends = (fields["low"].strip(), fields["high"].strip())
        if any(ends):
            if not all(ends):
                raise Refused("give both the lowest and the highest value, or neither", 422)
            found["domain"] = [_read_number(end, "the lowest and the highest value") for end in ends]
        for key in ("bottom", "top"):
            if fields[key].strip():
                found[key] = _read_number(fields[key], key)
        return found
    if kind == "mask":
        length = fields["length"].strip()
        return {"mask": fields["mask"], **({"length": _read_number(length, "the length")} if length else {})}
    if kind == "dates":
        written = fields["format"].strip()
        return {
            "dates": [unit for unit in UNITS if unit in fields.all("unit")],
            **({"format": written} if written else {}),
        }
    if kind == "ranges":
        return {"ranges": True}
    if kind in {"suppress", "sets"}:
        return kind
    raise Refused("there is no such kind of hierarchy", 400)


def _read_number(text: str, what: str) -> float | int:
    try:
        number = float(text.strip())
        return int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        raise Refused(f"{what} must be a number, as in 10 or 2.5", 422) from None


def _number_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def preview_part(found: Mapping[str, Any]) -> Markup:
    """Show what a hierarchy makes of the values: the labels of each level with their rows."""
    if found["fault"]:
        return message("bad", f"{found['fault']}.")
    parts: list[object] = []
    for level, one in enumerate(found["levels"]):
        if not level:
            continue
        lines = [(label(text), f"{rows:,}") for text, rows in one["shown"]]
        left = one["labels"] - len(lines)
        more = note(f"and {left:,} more") if left > 0 else ""
        head = tag(
            "h3", f"Level {level}", tag("small", f"{plural(one['labels'], 'label')}, {one['fewest']:,} rows or more")
        )
        parts.append(tag("div", head, table(("label", "rows"), lines, "figures"), more))
    if not parts:
        return note("Labels are made while the release is: the algorithm chooses them, class by class.")
    return tag("div", *parts, class_="levels")


def tree_form(screen: Screen, hidden: Markup, lines: Lines) -> Markup:
    """Write the tree as nested lists of boxes to choose, with the tools that move what is chosen."""
    height = len(lines[0])
    places = [{text: at for at, text in enumerate(level_labels(lines, level))} for level in range(height)]

    def branch(level: int, members: Sequence[tuple[str, ...]]) -> Markup:
        items = []
        for text in dict.fromkeys(line[level] for line in members):
            inside = [line for line in members if line[level] == text]
            node = f"{level}:{places[level][text]}"
            box = tag("input", type="checkbox", name="node", value=node)
            size = tag("small", f" {len(inside):,}") if level else ""
            own = tag("label", box, " ", tag("bdi", label(text)), size)
            items.append(tag("li", own, branch(level - 1, inside) if level else "", data_node=node))
        return tag("ul", *items, data_level=level)

    groups = [
        (f"{level}:{places[level][text]}", f"{label(text)} (level {level})")
        for level in range(height - 1, 0, -1)
        for text in places[level]
    ]
    levels = [(str(level), f"level {level}") for level in range(1, height - 1)]
    tools = [
        tag("div", labelled("Move what is chosen under", select("target", groups, "", id="target")),
            submit("Move", name="edit", value="move"), class_="fields"),
        tag("div", labelled("Name of a group", tag("input", name="name", autocomplete="off", id="group-name")),
            submit("Put chosen values together", name="edit", value="group"),
            submit("Rename the chosen group", name="edit", value="rename"), class_="fields"),
        tag("div", labelled("Levels", select("level", [("0", "the values"), *levels], "", id="level")),
            submit("Add a level above", name="edit", value="add level"),
            *([submit("Take the level out", name="edit", value="drop level")] if levels else []), class_="fields"),
    ]  # fmt: skip
    tree = tag("div", branch(height - 1, lines), class_="tree", id="tree")
    return form(screen, "/hierarchy/edit", hidden, tag("div", *tools, class_="tools"), tree, id="tree-form")


def _placing(screen: Screen, hidden: Markup, lines: Lines, missing: Sequence[tuple[str, int]]) -> list[Markup]:
    """Show values of the table that the tree has no place for, with a way to give them one."""
    if not missing:
        return []
    first = level_labels(lines, 1)
    choices = [("", "each by itself"), *[(f"1:{at}", label(text)) for at, text in enumerate(first)]]
    listed_values = ", ".join(f"{label(text)} ({rows:,})" for text, rows in missing[:_MOST_MISSING])
    more = f" and {len(missing) - _MOST_MISSING:,} more" if len(missing) > _MOST_MISSING else ""
    head = tag("strong", f"{plural(len(missing), 'value has', 'values have')} no place in the tree: ")
    placing = form(
        screen,
        "/hierarchy/edit",
        hidden,
        labelled("Place them", select("target", choices, "")),
        submit("Place", name="edit", value="place"),
        class_="fields",
    )
    return [message("bad", head, tag("bdi", listed_values), more), placing]


def edited_lines(lines: Lines, fields: Form, missing: Sequence[str]) -> Lines:
    """Do the edit that a form asks for."""
    what = fields["edit"]
    if what in {"add level", "drop level"}:
        level = _level(fields["level"], len(lines[0]) - 1)
        return add_level(lines, level) if what == "add level" else drop_level(lines, level)
    if what == "place":
        parent = _node(lines, fields["target"])[1] if fields["target"] else ""
        return place_values(lines, missing, parent)
    chosen = [_node(lines, node) for node in fields.all("node")]
    if not chosen:
        raise HierarchyError("choose values or groups of the tree first")
    levels = {level for level, _ in chosen}
    if what == "move":
        target_level, parent = _node(lines, fields["target"])
        if levels != {target_level - 1}:
            raise HierarchyError(
                f"under a group of level {target_level} go nodes of level {target_level - 1}; choose such ones alone"
            )
        return move_nodes(lines, target_level - 1, {text for _, text in chosen}, parent)
    if what == "group":
        if levels != {0}:
            raise HierarchyError("values are put together; groups are moved under another group, on a level above")
        return group_leaves(lines, {text for _, text in chosen}, fields["name"].strip())
    if what == "rename" and len(chosen) == 1:
        return rename_node(lines, *chosen[0], fields["name"].strip())
    raise HierarchyError("choose one group, and give its new name")


def _node(lines: Lines, node: str) -> tuple[int, str]:
    """Find a node by its level and its place on it."""
    level_text, _, place = node.partition(":")
    level = _level(level_text, len(lines[0]))
    labels = level_labels(lines, level)
    if not place.isdecimal() or int(place[:9]) >= len(labels):
        raise Refused("the tree has no such node any more; look at it again", 409)
    return level, labels[int(place)]


def _level(text: str, below: int) -> int:
    if not text.isdecimal() or int(text[:4]) >= below:
        raise Refused("the tree has no such level any more; look at it again", 409)
    return int(text)


def _chosen(is_chosen: bool) -> dict[str, str]:
    return {"aria_current": "true"} if is_chosen else {}
