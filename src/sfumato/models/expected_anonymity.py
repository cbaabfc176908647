"""Expected anonymity (Aggarwal 2008): what is promised of records that are published as densities."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.errors import PolicyError
from sfumato.models.model import PrivacyEntry
from sfumato.models.policy_keys import WHOLE_NUMBER


@dataclass(frozen=True)
class ExpectedAnonymity(PrivacyEntry):
    """On average at least `k` records of the true table, the own among them, fit a published density at least as well.

    It is for `[publish] form = "uncertain"`, where a record is published as a density around a centre that was drawn.
    The average is over that draw, record by record. It is less than k-anonymity: in a single draw fewer may fit, down
    to the own record alone. `sfumato.uncertain.record_densities` has the formulas and their proofs.

    >>> ExpectedAnonymity(5).required
    {'k': 5}
    >>> ExpectedAnonymity(1)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: k: must be 2 or more: with 1, records would be published as they are
    """

    name: ClassVar[str] = "expected-anonymity"
    threat: ClassVar[str] = (
        "Someone who has the true records matches each published density with the one that fits best."
    )

    k: Annotated[int, WHOLE_NUMBER, "how many true records fit a density as well as the own on average, at least"]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 2:
            raise PolicyError("must be 2 or more: with 1, records would be published as they are", key="k")
