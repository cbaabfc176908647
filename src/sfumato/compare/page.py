"""A comparison as a page: loss against risk, both against time, the knee, and every figure; for the data holder."""

from collections.abc import Iterator, Sequence

from sfumato.compare.comparison import Comparison, Front, point
from sfumato.compare.outcome import Figures, Outcome
from sfumato.page.charts import Axis, Series, scatter
from sfumato.page.document import document
from sfumato.page.markup import Markup, facts, join, note, paragraph, section, table, tag
from sfumato.page.words import keys, percent, plural
from sfumato.policy.options import CUTS, FULL_DOMAIN, LOCAL

LOSSES = {
    "ncp": "loss (NCP)",
    "tie": "loss (tie to sensitive values)",
}
_MARKERS = 6
"""Series that can be told apart; more algorithms than that are drawn by family."""
_FAMILIES = {"auto": "auto", "anatomy": "anatomy"}
_FAMILIES |= dict.fromkeys(FULL_DOMAIN, f"full domain ({', '.join(FULL_DOMAIN)})")
_FAMILIES |= dict.fromkeys(LOCAL, f"local ({', '.join(LOCAL[:-1])}, …)") | dict.fromkeys(CUTS, "cuts (tds)")

PRIVATE = (
    "This page is for the data holder. It was measured on rows that are not published, and tells of releases that were "
    "never made: do not publish it."
)

_MEANINGS = {
    "loss (NCP)": "the share of a column's other values that a published label covers, on average over all cells; a "
    "suppressed row is lost altogether",
    "loss (tie)": "of two tables, which generalize nothing: how much is lost of the tie between a row and its "
    "sensitive values; at 0% each row gets its own back, at 100% it is no better than a draw from the whole table",
    "highest risk": "the chance of picking the right row for the person in the smallest class (prosecutor risk)",
    "average risk": "the same, averaged over all rows",
    "distortion": "levels climbed, of all levels that could be",
    "discernibility": "the sum over rows of how many rows look the same",
    "seconds": "searching, writing in memory and verifying; reading is done once and left out",
    "front": "the lines that no other line beats in both loss and risk",
    "knee": "the line of the front where it bends most towards the corner where both are smallest: with both axes "
    "scaled so that the front reaches from 0 to 1, the one farthest from the straight line between its ends. It is a "
    "suggestion about these figures, not a judgement of what risk is acceptable",
}


def page(found: Comparison) -> str:
    """The whole page."""
    return document("Comparison", *_head(found), *_fronts(found), *_lines(found), _failures(found), _meanings())


def _head(found: Comparison) -> Iterator[Markup]:
    done = f"{plural(len(found.outcomes), 'line')} of {found.planned:,}"
    small = f"{done}, {found.rows:,} rows, each line a release that was made in memory and verified"
    yield tag("h1", "Loss, risk and time", tag("small", small))
    if found.stopped:
        yield tag("aside", paragraph(f"It was stopped: {done} were run, and the others are missing here."))
    yield tag("aside", paragraph(PRIVATE))


def _fronts(found: Comparison) -> Iterator[Markup]:
    for front in found.fronts:
        lines = [each for each in found.measured if each.figures and each.figures.measure == front.measure]
        yield section(
            "Loss against risk" if len(found.fronts) == 1 else f"Loss against risk: {LOSSES[front.measure]}",
            paragraph(front.says),
            tag("figure", _risk(front, lines)),
            note(_reading(front)),
            tag("h3", "Against time"),
            tag("figure", _time(front, lines, "loss")),
            tag("figure", _time(front, lines, "risk")),
        )


def _reading(front: Front) -> str:
    told = ", ".join(str(each.number) for each in front.lines)
    ring = f" The ring is around the {'knee' if front.knee else 'best'}." if front.suggested else ""
    return f"Numbers are those of the lines below; the front is {told}. Down and to the left is better.{ring}"


def _risk(front: Front, lines: Sequence[Outcome]) -> Markup:
    across, up = Axis(LOSSES[front.measure], percent=True), Axis(f"{front.risk} risk", percent=True)
    title = f"{LOSSES[front.measure]} against {front.risk} risk"
    places = {each.number: point(each, front.risk) for each in lines}
    return scatter(_series(lines, places), across, up, title=title, marked=_marked(front, places))


def _time(front: Front, lines: Sequence[Outcome], what: str) -> Markup:
    name = LOSSES[front.measure] if what == "loss" else f"{front.risk} risk"
    second = 0 if what == "loss" else 1
    places = {each.number: (_figures(each).total, point(each, front.risk)[second]) for each in lines}
    across, up = Axis("seconds", log=True), Axis(name, percent=True)
    return scatter(_series(lines, places), across, up, title=f"{name} against seconds", marked=_marked(front, places))


def _marked(front: Front, places: dict[int, tuple[float, float]]) -> tuple[float, float] | None:
    return None if front.suggested is None else places[front.suggested]


def _series(lines: Sequence[Outcome], places: dict[int, tuple[float, float]]) -> list[Series]:
    """One for each algorithm, or family where they are many; the number of its line beside each point."""
    names = list(dict.fromkeys(each.algorithm for each in lines))
    called = {name: name if len(names) <= _MARKERS else _FAMILIES[name] for name in names}
    return [
        Series(
            label,
            [places[each.number] for each in lines if called[each.algorithm] == label],
            [str(each.number) for each in lines if called[each.algorithm] == label],
        )
        for label in dict.fromkeys(called.values())
    ]


def _lines(found: Comparison) -> Iterator[Markup]:
    if not found.measured:
        return
    fronts = {each.number for front in found.fronts for each in front.lines}
    knees = {front.knee for front in found.fronts}
    head = ["line", "loss", "highest risk", "average risk", "seconds"]
    lines = [
        [_named(each, fronts, knees), percent(one.loss), percent(one.highest), percent(one.average), f"{one.total:.2f}"]
        for each in found.measured
        for one in [_figures(each)]
    ]
    yield section("Lines", table(head, lines))
    head = ["line", "distortion", "discernibility", "rows a class", "suppressed"]
    lines = [
        [str(each.number), percent(one.distortion_ratio), f"{one.discernibility:,}", f"{one.average_class_size:,.1f}",
         f"{one.suppressed:,}"]
        for each in found.measured
        for one in [_figures(each)]
    ]  # fmt: skip
    yield section("More on each", table(head, lines), tag("h3", "What holds"), facts(_held(found.measured)))


def _named(outcome: Outcome, fronts: set[int], knees: set[int | None]) -> Markup:
    mark = " ◆ knee" if outcome.number in knees else " • front" if outcome.number in fronts else ""
    told = [outcome.told] if outcome.told else []
    told += [f"without {', '.join(outcome.dropped)}"] if outcome.dropped else []
    return join([f"{outcome.number}  {outcome.algorithm}{mark}", tag("small", "; ".join(told)) if told else ""])


def _held(lines: Sequence[Outcome]) -> list[tuple[object, object]]:
    return [
        (f"line {each.number}", "; ".join(f"{one['model']}: {keys(one['achieved'])}" for one in _figures(each).privacy))
        for each in lines
    ]


def _failures(found: Comparison) -> Markup:
    if not found.failures:
        return Markup()
    asked = {each.number: " ".join(part for part in (each.algorithm, each.told) if part) for each in found.outcomes}
    told = [
        tag("article", paragraph(reason), note("; ".join(f"{one}: {asked[one]}" for one in lines)))
        for reason, lines in found.failures.items()
    ]
    return section("No release", paragraph("These could not be met, or do not go together."), *told)


def _meanings() -> Markup:
    return section("What the figures mean", facts(list(_MEANINGS.items())))


def _figures(outcome: Outcome) -> Figures:
    assert outcome.figures is not None  # noqa: S101 - only lines that came to a release are shown here
    return outcome.figures
