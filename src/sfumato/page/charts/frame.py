"""The frame of a chart: sides with ticks and titles, series with markers, and the legend below."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sfumato.page.charts.axis import Axis
from sfumato.page.markup import Markup, join, tag

WIDTH = 480
_TOP, _RIGHT, _BOTTOM, _LEFT, _HEIGHT, _LINE = 14, 16, 44, 58, 250, 19
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "12 4")
_LONG = 58


@dataclass(frozen=True)
class Series:
    """Points of one kind, with their name in the legend; `named` are texts beside the points of a scatter."""

    label: str
    points: Sequence[tuple[float, float]]
    named: Sequence[str] = ()


@dataclass(frozen=True)
class Frame:
    """A chart's plane, from figures to places in the drawing; `extra` points are in it, too, `strokes` join points."""

    series: Sequence[Series]
    across: Axis
    up: Axis
    extra: Sequence[tuple[float, float]] = field(default=())
    strokes: bool = True

    @cached_property
    def _points(self) -> list[tuple[float, float]]:
        return [*self.extra, *(point for one in self.series for point in one.points)]

    @cached_property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return self.across.ends(x for x, _ in self._points), self.up.ends(y for _, y in self._points)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies in the drawing."""
        wide, tall = WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        right, high = self.across.share(x, self._ends[0]), self.up.share(y, self._ends[1])
        return round(_LEFT + right * wide, 1), round(_HEIGHT - _BOTTOM - high * tall, 1)

    def drawn(self, title: str, *marks: object) -> Markup:
        """The whole chart: sides, what is drawn in it, and the legend where there are several series."""
        told = list(self._legend()) if len(self.series) > 1 else []
        tall = _HEIGHT + _LINE * len(told)
        look = {"class_": "chart", "viewBox": f"0 0 {WIDTH} {tall}", "role": "img", "aria_label": title}
        return tag("svg", tag("title", title), *self._sides(), *marks, *told, **look)

    def _sides(self) -> Iterator[Markup]:
        (left, right), (low, high) = self._ends
        for tick in self.up.ticks(low, high):
            x, y = self.place(left, tick)
            yield tag("path", d=f"M{x} {y}H{WIDTH - _RIGHT}", class_="rule")
            yield tag("text", self.up.text(tick), x=x - 6, y=y + 4, class_="end")
        for tick in self.across.ticks(left, right):
            x, y = self.place(tick, low)
            yield tag("path", d=f"M{x} {y}v4", class_="side")
            yield tag("text", self.across.text(tick), x=x, y=y + 17, class_="middle")
        x, y = self.place(left, low)
        yield tag("path", d=f"M{x} {y}H{WIDTH - _RIGHT}", class_="side")
        yield tag("text", self.across.title, x=(x + WIDTH - _RIGHT) / 2, y=_HEIGHT - 8, class_="middle said")
        yield tag("text", self.up.title, transform=f"translate(13 {(y + _TOP) / 2}) rotate(-90)", class_="middle said")

    def _legend(self) -> Iterator[Markup]:
        for place, one in enumerate(self.series):
            y = _HEIGHT + _LINE * place + 8
            text = one.label if len(one.label) <= _LONG else f"{one.label[: _LONG - 1]}…"
            stroke = line(place, [(_LEFT, y), (_LEFT + 34, y)]) if self.strokes else ""
            told = tag("text", text, x=_LEFT + 42, y=y + 4)
            yield tag("g", stroke, marker(place, _LEFT + 17, y), told, class_=f"series s{place % 6}")


def line(place: int, points: Sequence[tuple[float, float]]) -> Markup:
    """A stroke through places, in the manner of the series at this place."""
    path = "L".join(f"{x} {y}" for x, y in points)
    return tag("path", d=f"M{path}", class_="line", stroke_dasharray=_DASHES[place % len(_DASHES)])


def marker(place: int, x: float, y: float) -> Markup:
    """The marker of the series at this place: a disc, square, triangle, diamond, triangle upside down, or ring."""
    shapes = (
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "m-3.6 -3.6h7.2v7.2h-7.2z",
        "m0 -4.8l4.5 8h-9z",
        "m0 -5l5 5l-5 5l-5 -5z",
        "m0 4.8l4.5 -8h-9z",
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    )
    kind = "mark hollow" if place % 6 == 5 else "mark"
    return tag("path", d=f"M{x} {y}{shapes[place % 6]}", class_=kind)


def group(place: int, *children: object) -> Markup:
    """What belongs to the series at this place, in its colour."""
    return tag("g", join(children), class_=f"series s{place % 6}")
