"""One table of the policy that knows its own key, so that every error can name it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Self

from sfumato.errors import PolicyError, did_you_mean

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dotted(*names: str) -> str:
    """The names as one TOML key, quoted where TOML asks for quotes.

    >>> print(dotted("columns", "marital status", "role"))
    columns."marital status".role
    """
    return ".".join(name if _BARE.fullmatch(name) else _quoted(name) for name in names)


def _quoted(name: str) -> str:
    # DEL is the one character that JSON leaves as it is and TOML does not.
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def given(value: object) -> str:
    """What was written, in the words of a TOML file and short enough for a sentence.

    >>> given(True), given("five"), given({"k": 5}), given([5])
    ('true', "'five'", 'a table', 'a list')
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return repr(value if len(value) <= 40 else f"{value[:40]}…")
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
    return str(value)


def among(names: Iterable[str]) -> str:
    """The names as a choice.

    >>> among(["csv", "tsv", "parquet"])
    'csv, tsv or parquet'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def as_table(value: object, key: str, *, such_as: str = "") -> Mapping[str, object]:
    """`value`, which must be a table; `such_as` shows one.

    >>> as_table("plain", "columns.age", such_as='{ role = "plain" }')
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age: must be a table such as { role = "plain" }, not 'plain'
    """
    if isinstance(value, Mapping):
        return value
    example = f" such as {such_as}" if such_as else ""
    raise PolicyError(f"must be a table{example}, not {given(value)}", key=key)


@dataclass(frozen=True)
class Section:
    """A table of the policy, its dotted key, and readers that say which key was wrong and how.

    >>> Section({"k": "five"}, "privacy[0]").whole("k")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: privacy[0].k: must be a whole number of at least 0, not 'five'
    """

    table: Mapping[str, object]
    key: str

    @classmethod
    def of(cls, value: object, key: str, known: Iterable[str], *, later: Iterable[str] = ()) -> Self:
        """`value` as a table with no other keys than `known`; those of `later` are for a coming version."""
        section = cls(as_table(value, key), key)
        for name in section.table:
            section._known(name, tuple(known), tuple(later))
        return section

    def path(self, name: str) -> str:
        """The dotted key of `name` in this table."""
        return f"{self.key}.{dotted(name)}" if self.key else dotted(name)

    def text(self, name: str) -> str | None:
        """The text under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong(name, "must be text")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """The list of texts under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self.wrong(name, 'must be a list of texts such as ["", "?"]')

    def whole(self, name: str) -> int | None:
        """The whole number of at least 0 under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        raise self.wrong(name, "must be a whole number of at least 0")

    def number(self, name: str, *, most: float = inf) -> float | None:
        """The number from 0 to `most` under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        raise self.wrong(name, f"must be a number {'of at least 0' if most == inf else f'from 0 to {most}'}")

    def flag(self, name: str, *, default: bool) -> bool:
        """The true or false under `name`, or `default` where it is left out."""
        value = self.table.get(name, default)
        if isinstance(value, bool):
            return value
        raise self.wrong(name, "must be true or false")

    def choice(self, name: str, known: Iterable[str], *, later: Iterable[str] = ()) -> str | None:
        """One of `known` under `name`, or None where it is left out."""
        value, choices = self.text(name), tuple(known)
        if value is None or value in choices:
            return value
        if value in later:
            raise PolicyError(f"{value} is not in this version; choose {among(choices)}", key=self.path(name))
        raise self.wrong(name, f"must be {among(choices)}", did_you_mean(value, choices))

    def wrong(self, name: str, expected: str, hint: str = "") -> PolicyError:
        """The error for what stands under `name`: what was expected, what was given, and a hint."""
        return PolicyError(f"{expected}, not {given(self.table[name])}{hint}", key=self.path(name))

    def _known(self, name: str, known: tuple[str, ...], later: tuple[str, ...]) -> None:
        if name in later:
            raise PolicyError("is not in this version; leave it out", key=self.path(name))
        if name not in known:
            hint = did_you_mean(name, known) or f"; choose {among(known)}"
            raise PolicyError(f"is not a key of a policy{hint}", key=self.path(name))
