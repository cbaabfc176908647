"""What an adversary can do with two tables: the deFinetti attack, tried on this release."""

from typing import TYPE_CHECKING

from sfumato.attack.definetti import PROMISE, DefinettiFigures, describe_figures, describe_sample
from sfumato.page.bars import bar
from sfumato.page.markup import Markup, name, note, paragraph, section, table, tag
from sfumato.page.words import percent

if TYPE_CHECKING:
    from sfumato.release.release import Release

HOW = (
    "The adversary has the two tables, and knows a person's quasi-identifiers and that the person is in the table. A "
    "learner (naive Bayes) is trained on the tables themselves: it learns from all classes how sensitive values go "
    "with quasi-identifiers, and deals out the values of each class accordingly, over and over. The guess about a "
    "person is the value that the lines with their quasi-identifiers get most of. To see what it can do to people "
    "outside the table, it is trained without a part of the classes and guesses about the people in them."
)


def learner(release: "Release") -> Markup:
    """The attack on each sensitive column: the bag bound, the attack, and the same learner outside the table."""
    found = release.attacks.definetti
    assert found is not None  # noqa: S101 - two tables are attacked by a learner; this tells the type checker
    parts = [_column(column, one) for column, one in found.columns.items()]
    again = "Two of five parts of the classes were held out. sfumato attack definetti measures all five, on more lines."
    return section("What a learner can guess", paragraph(HOW), *parts, paragraph(PROMISE), note(again))


def _column(column: str, found: DefinettiFigures) -> Markup:
    """Figures, then sentences."""
    shown = [("The bound that the policy sets", found.bound), ("The largest share of a class", found.largest_share)]
    right = [
        ("Most frequent value of the table", found.blind),
        ("A value drawn from the own bag", found.random),
        ("Most frequent value of the own bag", found.bag),
        ("The attack, in the table", found.attack),
        ("Its learner without the bag, in the table", found.without_bag),
        ("Its learner, outside the table", found.outside),
    ]
    lines = [_line(title, figure) for title, figure in (*shown, *right)]
    words = " ".join(filter(None, (*describe_figures(column, found), describe_sample(found))))
    head = ("", "Share", "")
    return tag("article", tag("h3", name(column)), table(head, lines, "losses"), paragraph(words))


def _line(title: str, figure: float | None) -> tuple[object, ...]:
    return (title, "none", "") if figure is None else (title, percent(figure), bar(figure))
