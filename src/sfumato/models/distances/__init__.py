"""Distances between a class and the whole table, by the names that policies use.

Each is bound to the column's distribution in the whole input table, rows that get suppressed included,
and is convex in the class, which is what makes t-closeness monotone (Lemma 20.3.3).
"""

from collections.abc import Callable
from functools import lru_cache

from sfumato.core.classes import SensitiveDomain
from sfumato.models.distances.base import Distance
from sfumato.models.distances.costs import Costs
from sfumato.models.distances.emd import general
from sfumato.models.distances.line import ordered
from sfumato.models.distances.pointwise import KullbackLeibler, Variational
from sfumato.models.distances.tree import hierarchical

__all__ = ["DISTANCES", "GENERAL", "Costs", "Distance", "distance"]

GENERAL = "emd"  # the one that needs costs

_PLAIN: dict[str, Callable[[SensitiveDomain], Distance]] = {
    "variational": Variational,
    "kl": KullbackLeibler,
    "emd-equal": Variational,
    "emd-ordered": ordered,
    "emd-hierarchical": hierarchical,
}
DISTANCES = (*_PLAIN, GENERAL)


# Searches ask about the same column thousands of times; domains and costs are equal only to themselves.
@lru_cache(maxsize=16)
def distance(name: str, domain: SensitiveDomain, costs: Costs | None = None) -> Distance:
    """The named distance from a column's distribution."""
    return _PLAIN[name](domain) if costs is None else general(domain, costs)
