"""Results of a running collection: the distribution of each question, recovered from what has been sent so far."""

import time
from typing import Any

import pyarrow as pa

from sfumato.collect.collection_form import CollectionForm, Question
from sfumato.collect.noise import Noise
from sfumato.collect.reconstruction import reconstruct

LEAST_ANSWERS = 20
"""Below so many answers there is nothing to recover."""
_WAIT = 2.0
"""Seconds between two computations, at least, and at least four times as long as the last one took."""


class LiveResults:
    """The results of a form, worked out anew when answers have come, and not more often than a machine can bear."""

    def __init__(self, form: CollectionForm) -> None:
        self._form = form
        self._next = 0.0
        self.last: dict[str, Any] | None = None

    def is_fresh(self, answers: int) -> bool:
        """Tell whether the last results still serve: nothing came, or it is too early to look again."""
        return self.last is not None and (self.last["answers"] == answers or time.monotonic() < self._next)

    def compute(self, table: pa.Table) -> dict[str, Any]:
        """Work the results out from all answers so far."""
        started = time.monotonic()
        questions = [
            {"name": question.name, "text": question.text}
            | (self._recover(table, question) if table.num_rows >= LEAST_ANSWERS else {})
            for question in self._form.questions
        ]
        self.last = {"title": self._form.title, "answers": table.num_rows, "questions": questions}
        took = time.monotonic() - started
        self._next = time.monotonic() + max(_WAIT, 4 * took)
        return self.last

    @staticmethod
    def _recover(table: pa.Table, question: Question) -> dict[str, Any]:
        """Recover one question, in the form of ``collect reconstruct --json``."""
        noise = Noise({question.name: question.noise})
        return reconstruct(table, noise, question.name, bins=question.bins).as_json()
