"""What the attack found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Sampled:
    """Lines that the learner was trained on, and lines that guesses were made about."""

    trained: int
    guessed: int


@dataclass(frozen=True)
class Beyond:
    """People of whom the learner is surer than the bound: lines, and the share of them that it is right about."""

    lines: int
    right: float | None


@dataclass(frozen=True)
class Attacked:
    """What the attack does to one sensitive column; shares of lines, each line one person.

    `bound` is the largest share of a class that the policy allows a value, ``None`` where it bounds none, and
    `largest_share` the largest that there is. Guesses are right this often: `blind` by the most frequent value of the
    table; `random` by a value drawn from the bags that a person's quasi-identifiers lead to; `bag` by the most frequent
    value of these; `attack` by what the learner assigns within classes; `without_bag` by the learner from
    quasi-identifiers alone; `outside` by the learner about people of classes that it was not trained on, ``None`` where
    there are not two. `largest_posterior` is the surest that the attack is of anybody, and `beyond_bound` those of whom
    it is surer than the bound, or than the largest share where there is none.

    `values` are those that the learner tells apart.
    """

    lines: int
    sampled: Sampled
    values: int
    bound: float | None
    largest_share: float
    blind: float
    random: float
    bag: float
    attack: float
    without_bag: float
    outside: float | None
    largest_posterior: float
    beyond_bound: Beyond


@dataclass(frozen=True)
class Definetti:
    """The attack on each sensitive column of a release."""

    classes: int
    seed: int
    columns: Mapping[str, Attacked]

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON."""
        return asdict(self)
