"""Re-identification risk, before and after, and the sizes of classes behind it."""

from typing import TYPE_CHECKING

from sfumato.core.classes import EquivalenceClasses
from sfumato.page.bars import bar
from sfumato.page.markup import Markup, join, note, section, table, tag
from sfumato.page.words import amount, chance, percent
from sfumato.release.report import persons
from sfumato.release.report.opening import unit
from sfumato.release.seen.sizes import below, binned, bins
from sfumato.risk import ProsecutorRisk, required_k
from sfumato.risk.adversaries import adversaries_of

if TYPE_CHECKING:
    from sfumato.release.release import Release


SPLIT = (
    ": the right line of sensitive values. The line of quasi-identifiers is as easy to find as before, since they are "
    "published as they were."
)


REGISTER = (
    "No register of the population is at hand, so the table is taken for the whole population: the worst that "
    "journalist and marketer can do. Where people of the register are not in the table they do worse; sfumato risk "
    "measures it with a population table or a sampling fraction."
)


def risk(release: "Release", raw: EquivalenceClasses, before: ProsecutorRisk) -> Markup:
    """Figures, then sizes."""
    who = note(
        "Prosecutor risk: the chance that the adversary picks the right "
        f"{unit(release)} for someone in the table. Before is the input as it came; after is what is published",
        SPLIT if release.policy.publish.split else ".",
    )
    figures = _figures(release, raw, before)
    others = _adversaries(release, raw)
    return section(
        "Risk, before and after", who, figures, *others, *persons.figures(release, raw), _sizes(release, raw)
    )


def _figures(release: "Release", raw: EquivalenceClasses, before: ProsecutorRisk) -> Markup:
    classes, after = release.recoding.classes, release.risk
    alone = "Rows alone in their class" if unit(release) == "row" else "Rows of a person alone in their class"
    lines = [
        ("Highest chance", chance(before.highest), chance(after.highest)),
        ("Average chance", percent(before.average), percent(after.average)),
        (alone, amount(before.uniques, raw.rows), amount(after.uniques, classes.rows)),
        ("Classes", f"{len(raw):,}", f"{len(classes):,}"),
        ("Rows per class, on average", _mean(raw), _mean(classes)),
    ]
    return table(("", "Before", "After"), [*lines, *_below(release, raw)])


def _adversaries(release: "Release", raw: EquivalenceClasses) -> list[Markup]:
    """Who is sure of a person, who is content with anybody, and who is after as many as possible."""
    before, after = adversaries_of(raw), adversaries_of(release.recoding.classes)
    pairs = [
        ("Prosecutor", "highest chance for a person known to be in the table", "prosecutor", "highest"),
        ("Journalist", "highest chance for anybody, by way of a register", "journalist", "highest"),
        ("Marketer", f"share of {before.counts} tied right, if all are tied to somebody", "marketer", "average"),
        ("At risk", f"share of {before.counts} with a chance above {percent(before.threshold)}", "prosecutor", "above"),
    ]
    lines = [
        (join([title, tag("small", said)]), *(percent(getattr(getattr(one, who), key)) for one in (before, after)))
        for title, said, who, key in pairs
    ]
    return [tag("h3", "Three adversaries"), table(("", "Before", "After"), lines), note(REGISTER)]


def _mean(classes: EquivalenceClasses) -> str:
    return f"{classes.rows / len(classes):,.1f}"


def _below(release: "Release", raw: EquivalenceClasses) -> list[tuple[str, str, str]]:
    """Rows in classes smaller than the largest k that is required."""
    k, classes = required_k(release.policy.privacy), release.recoding.classes
    if k is None:
        return []
    shown = [amount(below(one, k), one.rows) for one in (raw, classes)]
    return [(f"Rows in classes below k = {k:,}", shown[0], shown[1])]


def _sizes(release: "Release", raw: EquivalenceClasses) -> Markup:
    """Two histograms over the same bins, back to back."""
    before, after = binned(raw), binned(release.recoding.classes)
    full = float(max(before.shares.max(), after.shares.max()))
    lines = [
        (label, percent(old), bar(old / full, kind="hollow", leftward=True), bar(new / full), percent(new))
        for label, old, new in zip(bins(), before.shares.tolist(), after.shares.tolist(), strict=True)
    ][: max(before.used, after.used)]
    counted = "rows" if unit(release) == "row" else "people"
    title = tag("h3", f"Share of rows by the size of their class (in {counted})")
    head = ("Size", "Before", "", "", "After")
    return tag("figure", title, table(head, lines, "sizes"))
