"""EMA Policy 0070: clinical data with a risk of at most 0.09."""

from dataclasses import replace

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.presets.base import Preset
from sfumato.profile.roles import Guess


def _decide(facts: Facts, guess: Guess) -> Guess:
    """Coordinates and places below a region go: trials have few people at one place."""
    if guess.role is Role.QUASI and facts.concept in {"town", "latitude", "longitude"}:
        why = f"{guess.reason}; the people of a trial are few at one place, so that it is left out"
        return replace(guess, role=Role.IDENTIFIER, reason=why, check=True)
    return guess


PRESET = Preset(
    name="ema-0070",
    title="EMA Policy 0070",
    source="European Medicines Agency, EMA/240810/2013 (Policy 0070) and EMA/90915/2016, external guidance, chapter 3",
    k=12,
    k_why="the largest risk is 0.09, and 1/11 = 0.0909 is above it: 12 is the smallest class that keeps it",
    linked=True,
    suppression=0.0,
    says=(
        (
            "The guidance takes 0.09 as the threshold of a conservative analysis. It goes back to the cell size "
            "of 11 that others use; taken literally it needs classes of 12."
        ),
        "Nobody is dropped: the risk is of all people of the trial.",
    ),
    unsaid=(
        (
            "The guidance prefers dates as days since the start of the trial: a policy cannot compute them; do "
            "it in the table, where intervals suit them."
        ),
        (
            "Its threshold is about the chance of finding a person. Where it asks for singling out, linkability "
            "and inference to be ruled out, the requirements on sensitive columns are for the third."
        ),
        "Policy 0070 covers reports as well as tables: text has to be anonymized elsewhere.",
    ),
    decide=_decide,
)
