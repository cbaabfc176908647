"""What an adversary can do with a release, measured: one attack per room."""

from sfumato.attack.definetti import QUICK, Attacked, Bound, Definetti, Effort, Original, bounds, definetti
from sfumato.attack.intersect import Intersection, intersect
from sfumato.attack.known import Known, known, known_release
from sfumato.attack.link import Linked, link, linked_release

__all__ = [
    "QUICK",
    "Attacked",
    "Bound",
    "Definetti",
    "Effort",
    "Intersection",
    "Known",
    "Linked",
    "Original",
    "bounds",
    "definetti",
    "intersect",
    "known",
    "known_release",
    "link",
    "linked_release",
]
