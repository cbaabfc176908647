"""Earlier releases that the current one is to be joined with: the [[previous]] tables of a policy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.errors import PolicyError, did_you_mean
from sfumato.policy.section import Section, given
from sfumato.policy.source import encoding_of, separator_of

KEYS = ("name", "table", "inconsistent", "separator", "null", "encoding")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_EXAMPLE = '["sex=Male", "immigration.test=Pregnancy"]'


@dataclass(frozen=True)
class Reference:
    """A column of one of the tables: of an earlier release by its name, of the current table without one.

    >>> str(Reference("sex", "immigration"))
    'immigration.sex'
    """

    column: str
    table: str | None = None

    def __str__(self) -> str:
        return self.column if self.table is None else f"{self.table}.{self.column}"


@dataclass(frozen=True)
class Condition:
    """A column that has a value, or one below it in the taxonomy."""

    reference: Reference
    value: str


@dataclass(frozen=True)
class Previous:
    """An earlier release, as it was published: its table, and pairs of values that common sense rules out.

    `inconsistent` has a line for each pair: no record that meets the one condition belongs to one that meets the other.
    `separator`, `null` and `encoding` say how its file is read, where that is not as the current table is.
    """

    name: str
    path: Path
    inconsistent: tuple[tuple[Condition, Condition], ...] = field(default=())
    separator: str | None = None
    null: tuple[str, ...] | None = None
    encoding: str | None = None


def read_previous(value: object, *, folder: Path) -> tuple[Previous, ...]:
    """The [[previous]] tables; their paths start at `folder`.

    >>> read_previous([{"name": "tax", "table": "tax.csv"}], folder=Path())[0].name
    'tax'
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise PolicyError(f"must be a list of tables, written [[previous]], not {given(value)}", key="previous")
    sections = [Section.of(table, f"previous[{place}]", KEYS) for place, table in enumerate(value)]
    names = [_name(section) for section in sections]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise PolicyError(f"{name!r} is the name of another release already", key=f"previous[{place}].name")
    return tuple(_previous(section, names, folder) for section in sections)


def reference(name: str, names: Sequence[str]) -> Reference:
    """The column that a name means, given the names of the earlier releases.

    >>> reference("tax.sex", ["tax"]), reference("a.b", ["tax"])
    (Reference(column='sex', table='tax'), Reference(column='a.b', table=None))
    """
    table, dot, column = name.partition(".")
    return Reference(column, table) if dot and table in names else Reference(name)


def _name(section: Section) -> str:
    name = section.text("name")
    if name is None:
        raise PolicyError("is missing: the name that its columns are written with", key=section.path("name"))
    if not _NAME.fullmatch(name):
        raise section.wrong("name", "must be of letters, digits, _ and - alone")
    return name


def _previous(section: Section, names: Sequence[str], folder: Path) -> Previous:
    table = section.text("table")
    if not table:
        raise PolicyError("is missing: the file of its table, as it was published", key=section.path("table"))
    pairs = section.table.get("inconsistent", [])
    if not isinstance(pairs, list):
        raise section.wrong("inconsistent", f"must be a list of pairs such as [{_EXAMPLE}]")
    key = section.path("inconsistent")
    rules = tuple(_pair(pair, names, f"{key}[{place}]") for place, pair in enumerate(pairs))
    encoding = encoding_of(section) if "encoding" in section.table else None
    return Previous(_name(section), folder / table, rules, separator_of(section), section.texts("null"), encoding)


def _pair(pair: object, names: Sequence[str], key: str) -> tuple[Condition, Condition]:
    if not isinstance(pair, list) or [type(side) for side in pair] != [str, str]:
        raise PolicyError(f"must be a pair such as {_EXAMPLE}, not {given(pair)}", key=key)
    first, second = (_condition(side, names, key) for side in pair)
    if first.reference.table == second.reference.table:
        way = "name columns of two different tables, the one of an earlier release as in immigration.test=Pregnancy"
        raise PolicyError(f"both sides are of one table; {way}", key=key)
    return first, second


def _condition(text: str, names: Sequence[str], key: str) -> Condition:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise PolicyError(f"must be a column and a value such as 'sex=Male', not {given(text)}", key=key)
    found = reference(name, names)
    prefix = name.partition(".")[0]
    if found.table is None and "." in name and (hint := did_you_mean(prefix, names)):
        raise PolicyError(f"{prefix!r} is no earlier release{hint}", key=key)
    return Condition(found, value)
