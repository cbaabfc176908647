"""Contracts that every member of a family keeps, for ours and for other people's.

>>> from sfumato.models import KAnonymity
>>> check_model(KAnonymity(3))
"""

from sfumato.checks.generate import random_classes, subset
from sfumato.checks.model import check_model, meeting

__all__ = ["check_model", "meeting", "random_classes", "subset"]
