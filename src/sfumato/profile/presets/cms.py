"""CMS: no cell of 1 to 10 people."""

from dataclasses import replace

from sfumato.policy import Role
from sfumato.profile.facts import Facts
from sfumato.profile.presets.base import Preset
from sfumato.profile.roles import Guess


def _decide(facts: Facts, guess: Guess) -> Guess:
    """Sensitive columns are cells, too: with a diagnosis as a quasi-identifier, every combination counts 11 or more."""
    del facts
    if guess.role is not Role.SENSITIVE:
        return guess
    return replace(guess, role=Role.QUASI, reason=f"{guess.reason}; a cell is counted with it, so it is quasi here")


PRESET = Preset(
    name="cms",
    title="CMS cell size suppression policy",
    source="Centers for Medicare & Medicaid Services, cell size suppression policy (ResDAC, January 26, 2024)",
    k=11,
    k_why="no cell of 1 to 10 may be shown, nor one that lets such a number be derived",
    suppression=0.0,
    says=(
        (
            "Cells are of beneficiaries, procedures and diagnoses: so diagnoses and the like are "
            "quasi-identifiers here, and every combination of values in the published table counts 11 rows or "
            "more, or persons where a column names them."
        ),
        "No row is dropped, so that no small cell can be derived by subtracting from a known total.",
    ),
    unsaid=(
        (
            "Everybody in a class has the same label of a diagnosis. What that tells of them is no matter of "
            'this rule; for a bound on it give the column role = "sensitive" and a requirement of its own.'
        ),
        ("Numbers of 1 to 10 must not be derivable from other publications either: sfumato ledger reckons with them."),
    ),
    decide=_decide,
)
