"""The minimality attack (Wong, Fu, Wang and Pei 2007): what the optimality of the algorithm betrays.

`minimality_attack` is the attack from end to end; `adversary_knowledge` is what it starts from, `possible_worlds` the
tables that there could have been, `class_alternatives` and `node_alternatives` what would have been published instead,
`posterior` what the adversary believes then, and `minimality_result` the figures and sentences.
"""

from sfumato.attack.minimality.minimality_attack import QUICK, THOROUGH, MinimalityEffort, minimality
from sfumato.attack.minimality.minimality_result import (
    MinimalityCoverage,
    MinimalityFigures,
    MinimalityResult,
    RowsBeyondBound,
)

Effort = MinimalityEffort
"""The name in earlier versions."""

__all__ = [
    "QUICK",
    "THOROUGH",
    "Effort",
    "MinimalityCoverage",
    "MinimalityEffort",
    "MinimalityFigures",
    "MinimalityResult",
    "RowsBeyondBound",
    "minimality",
]
