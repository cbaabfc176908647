"""Query error: random COUNT queries, answered from the original and from a release (lossy-join paper, section 7)."""

from sfumato.utility.queries.accuracy import Errors, QueryErrors, query_errors
from sfumato.utility.queries.answers import Answers, of_labels, of_two_tables
from sfumato.utility.queries.drawing import Drawn, draw
from sfumato.utility.queries.workload import Query, Workload

__all__ = [
    "Answers",
    "Drawn",
    "Errors",
    "Query",
    "QueryErrors",
    "Workload",
    "draw",
    "of_labels",
    "of_two_tables",
    "query_errors",
]
