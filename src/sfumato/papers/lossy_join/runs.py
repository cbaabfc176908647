"""The runs of the lossy-join experiment: the releases of each method, and their query errors at each point."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sfumato.labels.data_dictionary import describe_labels
from sfumato.papers.lossy_join.points import METHODS, QUASI, SEED, Method, Point
from sfumato.papers.occupations import SENSITIVE, Occupations
from sfumato.release import Release, anonymize
from sfumato.split import tables_from_recoding
from sfumato.utility.labelled import labels_of
from sfumato.utility.queries import Answers, Workload, draw, of_labels, of_two_tables, query_errors


def released(adult: Occupations, method: Method, point: Point) -> Release:
    """The verified release of a method; quasi-identifiers beyond the point's number are left out of it."""
    rest = {name: {"role": "identifier"} for name in QUASI[point.attributes :]}
    document = {
        "columns": adult.columns | rest,
        "privacy": [method.privacy],
        "algorithm": method.search | {"seed": SEED},
        "publish": {"form": method.form},
    }
    return anonymize(adult.frame.take(_sample(adult.frame.num_rows, point.rows)), document)


def _sample(every: int, rows: int) -> Any:
    """Rows at random, those of a smaller sample among those of a larger one."""
    return np.sort(np.random.default_rng(SEED).permutation(every)[:rows])


def cases(
    adult: Occupations, every: Sequence[Point], *, queries: int, at_default: tuple[Point, Sequence[Method]]
) -> Iterator[dict[str, Any]]:
    """The figures of each method at each point, all asked the same queries; of some methods at one point alone."""
    default, extra = at_default
    for rows, attributes in dict.fromkeys((point.rows, point.attributes) for point in every):
        mine = [point for point in every if (point.rows, point.attributes) == (rows, attributes)]
        for method in (*METHODS, *(extra if default in mine else ())):
            release = released(adult, method, mine[0])
            answers = answers_of(release)
            for point in [default] if method in extra else mine:
                yield measured(release, answers, point, queries=queries) | {"method": method.label}


def answers_of(release: Release) -> Answers:
    """A release as it answers queries on the occupation."""
    if release.policy.publish.split:
        return of_two_tables(tables_from_recoding(release.encoded, release.recoding), release.encoded, SENSITIVE)
    labels = labels_of(release.encoded, release.recoding)
    entries = {one.name: describe_labels(release.policy.columns[one.name], one.texts) for one in labels.quasi}
    return of_labels(labels, release.encoded, SENSITIVE, entries=entries)


def measured(release: Release, answers: Answers, point: Point, *, queries: int) -> dict[str, Any]:
    """The query errors of a release at a point."""
    work = Workload(queries, point.dimensions, point.selectivity, SEED)
    errors = query_errors(draw(release.encoded, SENSITIVE, work), answers).as_json()
    kept = {key: errors[key] for key in ("answered", "zero", "expected", "paper")}
    return {**vars(point), "classes": len(release.recoding.classes), **kept}
