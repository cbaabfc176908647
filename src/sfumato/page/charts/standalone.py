"""A chart as a file of its own."""

from pathlib import Path

from sfumato.page.markup import Markup, tag

_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" '
_STYLE = Path(__file__).with_name("chart.css")
_COLOURS = ":root{--paper:#fff;--ink:#1b1f24;--soft:#5b6470;--line:#dfe3e8;--hue:#24557f}svg{background:#fff}"


def standalone(svg: Markup) -> str:
    """The chart with its style inside, to be written to a file.

    >>> from sfumato.page.charts import columns
    >>> standalone(columns(["a"], [1.0], [1.0], title="x"))[:39]
    '<svg xmlns="http://www.w3.org/2000/svg"'
    """
    start = svg.index(">") + 1
    head = svg[:start].replace("<svg ", _HEAD, 1)
    return head + tag("style", Markup(_COLOURS + style())) + svg[start:] + "\n"


def style() -> str:
    """What charts look like, wherever they stand."""
    return _STYLE.read_text(encoding="utf-8")
