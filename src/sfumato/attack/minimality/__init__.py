"""The minimality attack: what the optimality of the algorithm betrays (Wong, Fu, Wang and Pei 2007)."""

from sfumato.attack.minimality.found import Betrayed, Beyond, Looked, Minimality
from sfumato.attack.minimality.measure import QUICK, THOROUGH, Effort, minimality

__all__ = ["QUICK", "THOROUGH", "Betrayed", "Beyond", "Effort", "Looked", "Minimality", "minimality"]
