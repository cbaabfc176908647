"""Contracts that every model and every algorithm keeps, for ours and for other people's.

>>> from sfumato.models import KAnonymity
>>> check_model(KAnonymity(3))

The oracles that they hold fast code against are here as well: the definitions of models, labels and joins word for
word on plain rows, and exhaustive search.
"""

from sfumato.testing.model_contract import check_model, random_classes, require_achieved, select_classes
from sfumato.testing.random_tables import TableCase, random_case
from sfumato.testing.recoder_contract import check_recoder, check_release

__all__ = [
    "TableCase",
    "check_model",
    "check_recoder",
    "check_release",
    "random_case",
    "random_classes",
    "require_achieved",
    "select_classes",
]
