"""Algorithms: each finds a recoding under which every published class meets every requirement."""

from sfumato.recode.plan import Labels, Recoding
from sfumato.recode.run import ALGORITHMS, check_models, recode

__all__ = ["ALGORITHMS", "Labels", "Recoding", "check_models", "recode"]
