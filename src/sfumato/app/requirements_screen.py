"""Requirements: what is promised, each as a sentence, with what it stops, what it does not, and whether it can be met.

Whether the table can meet a requirement at all is asked at once, of the table as one class, which is the most general
release there is. Presets are the thresholds and roles of somebody else's rule, with its source.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sfumato.app.page_frame import (
    Screen,
    address,
    empty_state,
    form,
    labelled,
    listed,
    message,
    screen_page,
    select,
    submit,
)
from sfumato.app.policy_desk import PolicyVersion
from sfumato.app.requirement_sentences import SENTENCES
from sfumato.app.work_process import WorkFailed
from sfumato.app.workbench import Form, Workbench, read_form
from sfumato.models import DENSITY, LINKAGE, MODELS
from sfumato.models.policy_keys import PolicyKey, model_keys
from sfumato.page.html import Markup, join, note, section, tag
from sfumato.page.wording import found_keys
from sfumato.policy.options import ALGORITHMS, FORMATS
from sfumato.policy.policy_edits import edit_policy
from sfumato.serving.refused_request import Refused

_ALGORITHM_WORDS = {
    "auto": "auto: the local algorithm that loses least",
    "optimal": "optimal: one level per column, the best there is",
    "samarati": "samarati: one level per column, the lowest",
    "incognito": "incognito: one level per column, by subsets",
    "progressive": "progressive: local",
    "top-down": "top-down: local",
    "bottom-up": "bottom-up: local",
    "mondrian": "mondrian: local, cuts at medians",
    "mondrian-relaxed": "mondrian-relaxed: local, equal values may part",
    "microaggregation": "microaggregation: means of groups",
    "tds": "tds: one cut per column, for further use",
}


class RequirementsScreen:
    """The screen, and what its forms do."""

    key, title = "requirements", "Requirements"

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    async def show(self, request: Request) -> Response:
        """Show all requirements, what can be added, and presets."""
        policy = request.query_params.get("policy", "")
        state = self.bench.desk(policy).read()
        screen = Screen(self.key, self.title, policy, state)
        cards = [requirement_card(screen, place, entry) for place, entry in enumerate(state.requirements)]
        if not cards:
            cards = [empty_state("Nothing is promised yet", tag("p", "Add a requirement below, or use a preset."))]
        feasible = tag(
            "div",
            note("Asking whether the table can meet this…"),
            hx_get=address("/requirements/feasible", policy=policy),
            hx_trigger="load",
            hx_swap="innerHTML",
            class_="feasible",
            id="feasible",
        )
        return HTMLResponse(
            screen_page(
                screen,
                tag("h1", "What is promised to the people in it?"),
                tag("div", *cards, class_="cards"),
                feasible,
                _adding(screen, state),
                _limits(screen, state),
                _presets(screen, await self.bench.ask("list_presets")),
                tag("p", tag("a", "Go on: run it", href=address("/run", policy=policy), class_="next")),
            )
        )

    async def show_feasible(self, request: Request) -> Response:
        """Give the part of the page that says whether each requirement can be met."""
        policy = request.query_params.get("policy", "")
        desk = self.bench.desk(policy)
        state = desk.read()
        screen = Screen(self.key, self.title, policy, state)
        if state.fault:
            return HTMLResponse(note("Mend the policy first: see above."))
        try:
            found = await self.bench.ask("judge_requirements", str(desk.path))
        except WorkFailed as error:
            return HTMLResponse(message("bad", f"{error}."))
        lines = [verdict_line(screen, place, one, state) for place, one in enumerate(found)]
        return HTMLResponse(tag("div", tag("h2", "Can the table meet this?"), listed(lines, "verdicts")))

    async def add(self, request: Request) -> Response:
        """Add a requirement with usual values."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        model, column = fields["model"], fields["column"]
        if model not in SENTENCES:
            raise Refused("there is no such requirement", 400)
        entry: dict[str, Any] = {"model": model}
        if SENTENCES[model].looks_at_column:
            if column not in state.with_role("sensitive"):
                raise Refused("choose a column that is secret; give one that role on the screen of columns", 422)
            entry["column"] = column
        entry |= SENTENCES[model].first
        document = {**state.document, "privacy": [*state.requirements, entry]}
        desk.change(fields["version"], f"{model} added", document)
        return self.back(fields)

    async def change(self, request: Request) -> Response:
        """Give a requirement other values."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        place = _place(fields, state)
        entry = dict(state.requirements[place])
        keys = model_keys(_model(entry))
        for key in fields.names():
            known = keys.get(key.removeprefix("key."))
            if key.startswith("key.") and known is not None:
                value = read_value(known, fields, key)
                if value is None and not known.required:
                    entry.pop(key.removeprefix("key."), None)
                else:
                    entry[key.removeprefix("key.")] = value
        requirements = [*state.requirements]
        requirements[place] = entry
        values = ", ".join(f"{key} = {value}" for key, value in entry.items() if isinstance(value, int | float))
        document = {**state.document, "privacy": requirements}
        desk.change(fields["version"], f"{entry['model']}: {values}", document)
        return self.back(fields)

    async def remove(self, request: Request) -> Response:
        """Take a requirement out."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        place = _place(fields, state)
        requirements = [entry for at, entry in enumerate(state.requirements) if at != place]
        what = f"{state.requirements[place].get('model')} taken out"
        desk.change(fields["version"], what, {**state.document, "privacy": requirements})
        return self.back(fields)

    async def set_limits(self, request: Request) -> Response:
        """Say how many rows may be left out, by which algorithm a recoding is sought, and how the table is written."""
        fields = await read_form(request)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        try:
            share = round(float(fields["suppression"]) / 100, 6)
        except ValueError:
            raise Refused("rows that may be left out are a share in per cent, from 0 to 100", 422) from None
        algorithm, kind = fields["algorithm"], fields["format"]
        if algorithm not in ALGORITHMS or kind not in FORMATS or not 0 <= share <= 1:
            raise Refused("choose an algorithm and a format of the lists, and a share from 0 to 100", 422)
        search = {**state.table("algorithm"), "name": algorithm, "suppression": share}
        publish = {**state.table("publish"), "format": kind}
        document = {**state.document, "algorithm": search, "publish": publish}
        desk.change(fields["version"], f"{algorithm}, {share:.2%} may be left out, {kind}", document)
        return self.back(fields)

    async def use_preset(self, request: Request) -> Response:
        """Replace roles and requirements by those of a preset."""
        fields = await read_form(request)
        if fields["preset"] not in [preset["name"] for preset in await self.bench.ask("list_presets")]:
            raise Refused("there is no such preset", 400)
        desk = self.bench.desk(fields["policy"])
        state = desk.read()
        found = await self.bench.ask("propose_by_preset", str(desk.path), fields["preset"])
        proposed = found["document"]
        # what a preset does not speak of stays: the form, a title, earlier releases
        search = {
            **proposed["algorithm"],
            **state.table("algorithm"),
            "suppression": proposed["algorithm"]["suppression"],
        }
        publish = {**proposed["publish"], **state.table("publish")}
        wanted = {**state.document, **proposed, "algorithm": search, "publish": publish}
        text = edit_policy(found["text"], wanted)
        desk.change(fields["version"], f"preset {fields['preset']}", wanted, files=found["files"], text=text)
        return self.back(fields)

    def back(self, fields: Form) -> Response:
        """Show the screen the form was on."""
        where = "/run" if fields["from"] == "run" else "/requirements"
        return RedirectResponse(address(where, policy=fields["policy"]), 303)


def requirement_card(screen: Screen, place: int, entry: Mapping[str, Any]) -> Markup:
    """Write a requirement: its sentence, what it stops and what not, its values to change."""
    model = str(entry.get("model", ""))
    kind: Any = (MODELS | LINKAGE | DENSITY).get(model)
    words = SENTENCES.get(model)
    if kind is None or words is None:
        said = tag(
            "p", f"{model}: ", found_keys(model, {k: v for k, v in entry.items() if k != "model"}), class_="said"
        )
        stops = [tag("p", tag("b", "Stops: "), getattr(kind, "threat", "")), note("Changed in the policy file.")]
        return tag("article", tag("h2", model or "without a model"), said, *stops, _removal(screen, place, model))
    sensitive = [] if screen.state is None else screen.state.with_role("sensitive")
    inputs = [key_input(place, name_, key, entry.get(name_), sensitive) for name_, key in model_keys(kind).items()]
    change = form(
        screen,
        "/requirements/change",
        tag("input", type="hidden", name="place", value=place),
        tag("div", *[one for one in inputs if one is not None], class_="fields"),
        tag("noscript", submit("Set")),
        hx_trigger="change, submit",
        id=f"requirement-{place}",
    )
    return tag(
        "article",
        tag("h2", words.title, tag("small", model)),
        tag("p", words.promise(entry), class_="said"),
        change,
        tag("p", tag("b", "Stops: "), kind.threat[:1].lower(), kind.threat[1:]),
        tag("p", tag("b", "Does not stop: "), words.does_not_stop),
        _removal(screen, place, model),
    )


def _removal(screen: Screen, place: int, model: str) -> Markup:
    hidden = tag("input", type="hidden", name="place", value=place)
    return form(screen, "/requirements/remove", hidden, submit("Take it out", aria_label=f"Take it out: {model}"))


def key_input(place: int, key: str, known: PolicyKey, value: Any, sensitive: list[str]) -> Markup | None:
    """Write the control of one key, by what the key may hold; those of files and of several columns only as text."""
    schema, identity = known.key_type.schema, f"key-{place}-{key}"
    about = {"id": identity, "title": known.description}
    if key == "column":
        choices = sensitive if value in sensitive or value is None else [str(value), *sensitive]
        control = select(f"key.{key}", [(one, one) for one in choices], str(value or ""), **about)
    elif "enum" in schema:
        options: Any = schema["enum"]
        control = select(f"key.{key}", [(str(one), str(one)) for one in options], str(value or ""), **about)
    elif schema.get("type") in {"integer", "number"}:
        step = "1" if schema["type"] == "integer" else "any"
        limits = {"min": schema.get("minimum", 0), **({"max": schema["maximum"]} if "maximum" in schema else {})}
        required = {"required": ""} if known.required else {}
        written = "" if value is None else value
        control = tag(
            "input", type="number", name=f"key.{key}", value=written, step=step, **limits, **required, **about
        )
    elif schema.get("type") == "boolean":
        choices_ = [("", "no"), ("yes", "yes")]
        control = select(f"key.{key}", choices_, "yes" if value else "", **about)
    elif key == "values" and isinstance(value, list | None) and all(isinstance(one, str) for one in value or []):
        rows = min(max(len(value or []), 2), 8)
        texts = "\n".join(value or [])
        control = tag("textarea", texts, name=f"key.{key}", rows=rows, spellcheck="false", **about)
        return tag("div", tag("label", "only these values, one per line; none: every value", for_=identity), control)
    elif value is not None:  # several columns and files: written in the policy, told here
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return tag("p", tag("span", key), " ", shown, class_="written")
    else:
        return None
    return tag("div", tag("label", known.description, for_=identity), tag("code", key), control, class_="field")


def read_value(known: PolicyKey, fields: Form, key: str) -> Any:
    """Read the value of a key from a form; nothing where it was left empty."""
    text, schema = fields[key].strip(), known.key_type.schema
    if not text:
        return None
    if key == "key.values":
        return [line.strip("\r") for line in fields[key].split("\n") if line.strip()]
    if schema.get("type") == "boolean":
        return True
    if schema.get("type") in {"integer", "number"}:
        try:
            number = float(text)
            value = int(number) if number.is_integer() and (schema["type"] == "integer" or "." not in text) else number
        except (ValueError, OverflowError):
            raise Refused(f"{key.removeprefix('key.')} must be {known.key_type.phrase}", 422) from None
        if not known.key_type.accepts(value):
            raise Refused(f"{key.removeprefix('key.')} must be {known.key_type.phrase}", 422)
        return value
    return text


def verdict_line(
    screen: Screen, place: int, found: Mapping[str, Any], state: PolicyVersion, origin: str = ""
) -> Markup:
    """Say whether a requirement can be met at all, with buttons for the nearest values that can."""
    entry = state.requirements[place]
    model = str(entry.get("model"))
    column = f" on {entry['column']}" if entry.get("column") else ""
    if not found["known"]:
        return tag("span", tag("b", model), f"{column}: told when it runs.")
    if found["holds"]:
        return tag("span", tag("span", "✓", class_="yes"), " ", tag("b", model), f"{column}: yes.")
    buttons = [nearest_button(screen, place, key, value, origin) for key, value in found["nearest"].items()]
    why = f"{column}: no; {found['hint']}."
    return join([tag("span", tag("span", "✗", class_="no"), " ", tag("b", model), why), *buttons])


def nearest_button(screen: Screen, place: int, key: str, value: float, origin: str = "") -> Markup:
    """Write the button that sets a key to the nearest value that the table can meet."""
    return form(
        screen,
        "/requirements/change",
        tag("input", type="hidden", name="place", value=place),
        tag("input", type="hidden", name=f"key.{key}", value=value),
        tag("input", type="hidden", name="from", value=origin),
        submit(f"Set {key} = {value:g}"),
        class_="inline",
    )


def _adding(screen: Screen, state: PolicyVersion) -> Markup:
    """Offer the models that there is a column for."""
    sensitive, persons = state.with_role("sensitive"), state.with_role("individual")
    offered = []
    for model, words in SENTENCES.items():
        if words.needs_person and not persons:
            continue
        if words.looks_at_column and not sensitive:
            continue
        column = (
            labelled("on", select("column", [(one, one) for one in sensitive], "")) if words.looks_at_column else ""
        )
        send = submit("Add", aria_label=f"Add {model}")
        head = tag("span", tag("b", words.title), tag("small", model))
        hidden = tag("input", type="hidden", name="model", value=model)
        offered.append(form(screen, "/requirements/add", hidden, head, column, send))
    missing = (
        [] if sensitive else [note("Requirements on secrets need a column that is secret: choose its role first.")]
    )
    return section("Add a requirement", *missing, listed(offered, "offers"))


def _limits(screen: Screen, state: PolicyVersion) -> Markup:
    """Offer what is not about a promise: rows that may be left out, the algorithm, the format."""
    search, publish = state.table("algorithm"), state.table("publish")
    share = search.get("suppression", 0.0)
    per_cent = f"{100 * share:.6g}" if isinstance(share, int | float) else "0"
    algorithm, kind = str(search.get("name", "auto")), str(publish.get("format", "csv"))
    choices = list(_ALGORITHM_WORDS.items())
    if algorithm not in _ALGORITHM_WORDS:
        choices.insert(0, (algorithm, algorithm))
    share_input = tag(
        "input", type="number", name="suppression", value=per_cent, min="0", max="100", step="any", id="suppression"
    )
    return section(
        "How it is reached",
        form(
            screen,
            "/requirements/limits",
            labelled("Rows that may be left out, in per cent", share_input),
            labelled("Algorithm", select("algorithm", choices, algorithm, id="algorithm")),
            labelled("Written as", select("format", [(one, one) for one in FORMATS], kind, id="format")),
            tag("noscript", submit("Set")),
            hx_trigger="change, submit",
            class_="fields",
            id="limits",
        ),
    )


def _presets(screen: Screen, presets: Sequence[Mapping[str, Any]]) -> Markup:
    """Offer the rules of others, with their source."""
    lines = []
    for preset in presets:
        hidden = tag("input", type="hidden", name="preset", value=preset["name"])
        facts = [*([f"k = {preset['k']}"] if preset["k"] else []), f"{100 * preset['suppression']:g} % may be left out"]
        said = tag("span", tag("b", preset["title"]), tag("small", f"{'; '.join(facts)}. {preset['source']}"))
        send = submit("Use it", aria_label=f"Use it: {preset['title']}")
        lines.append(form(screen, "/requirements/preset", hidden, said, send))
    how = note(
        "A preset proposes roles, hierarchies and requirements anew, for the table as it is. Undo takes it back."
    )
    inside = tag("details", tag("summary", "Use the rule of somebody else"), how, listed(lines, "offers"))
    return tag("section", inside)


def _place(fields: Form, state: PolicyVersion) -> int:
    text = fields["place"]
    if not text.isdecimal() or int(text[:6]) >= len(state.requirements):
        raise Refused("there is no such requirement any more; look at the screen again", 409)
    return int(text)


def _model(entry: Mapping[str, Any]) -> type:
    kind = (MODELS | LINKAGE | DENSITY).get(str(entry.get("model", "")))
    if kind is None:
        raise Refused("this requirement has no model that sfumato knows; mend it in the policy file", 422)
    return kind
