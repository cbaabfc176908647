"""One table of the policy that knows its own key, so that every error can name it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Self

from sfumato.core.numbers import is_number
from sfumato.errors import PolicyError, did_you_mean, quote, shorten
from sfumato.policy.toml_text import dotted_key


@dataclass(frozen=True)
class Section:
    """A table of the policy, its dotted key, and readers that say which key was wrong and how.

    >>> Section({"k": "five"}, "privacy[0]").whole_number("k")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: privacy[0].k: must be a whole number of at least 0, not 'five'
    """

    table: Mapping[str, object]
    key: str

    @classmethod
    def from_value(cls, value: object, key: str, names: Iterable[str], *, later: Iterable[str] = ()) -> Self:
        """Read a table that has no other keys than `names`; those of `later` are for a coming version."""
        section, names, later = cls(require_table(value, key), key), tuple(names), tuple(later)
        for name in section.table:
            if name in later:
                raise PolicyError("is not in this version; leave it out", key=section.path(name))
            if name not in names:
                hint = did_you_mean(name, names) or f"; choose {join_choices(names)}"
                raise PolicyError(f"is not a key of a policy{hint}", key=section.path(name))
        return section

    def path(self, name: str) -> str:
        """Make the dotted key of `name` in this table."""
        return f"{self.key}.{dotted_key(name)}" if self.key else dotted_key(name)

    def text(self, name: str) -> str | None:
        """Read the text under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None or isinstance(value, str):
            return value
        raise self.error(name, "must be text")

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Read the list of texts under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self.error(name, 'must be a list of texts such as ["", "?"]')

    def whole_number(self, name: str) -> int | None:
        """Read the whole number of at least 0 under `name`, or None where it is left out."""
        value = self.table.get(name)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        raise self.error(name, "must be a whole number of at least 0")

    def number(self, name: str, *, most: float = inf) -> float | None:
        """Read the number from 0 to `most` under `name`, or None where it is left out."""
        value: Any = self.table.get(name)
        if value is None:
            return None
        if is_number(value) and 0 <= value <= most:
            number: float = value
            return number
        raise self.error(name, f"must be a number {'of at least 0' if most == inf else f'from 0 to {most}'}")

    def flag(self, name: str, *, default: bool) -> bool:
        """Read the true or false under `name`, or `default` where it is left out."""
        value = self.table.get(name, default)
        if isinstance(value, bool):
            return value
        raise self.error(name, "must be true or false")

    def choice(self, name: str, names: Iterable[str], *, later: Iterable[str] = ()) -> str | None:
        """Read one of `names` under `name`, or None where it is left out; those of `later` are for a coming version."""
        value, choices = self.text(name), tuple(names)
        if value is None or value in choices:
            return value
        if value in later:
            raise PolicyError(f"{value} is not in this version; choose {join_choices(choices)}", key=self.path(name))
        raise self.error(name, f"must be {join_choices(choices)}", did_you_mean(value, choices))

    def error(self, name: str, expected: str, hint: str = "") -> PolicyError:
        """Make the error for the value under `name`: what was expected, what was given, and a hint."""
        return PolicyError(f"{expected}, not {describe_value(self.table[name])}{hint}", key=self.path(name))


def require_table(value: object, key: str, *, example: str = "") -> Mapping[str, object]:
    """Return a value that must be a table; `example` shows one in the error.

    >>> require_table("plain", "columns.age", example='{ role = "plain" }')
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age: must be a table such as { role = "plain" }, not 'plain'
    """
    if isinstance(value, Mapping):
        return value
    such_as = f" such as {example}" if example else ""
    raise PolicyError(f"must be a table{such_as}, not {describe_value(value)}", key=key)


def describe_value(value: object) -> str:
    """Say what was given, in the words of a TOML file and short enough for a sentence.

    >>> describe_value(True), describe_value("five"), describe_value({"k": 5}), describe_value([5])
    ('true', "'five'", 'a table', 'a list')
    """
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quote(value)
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
    return shorten(str(value))


def join_choices(names: Iterable[str]) -> str:
    """Join names to a choice.

    >>> join_choices(["csv", "tsv", "parquet"])
    'csv, tsv or parquet'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
