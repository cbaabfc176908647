"""What an adversary can do with a release, measured: one attack per room."""

from sfumato.attack.definetti import QUICK, Attacked, Bound, Definetti, Effort, Original, bounds, definetti

__all__ = ["QUICK", "Attacked", "Bound", "Definetti", "Effort", "Original", "bounds", "definetti"]
