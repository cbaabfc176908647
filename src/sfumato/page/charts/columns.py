"""Two bars for each label: before and after, one below the other."""

from collections.abc import Sequence

from sfumato.page.charts.frame import WIDTH
from sfumato.page.markup import Markup, tag
from sfumato.page.words import percent

_TEXT, _FIGURE, _ROW, _TOP = 150, 62, 36, 24
_LONG = 22


def columns(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    title: str,
    called: tuple[str, str] = ("before", "after"),
) -> Markup:
    """Shares before (hollow) and after (filled), each with its figure; `called` is what the legend says of the two.

    >>> drawn = columns(["HIV", "flu"], [0.2, 0.8], [0.25, 0.75], title="illness")
    >>> drawn.count("<rect") - 2, "25.0%" in drawn
    (4, True)
    """
    full = max([*before, *after, 1e-9])
    rows = [
        part
        for place, (label, old, new) in enumerate(zip(labels, before, after, strict=True))
        for part in _row(_TOP + place * _ROW, label, old, new, full=full)
    ]
    look = {"class_": "chart columns", "viewBox": f"0 0 {WIDTH} {_TOP + _ROW * len(labels)}", "role": "img"}
    return tag("svg", tag("title", title), *_legend(*called), *rows, **look, aria_label=title)


def _legend(first: str, second: str) -> list[Markup]:
    away = 46 + 7 * len(first)
    return [
        tag("rect", x=_TEXT, y=4, width=14, height=9, class_="hollow"),
        tag("text", first, x=_TEXT + 20, y=13),
        tag("rect", x=_TEXT + away, y=4, width=14, height=9, class_="solid"),
        tag("text", second, x=_TEXT + away + 20, y=13),
    ]


def _row(y: int, label: str, old: float, new: float, *, full: float) -> list[Markup]:
    wide = (WIDTH - _TEXT - _FIGURE) / full
    text = label if len(label) <= _LONG else f"{label[: _LONG - 1]}…"
    return [
        tag("text", text, x=_TEXT - 8, y=y + 19, class_="end said"),
        tag("rect", x=_TEXT, y=y + 3, width=round(max(old, 0) * wide, 1), height=11, class_="hollow"),
        tag("rect", x=_TEXT, y=y + 16, width=round(max(new, 0) * wide, 1), height=11, class_="solid"),
        tag("text", percent(old), x=round(_TEXT + max(old, 0) * wide + 6, 1), y=y + 12.5, class_="small"),
        tag("text", percent(new), x=round(_TEXT + max(new, 0) * wide + 6, 1), y=y + 25.5, class_="small"),
    ]
