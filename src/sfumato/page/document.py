"""A whole page: one file, no script, no network; readable on a phone, in the dark and on paper."""

from pathlib import Path

from sfumato.page.charts.standalone import style as chart_style
from sfumato.page.markup import Markup, tag

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser may load for the page: nothing."""


def document(title: str, *children: object) -> str:
    """The page with its style inside.

    >>> print(document("Hello", tag("p", "1 < 2"))[-49:-1])
    <body><main><p>1 &lt; 2</p></main></body></html>
    """
    body = tag("body", tag("main", *children))
    return "<!doctype html>\n" + tag("html", _head(title), body, lang="en") + "\n"


def _head(title: str) -> Markup:
    style = Markup(Path(__file__).with_name("style.css").read_text(encoding="utf-8") + chart_style())
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", title),
        tag("style", style),
    )
