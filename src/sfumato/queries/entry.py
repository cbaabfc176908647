"""Entries of the data dictionary, checked for form before they are believed: anybody may have changed the file."""

from collections.abc import Callable, Mapping
from typing import Any

Entry = Mapping[str, Any]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_list(value: Any, each: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and bool(value) and all(map(each, value))


def _is_leaf(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_domain(value: Any) -> bool:
    return _is_list(value, _is_number) and len(value) == 2 and value[0] <= value[1]


def _is_mask(value: Any) -> bool:
    length = value.get("length", 1) if isinstance(value, dict) else None
    return isinstance(length, int) and length > 0 and value.get("side") in {"left", "right"}


_KEYS: dict[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "role": _is_text,
    "type": _is_text,
    "form": _is_text,
    "table": _is_text,
    "covers": lambda value: isinstance(value, dict) and all(_is_list(leaves, _is_leaf) for leaves in value.values()),
    "integers": lambda value: isinstance(value, bool),
    "domain": _is_domain,
    "dates": lambda value: _is_list(value, _is_text),
    "date_format": _is_text,
    "mask": _is_mask,
    "least": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
}


def is_sound(entry: Any) -> bool:
    """Whether an entry has a name, and nothing that means something in a form that does not.

    >>> is_sound({"name": "age", "domain": [0, 119]}), is_sound({"name": "age", "domain": "0-119"})
    (True, False)
    """
    if not isinstance(entry, dict) or "name" not in entry:
        return False
    return all(test(entry[key]) for key, test in _KEYS.items() if key in entry)
