"""What was suppressed and why, and what is missing with it."""

from typing import TYPE_CHECKING

from sfumato.page.charts import columns
from sfumato.page.markup import Markup, join, name, note, paragraph, section, table, tag
from sfumato.page.words import amount, keys, percent, plural
from sfumato.release.audit import why_suppressed
from sfumato.release.seen.column import Seen
from sfumato.release.seen.dropped import Apart, Reasons, differing, reasons

if TYPE_CHECKING:
    from sfumato.release.release import Release

TITLE = "What was suppressed, and why"
BIAS = (
    "A row that is left out takes its values with it. Where suppressed rows are unlike the others, what is counted "
    "from the release is off in that direction. These are the columns where they differ most, as they came."
)


def suppressed(release: "Release", seen: list[Seen]) -> Markup:
    """How many rows, for which requirement, and where they differ."""
    limit = f"The policy allows {percent(float(release.policy.search.suppression))} of the rows."
    if not release.suppressed:
        return section(TITLE, paragraph(f"Nothing: every row is published. {limit}"))
    many = amount(release.suppressed, release.encoded.rows)
    said = paragraph(f"{many} of the rows: {why_suppressed(release.recoding)}. {limit}")
    return section(TITLE, said, *_failed(release), *_differing(release, seen))


def _failed(release: "Release") -> list[Markup]:
    found = reasons(release)
    if found is None:
        return []
    lines: list[tuple[object, ...]] = [
        (join([one.model.name, tag("small", keys(one.model.required))]), f"{one.classes:,}", f"{one.rows:,}")
        for one in found.failed
    ]
    return [paragraph(_classes(found)), table(("Requirement not met", "Classes", "Rows"), lines), *_others(found)]


def _classes(found: Reasons) -> str:
    would = plural(found.classes, "class", "classes")
    several = " A class may fail several requirements." if len(found.failed) > 1 else ""
    return f"At the levels that are published they would have stood in {would}.{several}"


def _others(found: Reasons) -> list[Markup]:
    if not found.others:
        return []
    rows = plural(found.others, "row stands", "rows stand")
    why = "a requirement on people in several classes (linked_k), or on the join with earlier releases, asked for it"
    return [note(f"{rows} in classes that meet each of these: {why}.")]


def _differing(release: "Release", seen: list[Seen]) -> list[Markup]:
    found = differing(release, seen)
    charts = tag("div", *[_chart(one) for one in found], class_="charts")
    return [tag("h3", "Who is missing"), note(BIAS), charts]


def _chart(one: Apart) -> Markup:
    title = f"{one.seen.name}, in published and in suppressed rows"
    bars = (one.published.tolist(), one.suppressed.tolist())
    drawn = columns(one.seen.bins.names, *bars, title=title, called=("published", "suppressed"))
    said = tag("small", f"{percent(one.distance)} apart: 0% is alike, 100% has nothing in common")
    return tag("figure", tag("h3", name(one.seen.name), said), drawn)
