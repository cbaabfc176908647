"""Progressive local recoding: Algorithm 1 of Wong, Li, Fu and Wang."""

from sfumato.recode.local.progressive.loop import loops, progressive

__all__ = ["loops", "progressive"]
