"""Answers: the figures of a query, for each group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A figure and its standard error, both ``None`` where there is nothing to tell.

    An average of no rows is ``None``. The estimate of the paper has no standard error.
    """

    estimate: float | None
    standard_error: float | None

    def as_json(self) -> dict[str, float | None]:
        """Plain data."""
        return {"estimate": self.estimate, "standard_error": self.standard_error}


@dataclass(frozen=True)
class Answer:
    """The figures of one group: `group` has its value in each column, `values` each figure by its name."""

    group: Mapping[str, Any]
    values: Mapping[str, Estimate]


@dataclass(frozen=True)
class Answers:
    """What a release of some `form` answers to a query, by an `estimate`: one `Answer` per group, in order.

    `columns` are those that were grouped by; without them there is one answer. `sql` is what DuckDB was asked.

    >>> answers = Answers("generalized", "expected", (), (Answer({}, {"count(*)": Estimate(4.0, 0.5)}),), "SELECT …")
    >>> answers[0].values["count(*)"].estimate
    4.0
    >>> answers.as_json()["answers"]
    [{'group': {}, 'values': {'count(*)': {'estimate': 4.0, 'standard_error': 0.5}}}]
    """

    form: str
    estimate: str
    columns: tuple[str, ...]
    answers: tuple[Answer, ...]
    sql: str

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """Plain data, as ``sfumato query --json`` prints it; with the SQL where it is to `explain` itself."""
        listed = [
            {"group": dict(one.group), "values": {name: value.as_json() for name, value in one.values.items()}}
            for one in self.answers
        ]
        found = {"form": self.form, "estimate": self.estimate, "columns": list(self.columns), "answers": listed}
        return found | ({"sql": self.sql} if explain else {})
