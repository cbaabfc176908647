"""Population uniqueness: how many persons of the population are alone with their values, judged by a sample of it."""

from sfumato.risk.population.estimate import Estimate, Sample, sample_of
from sfumato.risk.population.pitman import pitman
from sfumato.risk.population.rule import Uniqueness, uniqueness
from sfumato.risk.population.snb import snb
from sfumato.risk.population.zayatz import zayatz

__all__ = ["Estimate", "Sample", "Uniqueness", "pitman", "sample_of", "snb", "uniqueness", "zayatz"]
