"""HIPAA Safe Harbor: eighteen kinds of identifiers are removed (45 CFR 164.514(b)(2))."""

from dataclasses import replace

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.presets.base import Preset
from sfumato.profile.presets.limited import RESTRICTED, limited
from sfumato.profile.roles import Guess
from sfumato.profile.trees.tree import Tree


def _decide(facts: Facts, guess: Guess) -> Guess:
    """What may be told less exactly becomes a quasi-identifier, and what the rule has removed is left out."""
    if guess.role not in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
        return guess
    found = limited(facts)
    if isinstance(found, str):
        return replace(guess, role=Role.IDENTIFIER, reason=found, check=True)
    return guess if found is None else replace(guess, role=Role.QUASI)


def _tree(facts: Facts) -> Tree | None:
    found = limited(facts)
    return found if isinstance(found, Tree) else None


PRESET = Preset(
    name="hipaa-safe-harbor",
    title="HIPAA Safe Harbor",
    source="45 CFR 164.514(b)(2); guidance of the Office for Civil Rights, HHS, of November 26, 2012",
    says=(
        (
            "Removed are the eighteen kinds of identifiers (A) to (R): names, places smaller than a state, "
            "dates but for the year, ages above 89, and all numbers of persons, records, accounts, devices, "
            "vehicles and addresses."
        ),
        (
            "Dates, ZIP codes and ages are told no more exactly than the rule allows, however many people share a "
            "value: that is what least says. A column that no hierarchy of init fits is left out."
        ),
        "Safe Harbor names no class size. k below is more than it asks for, and is your decision.",
    ),
    unsaid=(
        (
            "Which ZIP codes become 000 is by the 2000 and the 2010 census; check the current one: "
            f"{', '.join(sorted(RESTRICTED))}. A value that is not in the file of the hierarchy is refused."
        ),
        ("Years of birth are put together by today's date: run init again for a table of another year."),
        (
            "The rule also asks that you have no actual knowledge that the rest could identify somebody, "
            "164.514(b)(2)(ii), and it covers relatives, employers and household members."
        ),
        ("Pseudonyms of an individual column are random and derive from nothing, as 164.514(c) asks of a code."),
    ),
    decide=_decide,
    tree=_tree,
)
