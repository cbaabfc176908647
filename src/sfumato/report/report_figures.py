"""The figures of a report that take time, together: they can be worked out while something else is waited for.

Columns before and after, how pairs of them go together, and how far counts from the release are off: the workload of
the lossy-join paper, asked of what is published.
"""

from dataclasses import dataclass

from sfumato.publish.manifest import describe_columns
from sfumato.publish.publication import Publication
from sfumato.report.association import Association, measure_association
from sfumato.report.before_after import ColumnComparison, are_means, compare_columns
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

QUERIES, _DIMENSIONS, _LEAST = 100, 4, 20
"""As many as `sfumato utility` asks unless it is told otherwise, so that it finds the same."""
MOST_QUERIED = 3
"""So many sensitive columns are asked of at most."""
_LINES = 50_000
"""Where a table has more different lines than this, fewer queries are asked: the work stays the same."""


@dataclass(frozen=True, eq=False)
class ReportFigures:
    """Columns before and after, the association of their pairs, and how far counts are off, by sensitive column.

    There is no association where there is no pair of columns, or it cannot be measured, and no error where no query
    can be asked.
    """

    columns: list[ColumnComparison]
    association: Association | None
    query_errors: dict[str, QueryErrors]


def measure_figures(publication: Publication) -> ReportFigures:
    """Work out the figures of a publication as it is in memory."""
    columns = compare_columns(publication)
    known = publication.encoded.why_unmeasured is None
    association = measure_association(publication, columns) if known and len(columns) > 1 else None
    errors = query_errors_by_column(publication) if why_no_queries(publication) is None else {}
    return ReportFigures(columns, association, errors)


def query_errors_by_column(publication: Publication) -> dict[str, QueryErrors]:
    """Measure the errors of queries on each of the first sensitive columns."""
    workload = choose_workload(publication)
    return {
        name: measure_query_errors(draw_queries(publication.encoded, name, workload), _answers(publication, name))
        for name in queried_columns(publication)
    }


def queried_columns(publication: Publication) -> list[str]:
    """The sensitive columns that are asked of."""
    return list(publication.encoded.sensitive)[:MOST_QUERIED]


def why_no_queries(publication: Publication) -> str | None:
    """Why no query can be asked, in a sentence; nothing where they can."""
    if not publication.encoded.sensitive:
        return "Queries ask of a sensitive column, and the policy names none."
    if any(are_means(publication, attribute) for attribute in publication.encoded.quasi):
        return (
            "Means, medians and modes of classes do not tell what values they stand for, so a count of rows with such "
            "values cannot be worked out."
        )
    return publication.encoded.why_unmeasured


def choose_workload(publication: Publication) -> Workload:
    """Fewer queries where each takes longer."""
    lines = len(publication.encoded.tuples)
    queries = max(_LEAST, min(QUERIES, QUERIES * _LINES // max(lines, 1)))
    return Workload(queries, min(_DIMENSIONS, len(publication.encoded.quasi)))


def _answers(publication: Publication, name: str) -> CountEstimator:
    """What a reader answers, who goes by the labels and the data dictionary, or by two tables."""
    encoded, recoding = publication.encoded, publication.recoding
    if recoding.group is not None:
        return estimator_from_tables(tables_from_recoding(encoded, recoding), encoded, name)
    (table,) = publication.tables.values()
    entries = {entry["name"]: entry for entry in describe_columns(table, publication)}
    return estimator_from_labels(
        tables_of_labels(encoded, recoding), encoded, name, levels=recoding.levels, entries=entries
    )
