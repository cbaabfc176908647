"""The top of the report: what it is, what matters at a glance, and what became of the rows."""

from typing import TYPE_CHECKING

from sfumato.page.markup import Markup, facts, html, join, name, note, paragraph, section, some, tag
from sfumato.page.words import amount, chance, percent, plural
from sfumato.release.audit import why_suppressed
from sfumato.release.seen.sizes import smallest
from sfumato.risk import ProsecutorRisk

if TYPE_CHECKING:
    from sfumato.release.release import Release

FULL_DOMAIN = "one level for each column (full-domain recoding)"
LOCAL = "each class has its own, no coarser than its rows need (local recoding)"
CUT = "one cut through the hierarchy for each column (top-down specialization)"
_NAMED = 30
"""So many quasi-identifiers are named."""


def opening(release: "Release", before: ProsecutorRisk) -> Markup:
    """Title, warnings and the figures a decision turns on."""
    source = release.policy.source.path
    title = tag("h1", "Release report", *([tag("small", source.name)] if source else []))
    private = note(tag("strong", "Private."), " For the data holder only: it tells of rows that are not published.")
    return tag("header", title, private, _seed(release), _glance(release, before))


def rows(release: "Release") -> Markup:
    """What came in, what goes out and why the rest does not, and who decided."""
    return section("The rows", facts([*_counts(release), ("Suppressed", _suppressed(release)), *_search(release)]))


def unit(release: "Release") -> str:
    """What is protected: what k counts."""
    return "row" if release.encoded.individual is None else "person"


def _glance(release: "Release", before: ProsecutorRisk) -> Markup:
    size = smallest(release.recoding.classes)
    word = "✓ kept" if release.verdict.satisfied else "✗ not kept"
    people = {"row": ("row", "rows"), "person": ("person", "people")}[unit(release)]
    figures = [
        (word, "promise, as verified"),
        (plural(size, *people), "in the smallest class"),
        (f"{percent(before.highest)} → {percent(release.risk.highest)}", "highest risk, before → after"),
        _lost(release),
    ]
    return tag("ul", *[tag("li", tag("b", figure), tag("span", said)) for figure, said in figures], class_="glance")


def _lost(release: "Release") -> tuple[str, str]:
    """What it cost at a glance: detail, or the tie between rows and sensitive values."""
    if not release.policy.publish.split:
        return percent(release.utility.ncp), "of detail lost (NCP)"
    return percent(min(tie.kept for tie in release.ties.values())), "of sensitive values told right, dealt out by class"


def _seed(release: "Release") -> Markup:
    seed = release.policy.search.seed
    if seed is None:
        return html("")
    why = (
        f"A seed was used (seed = {seed}): the order of rows is repeatable, and so are pseudonyms. "
        "Whoever knows the seed can put the rows back into the order of the input. "
        "Seeds are for tests and papers only."
    )
    return tag("aside", tag("strong", "⚠ Do not publish this release. "), why, role="alert")


def _counts(release: "Release") -> list[tuple[object, object]]:
    encoded, classes = release.encoded, release.recoding.classes
    counts: list[tuple[object, object]] = [
        ("Came in", f"{encoded.rows:,}"),
        ("Published", f"{amount(release.rows, encoded.rows)}, in {plural(len(classes), 'class', 'classes')}"),
    ]
    if encoded.individual is not None:
        counts.insert(1, ("People", join([f"{encoded.individual.width:,}, by ", name(encoded.individual.name)])))
    return counts


def _suppressed(release: "Release") -> str:
    limit = f"the policy allows {percent(float(release.policy.search.suppression))}"
    if not release.suppressed:
        return f"none; {limit}"
    return f"{amount(release.suppressed, release.encoded.rows)}: {why_suppressed(release.recoding)}; {limit}"


def _search(release: "Release") -> list[tuple[object, object]]:
    search, chosen = release.policy.search, release.recoding.algorithm
    begun = "" if chosen in {search.name, "anatomy", "tds"} else f"{search.name}, which began with "
    then = " and improved on it" if release.recoding.improved else ""
    aim = "buckets of different values" if chosen == "anatomy" else f"it minimizes {search.metric}"
    if release.recoding.cut:
        about = f" of {search.class_column}" if search.class_column else ""
        aim = f"it specializes by {search.score}{about}, as far as the promise allows"
    return [
        ("Algorithm", f"{begun}{chosen}{then}; {aim}"),
        ("Form", release.policy.publish.form),
        *([] if release.policy.publish.split else [("Labels", _labels(release))]),
    ]


def _labels(release: "Release") -> str:
    if release.recoding.cut:
        return CUT
    return FULL_DOMAIN if release.levels is not None else LOCAL


def against(release: "Release") -> Markup:
    """Whom the verdict speaks of: said once, before any figure."""
    who = "someone who knows that a person is in the table, and that person's values in "
    quasi = some(release.encoded.names, _NAMED)
    return paragraph(
        "The adversary is ", who, quasi, ". The protected unit is a ", unit(release), ". ", chance_of(release)
    )


def chance_of(release: "Release") -> str:
    """The promise in one sentence, and in two where a person's rows can be told to be one person's."""
    what = "line of sensitive values" if release.policy.publish.split else unit(release)
    best = f"The best chance of picking the right {what} is {chance(release.risk.highest)}"
    if release.persons is None:
        return f"{best}."
    if release.policy.publish.split:  # knowing the class is not yet knowing the line
        return f"{best}, for an adversary who knows one row of theirs; whoever knows several may do better."
    several = chance(1 / release.persons.linked_fewest)
    return (
        f"{best}, for an adversary who knows one row of theirs; for one who knows the classes of all it is {several}."
    )
