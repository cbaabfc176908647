"""Earlier releases: reading them, matching their records with the current table's, and counting over the join.

The join itself is never made. `star_of` reads the releases of a policy, `history_of` joins them with one another by
groups of equal records, `Pairs` says what the current table's groups match, and `Anonymity` and `Linkability` count.
"""

from sfumato.previous.anonymity import Anonymity
from sfumato.previous.asked import Asked, asked
from sfumato.previous.gather import star_of
from sfumato.previous.history import History, history_of
from sfumato.previous.lines import Judged, Lines
from sfumato.previous.linkability import Linkability
from sfumato.previous.pairs import Matcher, Pairs
from sfumato.previous.star import Star

__all__ = [
    "Anonymity",
    "Asked",
    "History",
    "Judged",
    "Lines",
    "Linkability",
    "Matcher",
    "Pairs",
    "Star",
    "asked",
    "history_of",
    "star_of",
]
