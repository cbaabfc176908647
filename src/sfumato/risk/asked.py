"""What is asked of a table besides its classes."""

from dataclasses import dataclass
from typing import Any

from sfumato.errors import InputError
from sfumato.risk.adversaries import THRESHOLD
from sfumato.risk.sets import LARGEST

_MOST = 10**11
"""More people than these there never were, and the estimates have no digits left for."""


@dataclass(frozen=True)
class Asked:
    """The threshold, the population that the table is a sample of, and the size of the sets of columns.

    The population is a table (a path or a frame), its size, or the share of it that the table is; at most one of them.

    >>> Asked(population_size=100, fraction=0.1)
    Traceback (most recent call last):
    sfumato.errors.InputError: give one of --population, --population-size and --sampling-fraction, not several
    """

    threshold: float = THRESHOLD
    population: Any = None
    population_size: int | None = None
    fraction: float | None = None
    sets: int = LARGEST

    def __post_init__(self) -> None:
        given = [one for one in (self.population, self.population_size, self.fraction) if one is not None]
        if len(given) > 1:
            raise InputError("give one of --population, --population-size and --sampling-fraction, not several")
        if not 0 < self.threshold <= 1:
            raise InputError(f"the threshold must be above 0 and at most 1, not {self.threshold:g}")
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise InputError(f"the sampling fraction must be above 0 and at most 1, not {self.fraction:g}")
        if self.sets < 0:
            raise InputError(f"sets must be of 0 columns (none) or more, not {self.sets}")

    def share(self, sampled: int) -> float | None:
        """The share of the population that so many are, where that is known.

        >>> Asked(population_size=100).share(20)
        0.2
        """
        people = self.population_size if self.fraction is None else sampled / self.fraction
        if people is None:
            return None
        if people < sampled:
            raise InputError(
                f"a population of {people:,} cannot have the {sampled:,} of the table as a sample; "
                "give the size of the population that they were drawn from"
            )
        if people > _MOST:
            raise InputError(f"no population has more than {_MOST:,} people; give its true size, or the share it is")
        return sampled / people if self.fraction is None else self.fraction
