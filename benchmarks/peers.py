"""What Python's Mondrians take on ARX's rows with eight quasi-identifiers, k = 5: constants, not measured in this run.

Source: the project's data notes. Seconds of the anonymization alone, on a machine of this kind (2 cores); losses are
NCP.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """Seconds of search, and what the result loses where it is known."""

    search: float
    loss: float | None = None


MONDRIAN = Peer(0.5, 0.068)
"""A strict Mondrian in pure Python, by hierarchy."""
MONDRIAN_MILLION = Peer(20)
"""The same on a million rows."""
MONDRIAN_SETS = Peer(60, 0.032)
"""anonypy: Mondrian over value sets."""
