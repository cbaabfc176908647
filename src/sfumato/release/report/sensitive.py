"""What classes tell of each sensitive column, asked for or not."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sfumato.attack.homogeneity import ClassMeasure, Disclosure
from sfumato.page.markup import Markup, html, join, name, note, paragraph, section, some, table, tag
from sfumato.page.words import percent, plural, value
from sfumato.release.report.disclosure import disclosures

if TYPE_CHECKING:
    from sfumato.release.release import Release

MOST = 20
"""Of so many sensitive columns at most."""


def sensitive(release: "Release") -> Markup:
    """A part for each sensitive column; nothing where there is none."""
    found = disclosures(release)
    if not found:
        return section("What classes tell", paragraph("The policy names no sensitive column, so none was looked at."))
    how = note(
        "Shown whether the policy asks for it or not. “Whole” is the input as one class, the best any "
        "release can reach; “average” is over published rows; “worst” is the most telling class."
    )
    asked = {column for model in release.policy.privacy for column in model.looks_at}
    shown, left = list(found)[:MOST], list(found)[MOST:]
    more = [paragraph("Not shown, so that the page has an end: ", some(left), ".")] if left else []
    return section("What classes tell", how, *[_column(one, found[one], one in asked) for one in shown], *more)


def _column(column: str, found: Disclosure, asked: bool) -> Markup:
    head = ("", "Whole", "Average", "Worst")
    return tag("article", tag("h3", name(column)), _unasked(asked), table(head, _lines(found)), _words(found))


def _unasked(asked: bool) -> Markup:
    if asked:
        return html("")
    return paragraph(tag("strong", "No requirement looks at this column: "), "nothing limits what a class tells of it.")


def _lines(found: Disclosure) -> list[tuple[object, ...]]:
    return [
        _line("Different values", "distinct l", found.distinct, lambda figure: f"{figure:.3g}"),
        _line("As uncertain as so many equal values", "entropy l", found.entropy, lambda figure: f"{figure:.2f}"),
        _line("Largest share of one value", "", found.share, percent),
        _line("Distance to the whole table", "variational", found.distance, lambda figure: f"{figure:.3f}"),
        _line("Largest posterior gain", "share in class − share in table", found.gain, _points),
    ]


def _line(title: str, term: str, figure: ClassMeasure, shown: Callable[[float], str]) -> tuple[object, ...]:
    label = join([title, tag("small", term)]) if term else title
    return (label, shown(figure.whole), shown(figure.average), shown(figure.worst))


def _points(gain: float) -> str:
    return f"{100 * gain:.1f} pp"


def _words(found: Disclosure) -> Markup:
    """The worst cases in sentences."""
    most = found.most
    gain = (
        f"The most is told of {value(most.value)}: {percent(most.before)} of the whole table hold it, "
        f"{percent(most.after)} of the class that tells most. "
    )
    share = f"The largest share of a class, {percent(found.share.worst)}, is {value(found.top)}. "
    return paragraph(gain, share, _certain(found))


def _certain(found: Disclosure) -> str:
    if not found.certain:
        return "No class has one value only."
    rows = plural(found.certain, "row stands", "rows stand")
    return f"{rows} in classes of a single value: who finds the class knows it for certain."
