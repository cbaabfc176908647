"""Top-down local recoding: Algorithm 2 of Wong, Li, Fu and Wang, for many attributes."""

from sfumato.recode.local.top_down.rounds import top_down

__all__ = ["top_down"]
