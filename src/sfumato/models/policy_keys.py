"""What a key of a [[privacy]] entry may hold: a test that objects in a sentence, and the same as JSON schema.

A model states its keys once, as annotated fields::

    k: Annotated[int, WHOLE_NUMBER, "the fewest rows of a class"]

Validation, the policy's schema, the reference and the manifest's `required` are all read off that line.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from sfumato.core.numbers import is_number
from sfumato.errors import PolicyError, quote


@dataclass(frozen=True)
class KeyType:
    """A type of value: how a sentence calls it, its test, and its form in Python, in JSON and in a file.

    `phrase` completes "must be". `convert` makes the value that the model keeps, `to_json` turns it back. `load_file`
    is for keys that name a file: it makes the value from the name and the policy's folder.

    >>> WHOLE_NUMBER.read(3, key="k")
    3
    >>> WHOLE_NUMBER.read(2.0, key="k")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: k: must be a whole number of at least 1, not 2.0
    """

    phrase: str
    accepts: Callable[[Any], bool]
    schema: Mapping[str, object]
    convert: Callable[[Any], object] = lambda value: value
    to_json: Callable[[Any], object] = lambda value: value
    load_file: Callable[[str, Path], object] | None = None

    def read(self, value: object, *, key: str) -> object:
        """Check a value, and convert it to what the model keeps."""
        if not self.accepts(value):
            raise PolicyError(f"must be {self.phrase}, not {quote(value)}", key=key)
        return self.convert(value)


@dataclass(frozen=True)
class PolicyKey:
    """One key of a model: what it may hold, what it is for, and what it is where it is left out."""

    key_type: KeyType
    description: str
    default: object

    @property
    def required(self) -> bool:
        """Whether a policy must give it."""
        return self.default is MISSING


@cache
def model_keys(model: Any) -> Mapping[str, PolicyKey]:
    """List the policy keys of a model class, read off its annotated fields, keyword-only ones last.

    >>> from sfumato.models import KAnonymity
    >>> model_keys(KAnonymity)["k"].description
    'the fewest rows of a class (people, where rows name individuals)'
    """
    hints = get_type_hints(model, include_extras=True)
    ordered = sorted(fields(model), key=lambda field: field.kw_only is True)
    keys = {}
    for field in ordered:
        key_type, description = hints[field.name].__metadata__
        keys[field.name] = PolicyKey(key_type, description, field.default)
    return keys


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 < value <= 1


def _is_text_list(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(text, str) for text in value)


def _is_protected(value: object) -> bool:
    """Tell whether these are texts, lists of texts, or a table from texts to shares; at least one."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(text, str) and _is_share(bound) for text, bound in value.items())
    items = value if isinstance(value, list | tuple) else ()
    return bool(items) and all(isinstance(item, str) or _is_text_list(item) for item in items)


def _protected_to_json(value: Any) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return [item if isinstance(item, str) else list(item) for item in value]


WHOLE_NUMBER = KeyType(
    "a whole number of at least 1",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
    {"type": "integer", "minimum": 1},
)
SHARE = KeyType(
    "a number above 0 and at most 1",
    _is_share,
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
)
ABOVE_ZERO = KeyType(
    "a number above 0",
    lambda value: is_number(value) and value > 0,
    {"type": "number", "exclusiveMinimum": 0},
)
AT_LEAST_ZERO = KeyType(
    "a number of at least 0",
    lambda value: is_number(value) and value >= 0,
    {"type": "number", "minimum": 0},
)
AT_LEAST_ONE = KeyType(
    "a number of at least 1",
    lambda value: is_number(value) and value >= 1,
    {"type": "number", "minimum": 1},
)
FLAG = KeyType("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
COLUMN_NAME = KeyType(
    "the name of a column",
    lambda value: isinstance(value, str) and value != "",
    {"type": "string", "minLength": 1},
)
TEXT_LIST = KeyType(
    "a list of texts, one at least",
    _is_text_list,
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
    convert=tuple,
    to_json=list,
)
NAME_LIST = KeyType(
    "a list of names, one at least and none twice",
    lambda value: _is_text_list(value) and all(value) and len(set(value)) == len(value),
    {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": True},
    convert=tuple,
    to_json=list,
)
PROTECTED_VALUES = KeyType(
    "a list of values, or a table from values to the bound of each, a number above 0 and at most 1",
    _is_protected,
    {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "minItems": 1}, "minItems": 1},
            {"type": "object", "additionalProperties": SHARE.schema, "minProperties": 1},
        ]
    },
    convert=lambda value: dict(value) if isinstance(value, Mapping) else tuple(value),
    to_json=_protected_to_json,
)
