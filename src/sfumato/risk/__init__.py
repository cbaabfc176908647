"""Risk: how easily a row can be tied to a person."""

from sfumato.risk.prosecutor import Risk, risk_of

__all__ = ["Risk", "risk_of"]
