"""The private report, one HTML page that loads nothing: promise and verdict, risk, cost, attacks and limits.

It is for the data holder's eyes: it tells of rows that are not published. Sections are in the order in which a data
steward asks.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from sfumato._version import __version__
from sfumato.attack.all_attacks import Attacks
from sfumato.page.html import Markup, document, facts, join, name, note, paragraph, section, some_names, tag
from sfumato.page.wording import amount, chance, found_keys, keys, percent, plural
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import class_id_column
from sfumato.report.assessment import Assessment
from sfumato.report.before_after import raw_classes
from sfumato.report.cost_sections import (
    association_section,
    columns_section,
    cost_section,
    queries_section,
    split_cost_section,
    suppression_section,
)
from sfumato.report.limits_section import limits_section
from sfumato.report.masking_section import masking_section
from sfumato.report.risk_sections import attacks_section, disclosure_section, learner_section, risk_section
from sfumato.risk import ProsecutorRisk, measure_prosecutor_risk
from sfumato.verifier import Verdict


def private_report(assessment: Assessment, verdict: Verdict, attacks: Attacks, warnings: Sequence[str] = ()) -> str:
    """The page on a publication, with what the verifier and the attacks found, and what the command warned of."""
    publication, figures = assessment.publication, assessment.figures
    raw = None if publication.encoded.coarse else raw_classes(publication.encoded)
    before, split = None if raw is None else measure_prosecutor_risk(raw), publication.split
    made = f"sfumato {__version__}, {datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC. "
    return document(
        "Release report",
        _opening(assessment, verdict, before),
        *([_warnings_section(warnings)] if warnings else []),
        _promise_section(assessment, verdict),
        _rows_section(publication),
        *([_tables_section(publication)] if split else []),
        risk_section(assessment, raw, before),
        disclosure_section(publication),
        *([masking_section(assessment.masking)] if assessment.masking else []),
        columns_section(publication, figures.columns),
        split_cost_section(assessment.ties) if split else cost_section(assessment),
        association_section(publication, figures),
        queries_section(publication, figures.query_errors),
        suppression_section(publication, figures.columns),
        attacks_section(attacks),
        *([learner_section(attacks.definetti)] if attacks.definetti is not None else []),
        limits_section(assessment, attacks.minimality),
        tag("footer", join([made, "The same figures for programs, and the policy as used: audit.json."])),
    )


# ---------------------------------------------------------------------------------------------------------------------
# The top: what matters at a glance


def _opening(assessment: Assessment, verdict: Verdict, before: ProsecutorRisk | None) -> Markup:
    """Title, warnings and the figures a decision turns on."""
    publication = assessment.publication
    source, seed = publication.policy.source.place, publication.policy.search.seed
    title = tag("h1", "Release report", *([tag("small", source.name)] if source else []))
    private = note(tag("strong", "Private."), " For the data holder only: it tells of rows that are not published.")
    alert: list[Markup] = []
    if seed is not None:
        why = (
            f"A seed was used (seed = {seed}): the order of rows is repeatable, and so are pseudonyms. "
            "Whoever knows the seed can put the rows back into the order of the input. "
            "Seeds are for tests and papers only."
        )
        alert = [tag("aside", tag("strong", "⚠ Do not publish this release. "), why, role="alert")]
    highest = assessment.risk.highest
    smallest = int(publication.recoding.classes.persons.min())
    unit = {"row": ("row", "rows"), "person": ("person", "people")}[publication.protected_unit]
    if publication.split:
        kept = min(tie.kept for tie in assessment.ties.values())
        lost = (percent(kept), "of sensitive values told right, dealt out by class")
    else:
        lost = (percent(assessment.utility.ncp), "of detail lost (NCP)")
    figures = [
        ("✓ kept" if verdict.satisfied else "✗ not kept", "promise, as verified"),
        (plural(smallest, *unit), "in the smallest class"),
        (percent(highest), "highest risk")
        if before is None
        else (f"{percent(before.highest)} → {percent(highest)}", "highest risk, before → after"),
        lost,
    ]
    items = [tag("li", tag("b", figure), tag("span", meaning)) for figure, meaning in figures]
    return tag("header", title, private, *alert, tag("ul", *items, class_="glance"))


def _warnings_section(warnings: Sequence[str]) -> Markup:
    """What the command warned of, as it said it."""
    items = [tag("li", f"{sentence[:1].upper()}{sentence[1:]}.") for sentence in warnings]
    return section("Before it leaves the house", tag("ul", *items, class_="limits"))


# ---------------------------------------------------------------------------------------------------------------------
# Every requirement: promised, found by the verifier, and the threat that it answers

CLASS = "A class is the set of published rows that agree in all their quasi-identifiers."
SPLIT_CLASS = (
    "A class is the lines that have its number, as many in each table. Whoever knows a person's quasi-identifiers "
    "finds the class, and is left with the bag of its sensitive values."
)
JOIN = (
    "The (X, Y)-requirements are about the join of this table with the earlier releases that are named: every record "
    "that may be a person's here with every one that may be the same person's there."
)
_NAMED = 30
"""So many quasi-identifiers are named."""


def _promise_section(assessment: Assessment, verdict: Verdict) -> Markup:
    """Whom the verdict speaks of, said once and before any figure; then the verdict, requirement by requirement."""
    publication = assessment.publication
    adversary = paragraph(
        "The adversary is ",
        "someone who knows that a person is in the table, and that person's values in ",
        some_names(publication.encoded.names, _NAMED),
        ". The protected unit is a ",
        publication.protected_unit,
        ". ",
        _best_chance(assessment),
    )
    threats = {entry.name: entry.threat for entry in publication.policy.requirements}
    articles = []
    for finding in verdict.privacy:
        mark = tag("span", "✓ holds" if finding.satisfied else "✗ does not hold", class_="mark")
        threat = threats.get(finding.model, "")
        lines = facts(
            [
                ("Threat", threat),
                ("Promised", keys(finding.required)),
                ("Found", found_keys(finding.model, finding.achieved)),
            ]
        )
        articles.append(tag("article", tag("h3", finding.model, " ", mark), lines))
    how = note(
        "Found by a second implementation, from what is published; it shares no code with the algorithm. ",
        SPLIT_CLASS if publication.split else CLASS,
    )
    return section("Promise and verdict", adversary, *articles, *_earlier_releases(publication), how)


def _best_chance(assessment: Assessment) -> str:
    """The promise in one sentence, and in two where a person's rows can be told to be one person's."""
    publication, persons = assessment.publication, assessment.persons
    what = "line of sensitive values" if publication.split else publication.protected_unit
    best = f"The best chance of picking the right {what} is {chance(assessment.risk.highest)}"
    if persons is None:
        return f"{best}."
    if publication.split:  # knowing the class is not yet knowing the line
        return f"{best}, for an adversary who knows one row of theirs; whoever knows several may do better."
    several = chance(1 / persons.linked_fewest)
    return (
        f"{best}, for an adversary who knows one row of theirs; for one who knows the classes of all it is {several}."
    )


def _earlier_releases(publication: Publication) -> list[Markup]:
    """The earlier releases that were looked at, and by what their records are matched."""
    linked = publication.linked_releases
    if linked is None or not linked.earlier:
        return []
    lines: list[tuple[object, object]] = []
    for earlier, columns in zip(linked.earlier, linked.join_columns, strict=True):
        by = f"matched by {', '.join(columns)}" if columns else "no column in common: every record matches every record"
        lines.append((earlier.name, f"{earlier.rows:,} rows, {by}"))
    return [tag("article", tag("h3", "Earlier releases"), facts(lines)), note(JOIN)]


# ---------------------------------------------------------------------------------------------------------------------
# What became of the rows, and the tables

FULL_DOMAIN = "one level for each column (full-domain recoding)"
LOCAL = "each class has its own, no coarser than its rows need (local recoding)"
AGGREGATED = "means, medians, modes or lowest common ancestors of each class (microaggregation)"
CUT = "one cut through the hierarchy for each column (top-down specialization)"


def _rows_section(publication: Publication) -> Markup:
    """What came in, what goes out and why the rest does not, and who decided."""
    encoded, recoding, search = publication.encoded, publication.recoding, publication.policy.search
    lines: list[tuple[object, object]] = [("Came in", f"{encoded.rows:,}")]
    if encoded.individual is not None:
        lines.append(("People", join([f"{encoded.individual.width:,}, by ", name(encoded.individual.name)])))
    classes = plural(len(recoding.classes), "class", "classes")
    lines.append(("Published", f"{amount(publication.rows, encoded.rows)}, in {classes}"))
    limit = f"the policy allows {percent(float(search.suppression))}"
    suppressed = "none"
    if publication.suppressed:
        suppressed = f"{amount(publication.suppressed, encoded.rows)}: {publication.why_suppressed}"
    lines.append(("Suppressed", f"{suppressed}; {limit}"))
    chosen = recoding.algorithm
    begun = "" if chosen in {search.name, "anatomy", "tds"} else f"{search.name}, which began with "
    then = " and improved on it" if recoding.improved else ""
    aim = "buckets of different values" if chosen == "anatomy" else f"it minimizes {search.metric}"
    if recoding.cut:
        about = f" of {search.class_column}" if search.class_column else ""
        only = ", where that gains something" if search.beneficial else ""
        aim = f"it specializes by {search.score}{about}{only}, as far as the promise allows"
    if chosen == MICROAGGREGATION:
        within = f" within {', '.join(search.strata)}" if search.strata else ""
        aim = f"it puts near rows together{within}, by {search.clustering or 'mdav'}"
    lines += [("Algorithm", f"{begun}{chosen}{then}; {aim}"), ("Form", publication.policy.publish.form)]
    if not publication.split:
        own = AGGREGATED if chosen == MICROAGGREGATION else LOCAL
        lines.append(("Labels", CUT if recoding.cut else FULL_DOMAIN if recoding.levels is not None else own))
    return section("The rows", facts(lines))


def _tables_section(publication: Publication) -> Markup:
    """Of two tables: what each file holds, and what ties them."""
    kind = publication.policy.publish.format
    lines: list[tuple[object, object]] = [
        (f"{file}.{kind}", join([name(column) for column in table.columns], ", "))
        for file, table in publication.tables.items()
    ]
    how = note(
        "Each line of each table is one record. ",
        name(class_id_column(publication.policy)),
        " is the class, numbered at random; each table is in a "
        "random order of its own. Their join is not the original table.",
    )
    return section("The tables", facts(lines), how)
