"""Queries: what a published release answers, by expected value with its standard error, or by the paper's estimate.

A release is read from its public files alone and loaded into DuckDB (`query_database`, `query_tables`). A query is read
by DuckDB's own parser (`sql_reader`), divided into parts that are computed independently (`query_plan`), and answered
by one statement (`expected_one_table`, `expected_two_tables`, `paper_estimate`). `answers` is the way in.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.queries.answers import Answer, Answers, Estimate, OpenRelease, open_release, query

__all__ = ["Answer", "Answers", "Estimate", "OpenRelease", "open_release", "query"]


def __getattr__(name: str) -> Any:
    """Import a name when it is used, so that importing the package does not import DuckDB."""
    if name not in __all__:
        raise AttributeError(f"module 'sfumato.queries' has no attribute '{name}'")
    return getattr(import_module("sfumato.queries.answers"), name)
