"""Permanent responses: the same answer to the same question is sent as the same report, however often it is asked.

Whoever draws anew at each asking gives the answer away in the end: the mean of a thousand reports has a thirtieth of
the noise. So what was drawn is remembered, per question, noise and true answer (Erlingsson, Pihur and Korolova 2014),
in a file that only its owner can read. It is remembered before it is sent. Two collectors that ask the same question
under the same noise get the same report, and learn nothing more together.
"""

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Unperturbed
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError, OutputError, quote, shorten

_TABLES = (
    "CREATE TABLE IF NOT EXISTS reports (question TEXT PRIMARY KEY, report TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS pending (collector TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
)


def perturb_answer(name: str, noise: ColumnNoise, answer: Any, randomness: Randomness | None = None) -> Any:
    """Draw the report of one answer, as it is sent: a number, a text, or a list of texts.

    >>> from sfumato.collect.basket_noise import FlipNoise
    >>> perturb_answer("basket", FlipNoise(("bread", "milk"), 0.999999), ["milk"], Randomness(seed=1))
    ['milk']
    """
    source = Randomness() if randomness is None else randomness
    match noise:
        case AdditiveNoise():
            number = float(noise.perturb(np.array([_read_number(name, noise, answer)]), source)[0])
            return number + 0.0  # no minus before a zero
        case FlipNoise():
            bits = np.array([[item in _read_basket(name, noise, answer) for item in noise.items]])
            return [item for item, bit in zip(noise.items, noise.perturb(bits, source)[0], strict=True) if bit]
        case Unperturbed():
            raise InputError(f"column {quote(name)} is sent as it is, and a collector takes perturbed answers alone")
    code = np.array([_read_value(name, noise.values, answer)])
    if isinstance(noise, UnaryNoise):
        return [value for value, bit in zip(noise.values, noise.perturb(code, source)[0], strict=True) if bit]
    return noise.values[int(noise.perturb(code, source)[0])]


class PermanentResponses:
    """What was drawn for each answer so far, in a file that only its owner can read.

    >>> import tempfile
    >>> from sfumato.channels.additive_noise import GaussianNoise
    >>> memory = PermanentResponses(Path(tempfile.mkdtemp(), "answers.memory"))
    >>> noise = GaussianNoise(20.0, (0.0, 100.0))
    >>> len({memory.report("age", noise, 34) for _ in range(10)})  # asked ten times, drawn once
    1
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def report(self, name: str, noise: ColumnNoise, answer: Any) -> Any:
        """Give what is sent in place of an answer: what was drawn for it before, or what is drawn for it now."""
        question = json.dumps([name, noise.as_json(), _same_answer(name, noise, answer)], sort_keys=True)
        known = "SELECT report FROM reports WHERE question = ?"
        with self._opened() as memory:
            found = memory.execute(known, (question,)).fetchall()
            if not found:
                # Two processes may ask at once: one of them draws, and the other gets that.
                drawn = json.dumps(perturb_answer(name, noise, answer))
                memory.execute("INSERT OR IGNORE INTO reports VALUES (?, ?)", (question, drawn))
                memory.commit()
                found = memory.execute(known, (question,)).fetchall()
        return json.loads(found[0][0])

    def pending(self, collector: str) -> bytes | None:
        """Give what was sent to a collector and not acknowledged."""
        with self._opened() as memory:
            found = memory.execute("SELECT body FROM pending WHERE collector = ?", (collector,)).fetchall()
        return bytes(found[0][0]) if found else None

    def set_pending(self, collector: str, body: bytes | None) -> None:
        """Remember what is being sent to a collector; nothing, when it was acknowledged."""
        with self._opened() as memory:
            memory.execute("DELETE FROM pending WHERE collector = ?", (collector,))
            if body is not None:
                memory.execute("INSERT INTO pending VALUES (?, ?)", (collector, body))
            memory.commit()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        name = shorten(self._path.name)
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                status = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise OutputError(f"{name} cannot keep what was drawn ({error.strerror}); name another file") from None
        if not stat.S_ISREG(status.st_mode) or stat.S_IMODE(status.st_mode) & 0o077:
            raise OutputError(f"{name} can be read by others, and holds answers; allow its owner alone, by chmod 600")
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as memory:
                for statement in _TABLES:
                    memory.execute(statement)
                yield memory
        except sqlite3.DatabaseError as error:
            raise OutputError(
                f"{name} cannot keep what was drawn ({type(error).__name__}); name another file, or mend this one"
            ) from None


def _same_answer(name: str, noise: ColumnNoise, answer: Any) -> Any:
    """Write an answer so that equal ones are equal texts."""
    match noise:
        case AdditiveNoise():
            return int(np.rint(_read_number(name, noise, answer) / noise.step))
        case FlipNoise():
            return sorted(_read_basket(name, noise, answer))
    return answer


def _read_number(name: str, noise: AdditiveNoise, answer: Any) -> float:
    if isinstance(answer, bool) or not isinstance(answer, int | float | np.integer | np.floating):
        raise DataError(f"column {quote(name)}: the answer must be a number")
    noise.check_values(np.array([float(answer)]), name)
    return float(answer)


def _read_basket(name: str, noise: FlipNoise, answer: Any) -> set[str]:
    if isinstance(answer, str) or not all(isinstance(item, str) for item in answer):
        raise DataError(f"column {quote(name)}: the answer must be a list of items")
    if not set(answer) <= set(noise.items):
        raise DataError(f"column {quote(name)}: the answer has an item that the noise does not know; leave it out")
    return set(answer)


def _read_value(name: str, values: tuple[str, ...], answer: Any) -> int:
    if answer not in values:
        raise DataError(f"column {quote(name)}: the answer is none of the values in the noise; choose one of them")
    return values.index(answer)
