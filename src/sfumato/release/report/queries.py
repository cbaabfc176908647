"""How far counts from the release are off."""

from typing import TYPE_CHECKING

from sfumato.page.markup import Markup, name, note, paragraph, section, some, table
from sfumato.page.words import percent, plural
from sfumato.release.seen.queried import asked, unasked, workload
from sfumato.utility.query_error import QueryErrors

if TYPE_CHECKING:
    from sfumato.release.release import Release

TITLE = "Counts asked of the release"


def queries(release: "Release") -> Markup:
    """The error of random queries on each sensitive column, or why there is none."""
    why = unasked(release)
    if why is not None:
        return section(TITLE, paragraph("Query error was not measured. ", why))
    head = ("Sensitive column", "Median", "Average", "Nine in ten within", "Queries")
    lines = [_line(column, errors) for column, errors in release.figures.errors.items()]
    return section(TITLE, note(_how(release)), table(head, lines), *_left(release))


def _how(release: "Release") -> str:
    work = workload(release)
    of = plural(work.dimensions, "quasi-identifier")
    return (
        f"Random COUNT queries, each for some values of {of} and of the sensitive column, which about "
        f"{percent(work.selectivity)} of the rows would match if all values were alike. The error is how far the count "
        "that a reader expects from the release is from the true one, as a share of the true one. "
        "sfumato utility asks other workloads."
    )


def _line(column: str, errors: QueryErrors) -> tuple[object, ...]:
    told = errors.expected
    figures = ["none" if one is None else _error(one) for one in (told.median, told.average, told.ninth_decile)]
    return (name(column), *figures, f"{errors.answered:,}")


def _error(error: float) -> str:
    """An error may be above 100%.

    >>> _error(0.043), _error(3.33)
    ('4.3%', '333%')
    """
    return percent(error) if error < 1 else f"{100 * error:,.0f}%"


def _left(release: "Release") -> list[Markup]:
    left = [one for one in release.encoded.sensitive if one not in asked(release)]
    return [note("Not asked of, so that the report is soon there: ", some(left), ".")] if left else []
