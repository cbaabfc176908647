"""Which labels of two columns fit each other: those under which some value lies in both."""

from sfumato.matching.labels.fitting import Fitting, fitting, unexplained
from sfumato.matching.labels.side import Side

__all__ = ["Fitting", "Side", "fitting", "unexplained"]
