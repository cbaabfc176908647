"""Bottom-up local recoding: Algorithm 2 of the identity-reserved paper."""

from sfumato.recode.local.bottom_up.algorithm import bottom_up
from sfumato.recode.local.bottom_up.mark import Step, steps

__all__ = ["Step", "bottom_up", "steps"]
