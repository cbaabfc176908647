"""Queries: what a published release answers, by expected value with its standard error, or by the paper's estimate.

A release is opened from its public files alone (`opened`), and loaded into DuckDB (`load`) with what its labels stand
for (`labels/`). A query is read by DuckDB's own parser (`question`, `walk`), divided into what can be worked out apart
(`parts`), and answered by one statement (`two_tables`, `generalized`, `paper`).
"""

from sfumato.queries.answers import Answer, Answers, Estimate
from sfumato.queries.opened import Opened, open_release, query

__all__ = ["Answer", "Answers", "Estimate", "Opened", "open_release", "query"]
