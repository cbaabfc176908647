"""The published noise of a collection: how each column is perturbed, as a frozen value and as ``noise.json``.

The file is public. Whoever answers can see what happens to the answer before it leaves, and whoever analyses needs the
same figures to recover distributions.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MatrixNoise, ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise_correlation import NoiseCorrelation
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, did_you_mean, listing, quote

FORMAT = "sfumato-noise/1"
_LARGEST_FILE = 1 << 26


@dataclass(frozen=True)
class Unperturbed:
    """A column that is sent as it is, such as the arm of a trial that the collector assigned: no protection at all."""

    kind: ClassVar[str] = "plain"
    epsilon: ClassVar[float] = math.inf

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind}


ColumnNoise = AdditiveNoise | MatrixNoise | ResponseNoise | UnaryNoise | FlipNoise | Unperturbed


@dataclass(frozen=True)
class Noise:
    """The noise of every column of a collection, and how the noise of some Gaussian columns is correlated.

    >>> noise = Noise.read({"format": "sfumato-noise/1", "columns": {
    ...     "age": {"kind": "laplace", "scale": 25.0, "domain": [0, 100]},
    ...     "vote": {"kind": "response", "values": ["a", "b", "c"], "keep": 0.6}}})
    >>> noise.columns["age"].epsilon
    4.0
    >>> round(noise.epsilon, 4)  # of one person's whole answer
    5.7047
    >>> Noise.read(noise.as_json()) == noise
    True
    """

    columns: Mapping[str, ColumnNoise]
    correlation: NoiseCorrelation | None = None

    @classmethod
    def load(cls, source: "Noise | Mapping[str, Any] | str | Path") -> "Noise":
        """Take a noise, the content of a file, or the path of one."""
        if isinstance(source, Noise):
            return source
        if isinstance(source, Mapping):
            return cls.read(source)
        path = Path(source)
        content = read_regular_file(path, most=_LARGEST_FILE, what="a noise file")
        try:
            document = json.loads(content, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, _WrongJson) else "is not JSON"
            raise InputError(f"{path.name} {reason}; write it as the guide on collecting shows") from None
        try:
            return cls.read(document)
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None

    @classmethod
    def read(cls, document: object) -> "Noise":
        """Check the content of a noise file, key by key."""
        if not isinstance(document, Mapping):
            raise InputError(f'must be an object with "format": "{FORMAT}" and "columns"')
        if document.get("format") != FORMAT:
            raise InputError(f'"format" must be "{FORMAT}", not {quote(document.get("format"))}')
        _check_keys(document, ("format", "columns"), "a noise file", optional=("correlation",))
        columns = document.get("columns")
        if not isinstance(columns, Mapping) or not columns:
            raise InputError('"columns" must say how at least one column is perturbed')
        read = {name: _read_column(name, entry) for name, entry in columns.items()}
        shape = document.get("correlation")
        return cls(read, None if shape is None else NoiseCorrelation.read(shape, read))

    def as_json(self) -> dict[str, Any]:
        """Give the content of ``noise.json``."""
        document = {"format": FORMAT, "columns": {name: noise.as_json() for name, noise in self.columns.items()}}
        return document if self.correlation is None else document | {"correlation": self.correlation.as_json()}

    @property
    def epsilon(self) -> float:
        """The local ε of a whole answer, the sum over the columns; infinite where one of them has none."""
        return math.fsum(noise.epsilon for noise in self.columns.values())

    def column(self, name: str) -> ColumnNoise:
        """Find the noise of a column."""
        if name not in self.columns:
            hint = did_you_mean(name, self.columns) or f"; it knows {listing(self.columns)}"
            raise InputError(f"the noise does not know the column {quote(name)}{hint}")
        return self.columns[name]

    def save(self, path: str | Path) -> None:
        """Write the noise file."""
        Path(path).write_text(json.dumps(self.as_json(), indent=1) + "\n", encoding="utf-8")

    def perturb(self, frame: Any, *, seed: int | None = None) -> Any:
        """Perturb every row of a frame, as `sfumato.collect.perturb` does."""
        return import_module(__package__).perturb(frame, self, seed=seed)

    def reconstruct(self, data: Any, column: str, **options: Any) -> Any:
        """Recover the distribution of a column, as `sfumato.collect.reconstruct` does."""
        return import_module(__package__).reconstruct(data, self, column, **options)


class _WrongJson(ValueError):
    pass


def _refuse_constant(name: str) -> float:
    raise _WrongJson(f"holds {name}, which is no number")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _WrongJson(f"has the key {quote(next(name for name in names if names.count(name) > 1))} twice")
    return dict(pairs)


def _check_keys(entry: Mapping[Any, Any], known: tuple[str, ...], what: str, *, optional: tuple[str, ...] = ()) -> None:
    for key in entry:
        if key not in known + optional:
            raise InputError(f"{quote(key)} is not a key of {what}{did_you_mean(str(key), known + optional)}")
    for key in known:
        if key not in entry:
            raise InputError(f"the key {quote(key)} is missing")


def _number(entry: Mapping[Any, Any], key: str) -> float:
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{key} must be a number, not {quote(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{key} must be a number of a usual size") from None


def _numbers(value: object, key: str, count: int | None = None) -> tuple[float, ...]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise InputError(f"{key} must be a list of {count if count is not None else ''} numbers".replace("  ", " "))
    return tuple(_number({key: item}, key) for item in value)


def _texts(entry: Mapping[Any, Any], key: str) -> tuple[str, ...]:
    value = entry[key]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{key} must be a list of texts")
    return tuple(value)


def _additive(kind: type[AdditiveNoise]) -> Callable[[Mapping[Any, Any]], ColumnNoise]:
    def read(entry: Mapping[Any, Any]) -> ColumnNoise:
        low, high = _numbers(entry["domain"], "domain", 2)
        return kind(_number(entry, kind.parameter), (low, high))

    return read


def _matrix(entry: Mapping[Any, Any]) -> ColumnNoise:
    rows = entry["matrix"]
    if not isinstance(rows, list):
        raise InputError("matrix must be a list of rows, each a list of numbers")
    return MatrixNoise(_texts(entry, "values"), tuple(_numbers(row, "each row of matrix") for row in rows))


_KINDS: dict[str, tuple[tuple[str, ...], Callable[[Mapping[Any, Any]], ColumnNoise]]] = {
    "gaussian": (("kind", "sigma", "domain"), _additive(GaussianNoise)),
    "uniform": (("kind", "half_width", "domain"), _additive(UniformNoise)),
    "laplace": (("kind", "scale", "domain"), _additive(LaplaceNoise)),
    "response": (("kind", "values", "keep"), lambda e: ResponseNoise(_texts(e, "values"), _number(e, "keep"))),
    "matrix": (("kind", "values", "matrix"), _matrix),
    "unary": (
        ("kind", "values", "keep", "add"),
        lambda e: UnaryNoise(_texts(e, "values"), _number(e, "keep"), _number(e, "add")),
    ),
    "flip": (("kind", "items", "keep"), lambda e: FlipNoise(_texts(e, "items"), _number(e, "keep"))),
    "plain": (("kind",), lambda _: Unperturbed()),
}
"""The keys of each kind, and how it is made of them."""


def _read_column(name: object, entry: object) -> ColumnNoise:
    """Read the entry of one column; an error names the column and the key."""
    if not isinstance(name, str) or not name:
        raise InputError("the name of a column must be a text that is not empty")
    try:
        return _read_entry(entry)
    except InputError as error:
        raise InputError(f"column {quote(name)}: {error}") from None


def _read_entry(entry: object) -> ColumnNoise:
    if not isinstance(entry, Mapping):
        raise InputError('must be an object such as {"kind": "laplace", "scale": 3.0, "domain": [0, 60]}')
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        hint = did_you_mean(kind, _KINDS) if isinstance(kind, str) else ""
        raise InputError(f"kind must be one of {', '.join(_KINDS)}, not {quote(kind)}{hint}")
    keys, make = _KINDS[kind]
    _check_keys(entry, keys, f"the kind {kind}")
    return make(entry)
