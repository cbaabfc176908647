"""The curse of dimensionality as a page or a drawing: risk, loss and time over the number of quasi-identifiers."""

from collections.abc import Callable

from sfumato.compare.dimensions import Dimensions, Level, Reached
from sfumato.compare.outcome import Figures
from sfumato.page.charts import Axis, Series, lines, standalone
from sfumato.page.document import document
from sfumato.page.markup import Markup, facts, join, name, note, paragraph, section, table, tag
from sfumato.page.words import percent, plural

PRIVATE = "This page is for the data holder. It was measured on rows that are not published: do not publish it."

_FEW = 3
"""With more lines of a kind, another kind gets a chart of its own: six can be told apart."""
_ACROSS = Axis("quasi-identifiers", whole=True)
_CURSE = (
    "A class is a box in a space with one dimension for each quasi-identifier. If rows were spread evenly, a cube with "
    "k of n rows would have to cover the share F of the range of every column, with F to the power of d equal to k/n. "
    "With each dimension more, F comes nearer to 1, where a label says nothing any more. Real rows are not spread "
    "evenly: where columns hang together or values crowd, less is lost than the cube says."
)


def page(found: Dimensions) -> str:
    """The whole page."""
    done = f"{plural(len(found.levels), 'quasi-identifier')} of {found.planned:,}"
    told = f"{found.rows:,} rows, {done}, added in the order {found.order}, released by {found.algorithm}"
    head = tag("h1", "One quasi-identifier more", tag("small", told))
    stopped = tag("aside", paragraph(f"It was stopped: {done} are here.")) if found.stopped else ""
    parts = (_risk(found), _loss(found), _time(found), _reasons(found))
    return document("Dimensions", head, stopped, tag("aside", paragraph(PRIVATE)), *parts)


def drawing(found: Dimensions) -> str:
    """Risk and loss in one drawing, a file of its own."""
    series = [_raw(found, "rows alone, raw", lambda level: level.raw.unique_share), *_losses(found)]
    series += _cubes(found) if len(series) <= _FEW else []
    title = "Risk and loss over the number of quasi-identifiers"
    return standalone(lines(series, _ACROSS, Axis("share", percent=True), title=title))


def _risk(found: Dimensions) -> Markup:
    series = [
        _raw(found, "rows alone in their class", lambda level: level.raw.unique_share),
        _raw(found, "average risk", lambda level: level.raw.average),
        _raw(found, "highest risk", lambda level: level.raw.highest),
    ]
    chart = lines(series, _ACROSS, Axis("share", percent=True), title="Risk of the raw table")
    rows = [
        [_named(level), percent(level.raw.unique_share), percent(level.raw.average), percent(level.raw.highest)]
        for level in found.levels
    ]
    said = (
        "How many rows nobody else shares, and the chance of picking a person's row, if the table were published raw."
    )
    head = ["with", "rows alone", "average risk", "highest risk"]
    return section("Risk of the raw table", paragraph(said), tag("figure", chart), table(head, rows))


def _loss(found: Dimensions) -> Markup:
    losses, cubes = _losses(found), _cubes(found)
    apart = [[*losses, *cubes]] if len(losses) <= _FEW else [losses, cubes]
    drawn = [
        tag("figure", lines(series, _ACROSS, Axis("share", percent=True), title="Loss under the requirement"))
        for series in apart
        if series
    ]
    rows = [
        [join([f"{level.number}", tag("small", _k(each))]), percent(one.loss), _cube(each),
         percent(one.distortion_ratio), f"{one.average_class_size:,.1f}"]
        for level in found.levels
        for each in level.reached
        if (one := each.figures)
    ]  # fmt: skip
    head = ["columns", "loss", "cube F", "distortion", "rows a class"]
    return section("Loss", paragraph(_CURSE), *drawn, table(head, rows))


def _time(found: Dimensions) -> Markup:
    series = _released(found, "seconds", lambda figures: figures.total)
    chart = lines(series, _ACROSS, Axis("seconds"), title="Seconds")
    return section("Time", note("Searching and verifying; reading left out."), tag("figure", chart))


def _reasons(found: Dimensions) -> Markup:
    failed = [(level, each) for level in found.levels for each in level.reached if not each.figures]
    if not failed:
        return Markup()
    told = [(plural(level.number, "column"), f"{_k(each)}: {each.reason}".lstrip(": ")) for level, each in failed]
    return section("No release", facts(told))


def _raw(found: Dimensions, label: str, figure: Callable[[Level], float]) -> Series:
    return Series(label, [(level.number, figure(level)) for level in found.levels])


def _losses(found: Dimensions) -> list[Series]:
    return _released(found, "loss", lambda figures: figures.loss)


def _released(found: Dimensions, label: str, figure: Callable[[Figures], float]) -> list[Series]:
    """A line for each requirement, over the levels where it could be met."""
    series = []
    for place, first in enumerate(found.levels[0].reached):
        reached = [(level.number, level.reached[place].figures) for level in found.levels]
        points = [(number, figure(figures)) for number, figures in reached if figures]
        series.append(Series(f"{label}, {_k(first)}".rstrip(", "), points))
    return series


def _cubes(found: Dimensions) -> list[Series]:
    series = []
    for place, first in enumerate(found.levels[0].reached):
        reached = [(level.number, level.reached[place].cube) for level in found.levels]
        points = [(number, share) for number, share in reached if share is not None]
        series += [Series(f"cube F, {_k(first)}", points)] if points else []
    return series


def _k(reached: Reached) -> str:
    return "" if reached.k is None else f"k = {reached.k:,}"


def _cube(reached: Reached) -> str:
    return "–" if reached.cube is None else percent(reached.cube)


def _named(level: Level) -> Markup:
    return join([f"{level.number}  + ", name(level.column)])
