"""Statistical offices: ten units, no group of nearly one value, nobody who dominates."""

from dataclasses import replace

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.presets.base import Preset
from sfumato.profile.roles import Guess


def _decide(facts: Facts, guess: Guess) -> Guess:
    """Exact places go: a grid of coordinates is a publication of its own."""
    if guess.role is Role.QUASI and facts.concept in {"latitude", "longitude"}:
        return replace(guess, role=Role.IDENTIFIER, reason=f"{guess.reason}, as exact as an address; left out")
    return guess


PRESET = Preset(
    name="statistics-office",
    title="rules of thumb of statistical offices",
    source="ESSnet SDC, Guidelines for the checking of output based on microdata research (Brandt and others, 2010); "
    "Handbook on Statistical Disclosure Control, second edition (2024)",
    k=10,
    k_why="ten units for every cell, the rule of thumb of the guidelines",
    alpha=0.9,
    dominance=0.5,
    says=(
        (
            "Group disclosure: no value may hold more than 90 % of a class. Where a column names persons, "
            "dominance: no person may hold more than half of a class."
        ),
        (
            "Offices differ (3, 5 and 10 units are all in use, after the guidelines and their own law): put "
            "your own number."
        ),
    ),
    unsaid=(
        "Dominance of sums, such as turnover, is a rule for tables of sums; no model of rows says it.",
        ("A sample protects besides: sfumato risk estimates how many of its uniques are unique in the population."),
    ),
    decide=_decide,
)
