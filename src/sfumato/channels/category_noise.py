"""Noise for one of several answers: randomized response, any transition matrix, and unary encoding.

Randomized response (Warner 1965) keeps the true answer with some chance and otherwise reports any answer. A transition
matrix says the chance of each report for each true answer, whatever they are. Unary encoding (Wang, Blocki, Li and Jha
2017) reports a set: each answer is in it or not, with other chances for the true one than for the rest; with many
answers that recovers their shares far better than randomized response at the same ε.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness
from sfumato.errors import InputError, quote

Floats = NDArray[np.float64]

MANY_CATEGORIES = 10
"""Above so many answers unary encoding is proposed in place of randomized response."""
_ADDS_UP = 1e-9


def check_names(names: Sequence[str], what: str, *, least: int) -> None:
    """Refuse a list of answers or items that has too few, one twice, or one that cannot stand in a cell."""
    if len(names) < least:
        raise InputError(f"{what} must be a list of at least {least} different texts")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"{what} has {quote(twice)} twice; leave one out")
    if "" in names:
        raise InputError(f"{what} has an empty text, which a cell cannot tell from no answer; give it a name")


def draw_uniform(shape: tuple[int, ...], randomness: Randomness) -> Floats:
    """Draw numbers from [0, 1) with 53 random bits each."""
    words = randomness.words(math.prod(shape)) >> np.uint64(11)
    return (words.astype(np.float64) * 2.0**-53).reshape(shape)


@dataclass(frozen=True)
class MatrixNoise:
    """A transition matrix: ``matrix[i][j]`` is the chance that somebody whose answer is i reports j.

    >>> noise = MatrixNoise(("x", "y"), ((0.8, 0.2), (0.3, 0.7)))
    >>> round(noise.epsilon, 4)  # ln(0.7 / 0.2)
    1.2528
    """

    values: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]

    kind: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        check_names(self.values, "values", least=2)
        count = len(self.values)
        if len(self.matrix) != count or any(len(row) != count for row in self.matrix):
            raise InputError(f"matrix must have {count} rows of {count} numbers, one for each of the values")
        for number, row in enumerate(self.matrix, start=1):
            if not all(math.isfinite(chance) and 0 <= chance <= 1 for chance in row):
                raise InputError(f"row {number} of matrix must be chances from 0 to 1")
            if abs(math.fsum(row) - 1) > _ADDS_UP:
                raise InputError(f"row {number} of matrix adds up to {math.fsum(row):.10g} and not to 1")

    @property
    def transition(self) -> Floats:
        """The matrix as an array, float[true, report]."""
        return np.array(self.matrix)

    @property
    def epsilon(self) -> float:
        """The largest log ratio of two chances of the same report; infinite where a report rules an answer out."""
        chances = self.transition
        likely, least = chances.max(axis=0), chances.min(axis=0)
        possible = likely > 0
        return math.inf if (least[possible] == 0).any() else float(np.log(likely[possible] / least[possible]).max())

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind, "values": list(self.values), "matrix": [list(row) for row in self.matrix]}

    def perturb(self, codes: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Report an answer for each of n true ones, both as places in `values`.

        Answers of one value share a row of the matrix, whose running sums are searched for all of them at once.
        """
        uniform = draw_uniform((len(codes),), randomness)
        reports = np.empty(len(codes), np.int64)
        sums = np.cumsum(self.transition, axis=1)
        for value in np.unique(codes).tolist():
            chosen = codes == value
            reports[chosen] = np.searchsorted(sums[value], uniform[chosen] * sums[value, -1], side="right")
        return reports


@dataclass(frozen=True)
class ResponseNoise:
    """Randomized response: the true answer with chance `keep`, else any of all answers, each as likely.

    >>> noise = ResponseNoise(("a", "b", "c"), 0.6)
    >>> noise.transition.round(4).tolist()[0]
    [0.7333, 0.1333, 0.1333]
    >>> round(noise.epsilon, 4)  # ln 5.5
    1.7047
    """

    values: tuple[str, ...]
    keep: float

    kind: ClassVar[str] = "response"

    def __post_init__(self) -> None:
        check_names(self.values, "values", least=2)
        if not 0 < self.keep < 1:  # NaN is neither
            raise InputError(f"keep must be a number above 0 and below 1, not {quote(self.keep)}")

    @property
    def transition(self) -> Floats:
        """The chances of each report, float[true, report]."""
        count = len(self.values)
        return np.full((count, count), (1 - self.keep) / count) + self.keep * np.eye(count)

    @property
    def epsilon(self) -> float:
        """The log ratio of the chances of a report that is true and of one that is not."""
        return math.log1p(self.keep * len(self.values) / (1 - self.keep))

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind, "values": list(self.values), "keep": self.keep}

    def perturb(self, codes: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Report an answer for each of n true ones, both as places in `values`."""
        kept = draw_uniform((len(codes),), randomness) < self.keep
        anything = (draw_uniform((len(codes),), randomness) * len(self.values)).astype(np.int64)
        return np.where(kept, codes, anything)


@dataclass(frozen=True)
class UnaryNoise:
    """Unary encoding: the true answer is in the report with chance `keep`, every other one with chance `add`.

    >>> noise = UnaryNoise.of_epsilon(("a", "b", "c"), 1.0)
    >>> noise.keep, round(noise.add, 4), round(noise.epsilon, 6)
    (0.5, 0.2689, 1.0)
    """

    values: tuple[str, ...]
    keep: float
    add: float

    kind: ClassVar[str] = "unary"

    @classmethod
    def of_epsilon(cls, values: Sequence[str], epsilon: float) -> "UnaryNoise":
        """Choose the chances that recover shares best at an ε: one half, and 1 / (e^ε + 1)."""
        return cls(tuple(values), 0.5, 1 / (math.exp(epsilon) + 1))

    def __post_init__(self) -> None:
        check_names(self.values, "values", least=2)
        for name in self.values:
            if "|" in name:
                raise InputError(f"values has {quote(name)}, and | parts the values of a report; rename it")
        if not 0 < self.add < self.keep < 1:
            chances = f"{quote(self.add)} and {quote(self.keep)}"
            raise InputError(f"add and keep must be above 0 and below 1, and add below keep, not {chances}")

    @property
    def epsilon(self) -> float:
        """Two answers differ in two places of the report: ln(keep (1 - add) / (add (1 - keep)))."""
        return math.log(self.keep * (1 - self.add) / (self.add * (1 - self.keep)))

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind, "values": list(self.values), "keep": self.keep, "add": self.add}

    def perturb(self, codes: NDArray[np.int64], randomness: Randomness) -> NDArray[np.bool_]:
        """Report a set for each of n true answers: bool[n, values]."""
        limits = np.full((len(codes), len(self.values)), self.add)
        limits[np.arange(len(codes)), codes] = self.keep
        return draw_uniform(limits.shape, randomness) < limits


CategoryNoise = MatrixNoise | ResponseNoise
"""Kinds whose report is one of the values."""
