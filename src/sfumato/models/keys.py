"""What a policy key may hold: a reader that objects in a sentence, and the same as JSON schema.

A model states its keys once, as annotated fields::

    k: Annotated[int, WHOLE, "the fewest rows of a class"]

Validation, the policy's schema and the manifest's `required` are all read off that line.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from sfumato.errors import PolicyError


@dataclass(frozen=True)
class Kind:
    """A kind of value: its name in a sentence, its test, and its form in Python and in JSON.

    `load` is for keys that name a file: it makes the value from the text and the policy's folder.

    >>> WHOLE.read(3, key="k")
    3
    >>> WHOLE.read(2.0, key="k")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: k: must be a whole number of at least 1, not 2.0
    """

    sentence: str
    accepts: Callable[[Any], bool]
    schema: Mapping[str, object]
    make: Callable[[Any], object] = lambda value: value
    dump: Callable[[Any], object] = lambda value: value
    load: Callable[[str, Path], object] | None = None

    def read(self, value: object, *, key: str) -> object:
        """The value as the model keeps it."""
        if not self.accepts(value):
            raise PolicyError(f"must be {self.sentence}, not {value!r}", key=key)
        return self.make(value)


@dataclass(frozen=True)
class Key:
    """One key of a model: what it may hold, what it means and whether it must be given."""

    kind: Kind
    meaning: str
    default: object

    @property
    def needed(self) -> bool:
        """Whether a policy must give it."""
        return self.default is MISSING


@cache
def keys_of(model: Any) -> Mapping[str, Key]:
    """The policy keys of a model, read off its annotated fields, keyword-only ones last."""
    hints = get_type_hints(model, include_extras=True)
    items = sorted(fields(model), key=lambda item: item.kw_only is True)
    notes = {item.name: hints[item.name].__metadata__ for item in items}
    return {item.name: Key(notes[item.name][0], notes[item.name][1], item.default) for item in items}


def _real(value: object) -> bool:
    # A bool is an int to Python, but `alpha = true` is a slip of the pen.
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _share(value: object) -> bool:
    return _real(value) and 0 < value <= 1  # type: ignore[operator]  # a real number, as has just been seen


def _protected(value: object) -> bool:
    """Texts, lists of texts, or a table from texts to shares; one at least."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) and _share(bound) for key, bound in value.items())
    lines = value if isinstance(value, list | tuple) else ()
    return bool(lines) and all(isinstance(line, str) or _texts(line) for line in lines)


def _lists(value: Any) -> object:
    """The same as JSON has it."""
    if isinstance(value, Mapping):
        return dict(value)
    return [line if isinstance(line, str) else list(line) for line in value]


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)


WHOLE = Kind(
    "a whole number of at least 1",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
    {"type": "integer", "minimum": 1},
)
SHARE = Kind(
    "a number above 0 and at most 1",
    _share,
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
)
FACTOR = Kind("a number above 0", lambda value: _real(value) and value > 0, {"type": "number", "exclusiveMinimum": 0})
LIMIT = Kind("a number of at least 0", lambda value: _real(value) and value >= 0, {"type": "number", "minimum": 0})
DIVERSITY = Kind("a number of at least 1", lambda value: _real(value) and value >= 1, {"type": "number", "minimum": 1})
TEXT = Kind("the name of a column", _text, {"type": "string", "minLength": 1})
TEXTS = Kind(
    "a list of texts, one at least",
    _texts,
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
    make=tuple,
    dump=list,
)
NAMES = Kind(
    "a list of names, one at least and none twice",
    lambda value: _texts(value) and all(value) and len(set(value)) == len(value),
    {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": True},
    make=tuple,
    dump=list,
)
FLAG = Kind("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
PROTECTED = Kind(
    "a list of values, or a table from values to the bound of each, a number above 0 and at most 1",
    _protected,
    {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "minItems": 1}, "minItems": 1},
            {"type": "object", "additionalProperties": SHARE.schema, "minProperties": 1},
        ]
    },
    make=lambda value: dict(value) if isinstance(value, Mapping) else tuple(value),
    dump=_lists,
)
