"""What a requirement may say: every key is checked before it gets near a statement.

Manifests come from outside. A key that this version does not know may make a requirement stricter, so it is an
objection too, not something to pass over.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from sfumato.verifier.linkage.rules import XY_KEYS, xy_objection

DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd")

Test = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**62


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)


def _share(value: Any) -> bool:
    return _number(value) and 0 < value <= 1


_ALPHA: dict[str, Test] = {
    "alpha": _share,
    "column": _text,
    "columns": _texts,
    "values": _texts,
    "refined": lambda value: isinstance(value, bool),
}
_LINKED: dict[str, Test] = {"linked_k": _whole}
_KEYS: dict[str, dict[str, Test]] = {
    "k-anonymity": {"k": _whole},
    "alpha-deassociation": _ALPHA,
    "alpha-k-anonymity": {"k": _whole, **_ALPHA},
    "distinct-l-diversity": {"column": _text, "l": _whole},
    "entropy-l-diversity": {"column": _text, "l": lambda value: _number(value) and value >= 1},
    "recursive-l-diversity": {"column": _text, "l": _whole, "c": lambda value: _number(value) and value > 0},
    "t-closeness": {
        "column": _text,
        "t": lambda value: _number(value) and value >= 0,
        "distance": lambda value: value in DISTANCES,
        "costs": _text,
    },
    "identity-k-anonymity": {"k": _whole, **_LINKED},
    "identity-kl-diversity": {"column": _text, "k": _whole, "l": _whole, **_LINKED},
    "identity-alpha-beta": {"column": _text, "alpha": _share, "beta": _share, **_LINKED},
    **XY_KEYS,
}
_OPTIONAL = {"column", "columns", "values", "refined", "costs", "linked_k", "releases"}


def objection(rule: Any, *, persons: bool = False) -> str | None:
    """What is wrong with a requirement on a release whose rows name `persons` or not, or nothing.

    >>> objection({"model": "k-anonymity", "k": 5})
    >>> objection({"model": "k-anonymity", "k": "5"})
    "k of k-anonymity cannot be '5'"
    >>> objection({"model": "identity-k-anonymity", "k": 5})
    'identity-k-anonymity counts individuals, and the release has no column of the role individual'
    """
    model = rule.get("model") if isinstance(rule, Mapping) else None
    if not isinstance(model, str) or model not in _KEYS:
        return f"{model!r} is not a requirement that this version can verify"
    keys, given = _KEYS[model], {key: value for key, value in rule.items() if key != "model" and value is not None}
    strange = [str(key) for key in given if key not in keys]
    if strange:
        return f"'{strange[0]}' is not a key of {model} that this version can verify"
    if "linked_k" in keys and not persons:
        return f"{model} counts individuals, and the release has no column of the role individual"
    return _objection(model, keys, given)


def _objection(model: str, keys: Mapping[str, Test], given: Mapping[str, Any]) -> str | None:
    optional = _OPTIONAL | ({"k"} if isinstance(given.get("values"), Mapping) else set())
    lacking = [key for key in keys if key not in given and key not in optional]
    if lacking:
        return f"{model} lacks its {lacking[0]}"
    if "column" in keys and not looked_at(given):
        return f"{model} lacks its column"
    wrong = [key for key, value in given.items() if not keys[key](value)]
    if wrong:
        return f"{wrong[0]} of {model} cannot be {given[wrong[0]]!r}"
    return xy_objection(model, given) if model in XY_KEYS else None


def looked_at(rule: Mapping[str, Any]) -> tuple[str, ...]:
    """The sensitive columns that a requirement looks at.

    >>> looked_at({"model": "alpha-deassociation", "alpha": 0.5, "columns": ["a", "b"]})
    ('a', 'b')
    """
    return tuple(rule.get("columns") or (() if rule.get("column") is None else (rule["column"],)))


def shares(rule: Mapping[str, Any]) -> dict[str, Any]:
    """The bound on the shares of sensitive values, in the keys of alpha-deassociation; empty if there is none.

    >>> shares({"model": "identity-alpha-beta", "column": "illness", "alpha": 0.2, "beta": 0.5})
    {'column': 'illness', 'alpha': 0.5}
    """
    if rule.get("alpha") is None:
        return {}
    return dict(rule) if rule.get("beta") is None else {"column": rule["column"], "alpha": rule["beta"]}


def by_person(rule: Mapping[str, Any]) -> bool:
    """Whether a requirement is about the rows of each person, and not only about how many persons there are.

    >>> [by_person({"model": "identity-k-anonymity", "k": 5, **more}) for more in ({}, {"linked_k": 2})]
    [False, True]
    """
    return rule["model"] == "identity-alpha-beta" or rule.get("linked_k") is not None
