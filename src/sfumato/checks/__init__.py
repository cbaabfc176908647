"""Contracts that every member of a family keeps, for ours and for other people's.

>>> from sfumato.models import KAnonymity
>>> check_model(KAnonymity(3))
"""

from sfumato.checks.generate import random_classes, subset
from sfumato.checks.model import check_model, meeting
from sfumato.checks.recoder import check_recoder, check_release
from sfumato.checks.tables import Case, random_case

__all__ = [
    "Case",
    "check_model",
    "check_recoder",
    "check_release",
    "meeting",
    "random_case",
    "random_classes",
    "subset",
]
