"""Re-identification from known values: how many of a person's values somebody must know to find the person's row.

The chapter's exercise 16. Sensitive values are known as well as others: whoever was told a diagnosis, or saw a rating,
knows one. Success is counted over B, the number of values that are known.
"""

from sfumato.attack.known.found import Known, Over, Point
from sfumato.attack.known.measure import known
from sfumato.attack.known.memory import known_release

__all__ = ["Known", "Over", "Point", "known", "known_release"]
