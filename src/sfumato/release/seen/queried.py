"""How far counts from the release are off: the workload of the lossy-join paper, asked of what is published."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.release import manifest
from sfumato.release.seen.column import are_means
from sfumato.split import tables_from_recoding
from sfumato.utility.query_error import (
    CountEstimator,
    QueryErrors,
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    measure_query_errors,
    tables_of_labels,
)

if TYPE_CHECKING:
    from sfumato.release.release import Release

QUERIES, _DIMENSIONS, _LEAST = 100, 4, 20
"""As many as `sfumato utility` asks unless it is told otherwise, so that it finds the same."""

COLUMNS = 3
"""So many sensitive columns are asked of at most."""

_LINES = 50_000
"""Where a table has more different lines than this, fewer queries are asked: the work stays the same."""


def queried(release: "Release") -> dict[str, QueryErrors]:
    """The errors of queries on each of the first sensitive columns."""
    work = workload(release)
    return {
        name: measure_query_errors(draw_queries(release.encoded, name, work), _answers(release, name))
        for name in asked(release)
    }


def asked(release: "Release") -> list[str]:
    """The sensitive columns that are asked of."""
    return list(release.encoded.sensitive)[:COLUMNS]


def unasked(release: "Release") -> str | None:
    """Why no query can be asked, in a sentence; nothing where they can."""
    if not release.encoded.sensitive:
        return "Queries ask of a sensitive column, and the policy names none."
    means = [one.name for one in release.encoded.quasi if are_means(release, one)]
    if means:
        return "Means do not tell what values they stand for, so a count of rows with such values cannot be worked out."
    return None


def workload(release: "Release") -> Workload:
    """Fewer queries where each takes longer."""
    lines = len(release.encoded.tuples)
    queries = max(_LEAST, min(QUERIES, QUERIES * _LINES // max(lines, 1)))
    return Workload(queries, min(_DIMENSIONS, len(release.encoded.quasi)))


def _answers(release: "Release", name: str) -> CountEstimator:
    encoded, recoding = release.encoded, release.recoding
    if recoding.group is not None:
        return estimator_from_tables(tables_from_recoding(encoded, recoding), encoded, name)
    return estimator_from_labels(
        tables_of_labels(encoded, recoding), encoded, name, levels=recoding.levels, entries=_entries(release)
    )


def _entries(release: "Release") -> Mapping[str, Mapping[str, Any]]:
    """The data dictionary: what a reader goes by."""
    (table,) = release.tables.values()
    return {entry["name"]: entry for entry in manifest.dictionary(table, release.recoding, release.policy)}
