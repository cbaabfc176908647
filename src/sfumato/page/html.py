"""HTML that cannot be injected into, and pages that load nothing.

Text is escaped unless it came out of `tag` itself. A page is one file without script and without network, readable on a
phone, in the dark and on paper.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may load for the page: nothing."""

_VOID = frozenset({"br", "hr", "input", "link", "meta", "rect", "wbr"})
"""Elements that are written without children."""


_WORD_END = re.compile(r"(?<=[_./:-])(?=[^_./:-])")
"""Between a sign that ends a word of a name, and the next word."""
_LONG_WORD = 24
"""A longer word of a name may be broken within it, since no line of a table has room for it."""


class Markup(str):
    """A piece of HTML, as opposed to text that still has to be escaped."""

    __slots__ = ()


def document(title: str, *children: object) -> str:
    """A whole page with its style inside.

    >>> print(document("Hello", tag("p", "1 < 2"))[-49:-1])
    <body><main><p>1 &lt; 2</p></main></body></html>
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", http_equiv="Content-Security-Policy", content=_CONTENT_POLICY),
        tag("title", title),
        tag("style", Markup(read_style("style.css") + read_style("chart.css"))),
    )
    body = tag("body", tag("main", *children))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def served_document(script: str, title: str, *children: object, **marks: object) -> str:
    """A page of one of our servers, which gives its script and its ``style.css`` beside it; `marks` are of the body.

    >>> print(served_document("ask.js", "Hello", "1 < 2", data_live="yes").partition("</head>")[2].strip())
    <body data-live="yes"><main>1 &lt; 2</main></body></html>
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("link", rel="stylesheet", href="style.css"),
        tag("script", src=script, defer=""),
    )
    return "<!doctype html>\n" + tag("html", head, tag("body", tag("main", *children), **marks), lang="en") + "\n"


def read_style(file: str) -> str:
    """Read a style sheet of this package: that of pages, or that of charts wherever they are shown."""
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def html(content: object) -> Markup:
    """Anything as HTML: markup as it is, all else escaped.

    >>> html("<b>")
    '&lt;b&gt;'
    """
    return content if isinstance(content, Markup) else Markup(escape(str(content)))


def tag(element: str, /, *children: object, **attributes: object) -> Markup:
    """An element; ``class_`` is written as class, an underscore within a name as a hyphen.

    >>> tag("p", "1 < 2", class_="note")
    '<p class="note">1 &lt; 2</p>'
    """
    head = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    if element in _VOID:
        return Markup(f"<{element}{head}/>")
    return Markup(f"<{element}{head}>{join(children)}</{element}>")


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Pieces one after the other.

    >>> join(["a", tag("b", "c")], ", ")
    'a, <b>c</b>'
    """
    return Markup(html(separator).join(html(part) for part in parts))


def name(text: str) -> Markup:
    """A column's name: set apart, and unable to turn the direction of the text around it.

    Where it is too long for a line, it goes on in the next behind a sign that ends a word.

    >>> name("<script>"), name("days_b_arrest")
    ('<bdi class="name">&lt;script&gt;</bdi>', '<bdi class="name">days_<wbr/>b_<wbr/>arrest</bdi>')
    """
    words = [part[at : at + _LONG_WORD] for part in _WORD_END.split(text) for at in range(0, len(part), _LONG_WORD)]
    return tag("bdi", join(words, tag("wbr")), class_="name")


def names(texts: Iterable[str]) -> Markup:
    """Several names, with commas."""
    return join([name(text) for text in texts], ", ")


def some_names(texts: Sequence[str], most: int = 12) -> Markup:
    """The first of several names, and how many more there are.

    >>> some_names(["a", "b", "c"], most=2)
    '<bdi class="name">a</bdi>, <bdi class="name">b</bdi> and 1 more'
    """
    left = len(texts) - most
    return join([names(texts[:most]), f" and {left:,} more" if left > 0 else ""])


def section(title: str, *children: object) -> Markup:
    """A part of the page under its heading."""
    return tag("section", tag("h2", title), *children)


def paragraph(*children: object) -> Markup:
    """A paragraph."""
    return tag("p", *children)


def note(*children: object) -> Markup:
    """A small remark."""
    return tag("p", *children, class_="note")


def facts(pairs: Iterable[tuple[object, object]]) -> Markup:
    """Terms and what is said of each."""
    return tag("dl", *[tag("div", tag("dt", term), tag("dd", said)) for term, said in pairs])


def table(head: Iterable[object], lines: Iterable[Iterable[object]], kind: str = "") -> Markup:
    """A table: the first cell of a line names it, the others are figures."""
    top = tag("tr", *[tag("th", cell, scope="col") for cell in head])
    body = [tag("tr", tag("th", first, scope="row"), *[tag("td", cell) for cell in rest]) for first, *rest in lines]
    return tag("table", tag("thead", top), tag("tbody", *body), class_=kind or "figures")
