r"""Columns without fixed levels: the algorithm chooses ranges or sets, and publishes those.

The label of a range is written and read as in `intervals`. That of a set is ``{Bern, Thun}``, a value itself, or ``*``
for all values. Members are in the order of their text, NULL last as the bare word NULL, with a comma and a blank
between them. In a member a backslash goes before each comma, brace and backslash, and before the text NULL. A value
alone is published as it is, unless that would read as something else (it begins with a brace or is ``*``): then it is
in braces.

>>> write_set(["Thun", None, "a,b"]), read_set(write_set(["Thun", None, "a,b"]))
('{Thun, a\\,b, NULL}', ('Thun', 'a,b', None))
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import PolicyError, quote
from sfumato.hierarchy.hierarchy import ROOT, Branch, Hierarchy, Label, build, label_paths, rank_values, refuse_values
from sfumato.hierarchy.intervals import policy_domain, policy_number, read_numbers

_SPECIAL = re.compile(r"[,{}\\]")
_MEMBER = re.compile(r"((?:[^,\\]|\\.)*)(?:, |$)", re.DOTALL)
_NULL = "NULL"
_LONGEST_MEMBER = 1000
"""Characters of a value at most: the label of a class has all of its values, and stands in each of its rows."""


class OpenEnded:
    """The part of a Spec that kinds without fixed levels share: they have no taxonomy, and join no tables."""

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Find the paths of ``*`` and NULL alone: ranges and sets overlap, so that no other label has one.

        >>> OpenEnded().paths(["Bern", "{Bern, Thun}", "*", None], column="town")
        [None, None, ('*',), (None, '*')]
        """
        return label_paths(labels, lambda _: None, null=(None, ROOT))


@dataclass(frozen=True)
class Ranges(OpenEnded):
    """``{ ranges = true }``: numbers, published as ranges that the algorithm chooses.

    `domain` is the lowest and the highest number there can be, both included. `integers` says that values are whole
    numbers and ranges are written ``35-39``; left out, it is so where a domain of whole numbers is declared. It is
    never found from the values: one record would change the labels of all.

    >>> Ranges(domain=(0, 250)).bind(["180", "95"], column="height").ranks.tolist()
    [1, 0]
    """

    ranges: bool = True
    domain: Sequence[float] | None = None
    integers: bool | None = None

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "No fixed levels: the algorithm chooses ranges (Mondrian).",
        "properties": {
            "ranges": {"const": True, "description": "Always true."},
            "domain": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 2,
                "maxItems": 2,
                "description": "The lowest and the highest number there can be, both included.",
            },
            "integers": {
                "type": "boolean",
                "description": "Whether all values are integers; true when left out, if a domain of integers is given.",
            },
        },
        "required": ["ranges"],
        "additionalProperties": False,
    }

    def __post_init__(self) -> None:
        if self.ranges is not True:
            raise PolicyError(f"must be true, not {quote(self.ranges)}", key="ranges")
        if self.domain is not None:
            object.__setattr__(self, "domain", policy_domain(self.domain, "domain"))
        if not isinstance(self.integers, bool | None):
            raise PolicyError(f"must be true or false, not {quote(self.integers)}", key="integers")
        if self.integers and any(policy_number(end, "domain").denominator != 1 for end in self.domain or ()):
            raise PolicyError("must be whole numbers, since integers = true", key="domain")

    @property
    def is_whole(self) -> bool:
        """Whether ranges are of whole numbers: as declared, or as the declared domain suggests.

        >>> Ranges().is_whole, Ranges(domain=(0, 9)).is_whole, Ranges(domain=(0, 9), integers=False).is_whole
        (False, True, False)
        """
        if self.integers is not None:
            return self.integers
        return self.domain is not None and all(policy_number(end, "domain").denominator == 1 for end in self.domain)

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Put the values under ``*``, and rank them as numbers, NULL last."""
        numbers, _ = self.numbers(values, column=column)
        return build([values], ranks=rank_values(values, numbers), places=len(values))

    def numbers(self, values: Sequence[Label], *, column: str) -> tuple[list[int | None], int]:
        """Read each value as a whole number of equal small steps, exactly; and how many of these steps make 1.

        >>> Ranges().numbers(["1.5", None, "2"], column="ph")
        ([15, None, 20], 10)
        """
        ratios = read_numbers(values, column=column, whole=self.is_whole, form="ranges")
        ends = [policy_number(end, "domain").as_integer_ratio() for end in self.domain or ()]
        denominators, scale = {ratio[1] for ratio in (*ratios, *ends) if ratio}, 1
        while any(scale % denominator for denominator in denominators):
            scale *= 10  # the least power of ten that all of them divide
        numbers = [ratio and ratio[0] * (scale // ratio[1]) for ratio in ratios]
        domain = self.scaled_domain(scale)
        if domain is not None:
            low, high = domain
            outside = [
                value for value, n in zip(values, numbers, strict=True) if n is not None and not low <= n <= high
            ]
            remedy = "widen the domain, or mend them"
            refuse_values(outside, column=column, fault="outside of its domain", remedy=remedy)
        return numbers, scale

    def scaled_domain(self, scale: int) -> tuple[int, int] | None:
        """Give the declared domain in steps of ``1 / scale``, if one is declared.

        >>> Ranges(domain=(0, 2.5)).scaled_domain(10), Ranges().scaled_domain(10)
        ((0, 25), None)
        """
        if self.domain is None:
            return None
        low, high = (int(policy_number(end, "domain") * scale) for end in self.domain)
        return low, high


def extent(numbers: Sequence[int], rows: Sequence[int], *, inner: bool) -> tuple[int, int]:
    """Find the lowest and the highest of different numbers in order; `inner` leaves out the two extreme records.

    This is the domain that losses of ranges are measured on where none is declared. The labels of a partition must
    not depend on the lowest and the highest record, so neither may what chooses between them.

    >>> extent([1, 20, 22, 90], [1, 1, 1, 1], inner=False), extent([1, 20, 22, 90], [1, 1, 1, 1], inner=True)
    ((1, 90), (20, 22))
    """
    left = list(rows)
    if inner and left:
        left[0] -= 1
        left[-1] -= 1
    used = [number for number, count in zip(numbers, left, strict=True) if count > 0] if inner else numbers
    return (used[0], used[-1]) if used else (0, 0)


@dataclass(frozen=True)
class Sets(OpenEnded):
    """``"sets"``: values without a tree, published as sets such as ``{Bern, Thun}``.

    >>> Sets().bind(["Bern", "Thun"], column="town").labels
    (('Bern', 'Thun'), ('*',))
    """

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "const": "sets",
        "description": "No tree: the algorithm publishes sets of values, {Bern, Thun}.",
    }

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Put the values under ``*``; a text that is longer than a name is refused."""
        long = [value for value in values if value is not None and len(value) > _LONGEST_MEMBER]
        fault = f"longer than the {_LONGEST_MEMBER:,} characters that a set takes"
        remedy = "mend them, or give it another hierarchy than sets"
        refuse_values(long, column=column, fault=fault, remedy=remedy)
        return build([values])


def sort_members(values: Iterable[Label]) -> list[Label]:
    """Put values in the order of their text, NULL last.

    >>> sort_members([None, "b", "a"])
    ['a', 'b', None]
    """
    return sorted(values, key=lambda value: (value is None, value or ""))


def write_set(values: Iterable[Label]) -> Label:
    """Write the label of one value or more.

    >>> write_set(["b", "a"]), write_set(["a"])
    ('{a, b}', 'a')
    """
    members = sort_members(values)
    return write_single(members[0]) if len(members) == 1 else write_members(map(write_member, members))


def write_member(value: Label) -> str:
    r"""Write a value as it is in a set.

    >>> write_member(None), write_member("NULL"), write_member("{a, b}")
    ('NULL', '\\NULL', '\\{a\\, b\\}')
    """
    if value is None:
        return _NULL
    return f"\\{value}" if value == _NULL else _SPECIAL.sub(r"\\\g<0>", value)


def write_members(members: Iterable[str]) -> str:
    """Write a set of members that are written already.

    >>> write_members(["Bern", "Thun"])
    '{Bern, Thun}'
    """
    return f"{{{', '.join(members)}}}"


def write_single(value: Label) -> Label:
    r"""Write the label of a value alone.

    >>> write_single("Bern"), write_single(None), write_single("*"), write_single("{a}")
    ('Bern', None, '{*}', '{\\{a\\}}')
    """
    strange = value is not None and (value.startswith("{") or value == ROOT)
    return write_members([write_member(value)]) if strange else value


def read_set(label: Label) -> tuple[Label, ...]:
    """Read the values that a label names, in its order; ``*`` names none. Raises ValueError where it is no label.

    >>> read_set("{Bern, NULL}"), read_set("Bern"), read_set(None), read_set("*")
    (('Bern', None), ('Bern',), (None,), ())
    """
    if label == ROOT:
        return ()
    if label is None or not (label.startswith("{") and label.endswith("}")):
        return (label,)
    members: list[Label] = []
    text, end = label[1:-1], 0
    while True:
        match = _MEMBER.match(text, end)
        if match is None:
            raise ValueError(f"not a set: {quote(label)}")
        members.append(None if match[1] == _NULL else re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL))
        if not match[0].endswith(", ") or match.end(1) == len(text):
            return tuple(members)
        end = match.end()
