"""The private report on drawn rows, one HTML page that loads nothing.

Promise and verdict, the groups and a picture of some, how like the original the rows are, how near to it, and limits.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from sfumato._version import __version__
from sfumato.condense.mixed_columns import NUMBER
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.page.charts import ChartAxis, Cloud, bar, clouds, grid, paired_bars
from sfumato.page.html import (
    Markup,
    document,
    facts,
    join,
    name,
    names,
    note,
    paragraph,
    section,
    some_names,
    table,
    tag,
)
from sfumato.page.wording import found_keys, keys, percent, plural
from sfumato.publish.drawn_publication import STRATA, SYNTHETIC
from sfumato.report.association import MOST_PAIRED, Grid, cramers_v
from sfumato.report.column_bins import bin_column
from sfumato.report.drawn_assessment import DrawnAssessment
from sfumato.report.masking_section import masking_section
from sfumato.report.threats import DRAWN_THREATS
from sfumato.risk.closest_rows import NEAR
from sfumato.verifier import Verdict

MOST_COLUMNS = 30
"""Of so many columns at most: a page has an end."""
_CLOUDS = 5
"""So many groups are in the picture."""
CORRELATION = (
    "Cramér's V over the same bins, corrected for chance: 0 where two columns have nothing to do with each other, 1 "
    "where one tells the other, whatever their kinds."
)
HOW_NEAR = (
    "Rows were drawn from one half of the table, drawn at random, and compared with both halves. A ratio of 1 says "
    "that drawn rows are as near to people who had no part in them as to those who had."
)
LEARNING = (
    "Classifiers learned from rows that were drawn from one half of the table, and from that half itself, and were "
    "asked for the classes of the other half."
)
PICTURE = (
    "Groups of the original, each within its outline, and the rows that were drawn for it. Drawn rows keep the mean "
    "and the directions of their group, and leave its outline: they are nobody's."
)


def drawn_report(assessment: DrawnAssessment, verdict: Verdict) -> str:
    """The page on drawn rows, with what the verifier found, and what the command warned of."""
    made = f"sfumato {__version__}, {datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC. "
    return document(
        "Release report",
        _opening(assessment, verdict),
        *_warnings(assessment),
        _promise(assessment, verdict),
        _groups(assessment),
        *_picture(assessment),
        *([masking_section(assessment.masking, drawn=True)] if assessment.masking else []),
        _likeness(assessment),
        _columns(assessment),
        _association(assessment),
        _nearness(assessment),
        section(
            "What it does not protect against",
            tag("ul", *[tag("li", tag("strong", title, ". "), text) for title, text in DRAWN_THREATS], class_="limits"),
        ),
        tag("footer", join([made, "The same figures for programs, and the policy as used: audit.json."])),
    )


def _opening(assessment: DrawnAssessment, verdict: Verdict) -> Markup:
    publication, likeness, closest = assessment.publication, assessment.likeness, assessment.closest
    source = publication.policy.source.place
    title = tag("h1", "Release report", *([tag("small", source.name)] if source else []))
    private = note(tag("strong", "Private."), " For the data holder only: it shows rows of the original.")
    figures = [
        ("✓ kept" if verdict.satisfied else "✗ not kept", "promise, as verified"),
        (f"{int(publication.condensed.persons.min()):,}", f"{publication.protected_unit} in the smallest group"),
    ]
    if likeness.correlation_of_correlations is not None:
        figures.append((f"{likeness.correlation_of_correlations:.3f}", "correlation of correlations"))
    else:
        figures.append((f"{likeness.pair_distances:.3f}", "distances between rows, off by"))
    if closest is not None:
        figures.append((f"{closest.ratio:.2f}", "distance to the nearest original, against a hold-out"))
    items = [tag("li", tag("b", figure), tag("span", meaning)) for figure, meaning in figures]
    return tag("header", title, private, tag("ul", *items, class_="glance"))


def _warnings(assessment: DrawnAssessment) -> Iterator[Markup]:
    if assessment.warnings:
        items = [tag("li", f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in assessment.warnings]
        yield section("Before it leaves the house", tag("ul", *items, class_="limits"))


def _promise(assessment: DrawnAssessment, verdict: Verdict) -> Markup:
    publication = assessment.publication
    threats = {entry.name: entry.threat for entry in publication.policy.requirements}
    articles = []
    for finding in verdict.privacy:
        mark = tag("span", "✓ holds" if finding.satisfied else "✗ does not hold", class_="mark")
        lines = facts(
            [
                ("Threat", threats.get(finding.model, "")),
                ("Promised", keys(finding.required)),
                ("Found", found_keys(finding.model, finding.achieved)),
            ]
        )
        articles.append(tag("article", tag("h3", finding.model, " ", mark), lines))
    how = note(
        "Found by a second implementation, from the published file, the groups in the private part and the rows that "
        "came in; it shares no code with the algorithm."
    )
    text = SYNTHETIC.format(unit=publication.protected_unit)
    return section("Promise and verdict", paragraph(text), *articles, how)


def _groups(assessment: DrawnAssessment) -> Markup:
    publication = assessment.publication
    search, sizes = publication.policy.search, publication.condensed.persons
    lines: list[tuple[object, object]] = [
        ("Came in", f"{publication.source.rows:,} rows"),
        ("Drawn", f"{publication.rows:,} rows, {plural(search.multiple, 'row')} for each"),
        ("Groups", assessment.sizes),
        ("Made by", search.clustering or "mdav"),
        ("Spread", f"of {search.neighbours:,} groups together or more" if search.neighbours > 1 else "of each group"),
        ("Noise", f"{search.noise:g} standard deviations of each column" if search.noise else "none besides"),
    ]
    if search.strata:
        lines.append(("Strata", join([names(search.strata), ".", STRATA.format(columns="these columns")])))
    values, counts = np.unique(sizes, return_counts=True)
    shown = [(f"{size:,}", f"{count:,}", bar(count / counts.max())) for size, count in zip(values, counts, strict=True)]
    return section("Rows and groups", facts(lines), table(("Size", "Groups", ""), shown[:40], "shares"))


# ---------------------------------------------------------------------------------------------------------------------
# A picture of some groups


def _picture(assessment: DrawnAssessment) -> Iterator[Markup]:
    """Some groups and what was drawn of them, over the two columns of numbers with the most different values."""
    publication = assessment.publication
    mixed, condensed = publication.mixed, publication.condensed
    numeric = [
        (len(np.unique(column.numbers[column.codes == NUMBER])), place)
        for place, column in enumerate(mixed.columns)
        if column.kind == "number" and column.numbers is not None and (column.codes == NUMBER).mean() > 0.5
    ]
    if len(numeric) < 2:
        return
    axes = [place for _, place in sorted(numeric, key=lambda pair: (-pair[0], pair[1]))[:2]]
    came = np.stack([_restored(assessment, place) for place in axes])
    drawn = np.stack([np.asarray(condensed.columns[place].numbers, dtype=np.float64) for place in axes])
    pictured = []
    for group in _groups_apart(came, condensed.members, publication.groups_made):
        points = drawn[:, condensed.group_of == group]
        outline = hull(came[:, condensed.members == group].T)
        known = points[:, ~np.isnan(points).any(axis=0)]
        pictured.append(
            Cloud(f"group of {int(condensed.sizes[group]):,}", outline, [(x, y) for x, y in known.T.tolist()])
        )
    titles = [ChartAxis(mixed.columns[place].name) for place in axes]
    picture = clouds(pictured, *titles, title="Groups of the original, and rows drawn for them")
    yield section("Groups and what was drawn of them", tag("figure", picture), note(PICTURE))


def _restored(assessment: DrawnAssessment, place: int) -> FloatArray:
    column = assessment.publication.mixed.columns[place]
    numbers = np.zeros(0) if column.numbers is None else column.numbers
    return column.restore(numbers)


def _groups_apart(points: FloatArray, members: IntArray, groups: int) -> IntArray:
    """Choose groups that lie apart, with a number in every row: those nearest to the corners and the middle.

    points: float[2, rows]; members: int[rows]
    """
    whole = np.bincount(members, weights=np.isnan(points).any(axis=0), minlength=groups) == 0
    sizes = np.bincount(members, minlength=groups)
    centers = np.stack([np.bincount(members, weights=np.nan_to_num(axis), minlength=groups) / sizes for axis in points])
    candidates = np.flatnonzero(whole)
    ranks = np.argsort(np.argsort(centers[:, candidates], axis=1), axis=1) / max(len(candidates), 1)
    chosen: list[int] = []
    for corner in ((0.5, 0.5), (0.2, 0.2), (0.8, 0.8), (0.2, 0.8), (0.8, 0.2))[:_CLOUDS]:
        order = np.argsort(((ranks - np.array(corner)[:, None]) ** 2).sum(axis=0), kind="stable")
        chosen += [int(candidates[place]) for place in order.tolist() if int(candidates[place]) not in chosen][:1]
    return np.array(chosen, dtype=np.int64)


def hull(points: FloatArray) -> list[tuple[float, float]]:
    """Find the convex outline of points, counter-clockwise.

    >>> hull(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2.0]]))
    [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    """
    ordered = sorted({(float(x), float(y)) for x, y in points.tolist()})
    if len(ordered) < 3:
        return ordered

    def half(along: list[tuple[float, float]]) -> list[tuple[float, float]]:
        side: list[tuple[float, float]] = []
        for x, y in along:
            while len(side) > 1 and (side[-1][0] - side[-2][0]) * (y - side[-2][1]) <= (side[-1][1] - side[-2][1]) * (
                x - side[-2][0]
            ):
                side.pop()
            side.append((x, y))
        return side[:-1]

    return half(ordered) + half(ordered[::-1])


# ---------------------------------------------------------------------------------------------------------------------
# Likeness


def _likeness(assessment: DrawnAssessment) -> Markup:
    lines = assessment.likeness.lines()
    worst = sorted(assessment.likeness.columns.items(), key=lambda item: -item[1].distance)
    full = max([one.distance for _, one in worst] + [1e-9])
    bars = [
        (name(column), one.kind, f"{one.distance:.3f}", bar(one.distance / full))
        for column, one in worst[:MOST_COLUMNS]
    ]
    how = note(
        "Of numbers and dates the largest difference between shares up to a value (Kolmogorov and Smirnov), of "
        "categories half of the sum of all differences between shares."
    )
    learning = [note(LEARNING)] if assessment.likeness.learned else []
    if assessment.likeness.unlearned:
        learning = [note(f"{assessment.likeness.unlearned[:1].upper()}{assessment.likeness.unlearned[1:]}.")]
    columns = table(("Column", "Kind", "Off by", ""), bars, "shares")
    return section("How like the original", table(("All columns", ""), lines), *learning, columns, how)


def _binned(assessment: DrawnAssessment, column: str) -> tuple[tuple[str, ...], IntArray, IntArray] | None:
    """The bins of a column, and the bin of each row before and after."""
    publication = assessment.publication
    before = publication.source.arrow.column(column).combine_chunks()
    before = before.dictionary_decode() if pa.types.is_dictionary(before.type) else before
    after = publication.table.arrow.column(column).combine_chunks()
    after = after.dictionary_decode() if pa.types.is_dictionary(after.type) else after
    if before.type != after.type:  # a label of a hierarchy made it text
        before, after = before.cast(pa.string()), after.cast(pa.string())
    binned = bin_column(pa.concat_arrays([before, after]))
    if binned is None:
        return None
    place = binned.bins.place.take(binned.codes)
    return binned.bins.names, place[: len(before)], place[len(before) :]


def _columns(assessment: DrawnAssessment) -> Markup:
    charts, columns = [], assessment.publication.mixed.columns
    for column in columns[:MOST_COLUMNS]:
        found = _binned(assessment, column.name)
        if found is None:
            continue
        labels, *sides = found
        shares = [(np.bincount(side, minlength=len(labels)) / max(len(side), 1)).tolist() for side in sides]
        head = tag("h3", name(column.name), tag("small", column.kind))
        legend = ("original", "drawn")
        chart = paired_bars(labels, *shares, title=f"{column.name}, original and drawn", legend=legend)
        charts.append(tag("figure", head, chart))
    left = [column.name for column in columns[MOST_COLUMNS:]]
    more = [paragraph("Not shown, so that the page has an end: ", some_names(left), ".")] if left else []
    return section("Columns, original and drawn", tag("div", *charts, class_="charts"), *more)


def _association(assessment: DrawnAssessment) -> Markup:
    chosen = [column.name for column in assessment.publication.mixed.columns[:MOST_PAIRED]]
    binned = {column: found for column in chosen if (found := _binned(assessment, column)) is not None}
    title = "What goes with what"
    if len(binned) < 2:
        return section(title, paragraph("One column is published, so that there is no pair of columns to look at."))
    squares = []
    for side, heading in ((1, "Original"), (2, "Drawn")):
        cells: Grid = [[None if a == b else _cramers(binned[a], binned[b], side) for b in binned] for a in binned]
        chart = grid(tuple(binned), cells, title=f"{heading}: association of columns")
        squares.append(tag("figure", tag("h3", heading), chart))
    return section(title, note(CORRELATION), tag("div", *squares, class_="charts"))


def _cramers(
    first: tuple[tuple[str, ...], IntArray, IntArray], second: tuple[tuple[str, ...], IntArray, IntArray], side: int
) -> float | None:
    tall, wide = len(first[0]), len(second[0])
    rows, others = (first[1], second[1]) if side == 1 else (first[2], second[2])
    joint = np.bincount(rows * wide + others, minlength=tall * wide).reshape(tall, wide).astype(np.float64)
    return cramers_v(joint)


# ---------------------------------------------------------------------------------------------------------------------
# Nearness


def _nearness(assessment: DrawnAssessment) -> Markup:
    closest = assessment.closest
    title = "How near to the original"
    if closest is None:
        return section(title, paragraph("There are too few rows to draw from one half and compare with the other."))
    lines: list[tuple[object, object]] = [
        ("Nearest row that had a part", f"{closest.original:.3f} away, at the median"),
        ("Nearest row that had none", f"{closest.hold_out:.3f} away, at the median"),
        ("Ratio", f"{closest.ratio:.2f}" + (f", which is below {NEAR:g}" if closest.near else "")),
        ("Equal to a row that had a part", percent(closest.copies)),
        ("Equal to one that had none", percent(closest.hold_out_copies)),
        ("Rows looked at", f"{closest.rows:,}"),
    ]
    return section(title, facts(lines), note(HOW_NEAR))
