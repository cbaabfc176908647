"""Bars, drawn as inline SVG: they print where backgrounds do not, and stretch with their cell."""

from sfumato.page.markup import Markup, tag


def bar(share: float, *, kind: str = "solid", leftward: bool = False) -> Markup:
    """A bar over a share of its cell; the figure stands beside it, so it is hidden from screen readers.

    >>> bar(0.25)
    '<svg class="bar solid" viewBox="0 0 100 10" preserveAspectRatio="none"
    aria-hidden="true"><rect x="0" y="0" width="25" height="10"/></svg>'
    """
    width = round(100 * min(max(share, 0.0), 1.0), 2)
    start = round(100 - width, 2) if leftward else 0
    drawn = tag("rect", x=start, y=0, width=f"{width:g}", height=10) if width else ""
    look = {"class_": f"bar {kind}", "viewBox": "0 0 100 10", "preserveAspectRatio": "none", "aria_hidden": "true"}
    return tag("svg", drawn, **look)
