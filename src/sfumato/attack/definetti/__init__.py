"""The deFinetti attack on two tables (Kifer 2009): a learner assigns the values of each bag to the lines of its class.

What the tables show of one class is how often each value stands in it, and no more. But what they show of all classes
together tells how values go with quasi-identifiers, and that makes some assignments likelier than others.
"""

from sfumato.attack.definetti.found import Attacked, Beyond, Definetti, Sampled
from sfumato.attack.definetti.measure import QUICK, THOROUGH, Effort, definetti
from sfumato.attack.definetti.truth import Original

__all__ = [
    "QUICK",
    "THOROUGH",
    "Attacked",
    "Beyond",
    "Definetti",
    "Effort",
    "Original",
    "Sampled",
    "definetti",
]
