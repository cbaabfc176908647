"""Points in a plane, with their names beside them where there is room."""

from collections.abc import Iterator, Sequence

from sfumato.page.charts.axis import Axis
from sfumato.page.charts.frame import WIDTH, Frame, Series, group, marker
from sfumato.page.markup import Markup, tag

Box = tuple[float, float, float, float]

_LETTER, _TALL, _AWAY = 6.4, 12.0, 7.0


def scatter(
    series: Sequence[Series], across: Axis, up: Axis, *, title: str, marked: tuple[float, float] | None = None
) -> Markup:
    """A marker for each point; `marked` is one that stands out, with a ring around it.

    >>> drawn = scatter([Series("auto", [(0.1, 0.2)], ["k = 5"])], Axis("risk"), Axis("loss"), title="Loss and risk")
    >>> "k = 5" in drawn
    True
    """
    frame = Frame(series, across, up, extra=() if marked is None else (marked,), strokes=False)
    marks = [
        group(place, *[marker(place, *frame.place(x, y)) for x, y in one.points]) for place, one in enumerate(series)
    ]
    ring = [] if marked is None else [_ring(*frame.place(*marked))]
    return frame.drawn(title, *ring, *marks, *_names(frame, series, marked))


def _ring(x: float, y: float) -> Markup:
    return tag("circle", cx=x, cy=y, r=10, class_="ring")


def _names(frame: Frame, series: Sequence[Series], marked: tuple[float, float] | None) -> Iterator[Markup]:
    """Names on the first side of their point where they cover nothing; those without such a side are left out."""
    every = [frame.place(x, y) for one in series for x, y in one.points]
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in every]
    for one in series:
        for point, text in zip(one.points, one.named, strict=False):
            x, y = frame.place(*point)
            others = [box for box in taken if box != (x - 5, y - 5, x + 5, y + 5)]
            away = _AWAY + (5 if point == marked else 0)
            box = next((box for box in _sides(x, y, text, away) if _free(box, others)), None)
            if box is not None:
                taken.append(box)
                yield tag("text", text, x=round(box[0], 1), y=round(box[3] - 2.5, 1), class_="named")


def _sides(x: float, y: float, text: str, away: float) -> Iterator[Box]:
    wide = _LETTER * len(text)
    for left, top in (
        (x + away, y - _TALL / 2),
        (x - away - wide, y - _TALL / 2),
        (x - wide / 2, y - away - _TALL),
        (x - wide / 2, y + away),
    ):
        yield left, top, left + wide, top + _TALL


def _free(box: Box, taken: Sequence[Box]) -> bool:
    left, top, right, bottom = box
    inside = left > 58 and right < WIDTH and top > 0 and bottom < 207
    return inside and not any(left < d and a < right and top < e and b < bottom for a, b, d, e in taken)
