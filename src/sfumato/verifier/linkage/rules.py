"""What a requirement over the join with earlier releases may say, key by key."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

ANONYMITY, LINKABILITY = "xy-anonymity", "xy-linkability"
ROW = "$row"


def is_xy(rule: Mapping[str, Any]) -> bool:
    """Whether a requirement is about the join with earlier releases."""
    return rule.get("model") in (ANONYMITY, LINKABILITY)


def is_row_key(reference: str) -> bool:
    """Whether a name stands for the rows of a table, each a value of its own.

    >>> is_row_key("$row"), is_row_key("immigration.$row"), is_row_key("row")
    (True, True, False)
    """
    return reference == ROW or reference.endswith(f".{ROW}")


def _names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**62


def _share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 < value <= 1


def _protected(value: Any) -> bool:
    """Texts, lists of texts, or a table of text to share."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) and _share(share) for key, share in value.items())
    return _names(value) or (isinstance(value, list | tuple) and bool(value) and all(map(_names, value)))


XY_KEYS: dict[str, dict[str, Callable[[Any], bool]]] = {
    ANONYMITY: {"x": _names, "y": _names, "k": _whole, "releases": _names},
    LINKABILITY: {"x": _names, "y": _names, "k": _share, "values": _protected, "releases": _names},
}


def xy_objection(model: str, given: Mapping[str, Any]) -> str | None:
    """What is wrong with a requirement whose keys are each of the right kind, or nothing.

    >>> xy_objection("xy-anonymity", {"x": ["sex"], "y": ["sex"], "k": 2})
    "xy-anonymity has 'sex' in both x and y"
    >>> xy_objection("xy-linkability", {"x": ["sex"], "y": ["test"], "values": ["HIV"]})
    'xy-linkability lacks its k'
    """
    x, y = given["x"], given["y"]
    for key, names in (("x", x), ("y", y)):
        twice = [name for name in names if list(names).count(name) > 1]
        if twice:
            return f"{model} has {twice[0]!r} twice in its {key}"
    both = [name for name in x if name in y]
    if both:
        return f"{model} has {both[0]!r} in both x and y"
    keys = [name for name in x if is_row_key(name)]
    if keys:
        return f"{model} has {keys[0]!r} in x, and a row key links each row to itself"
    return _values_objection(model, given, y)


def _values_objection(model: str, given: Mapping[str, Any], y: Sequence[str]) -> str | None:
    values = given.get("values")
    if "k" not in given and not isinstance(values, Mapping):
        return f"{model} lacks its k"
    if values is None:
        return None
    if any(map(is_row_key, y)):
        return f"{model} names values of a row key, which has none to name"
    if isinstance(values, Mapping):
        return None if len(y) == 1 else f"{model} has a threshold for each value, which needs one column in y"
    fits = all(isinstance(each, str) if len(y) == 1 else len(each) == len(y) and _names(each) for each in values)
    return None if fits else f"values of {model} do not fit its y: give texts for one column, lists of texts for more"
