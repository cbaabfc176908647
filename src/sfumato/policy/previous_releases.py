"""Earlier releases that the current one is to be joined with: the [[previous]] tables of a policy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.policy.options import read_encoding, read_separator
from sfumato.policy.section import Section, describe_value

PREVIOUS_KEYS = ("name", "table", "inconsistent", "separator", "null", "encoding")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_EXAMPLE = '["sex=Male", "immigration.test=Pregnancy"]'


@dataclass(frozen=True)
class ColumnReference:
    """A column of one of the tables: of an earlier release by its name, of the current table without one.

    >>> str(ColumnReference("sex", "immigration"))
    'immigration.sex'
    """

    column: str
    table: str | None = None

    def __str__(self) -> str:
        return self.column if self.table is None else f"{self.table}.{self.column}"


@dataclass(frozen=True)
class ValueCondition:
    """That a column has a value, or one below it in the taxonomy."""

    reference: ColumnReference
    value: str


@dataclass(frozen=True)
class PreviousRelease:
    """An earlier release, as it was published: its table, and pairs of values that common sense rules out.

    `inconsistent` has a line for each pair: no record that meets the one condition belongs to one that meets the other.
    `separator`, `null` and `encoding` say how its file is read, where that is not as the current table is.
    """

    name: str
    path: Path
    inconsistent: tuple[tuple[ValueCondition, ValueCondition], ...] = ()
    separator: str | None = None
    null: tuple[str, ...] | None = None
    encoding: str | None = None


def read_previous_releases(value: object, *, folder: Path) -> tuple[PreviousRelease, ...]:
    """Read the [[previous]] tables; their paths start at `folder`.

    >>> read_previous_releases([{"name": "tax", "table": "tax.csv"}], folder=Path())[0].name
    'tax'
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        message = f"must be a list of tables, written [[previous]], not {describe_value(value)}"
        raise PolicyError(message, key="previous")
    sections = [Section.from_value(table, f"previous[{place}]", PREVIOUS_KEYS) for place, table in enumerate(value)]
    names = [_read_name(section) for section in sections]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise PolicyError(f"{quote(name)} is the name of another release already", key=f"previous[{place}].name")
    releases = zip(sections, names, strict=True)
    return tuple(_read_release(section, name, names, folder) for section, name in releases)


def read_reference(name: str, releases: Sequence[str]) -> ColumnReference:
    """Find the column that a name means, given the names of the earlier releases.

    >>> read_reference("tax.sex", ["tax"]), read_reference("a.b", ["tax"])
    (ColumnReference(column='sex', table='tax'), ColumnReference(column='a.b', table=None))
    """
    table, dot, column = name.partition(".")
    return ColumnReference(column, table) if dot and table in releases else ColumnReference(name)


def _read_name(section: Section) -> str:
    name = section.text("name")
    if name is None:
        raise PolicyError("is missing: the name that its columns are written with", key=section.path("name"))
    if not _NAME.fullmatch(name):
        raise section.error("name", "must be of letters, digits, _ and - alone")
    return name


def _read_release(section: Section, name: str, releases: Sequence[str], folder: Path) -> PreviousRelease:
    table = section.text("table")
    if not table:
        raise PolicyError("is missing: the file of its table, as it was published", key=section.path("table"))
    pairs = section.table.get("inconsistent", [])
    if not isinstance(pairs, list):
        raise section.error("inconsistent", f"must be a list of pairs such as [{_EXAMPLE}]")
    key = section.path("inconsistent")
    return PreviousRelease(
        name=name,
        path=folder / table,
        inconsistent=tuple(_read_pair(pair, releases, f"{key}[{place}]") for place, pair in enumerate(pairs)),
        encoding=read_encoding(section) if "encoding" in section.table else None,
        separator=read_separator(section),
        null=section.texts("null"),
    )


def _read_pair(pair: object, releases: Sequence[str], key: str) -> tuple[ValueCondition, ValueCondition]:
    if not isinstance(pair, list) or [type(side) for side in pair] != [str, str]:
        raise PolicyError(f"must be a pair such as {_EXAMPLE}, not {describe_value(pair)}", key=key)
    first, second = (_read_condition(side, releases, key) for side in pair)
    if first.reference.table == second.reference.table:
        way = "name columns of two different tables, the one of an earlier release as in immigration.test=Pregnancy"
        raise PolicyError(f"both sides are of one table; {way}", key=key)
    return first, second


def _read_condition(text: str, releases: Sequence[str], key: str) -> ValueCondition:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise PolicyError(f"must be a column and a value such as 'sex=Male', not {describe_value(text)}", key=key)
    reference = read_reference(name, releases)
    prefix = name.partition(".")[0]
    if reference.table is None and "." in name and (hint := did_you_mean(prefix, releases)):
        raise PolicyError(f"{quote(prefix)} is no earlier release{hint}", key=key)
    return ValueCondition(reference, value)
