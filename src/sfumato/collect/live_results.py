"""Results of a running collection: the distribution of each question, recovered from what has been sent so far."""

import time
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.collect.additive_noise import AdditiveNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.category_noise import UnaryNoise
from sfumato.collect.channel import BinnedChannel, category_channel
from sfumato.collect.collection_form import CollectionForm, Question
from sfumato.collect.expectation_maximization import MixtureLikelihood, iterate_plainly, iterations_by_held_out

Floats = NDArray[np.float64]

LEAST_ANSWERS = 20
"""Below so many answers there is nothing to recover."""
_RESAMPLES = 100
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
            | (reconstruct_question(table, question) if table.num_rows >= LEAST_ANSWERS else {})
            for question in self._form.questions
        ]
        self.last = {"title": self._form.title, "answers": table.num_rows, "questions": questions}
        took = time.monotonic() - started
        self._next = time.monotonic() + max(_WAIT, 4 * took)
        return self.last


def reconstruct_question(table: pa.Table, question: Question) -> dict[str, Any]:
    """Recover the distribution of one question, with 95 % intervals, in the form of ``collect reconstruct --json``."""
    noise, column = question.noise, table.column(question.name)
    head = {"column": question.name, "method": "bayes", "rows": table.num_rows}
    match noise:
        case UnaryNoise() | FlipNoise():
            names = noise.values if isinstance(noise, UnaryNoise) else noise.items
            add = noise.add if isinstance(noise, UnaryNoise) else 1 - noise.keep
            seen = _count_members(column, names) / table.num_rows
            spread = 1.96 * np.sqrt(np.maximum(seen * (1 - seen), 0.25 / table.num_rows) / table.num_rows)
            off = np.array([[0.0], [-1.0], [1.0]]) * np.sign(noise.keep - add)
            figures = np.clip((seen + off * spread - add) / (noise.keep - add), 0, 1)  # float[3, names]
            return head | {"iterations": 0, "method": "inversion"} | _values(names, *figures)
        case AdditiveNoise():
            channel = BinnedChannel.of(noise, question.bins)
            cells = channel.observe(np.asarray(column.to_numpy(zero_copy_only=False), np.float64))
            counts = np.bincount(cells, minlength=len(channel.matrix)).astype(np.float64)
            shares, low, high, iterations = _fit(channel.matrix, counts)
            bins = [
                {"low": float(a), "high": float(b), "share": float(s), "low95": float(x), "high95": float(y)}
                for a, b, s, x, y in zip(channel.edges[:-1], channel.edges[1:], shares, low, high, strict=True)
            ]
            return head | {"iterations": iterations, "bins": bins}
    codes = {value: place for place, value in enumerate(noise.values)}
    places = np.array([codes[value] for value in column.to_pylist()], np.int64)
    counts = np.bincount(places, minlength=len(codes)).astype(np.float64)
    shares, low, high, iterations = _fit(category_channel(noise), counts)
    return head | {"iterations": iterations} | _values(noise.values, shares, low, high)


def _values(names: tuple[str, ...], shares: Floats, low: Floats, high: Floats) -> dict[str, Any]:
    lines = zip(names, shares.tolist(), low.tolist(), high.tolist(), strict=True)
    return {"values": [{"value": v, "share": s, "low95": a, "high95": b} for v, s, a, b in lines]}


def _count_members(column: pa.ChunkedArray, names: tuple[str, ...]) -> Floats:
    """Count in how many reports, sets joined by ``|``, each member is."""
    counts = dict.fromkeys(names, 0)
    for entry in column.value_counts().to_pylist():
        for member in filter(None, entry["values"].split("|")):
            counts[member] += entry["counts"]
    return np.array([counts[name] for name in names], np.float64)


def _fit(channel: Floats, counts: Floats) -> tuple[Floats, Floats, Floats, int]:
    """Fit shares by as many plain steps as held-out reports ask for, and their bootstrap intervals, all at once."""
    problem = MixtureLikelihood(channel, counts[None, None])
    steps = iterations_by_held_out(problem)
    shares = iterate_plainly(problem, steps).shares[0, 0]
    generator = np.random.default_rng(0)  # protects nobody, and the same answers give the same picture
    drawn = generator.multinomial(int(counts.sum()), counts / counts.sum(), size=_RESAMPLES).astype(np.float64)
    again = iterate_plainly(MixtureLikelihood(channel, drawn[:, None]), steps).shares[:, 0]
    low, high = np.quantile(again, [0.025, 0.975], axis=0)
    return shares, np.minimum(low, shares), np.maximum(high, shares), steps
