"""Queries: what a published release answers, by expected value with its standard error, or by the paper's estimate.

A release is opened from its public files alone (`opened`), and loaded into DuckDB (`load`) with what its labels stand
for (`labels/`). A query is read by DuckDB's own parser (`question`, `walk`), divided into what can be worked out apart
(`parts`), and answered by one statement (`two_tables`, `generalized`, `paper`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.queries.answers import Answer, Answers, Estimate
    from sfumato.queries.opened import Opened, open_release, query

_HOMES = {
    "Answer": "answers",
    "Answers": "answers",
    "Estimate": "answers",
    "Opened": "opened",
    "open_release": "opened",
    "query": "opened",
}

__all__ = ["Answer", "Answers", "Estimate", "Opened", "open_release", "query"]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: whoever only reads labels pays for no query."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato.queries' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.queries.{_HOMES[name]}"), name)
