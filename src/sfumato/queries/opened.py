"""Opened: a release that is loaded once and answers any number of queries."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from sfumato.errors import InputError
from sfumato.queries import generalized, paper, two_tables
from sfumato.queries.account import read_account
from sfumato.queries.answers import Answer, Answers
from sfumato.queries.database import answering, connect
from sfumato.queries.load import load
from sfumato.queries.measures import Measures
from sfumato.queries.question import Question, read_question
from sfumato.queries.sql import Plan
from sfumato.queries.tree import mentioned

ESTIMATES = ("expected", "paper")
_MOST = 2e9
"""Combinations that a query may look at; more would take minutes."""


class Opened:
    """The public part of a release, loaded into memory once; it is closed by ``close``, or as a context manager.

    Where there is only one query to answer, it is read `asking` for that, and no more than that takes.
    """

    def __init__(self, folder: str | Path, *, asking: str | None = None) -> None:
        self.account = read_account(folder)
        connection = connect(self.account.paths)
        only = None if asking is None else mentioned(connection, asking)
        self.loaded = load(connection, self.account, only=only)

    def query(self, text: str, *, estimate: str = "expected") -> Answers:
        """What the release answers to a query.

        The `estimate` is ``expected``, an expected value with its standard error, or ``paper``.
        """
        if estimate not in ESTIMATES:
            raise InputError(f"there is no estimate {estimate!r}; choose {' or '.join(ESTIMATES)}")
        with answering():
            question = read_question(self.loaded.connection, text, self.loaded.columns)
            measures = Measures.of(question)
            plan = self._plan(question, measures, estimate)
            self._check_work(plan)
            lines = self.loaded.connection.execute(plan.sql).fetchall()
        answers = tuple(_answer(line, question, measures, spread=plan.spread) for line in lines)
        return Answers(self.account.form, estimate, question.names, answers, self._explained(question, plan))

    def close(self) -> None:
        """Give the memory back."""
        self.loaded.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _plan(self, question: Question, measures: Measures, estimate: str) -> Plan:
        plans = {
            (False, "expected"): generalized.expected,
            (False, "paper"): paper.from_labels,
            (True, "expected"): two_tables.expected,
            (True, "paper"): paper.from_tables,
        }
        return plans[self.account.split, estimate](question, measures, self.loaded.columns)

    def _check_work(self, plan: Plan) -> None:
        """Refuse what would take minutes, before it does."""
        for counts in plan.work:
            found = [self.loaded.connection.execute(counts[0]).fetchone()[0] or 0.0]
            found += [
                self.loaded.connection.execute(one).fetchone()[0] or 0.0 for one in counts[1:] if min(found) > _MOST
            ]
            if min(found) > _MOST:
                raise InputError(
                    f"the query takes {min(found):.1g} combinations of lines or values; ask about fewer columns, group "
                    "by fewer, or join conditions by AND, each about one column"
                )

    def _explained(self, question: Question, plan: Plan) -> str:
        """The statement, and what its columns are called in the release."""
        asked = [one.argument for one in question.aggregates if one.argument] + list(question.conditions)
        used = {column.place for column in question.groups}.union(*(one.columns for one in asked))
        names = [f"-- c{place} is {json.dumps(self.loaded.columns[place].name, ensure_ascii=False)}" for place in used]
        return "\n".join([*sorted(names), plan.sql])


def open_release(folder: str | Path) -> Opened:
    """A release to ask many queries; `folder` is the release or its public part."""
    return Opened(folder)


def query(folder: str | Path, text: str, *, estimate: str = "expected") -> Answers:
    """What a release answers to a query: expected counts, sums and averages with their standard errors.

    `folder` is the release or its ``public`` part, of any form that anonymize writes. `text` is SQL without FROM.
    `estimate` is ``expected`` or ``paper``, the estimate of Wong et al. To ask many queries,
    `sfumato.queries.open_release` loads the release once.

    >>> import tempfile, sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> folder = sf.anonymize(hospital(300), hospital_policy()).save(Path(tempfile.mkdtemp()) / "release")
    >>> sf.query(folder, "select count(*) where illness = 'flu'")[0].values["count(*)"]
    Estimate(estimate=..., standard_error=0.0)
    """
    with Opened(folder, asking=text) as release:
        return release.query(text, estimate=estimate)


def _answer(line: Sequence[Any], question: Question, measures: Measures, *, spread: bool) -> Answer:
    groups, figures = line[: len(question.groups)], line[len(question.groups) :]
    sums, covariances = figures[: len(measures.items)], figures[len(measures.items) :]
    estimates = measures.estimates(sums, covariances if spread else None)
    names = [aggregate.name for aggregate in question.aggregates]
    return Answer(dict(zip(question.names, groups, strict=True)), dict(zip(names, estimates, strict=True)))
