"""What an adversary can do with a release, measured: one attack per room."""

from sfumato.attack.definetti import QUICK, Attacked, Bound, Definetti, Effort, Original, bounds, definetti
from sfumato.attack.intersect import Intersection, intersect

__all__ = [
    "QUICK",
    "Attacked",
    "Bound",
    "Definetti",
    "Effort",
    "Intersection",
    "Original",
    "bounds",
    "definetti",
    "intersect",
]
