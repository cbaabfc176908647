"""Risk: how easily a row can be tied to a person."""

from sfumato.risk.persons import DEFAULT_K, Persons, asked_k, persons_of
from sfumato.risk.prosecutor import Risk, risk_of

__all__ = ["DEFAULT_K", "Persons", "Risk", "asked_k", "persons_of", "risk_of"]
