r"""Labels of sets: ``{Bern, Thun}``, a value itself, and ``*`` for all values.

Members stand in the order of their text, NULL last as the bare word NULL, and between two of them stand a comma and a
blank. In a member a backslash goes before each comma, brace and backslash, and before the text NULL. A value alone is
published as it is, unless that would read as something else (it begins with a brace or is ``*``): then it stands in
braces.

>>> write_set(["Thun", None, "a,b"]), parse_set(write_set(["Thun", None, "a,b"]))
('{Thun, a\\,b, NULL}', ('Thun', 'a,b', None))
"""

import re
from collections.abc import Iterable

from sfumato.hierarchy.base import ROOT, Label

_SPECIAL = re.compile(r"[,{}\\]")
_MEMBERS = re.compile(r"((?:[^,\\]|\\.)*)(?:, |$)", re.DOTALL)
_NULL = "NULL"


def in_order(values: Iterable[Label]) -> list[Label]:
    """Values in the order of their text, NULL last.

    >>> in_order([None, "b", "a"])
    ['a', 'b', None]
    """
    return sorted(values, key=lambda value: (value is None, value or ""))


def member(value: Label) -> str:
    r"""A value as it stands in a set.

    >>> member(None), member("NULL"), member("{a, b}")
    ('NULL', '\\NULL', '\\{a\\, b\\}')
    """
    if value is None:
        return _NULL
    return f"\\{value}" if value == _NULL else _SPECIAL.sub(r"\\\g<0>", value)


def alone(value: Label) -> Label:
    r"""A value by itself.

    >>> alone("Bern"), alone(None), alone("*"), alone("{a}")
    ('Bern', None, '{*}', '{\\{a\\}}')
    """
    strange = value is not None and (value.startswith("{") or value == ROOT)
    return braced([member(value)]) if strange else value


def braced(members: Iterable[str]) -> str:
    """Members as they stand in a set, as the set.

    >>> braced(["Bern", "Thun"])
    '{Bern, Thun}'
    """
    return f"{{{', '.join(members)}}}"


def write_set(values: Iterable[Label]) -> Label:
    """The label of one value or more.

    >>> write_set(["b", "a"]), write_set(["a"])
    ('{a, b}', 'a')
    """
    known = in_order(values)
    return alone(known[0]) if len(known) == 1 else braced(map(member, known))


def parse_set(label: Label) -> tuple[Label, ...]:
    """The values that a label stands for, in its order; none for ``*``, which names none.

    >>> parse_set("{Bern, NULL}"), parse_set("Bern"), parse_set(None), parse_set("*")
    (('Bern', None), ('Bern',), (None,), ())
    """
    if label == ROOT:
        return ()
    if label is None or not (label.startswith("{") and label.endswith("}")):
        return (label,)
    found, text, end = [], label[1:-1], 0
    while True:
        match = _MEMBERS.match(text, end)
        if match is None:
            raise ValueError(f"not a set: {label!r}")
        found.append(_read(match[1]))
        if not match[0].endswith(", ") or match.end(1) == len(text):
            return tuple(found)
        end = match.end()


def _read(text: str) -> Label:
    return None if text == _NULL else re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
