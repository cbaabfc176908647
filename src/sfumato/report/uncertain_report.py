"""The private report on records that are densities, one HTML page that loads nothing.

Promise and verdict, who is matched with a density, spreads and a picture of some densities, columns before and after as
the densities have them, and limits.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from sfumato._version import __version__
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.page.charts import ChartAxis, Cloud, bar, clouds, paired_bars
from sfumato.page.html import Markup, document, facts, join, name, note, paragraph, section, some_names, table, tag
from sfumato.page.wording import found_keys, keys, percent, plural
from sfumato.report.masking_section import masking_section
from sfumato.report.threats import UNCERTAIN_THREATS
from sfumato.report.uncertain_assessment import UncertainAssessment
from sfumato.utility.range_counts import range_chances
from sfumato.verifier import Verdict

_MOST_COLUMNS = 30
_BINS = 12
_PICTURED = 5
"""So many densities are in the picture."""
MATCHING = (
    "Each density was matched with the true record, of its stratum, that fits it best, as somebody would who has "
    "all of them. Whoever knows the algorithm as well knows the spread that each true record is given, and looks at "
    "records of the same spread alone. Expected anonymity is the average of how many fit as well as the own over "
    "all draws; this is what the draw that is published comes to."
)
OUTLIERS = (
    "The spread of a record is as wide as it has to be: wide where few are near. So spreads show who is far from "
    "others, even to those who have no true record."
)
PICTURE = (
    "Some densities, each by the line that holds about half of it, and the true values of its record and of others "
    "that fit it as well or better. The record itself is in the middle of none of them: centres are drawn."
)
SMOOTH = (
    "Shares of rows in each step: the true ones, and those that the densities give by expected value. What is sharp in "
    "the truth is smooth here."
)


def uncertain_report(assessment: UncertainAssessment, verdict: Verdict) -> str:
    """The page on densities, with what the verifier found, and what the command warned of."""
    made = f"sfumato {__version__}, {datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC. "
    limits = [tag("li", tag("strong", title, ". "), text) for title, text in UNCERTAIN_THREATS]
    return document(
        "Release report",
        _opening(assessment, verdict),
        *_warnings(assessment),
        _promise(assessment, verdict),
        _matching(assessment),
        _spreads(assessment),
        *_picture(assessment),
        *([masking_section(assessment.masking, drawn=True)] if assessment.masking else []),
        _worth(assessment),
        _columns(assessment),
        section("What it does not protect against", tag("ul", *limits, class_="limits")),
        tag("footer", join([made, "The same figures for programs, and the policy as used: audit.json."])),
    )


def _opening(assessment: UncertainAssessment, verdict: Verdict) -> Markup:
    source = assessment.publication.policy.source.place
    title = tag("h1", "Release report", *([tag("small", source.name)] if source else []))
    private = note(tag("strong", "Private."), " For the data holder only: it shows values of the original.")
    figures = [
        ("✓ kept" if verdict.satisfied else "✗ not kept", "promise, as verified"),
        (percent(assessment.linkage.linked), "of densities fit their own record best"),
        (f"{assessment.linkage.rank:,.1f}", "records fit as well as the own, on average"),
        (f"{assessment.spread_figures()['median']:.2g}", "standard deviations is the median spread"),
    ]
    items = [tag("li", tag("b", figure), tag("span", meaning)) for figure, meaning in figures]
    return tag("header", title, private, tag("ul", *items, class_="glance"))


def _warnings(assessment: UncertainAssessment) -> Iterator[Markup]:
    if assessment.warnings:
        items = [tag("li", f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in assessment.warnings]
        yield section("Before it leaves the house", tag("ul", *items, class_="limits"))


def _promise(assessment: UncertainAssessment, verdict: Verdict) -> Markup:
    publication = assessment.publication
    threats = {entry.name: entry.threat for entry in publication.policy.requirements}
    articles = []
    for finding in verdict.privacy:
        mark = tag("span", "✓ holds" if finding.satisfied else "✗ does not hold", class_="mark")
        lines = facts(
            [
                ("Threat", threats.get(finding.model, "")),
                ("Promised", keys(finding.required)),
                ("Found", f"at least {found_keys(finding.model, finding.achieved)}"),
            ]
        )
        articles.append(tag("article", tag("h3", finding.model, " ", mark), lines))
    how = note(
        "Found by a second implementation, from the published file and the true values in the private part; it shares "
        "no code with the one that found the spreads, and stops counting where the promise is reached."
    )
    return section("Promise and verdict", paragraph(publication.protects), *articles, how)


def _matching(assessment: UncertainAssessment) -> Markup:
    linkage, k = assessment.linkage, assessment.publication.k
    lines = [
        ("Matched with the own record", percent(linkage.linked)),
        ("The same, knowing all spreads", percent(linkage.informed)),
        (f"If {k:,} fitted alike", percent(1 / k)),
        (
            "Records that fit as well as the own",
            f"{linkage.rank:,.1f} on average, {linkage.median_rank:,.0f} at the median",
        ),
        ("No other fits as well", f"{percent(linkage.alone)} of densities"),
        ("Densities looked at", f"{linkage.rows:,}"),
    ]
    return section("Who is matched with a density", facts(lines), note(MATCHING))


def _spreads(assessment: UncertainAssessment) -> Markup:
    publication, spreads = assessment.publication, assessment.spreads
    lines: list[tuple[object, object]] = [
        ("Records", f"{publication.rows:,}, in {plural(publication.records.count, 'stratum', 'strata')}"),
        ("Densities", publication.policy.publish.density),
        ("Spreads", "of each record" if publication.policy.publish.spread == "record" else "the same for all"),
        *([("Told as they are", percent(float((spreads == 0).mean())))] if (spreads == 0).any() else []),
    ]
    wide = spreads[spreads > 0]
    bars = []
    if len(wide):
        edges = np.unique(np.floor(np.log2(wide)))
        counts = [int((np.floor(np.log2(wide)) == edge).sum()) for edge in edges]
        bars = [
            (f"{2**edge:.2g} to {2 ** (edge + 1):.2g}", percent(count / len(spreads)), bar(count / max(counts)))
            for edge, count in zip(edges.tolist(), counts, strict=True)
        ]
    shown = table(("Spread, in standard deviations", "Records", ""), bars, "shares")
    return section("Spreads", facts(lines), shown, note(OUTLIERS))


# ---------------------------------------------------------------------------------------------------------------------
# A picture of some densities


def _picture(assessment: UncertainAssessment) -> Iterator[Markup]:
    """Some densities over the two columns with the most different values, and true records that fit them."""
    records, drawn = assessment.publication.records, assessment.publication.densities
    usable = [
        (len(np.unique(column.numbers)), place)
        for place, column in enumerate(records.columns)
        if column.kind == "number" and column.unit and (drawn.spreads[place] > 0).mean() > 0.5
    ]
    if len(usable) < 2:
        return
    axes = [place for _, place in sorted(usable, reverse=True)[:2]]
    whole = np.all([drawn.spreads[place] > 0 for place in axes], axis=0) & (
        drawn.common <= np.quantile(drawn.common, 0.9)
    )
    pictured: list[Cloud] = []
    for row in _rows_apart([records.columns[place].numbers for place in axes], np.flatnonzero(whole)):
        center = np.array([drawn.centers[place][row] for place in axes])
        spread = np.array([drawn.spreads[place][row] for place in axes])
        others = np.stack([records.columns[place].numbers for place in axes], axis=1)
        same = np.flatnonzero((records.strata == records.strata[row]) & ~np.isnan(others).any(axis=1))
        fits = _fitting(assessment, int(row), same)
        shown = [int(row), *[int(one) for one in fits if one != row][:12]]
        pictured.append(
            Cloud(
                f"record {len(pictured) + 1}",
                _outline(center, spread, box=drawn.density.name == "uniform"),
                [(float(x), float(y)) for x, y in others[shown].tolist()],
            )
        )
    titles = [ChartAxis(records.columns[place].name) for place in axes]
    picture = clouds(pictured, *titles, title="Densities, and true records that fit them")
    yield section("Densities and the records that fit them", tag("figure", picture), note(PICTURE))


def _fitting(assessment: UncertainAssessment, row: int, others: IntArray) -> IntArray:
    """List the records of a stratum by how well they fit a density, as far as the own record."""
    records, drawn = assessment.publication.records, assessment.publication.densities
    off = np.stack(
        [
            (column.numbers[others] - drawn.centers[place][row]) / (column.unit * column.per_unit)
            for place, column in enumerate(records.columns)
            if column.unit and drawn.spreads[place][row] > 0
        ],
        axis=1,
    )
    distance = np.abs(off).max(axis=1) if drawn.density.name == "uniform" else np.sqrt((off**2).sum(axis=1))
    order = np.argsort(distance, kind="stable")
    own = int(np.flatnonzero(others[order] == row)[0])
    return others[order[: own + 1]]


def _rows_apart(columns: list[FloatArray], candidates: IntArray) -> list[int]:
    """Choose rows that lie apart: near the middle, and towards the corners."""
    ranks = np.stack([np.argsort(np.argsort(column[candidates])) / max(len(candidates), 1) for column in columns])
    chosen: list[int] = []
    for corner in ((0.5, 0.5), (0.2, 0.2), (0.8, 0.8), (0.2, 0.8), (0.8, 0.2))[:_PICTURED]:
        order = np.argsort(((ranks - np.array(corner)[:, None]) ** 2).sum(axis=0), kind="stable")
        chosen += [int(candidates[one]) for one in order.tolist() if int(candidates[one]) not in chosen][:1]
    return chosen


def _outline(center: FloatArray, spread: FloatArray, *, box: bool) -> list[tuple[float, float]]:
    """Draw the line that holds about half of a density of two columns: an ellipse, or a box."""
    if box:
        corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * np.sqrt(0.5)
    else:
        angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        corners = np.stack([np.cos(angles), np.sin(angles)], axis=1) * np.sqrt(2 * np.log(2))
    return [(float(x), float(y)) for x, y in center + corners * spread]


# ---------------------------------------------------------------------------------------------------------------------
# What it is worth


def _worth(assessment: UncertainAssessment) -> Markup:
    lines = [
        (title, figure)
        for title, figure in assessment.lines()
        if title.startswith(("counts", "of two", "largest", "spread"))
    ]
    how = note(
        "Counts are those of random ranges that hold about a tenth of the rows, by expected value from the densities, "
        "relative to the true count. Correlations are those of centres, which noise makes weaker."
    )
    return section("What it is worth", facts(lines), how)


def _columns(assessment: UncertainAssessment) -> Markup:
    records, drawn = assessment.publication.records, assessment.publication.densities
    charts = []
    for place, column in enumerate(records.columns[:_MOST_COLUMNS]):
        known = column.numbers[~np.isnan(column.numbers)]
        if column.kind != "number" or len(np.unique(known)) < 2:
            continue
        low, high = np.quantile(known, [0.005, 0.995]).tolist()
        step = column.step or 0.0
        width = max((high - low) / _BINS, step)
        width = np.ceil(width / step) * step if step else width
        starts = low + width * np.arange(max(int(np.ceil((high - low + step) / width)), 1))
        end = width - step  # both ends of a range are of it
        truth = [float(((column.numbers >= a) & (column.numbers <= a + end)).mean()) for a in starts]
        blurred = [float(range_chances(column, drawn, place, a, a + end).mean()) for a in starts]
        labels = tuple(f"{a:.4g} to {a + end:.4g}" if end else f"{a:.4g}" for a in starts.tolist())
        chart = paired_bars(
            labels, truth, blurred, title=f"{column.name}, true and by densities", legend=("true", "by densities")
        )
        charts.append(tag("figure", tag("h3", name(column.name), tag("small", "number")), chart))
    left = [column.name for column in records.columns[_MOST_COLUMNS:]]
    more = [paragraph("Not shown, so that the page has an end: ", some_names(left), ".")] if left else []
    return section("Columns, true and by densities", note(SMOOTH), tag("div", *charts, class_="charts"), *more)
