"""Earlier releases: reading them, matching their records with the current table's, and counting over the join.

The join itself is never made. `link_releases` reads the releases of a policy, `join_history` joins them with one
another by groups of equal records, `GroupMatches` says which of these the current table's groups match, and
`bind_requirement` gives what counts (X, Y)-privacy over the matches.
"""

from sfumato.previous.linked_releases import EarlierRelease, LinkedReleases, link_releases
from sfumato.previous.release_join import GroupMatches, HistoryTable, RecordMatcher, join_history
from sfumato.previous.xy_counts import (
    AnonymityJudge,
    CurrentCounts,
    JoinRequirement,
    LinkabilityJudge,
    XYResult,
    bind_requirement,
)

__all__ = [
    "AnonymityJudge",
    "CurrentCounts",
    "EarlierRelease",
    "GroupMatches",
    "HistoryTable",
    "JoinRequirement",
    "LinkabilityJudge",
    "LinkedReleases",
    "RecordMatcher",
    "XYResult",
    "bind_requirement",
    "join_history",
    "link_releases",
]
