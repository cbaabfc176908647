"""GDPR: singling out, linkability and inference, after the Article 29 Working Party."""

from dataclasses import replace

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.presets.base import Preset
from sfumato.profile.roles import Guess


def _decide(facts: Facts, guess: Guess) -> Guess:
    """Special categories of Article 9 are sensitive, ethnic origin among them."""
    if guess.role is Role.QUASI and facts.concept == "origin" and facts.values.distinct > 1:
        why = f"{guess.reason}, a special category of Article 9; sensitive here, although others may know it"
        return replace(guess, role=Role.SENSITIVE, reason=why, check=True)
    return guess


PRESET = Preset(
    name="gdpr",
    title="GDPR, by the three risks of the Article 29 Working Party",
    source="Regulation (EU) 2016/679, Articles 4 and 9, Recital 26; Article 29 Working Party, Opinion 05/2014 (WP216)",
    k=10,
    k_why="against singling out; no number is in the law, and 10 is a careful habit",
    l=4,
    alpha=0.4,
    t=0.2,
    linked=True,
    says=(
        (
            "Neither the regulation nor the opinion names a number: all figures below are proposals, to be "
            "justified by an assessment of your own (Recital 26: all means reasonably likely to be used)."
        ),
        (
            "Singling out is what k is against, inference what the bounds on sensitive columns are against, and "
            "linkability what linked_k and fresh pseudonyms are against."
        ),
    ),
    unsaid=(
        (
            "The opinion holds k-anonymity to rule out singling out, but not linkability; l-diversity and "
            "t-closeness to make inference harder, but not impossible. Whether the result is anonymous is your "
            "assessment."
        ),
        "Other tables about the same people count: say them in [[previous]], or keep a ledger.",
    ),
    decide=_decide,
)
