"""Utility: what a publication cost, in lost information and in the error of queries."""

from sfumato.utility.information_loss import AttributeLoss, Utility, measure

__all__ = ["AttributeLoss", "Utility", "measure"]
