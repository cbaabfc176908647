"""How far answers from a release are from the truth."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.utility.queries.answers import Answers
from sfumato.utility.queries.drawing import Drawn, Progress


@dataclass(frozen=True)
class Errors:
    """Relative errors, |actual - estimated| / actual, over a workload; ``None`` where no query was answered.

    `ninth_decile` is the error that nine queries in ten stay within.
    """

    average: float | None
    median: float | None
    ninth_decile: float | None

    @classmethod
    def of(cls, errors: FloatArray) -> "Errors":
        """Of the errors of each query.

        >>> Errors.of(np.array([0.0, 0.5, 1.0]))
        Errors(average=0.5, median=0.5, ninth_decile=0.9)
        """
        if not len(errors):
            return cls(None, None, None)
        return cls(*(float(x) for x in (errors.mean(), np.median(errors), np.quantile(errors, 0.9))))


@dataclass(frozen=True)
class QueryErrors:
    """The errors of both estimates over one workload, with what the workload was.

    `asked` queries were wanted and `answered` have a relative error; `zero` times one was drawn whose true count is
    zero, which has none.
    """

    asked: int
    answered: int
    zero: int
    sensitive: str
    dimensions: int
    selectivity: float
    seed: int
    expected: Errors
    paper: Errors

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def query_errors(drawn: Drawn, answers: Answers, *, progress: Progress | None = None) -> QueryErrors:
    """Ask every query of the release, and compare with its true count."""
    told = np.empty((len(drawn.queries), 2))
    for place, query in enumerate(drawn.queries):
        told[place] = answers.estimates(query)
        if progress:
            progress(place + 1, len(drawn.queries))
    errors = np.abs(told - drawn.actual[:, None]) / drawn.actual[:, None]
    work = drawn.workload
    return QueryErrors(
        work.queries,
        len(drawn.queries),
        drawn.zero,
        drawn.sensitive,
        work.dimensions,
        work.selectivity,
        work.seed,
        Errors.of(errors[:, 0]),
        Errors.of(errors[:, 1]),
    )
