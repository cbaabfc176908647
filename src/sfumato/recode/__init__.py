"""Algorithms: each finds a recoding under which every published class meets every requirement."""

from sfumato.recode.plan import Labels, Recoding
from sfumato.recode.run import ALGORITHMS, recode

__all__ = ["ALGORITHMS", "Labels", "Recoding", "recode"]
