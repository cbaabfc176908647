"""Algorithms: each finds a recoding under which every published class meets every requirement."""

from sfumato.recode.algorithms import check_models, recode
from sfumato.recode.full_domain import ALGORITHMS
from sfumato.recode.recoding import Labels, Recoding

__all__ = ["ALGORITHMS", "Labels", "Recoding", "check_models", "recode"]
