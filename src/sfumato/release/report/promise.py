"""Every requirement: promised, found by the verifier, and the threat that it answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.page.markup import Markup, facts, note, section, tag
from sfumato.page.words import keys
from sfumato.release.report.opening import against
from sfumato.verifier.verdict import Finding

if TYPE_CHECKING:
    from sfumato.release.release import Release


CLASS = "A class is the set of published rows that agree in all their quasi-identifiers."
SPLIT = (
    "A class is the lines that have its number, as many in each table. Whoever knows a person's quasi-identifiers "
    "finds the class, and is left with the bag of its sensitive values."
)


JOINED = (
    "The (X, Y)-requirements are about the join of this table with the earlier releases that are named: every record "
    "that may be a person's here with every one that may be the same person's there."
)


def promise(release: "Release") -> Markup:
    """The verdict, requirement by requirement."""
    threats = {entry.name: entry.threat for entry in release.policy.requirements}
    joined = _joined(release)
    how = note(
        "Found by a second implementation, from what is published; it shares no code with the algorithm. ",
        SPLIT if release.policy.publish.split else CLASS,
    )
    found = [_finding(finding, threats.get(finding.model, "")) for finding in release.verdict.privacy]
    return section("Promise and verdict", against(release), *found, *joined, how)


def _finding(finding: Finding, threat: str) -> Markup:
    word = tag("span", "✓ holds" if finding.satisfied else "✗ does not hold", class_="mark")
    said = facts([("Threat", threat), ("Promised", keys(finding.required)), ("Found", keys(finding.achieved))])
    return tag("article", tag("h3", finding.model, " ", word), said)


def _joined(release: "Release") -> list[Markup]:
    """The earlier releases that were looked at, and by what their records are matched."""
    if release.star is None or not release.star.earlier:
        return []
    pairs = zip(release.star.earlier, release.star.join_columns, strict=True)
    lines: list[tuple[object, object]] = [(one.name, _matched(one.rows, join)) for one, join in pairs]
    return [tag("article", tag("h3", "Earlier releases"), facts(lines)), note(JOINED)]


def _matched(rows: int, columns: Sequence[str]) -> str:
    by = f"matched by {', '.join(columns)}" if columns else "no column in common: every record matches every record"
    return f"{rows:,} rows, {by}"
