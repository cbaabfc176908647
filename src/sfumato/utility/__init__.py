"""Utility: what a recoding cost, per attribute and in total."""

from sfumato.utility.measure import AttributeLoss, Utility, measure

__all__ = ["AttributeLoss", "Utility", "measure"]
