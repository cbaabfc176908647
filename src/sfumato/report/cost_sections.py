"""Sections of the private report on cost: columns before and after, losses, correlation, counts, suppressed rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.encode import QuasiIdentifier
from sfumato.page.charts import bar, grid, paired_bars
from sfumato.page.html import Markup, facts, html, join, name, note, paragraph, section, some_names, table, tag
from sfumato.page.wording import amount, keys, label, percent, plural
from sfumato.publish.publication import Publication
from sfumato.recode import Recoding
from sfumato.report.assessment import Assessment
from sfumato.report.association import MOST_PAIRED, ROWS, Association
from sfumato.report.before_after import ColumnComparison, find_suppression_bias, find_suppression_reasons
from sfumato.report.report_figures import ReportFigures, choose_workload, queried_columns, why_no_queries
from sfumato.split import Tie
from sfumato.utility.query_error import QueryErrors

# ---------------------------------------------------------------------------------------------------------------------
# Each published column, before and after, in the same bins

SPREAD = (
    "Shares of the rows that came in. A row that is published under a label which covers several bins counts in each "
    "by the share of the label's values that lie there: as for a reader who knows no more than the label. Flat bars "
    "are what generalization leaves of a column."
)
EXACT = "Shares of the rows that came in. No value is generalized."
MASKED = " Of masked columns, before is after masking."
NOT_HELD = (
    "Columns that are published as they are were not held in memory, and are not shown: their values are the same "
    "before and after, but for rows that were not published."
)
"""What is said of plain columns of a table whose rows went by in batches."""


def columns_section(publication: Publication, columns: Sequence[ColumnComparison]) -> Markup:
    """A chart for each column, as many as a page can take."""
    rows, charts = publication.encoded.rows, []
    for column in columns:
        names, before, after = list(column.bins.names), column.rows_before / rows, column.rows_after / rows
        if publication.suppressed:
            names.append("not published")
            before, after = np.append(before, 0.0), np.append(after, publication.suppressed / rows)
        role = str(publication.policy.columns[column.name].role)
        head = tag("h3", name(column.name), tag("small", {"quasi": "quasi-identifier"}.get(role, role)))
        title = f"{column.name}, before and after"
        charts.append(tag("figure", head, paired_bars(names, before.tolist(), after.tolist(), title=title)))
    encoded, compared = publication.encoded, {column.name for column in columns}
    left = [column for column in (*encoded.names, *encoded.sensitive, *encoded.plain) if column not in compared]
    more = [paragraph("Not shown, so that the page has an end: ", some_names(left), ".")] if left else []
    how = note(EXACT if publication.split else SPREAD, MASKED if publication.masks else "")
    if encoded.counts is not None and any(one.name not in encoded.plain for one in publication.policy.ungeneralized):
        more.append(note(NOT_HELD))
    return section("Columns, before and after", how, tag("div", *charts, class_="charts"), *more)


# ---------------------------------------------------------------------------------------------------------------------
# What the publication cost: in all, and column by column

_USUAL = 3
"""So many of the labels that are in most rows are shown."""


def cost_section(assessment: Assessment) -> Markup:
    """Measures of the whole release, then a bar for each quasi-identifier, then its usual labels."""
    publication, utility = assessment.publication, assessment.utility
    how = note("Losses run from 0% (as it came) to 100% (nothing left). A suppressed row counts as lost entirely.")
    totals = [
        ("Information lost (NCP)", "how much of its domain a label covers", percent(utility.ncp)),
        ("Distortion ratio", "levels climbed, of all there are", percent(utility.distortion_ratio)),
        ("Precision", "one minus the height climbed, per column", percent(utility.precision)),
        ("Entropy lost", "bits of the columns that are gone", percent(utility.entropy)),
        ("Discernibility", "class sizes squared, summed", f"{utility.discernibility:,}"),
        ("Average class size", "rows", f"{utility.average_class_size:,.1f}"),
        ("Suppressed cells", "show nothing; suppressed rows included", f"{utility.suppressed_cells:,}"),
    ]
    if utility.weighted_ncp is not None:
        weighted = ("The same by weight", "each row for the people it stands for", percent(utility.weighted_ncp))
        totals.insert(1, weighted)
    if (aggregation := utility.aggregation) is not None and aggregation.squared_error is not None:
        how_far = "squared error of numbers and dates, of their variance"
        totals.insert(1, ("SSE / SST", how_far, percent(aggregation.squared_error)))
    total = table(
        ("", ""), [(join([title, tag("small", meaning)]), figure) for title, meaning, figure in totals], "totals"
    )
    lines = []
    for attribute in publication.encoded.quasi:
        loss, how_told = utility.attributes[attribute.name], tag("small", _labels_of_column(assessment, attribute))
        cells = (percent(loss.ncp), bar(loss.ncp), f"{loss.suppressed_cells:,}")
        lines.append((join([name(attribute.name), how_told]), *cells))
    losses = table(("Column", "Lost (NCP)", "", "Empty cells"), lines, "losses")
    per_column = tag("figure", tag("h3", "Loss per column"), losses)
    return section("What it cost", how, total, per_column, _usual_labels_of_columns(publication))


def _labels_of_column(assessment: Assessment, attribute: QuasiIdentifier) -> str:
    """How values became labels: at one level, or each class with its own."""
    publication, loss = assessment.publication, assessment.utility.attributes[attribute.name]
    labels = f"{plural(attribute.column.width, 'value')} → {plural(loss.labels, 'label')}"
    levels = publication.recoding.levels
    if levels is not None:
        return f"level {levels[attribute.name]} of {attribute.hierarchy.height}, {labels}"
    aggregation = assessment.utility.aggregation
    if aggregation is not None and attribute.name in aggregation.columns:
        part = aggregation.columns[attribute.name]
        told = f"{plural(attribute.column.width, 'value')} → {plural(loss.labels, part.aggregate)}"
        return f"{told}, {percent(1 - part.changed)} of cells as they were"
    return f"{labels}, {percent(loss.exact_cells / publication.rows)} of cells exact"


def _usual_labels_of_columns(publication: Publication) -> Markup:
    """The usual labels of each column that has labels of several levels; nothing where levels say it all."""
    if publication.recoding.levels is not None:
        return html("")
    lines = [
        (name(column), ", ".join(_usual_labels(publication.recoding, column)) or "as it came")
        for column in publication.encoded.names
    ]
    how = note("Labels of generalized cells, those of most rows first, with their share of the published rows.")
    return tag("figure", tag("h3", "What columns are told as"), how, facts(lines))


def _usual_labels(recoding: Recoding, column: str) -> list[str]:
    """The labels that most generalized cells have, each with its share of the published rows."""
    labels = recoding.labels[column]
    published = recoding.label_rows[column]
    rows, total = published * (labels.climbed > 0), int(published.sum())
    order = np.argsort(-rows, kind="stable")[:_USUAL]
    return [f"{label(labels.texts[i])} ({percent(rows[i] / total)})" for i in order if rows[i]]


def split_cost_section(ties: Mapping[str, Tie]) -> Markup:
    """Of two tables: no value is changed; what is lost is which sensitive value belongs to which row."""
    how = note(
        "Quasi-identifiers and sensitive values are as they were. Lost is which belong together: the share of rows "
        "that get their own value back, on average, if the values of each class are dealt out at random in it."
    )
    lines = [(name(column), percent(tie.kept), bar(tie.kept), percent(tie.chance)) for column, tie in ties.items()]
    head = ("Sensitive column", "Told right, by class", "", "By the whole table")
    queries = note("How far counts from the two tables are off is measured by sfumato utility.")
    return section("What it cost", how, table(head, lines, "losses"), queries)


# ---------------------------------------------------------------------------------------------------------------------
# How strongly columns go together, before and after

CORRELATION = (
    "Cramér's V of each pair of columns over the bins above, corrected for chance: 0 where they have nothing to do "
    "with each other, 1 where one tells the other. After is what a reader can expect from what is published; numbers "
    "above the columns are those of the rows."
)


def association_section(publication: Publication, figures: ReportFigures) -> Markup:
    """Two squares side by side, and what changed."""
    title, association = "Correlation, before and after", figures.association
    if (why := publication.encoded.why_unmeasured) is not None:
        return section(title, paragraph("Correlation was not measured. ", why))
    if association is None:
        return section(title, paragraph("One column is published, so that there is no pair of columns to look at."))
    squares = [
        tag("figure", tag("h3", side), grid(association.names, cells, title=f"{side}: association of columns"))
        for side, cells in (("Before", association.before), ("After", association.after))
    ]
    remarks = []
    if len(figures.columns) > len(association.names):
        remarks.append(f"The first {MOST_PAIRED} columns are shown, of {len(figures.columns):,} above.")
    if association.sampled:
        remarks.append(f"Worked out from {ROWS:,} rows, drawn at random.")
    limits = [note(" ".join(remarks))] if remarks else []
    charts = tag("div", *squares, class_="charts")
    return section(title, note(CORRELATION), charts, paragraph(_association_change(association)), *limits)


def _association_change(association: Association) -> Markup:
    """The mean change, and the pair that changed most."""
    if association.change is None:
        return join(["No pair of columns has two values each before and after, so that nothing can be compared."])
    pairs = [
        (new - old, a, b)
        for a, (olds, news) in enumerate(zip(association.before, association.after, strict=True))
        for b, (old, new) in enumerate(zip(olds, news, strict=True))
        if b < a and old is not None and new is not None
    ]
    most, a, b = max(pairs, key=lambda pair: abs(pair[0]))
    average = f"On average a pair changed by {association.change:.3f}"
    if abs(most) < 0.0005:
        return join([f"{average}: what columns have to do with each other is as it was."])
    old, new = association.before[a][b], association.after[a][b]
    first, second = name(association.names[b]), name(association.names[a])
    return join([f"{average}; most of all ", first, " with ", second, f": {old:.2f} → {new:.2f}."])


# ---------------------------------------------------------------------------------------------------------------------
# How far counts from the release are off


def queries_section(publication: Publication, errors: Mapping[str, QueryErrors]) -> Markup:
    """The error of random queries on each sensitive column, or why there is none."""
    title, why = "Counts asked of the release", why_no_queries(publication)
    if why is not None:
        return section(title, paragraph("Query error was not measured. ", why))
    workload = choose_workload(publication)
    how = (
        f"Random COUNT queries, each for some values of {plural(workload.dimensions, 'quasi-identifier')} and of the "
        f"sensitive column, which about {percent(workload.selectivity)} of the rows would match if all values were "
        "alike. The error is how far the count that a reader expects from the release is from the true one, as a share "
        "of the true one. sfumato utility asks other workloads."
    )
    lines = []
    for column, result in errors.items():
        expected = result.expected
        shares = (expected.median, expected.average, expected.ninth_decile)
        figures = ["none" if share is None else _error(share) for share in shares]
        lines.append((name(column), *figures, f"{result.answered:,}"))
    head = ("Sensitive column", "Median", "Average", "Nine in ten within", "Queries")
    left = [column for column in publication.encoded.sensitive if column not in queried_columns(publication)]
    more = [note("Not asked of, so that the report is soon there: ", some_names(left), ".")] if left else []
    return section(title, note(how), table(head, lines), *more)


def _error(error: float) -> str:
    """An error may be above 100%.

    >>> _error(0.043), _error(3.33)
    ('4.3%', '333%')
    """
    return percent(error) if error < 1 else f"{100 * error:,.0f}%"


# ---------------------------------------------------------------------------------------------------------------------
# What was suppressed and why, and what is missing with it

BIAS = (
    "A row that is left out takes its values with it. Where suppressed rows are unlike the others, what is counted "
    "from the release is off in that direction. These are the columns where they differ most, as they came."
)


def suppression_section(publication: Publication, columns: Sequence[ColumnComparison]) -> Markup:
    """How many rows, for which requirement, and where they differ."""
    title = "What was suppressed, and why"
    limit = f"The policy allows {percent(float(publication.policy.search.suppression))} of the rows."
    if not publication.suppressed:
        return section(title, paragraph(f"Nothing: every row is published. {limit}"))
    rows = amount(publication.suppressed, publication.encoded.rows)
    why = paragraph(f"{rows} of the rows: {publication.why_suppressed}. {limit}")
    charts = []
    for bias in find_suppression_bias(publication, columns):
        column = bias.column
        chart = paired_bars(
            column.bins.names,
            bias.published.tolist(),
            bias.suppressed.tolist(),
            title=f"{column.name}, in published and in suppressed rows",
            legend=("published", "suppressed"),
        )
        distance = tag("small", f"{percent(bias.distance)} apart: 0% is alike, 100% has nothing in common")
        charts.append(tag("figure", tag("h3", name(column.name), distance), chart))
    missing = (tag("h3", "Who is missing"), note(BIAS), tag("div", *charts, class_="charts"))
    return section(title, why, *_failed_requirements(publication), *missing)


def _failed_requirements(publication: Publication) -> list[Markup]:
    """The requirements that suppressed classes did not meet, where whole classes were suppressed."""
    reasons = find_suppression_reasons(publication)
    if reasons is None:
        return []
    classes = plural(reasons.classes, "class", "classes")
    several = " A class may fail several requirements." if len(reasons.failed) > 1 else ""
    opening = f"At the levels that are published they would have stood in {classes}.{several}"
    lines: list[tuple[object, ...]] = [
        (
            join([failed.model.name, tag("small", keys(failed.model.required))]),
            f"{failed.classes:,}",
            f"{failed.rows:,}",
        )
        for failed in reasons.failed
    ]
    parts = [paragraph(opening), table(("Requirement not met", "Classes", "Rows"), lines)]
    if reasons.others:
        rows = plural(reasons.others, "row stands", "rows stand")
        why = (
            "a requirement on people in several classes (linked_k), or on the join with earlier releases, asked for it"
        )
        parts.append(note(f"{rows} in classes that meet each of these: {why}."))
    return parts
