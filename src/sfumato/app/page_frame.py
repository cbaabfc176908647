"""What all screens have in common: the head with their names, undo and redo, and what is wrong with a policy.

Pages are made on the server by `page.html`, so that names and values of a table stay text. A form posts what was
changed and is answered with the screen as it is then; htmx puts that in the place of the old one, without a jump.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from sfumato.page.html import Markup, join, read_style, tag

if TYPE_CHECKING:
    from sfumato.app.policy_desk import PolicyVersion

SCREENS = (
    ("columns", "Columns"),
    ("requirements", "Requirements"),
    ("run", "Run"),
    ("release", "Release"),
)
"""The screens of a policy, in the order in which somebody goes through them."""

_HTMX = (
    '{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"attributesToSettle":["class"],'
    '"historyCacheSize":0,"refreshOnHistoryMiss":true,"scrollBehavior":"instant",'
    '"responseHandling":[{"code":"204","swap":false},{"code":"...","swap":true}]}'
)


@dataclass(frozen=True)
class Screen:
    """A page of a policy, or of none: its key and title, the name of the policy's file, the place of its column."""

    key: str
    title: str
    policy: str = ""
    state: "PolicyVersion | None" = None
    column: str = ""


def screen_page(screen: Screen, *children: object) -> str:
    """Write a whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="htmx-config", content=_HTMX),
        tag("title", f"{screen.title} · sfumato"),
        tag("link", rel="stylesheet", href="/app.css"),
        tag("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
        tag("script", src="/htmx.js", defer=""),
        *([tag("script", src="/sortable.js", defer="")] if screen.key == "hierarchy" else []),
        tag("script", src="/app.js", defer=""),
    )
    body = tag(
        "body",
        tag("a", "To the content", href="#screen", class_="skip"),
        tag("div", _header(screen), tag("main", *_faults(screen), *children, id="screen", tabindex="-1"), id="page"),
        tag("p", "", id="announcer", class_="unseen", role="status"),
    )
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def plain_page(title: str, sentence: str, *more: object) -> str:
    """Write a page that says one thing, for those who are not let in: it loads nothing but what they may have."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} · sfumato"),
    )
    body = tag("body", tag("main", tag("h1", title), tag("p", sentence), *more))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def address(path: str, **query: object) -> str:
    """Write an address with its query.

    >>> address("/columns", policy="a b.toml")
    '/columns?policy=a+b.toml'
    """
    given = {key: value for key, value in query.items() if value not in {None, ""}}
    return f"{path}?{urlencode(given)}" if given else path


def form(screen: Screen, action: str, *children: object, leaves: bool = False, **attributes: object) -> Markup:
    """Write a form that changes the policy: it says which policy and which version of it was on the page.

    One that `leaves` the screen for another is sent by the browser itself.
    """
    version = "" if screen.state is None else screen.state.version
    # what is sent twice, by Enter and by the change that it makes, is sent once
    swap = {
        "hx_post": action,
        "hx_target": "#page",
        "hx_select": "#page",
        "hx_swap": "outerHTML",
        "hx_sync": "this:drop",
    }
    return tag(
        "form",
        tag("input", type="hidden", name="policy", value=screen.policy),
        tag("input", type="hidden", name="version", value=version),
        *children,
        method="post",
        action=action,
        **({} if leaves else swap),
        **attributes,
    )


def submit(text: object, **attributes: object) -> Markup:
    """Write a button that sends its form."""
    return tag("button", text, type="submit", **attributes)


def labelled(text: str, control: Markup, *, unseen: bool = False) -> Markup:
    """Put a label around a control; an unseen one is for screen readers alone."""
    return tag("label", tag("span", text, **({"class_": "unseen"} if unseen else {})), control)


def select(field: str, choices: Iterable[tuple[str, str]], chosen: str, **attributes: object) -> Markup:
    """Write a list to choose from: pairs of what is sent and what is shown."""
    options = [
        tag("option", shown, value=value, **({"selected": ""} if value == chosen else {})) for value, shown in choices
    ]
    return tag("select", *options, name=field, **attributes)


def message(kind: str, *children: object, **attributes: object) -> Markup:
    """Write a remark that stands out: ``good``, ``bad`` or ``note``; a bad one is read out at once."""
    role = "alert" if kind == "bad" else "status"
    return tag("div", *children, class_=f"message {kind}", role=role, **attributes)


def empty_state(title: str, *children: object) -> Markup:
    """Say that there is nothing yet, and what to do."""
    return tag("section", tag("h2", title), *children, class_="empty")


def figure_list(figures: Sequence[tuple[object, object]]) -> Markup:
    """Write figures at a glance, each with what it means."""
    items = [tag("li", tag("b", figure), tag("span", meaning)) for figure, meaning in figures]
    return tag("ul", *items, class_="glance")


def _header(screen: Screen) -> Markup:
    links = [_link("/open", "Open", screen.key == "open")]
    if screen.policy:
        at = "columns" if screen.key == "hierarchy" else screen.key  # which is the screen of one column
        links += [_link(address(f"/{key}", policy=screen.policy), title, key == at) for key, title in SCREENS]
    home = tag("a", "sfumato", href="/open", class_="home")
    nav = tag("nav", tag("ul", *[tag("li", link) for link in links]), aria_label="Screens")
    return tag("header", tag("div", home, *_file(screen), class_="masthead"), nav, class_="top")


def _link(href: str, title: str, current: bool) -> Markup:
    return tag("a", title, href=href, **({"aria_current": "page"} if current else {}))


def _file(screen: Screen) -> list[Markup]:
    """The name of the policy, and the steps back and forth in its history."""
    if screen.state is None:
        return []
    steps = []
    for path, title, about in (("/undo", "Undo", screen.state.undo), ("/redo", "Redo", screen.state.redo)):
        hint = f"{title}: {about}" if about else f"Nothing to {title.lower()}"
        able: Mapping[str, object] = {} if about else {"disabled": ""}
        where = join(
            [
                tag("input", type="hidden", name="screen", value=screen.key),
                tag("input", type="hidden", name="column", value=screen.column),
            ]
        )
        steps.append(form(screen, path, where, submit(title, title=hint, aria_label=hint, **able)))
    saved = tag(
        "span", tag("bdi", Path(screen.policy).name), tag("small", " saved"), class_="file", title=screen.policy
    )
    return [saved, tag("div", *steps, class_="steps")]


def _faults(screen: Screen) -> list[Markup]:
    """Say what is wrong with the policy, on each of its screens."""
    if screen.state is None or not screen.state.fault:
        return []
    return [
        message(
            "bad",
            tag("strong", "The policy does not hold together yet. "),
            f"{screen.state.fault}. What you chose is saved; nothing can be run until this is mended.",
        )
    ]


def app_style() -> str:
    """Give the style of all screens: that of reports and charts, and what only screens have."""
    own = Path(__file__).with_name("app.css").read_text(encoding="utf-8")
    return read_style("style.css") + read_style("chart.css") + own


def listed(items: Iterable[object], kind: str = "") -> Markup:
    """Write a list."""
    return tag("ul", *[tag("li", item) for item in items], **({"class_": kind} if kind else {}))


def sentence_list(sentences: Sequence[str]) -> Markup:
    """Write sentences, one below the other."""
    return join([tag("p", sentence) for sentence in sentences])
