"""The policy's tables as JSON could hold them: what is checked is what the audit will show."""

from collections.abc import Mapping
from datetime import date, time
from math import isfinite
from numbers import Integral
from pathlib import PurePath

from sfumato.errors import PolicyError
from sfumato.policy.section import dotted

# TOML promises 64 bits. Python would read more, and then refuse to print what it has read.
_LARGEST = 2**63 - 1


def plain(value: object, key: str = "") -> object:
    """A copy of `value` made of text, numbers, booleans, lists and tables alone; dates become ISO text.

    >>> from datetime import date
    >>> plain({"values": (date(1979, 5, 27), 3)})
    {'values': ['1979-05-27', 3]}
    """
    match value:
        case Mapping():
            return {_name(name, key): plain(item, _inside(key, str(name))) for name, item in value.items()}
        case list() | tuple():
            return [plain(item, f"{key}[{index}]") for index, item in enumerate(value)]
    return _scalar(value, key)


def tables(policy: Mapping[str, object]) -> dict[str, object]:
    """The whole policy, plain.

    >>> tables({"algorithm": {"seed": float("nan")}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.seed: must be a finite number, not nan
    """
    try:
        return {_name(name, ""): plain(item, dotted(str(name))) for name, item in policy.items()}
    except RecursionError:
        raise PolicyError("the policy is nested too deeply to be read") from None


def _scalar(value: object, key: str) -> object:
    match value:
        case bool():
            return value
        case str():
            return _text(str.__str__(value), key)  # a member of any text enum becomes its value
        case Integral():
            return _whole(int(value), key)
        case float():
            return _finite(float(value), key)
        case date() | time():
            return value.isoformat()
        case PurePath():
            return str(value)
    raise PolicyError(f"must be text, a number, a list or a table, not {type(value).__name__}", key=key)


def _text(value: str, key: str) -> str:
    # No file can be named so, and no cell of a text file holds it: systems end a text there.
    if "\0" in value:
        raise PolicyError("must not hold the character NUL", key=key)
    return value


def _whole(value: int, key: str) -> int:
    if abs(value) > _LARGEST:
        raise PolicyError(f"must be a whole number of at most {_LARGEST}", key=key)
    return value


def _finite(value: float, key: str) -> float:
    if not isfinite(value):
        raise PolicyError(f"must be a finite number, not {value}", key=key)
    return value


def _name(name: object, key: str) -> str:
    if not isinstance(name, str):
        raise PolicyError(f"must have text as its keys, not {type(name).__name__}", key=key)
    return str.__str__(name)


def _inside(key: str, name: str) -> str:
    return f"{key}.{dotted(name)}" if key else dotted(name)
