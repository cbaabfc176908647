"""A square of figures, shaded by size."""

from collections.abc import Iterator, Sequence

from sfumato.page.charts.frame import WIDTH
from sfumato.page.markup import Markup, tag

_TEXT, _LONG, _MOST = 140, 18, 44


def grid(names: Sequence[str], cells: Sequence[Sequence[float | None]], *, title: str) -> Markup:
    """Figures from -1 to 1 for each pair of names; the columns are numbered as the rows are. ``None`` stays empty.

    >>> drawn = grid(["age", "zip"], [[None, 0.25], [0.25, None]], title="Association")
    >>> drawn.count("0.25"), drawn.count("<rect")
    (2, 2)
    """
    side = min((WIDTH - _TEXT) / max(len(names), 1), _MOST)
    tall = round(20 + side * len(names), 1)
    look = {"class_": "chart grid", "viewBox": f"0 0 {WIDTH} {tall}", "role": "img", "aria_label": title}
    return tag("svg", tag("title", title), *_names(names, side), *_cells(cells, side), **look)


def _names(names: Sequence[str], side: float) -> Iterator[Markup]:
    for place, name in enumerate(names):
        text = name if len(name) <= _LONG else f"{name[: _LONG - 1]}…"
        middle = round(20 + side * (place + 0.5) + 4, 1)
        yield tag("text", f"{text}  {place + 1}", x=_TEXT - 8, y=middle, class_="end said")
        yield tag("text", place + 1, x=round(_TEXT + side * (place + 0.5), 1), y=14, class_="middle said")


def _cells(cells: Sequence[Sequence[float | None]], side: float) -> Iterator[Markup]:
    size = round(min(11.0, side * 0.36), 1)
    for row, line in enumerate(cells):
        for column, figure in enumerate(line):
            if figure is None:
                continue
            x, y = round(_TEXT + side * column, 1), round(20 + side * row, 1)
            shade = round(0.6 * min(abs(figure), 1.0), 2)
            box = {"width": round(side - 1.5, 1), "height": round(side - 1.5, 1)}
            yield tag("rect", x=x, y=y, **box, class_="cell", fill_opacity=shade)
            place = {"x": round(x + side / 2 - 0.7, 1), "y": round(y + side / 2 + size * 0.33, 1)}
            yield tag("text", f"{figure:.2f}", **place, class_="middle", style=f"font-size:{size}px")
