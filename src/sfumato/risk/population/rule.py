"""Which estimate to believe: the rule of Dankar, El Emam, Neisa and Roffey (2012), from simulations on clinical data.

Up to a sampling fraction of 0.1 it is Pitman's; above it the smaller of Zayatz's and the slide negative binomial's.
Where the one that is asked for does not exist, Zayatz's stands in, which always does.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from sfumato.core.arrays import IntArray
from sfumato.risk.population.estimate import Estimate, Sample, estimated, sample_of
from sfumato.risk.population.pitman import pitman
from sfumato.risk.population.snb import snb
from sfumato.risk.population.zayatz import zayatz

SMALL = 0.1
"""The sampling fraction up to which Pitman's estimate is taken."""


@dataclass(frozen=True)
class Uniqueness:
    """All three estimates, which of them the rule takes, and why."""

    people: int
    fraction: float
    zayatz: Estimate
    pitman: Estimate
    snb: Estimate
    chosen: str
    why: str

    @property
    def estimate(self) -> Estimate:
        """The estimate that the rule takes."""
        found: Estimate = getattr(self, self.chosen)
        return found

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: the chosen one's figures first."""
        return {"uniques": self.estimate.uniques, "share": self.estimate.share} | asdict(self)


def uniqueness(sizes: IntArray, fraction: float, *, people: int | None = None) -> Uniqueness:
    """Estimate the population's uniques from class sizes of a sample that is this share of it.

    `people` is the size of the population where a person may be in several classes of the sample: the estimated share
    is then of them.

    >>> import numpy as np
    >>> found = uniqueness(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1)
    >>> found.chosen, round(found.estimate.share, 3)
    ('pitman', 0.178)
    """
    sample = sample_of(sizes, fraction)
    whole = sample.people if people is None else people
    if fraction >= 1 or not sample.of_size(1):
        return _plain(sample, whole)
    found = {"zayatz": zayatz(sample), "pitman": pitman(sample), "snb": snb(sample)}
    chosen, why = _chosen(sample, found)
    scaled = {name: _of(one, whole) for name, one in found.items()}
    return Uniqueness(whole, fraction, **scaled, chosen=chosen, why=why)


def _of(one: Estimate, people: int) -> Estimate:
    """An estimate as a share of so many people."""
    return one if one.share is None else replace(one, uniques=one.share * people)


def _plain(sample: Sample, people: int) -> Uniqueness:
    """Where there is nothing to estimate: nobody is alone, or everybody is in the table."""
    whole = sample.fraction >= 1
    why = "the table is the whole population" if whole else "nobody is alone in the table, and so none is estimated"
    same = _of(estimated(sample, float(sample.of_size(1)), why), people)
    return Uniqueness(people, sample.fraction, same, same, same, "zayatz", why)


def _chosen(sample: Sample, found: dict[str, Estimate]) -> tuple[str, str]:
    if sample.fraction <= SMALL:
        if found["pitman"].uniques is not None:
            return "pitman", f"the sampling fraction is at most {SMALL}"
        return "zayatz", f"the sampling fraction is at most {SMALL}, and Pitman's model has no estimate"
    one, other = found["zayatz"].uniques, found["snb"].uniques
    if one is None or other is None:
        return "zayatz", f"the sampling fraction is above {SMALL}, and the SNB model has no estimate"
    why = f"the sampling fraction is above {SMALL}, and it is the smaller of Zayatz's and the SNB's"
    return ("zayatz" if one < other else "snb"), why
