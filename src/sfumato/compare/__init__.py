"""Compare: one policy under several algorithms and parameters, with what each loses, leaves open and takes.

`compare` runs them, each a verified release in memory; `dimensions` adds the quasi-identifiers one by one. Both look at
rows that are not published: what they say is for the data holder.
"""

from sfumato.compare.comparison import Comparison, ParetoFront, RunFigures, RunOutcome, compare
from sfumato.compare.dimensions_curse import Dimensions, dimensions
from sfumato.compare.pareto_front import front, knee
from sfumato.compare.policy_writer import chosen_policy

__all__ = [
    "Comparison",
    "Dimensions",
    "ParetoFront",
    "RunFigures",
    "RunOutcome",
    "chosen_policy",
    "compare",
    "dimensions",
    "front",
    "knee",
]
