"""Top-down specialization: from the most general table down, one value of one column at a time.

The algorithm of Fung, Wang and Yu for one table, and of Wang and Fung 2006 for one that earlier releases can be joined
with. A column is published at a cut of its taxonomy: exactly one label on every path from the root to a leaf.
"""

from sfumato.recode.tds.specialization import specialize_top_down

__all__ = ["specialize_top_down"]
