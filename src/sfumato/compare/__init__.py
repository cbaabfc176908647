"""Compare: one policy under several algorithms and parameters, with what each loses, leaves open and takes.

`compare` runs them, each a verified release in memory; `dimensions` adds the quasi-identifiers one by one. Both look at
rows that are not published: what they say is for the data holder.
"""

from sfumato.compare.chosen import chosen_policy
from sfumato.compare.comparison import Comparison
from sfumato.compare.dimensions import Dimensions, dimensions
from sfumato.compare.front import front, knee
from sfumato.compare.outcome import Figures, Outcome
from sfumato.compare.run import compare

__all__ = [
    "Comparison",
    "Dimensions",
    "Figures",
    "Outcome",
    "chosen_policy",
    "compare",
    "dimensions",
    "front",
    "knee",
]
