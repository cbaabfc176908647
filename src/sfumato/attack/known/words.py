"""What the adversary is assumed to know, and what they find, in sentences and as a chart."""

from collections.abc import Iterator

from sfumato.attack.known.found import Known, Over
from sfumato.attack.tried import Tried
from sfumato.matching.fits import Fits
from sfumato.matching.notes import not_told
from sfumato.matching.shown import Shown
from sfumato.page.charts import Axis, Series, lines
from sfumato.page.markup import Markup
from sfumato.page.words import percent, plural


def assumed(*, released: bool) -> str:
    """What the adversary is assumed to know."""
    values = "true values, exactly" if released else "values as they stand in the table"
    table = "the release" if released else "the table"
    return (
        f"The adversary has {table}, knows that a person is in it, and knows of the person B {values}, of columns "
        "drawn at random, sensitive ones like any other. Whatever else stands in the row is learned with it."
    )


def noted(shown: Shown, fits: Fits | None) -> tuple[str, ...]:
    """What was not made use of."""
    notes = [] if fits is None else [*not_told(fits)]
    if shown.class_of is not None:
        notes.append(
            "The release is two tables: a row is a line of the first, and a sensitive value fits all lines of a class "
            "that has it."
        )
    if shown.individual is not None:
        notes.append(
            "Rows carry pseudonyms, and rows are counted: who knows of several rows of a person may do better."
        )
    return tuple(notes)


def tried(found: Known) -> tuple[Tried, ...]:
    """For each series, what all of its values together tell."""
    if not found.series:
        why = " ".join(found.notes) or "No column could be compared."
        return (Tried("known", found.assumes, "persons whose row is picked", None, found.baseline, says=(why,)),)
    return tuple(
        Tried(
            "known",
            found.assumes,
            f"persons whose row is picked by {plural(one.points[-1].known, 'value')} of {one.label}",
            one.points[-1].chance,
            found.baseline,
            says=tuple(_says(one)),
        )
        for one in found.series
    )


def meaning(found: Known) -> tuple[str, ...]:
    """What the figures mean, sentence by sentence, for the command."""
    looked = "was" if found.targets == 1 else "were"
    of = f"{plural(found.targets, 'row')}{' of the original' if found.released else ''} {looked} looked for"
    first = f"{of} among {plural(found.rows, 'row')}; without anything known, {_one_in(found.rows)}."
    return (first, *(sentence for one in found.series for sentence in _says(one)), *found.notes, found.assumes)


def chart(found: Known) -> Markup:
    """The average chance over the number of known values, with what there is without any."""
    drawn = [Series(one.label, [(point.known, point.chance) for point in one.points]) for one in found.series]
    most = max((point.known for one in found.series for point in one.points), default=1)
    nothing = Series("nothing known", [(1, found.baseline), (most, found.baseline)])
    across, up = Axis("known values (B)", whole=True), Axis("rows picked right", percent=True)
    return lines([*drawn, nothing], across, up, title="Re-identification by known values")


def _says(one: Over) -> Iterator[str]:
    last = one.points[-1]
    what = f"{plural(last.known, 'value')} of {one.label}"
    yield f"By {what}, {percent(last.only)} of people are the only match, and {percent(last.chance)} are picked right."
    half = next((point.known for point in one.points if point.chance >= 0.5), None)
    if half is not None and half < last.known:
        enough = "is enough" if half == 1 else "are enough"
        yield f"{plural(half, 'value')} of {one.label} {enough} to pick the right row every other time."
    if last.none:
        yield f"{percent(last.none)} fit no row: theirs is not in it."


def _one_in(rows: int) -> str:
    return f"the right one is picked 1 time in {rows:,}"
