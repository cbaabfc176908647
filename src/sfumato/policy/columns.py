"""What each column is to the people in the table: the [columns] part of a policy."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from sfumato.core.numbers import is_number
from sfumato.errors import PolicyError
from sfumato.hierarchy import File, LabelFunction, Mask, Spec, Suppress, parse
from sfumato.policy.column_masks import MASK_KEYS, NO_MASKS, ColumnMasks, read_masks, refuse_masks
from sfumato.policy.section import Section, join_choices, require_table
from sfumato.policy.toml_text import dotted_key

COLUMN_KEYS = (
    *("role", "hierarchy", "least", "public_domain", "weight", "aggregate", "key", *MASK_KEYS),
    *("kind", "bounds", "atoms"),
)
DRAWN_KEYS = ("kind", "bounds", "atoms")
"""What is said of a column whose values are drawn, and not told."""
KINDS = ("number", "date", "category")
AGGREGATES = ("mean", "median", "mode", "ancestor")
"""What microaggregation publishes of the values of a class."""


class Role(StrEnum):
    """What a column tells an adversary, and so what is done with it.

    >>> Role("quasi") is Role.QUASI
    True
    """

    IDENTIFIER = "identifier"
    """Names a person by itself; never published."""
    INDIVIDUAL = "individual"
    """Says which rows are the same person's; published as a pseudonym, random or under a key."""
    QUASI = "quasi"
    """Known to others, and telling in combination; published generalized."""
    SENSITIVE = "sensitive"
    """What nobody may learn of a person; published as it is, within the limits of the models."""
    PLAIN = "plain"
    """Neither; published as it is."""
    WEIGHT = "weight"
    """How many people of the population a row of a survey stands for; published as it is, or rounded."""


@dataclass(frozen=True)
class Column:
    """One column of the table: its role, how it generalizes, and what its precision is worth.

    `key` is the file of the key that pseudonyms are made under; without one they are random. `least` is the lowest
    level of the hierarchy that may be published, however many rows share a value. `public_domain` says that everybody
    may know all leaves of the hierarchy file, as of an official list of codes, whether a published row has them or not.
    `weight` is what the precision of a quasi-identifier is worth; `round` is the step to which sampling weights, which
    are a role, are rounded. `masks` say how the values of all other columns are changed before anything else. Where
    values are drawn, `kind` says what the column holds (as its values suggest, where it is left out), `bounds` what
    nothing drawn may exceed, and `atoms` the numbers that stay as they are because many rows share them. `aggregate` is
    what microaggregation publishes of the values of a class, where it is not what suits the hierarchy.

    >>> Column("visits", Role.PLAIN).weight
    1.0
    """

    name: str
    role: Role
    hierarchy: Spec | None = None
    weight: float = 1.0
    key: Path | None = None
    least: int = 0
    public_domain: bool = False
    round: float | None = None
    kind: str | None = None
    bounds: tuple[float | str, float | str] | None = None
    atoms: tuple[float, ...] | None = None
    masks: ColumnMasks = NO_MASKS
    aggregate: str | None = None


def columns_with_role(columns: Mapping[str, Column], role: Role) -> tuple[Column, ...]:
    """List the columns of this role, in their order.

    >>> columns_with_role({"visits": Column("visits", Role.PLAIN)}, Role.QUASI)
    ()
    """
    return tuple(column for column in columns.values() if column.role == role)


def read_columns(value: object, *, folder: Path, levels: bool = True, drawn: bool = False) -> Mapping[str, Column]:
    """Read the [columns] table, in its own order; hierarchy files are sought from `folder`.

    Where nothing is generalized, a quasi-identifier needs no `levels`: its values as they are, and ``*``, will do.
    Where values are `drawn`, it needs no hierarchy at all.

    >>> read_columns({"ssn": {"role": "identifier"}}, folder=Path())["ssn"].role
    <Role.IDENTIFIER: 'identifier'>
    """
    if value is None:
        raise PolicyError('is missing; give every column a role, as in age = { role = "plain" }', key="columns")
    columns = {}
    for name, item in require_table(value, "columns").items():
        key = dotted_key("columns", name)
        section = Section.from_value(require_table(item, key, example='{ role = "plain" }'), key, COLUMN_KEYS)
        role = _read_role(section)
        undeclared = drawn and "hierarchy" not in section.table
        hierarchy = None if undeclared else _read_hierarchy(section, role, folder, levels=levels)
        key_file = read_key_file(section, individual=role is Role.INDIVIDUAL, folder=folder)
        weight = _read_weight(section, role)
        least = _read_least(section, name, role, hierarchy)
        public = _read_public_domain(section, role, hierarchy)
        masks, step = NO_MASKS, None
        if role in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
            masks = read_masks(section, hierarchy)
        elif role is Role.WEIGHT:
            step = _read_round(section)
        else:
            refuse_masks(section, str(role))
        about = (section.choice("kind", KINDS), _read_bounds(section), _read_atoms(section))
        aggregate = _read_aggregate(section, role)
        columns[name] = Column(
            name, role, hierarchy, weight, key_file, least, public, step, *about, masks=masks, aggregate=aggregate
        )
    return MappingProxyType(columns)


def _read_role(section: Section) -> Role:
    role = section.choice("role", Role)
    if role is None:
        raise PolicyError(f"is missing; choose {join_choices(Role)}", key=section.path("role"))
    return Role(role)


def _read_hierarchy(section: Section, role: Role, folder: Path, *, levels: bool) -> Spec | None:
    key, value = section.path("hierarchy"), section.table.get("hierarchy")
    if value is None and role is Role.QUASI and not levels:
        return Suppress()
    if value is None and role is Role.QUASI:
        way = 'write hierarchy = "suppress" as the simplest, or of numbers { intervals = [5, 10, 20] }'
        raise PolicyError(f"is missing, and a quasi-identifier needs one; {way}", key=key)
    if value is None:
        return None
    if role not in {Role.QUASI, Role.SENSITIVE}:
        raise PolicyError(f"a column of role {role} is never generalized; leave the hierarchy out", key=key)
    spec = parse(value, folder=folder, key=key)
    if role is Role.SENSITIVE and not spec.levelled:
        raise PolicyError("a sensitive hierarchy is for distances and needs levels; give a tree", key=key)
    return spec


def _read_weight(section: Section, role: Role) -> float:
    weight = section.number("weight")
    if weight is not None and role is not Role.QUASI:
        message = f"only a quasi-identifier has a weight, not a column of role {role}"
        raise PolicyError(message, key=section.path("weight"))
    return 1.0 if weight is None else float(weight)


def _read_least(section: Section, name: str, role: Role, spec: Spec | None) -> int:
    """Read the lowest level that may be published; 0 where it is left out."""
    least = section.whole_number("least")
    if least is not None and role is not Role.QUASI:
        message = f"only a quasi-identifier has levels that are published, not a column of role {role}; leave it out"
        raise PolicyError(message, key=section.path("least"))
    if not least or spec is None:
        return 0
    if not spec.levelled:
        way = "give intervals, dates, a mask or a file in place of ranges and sets"
        raise PolicyError(f"the hierarchy has no levels; {way}", key=section.path("least"))
    # the levels of a bare mask, and those of a function, are known from the values
    if not isinstance(spec, LabelFunction) and (not isinstance(spec, Mask) or spec.length is not None):
        check_least(least, spec.bind((), column=name).height, column=name)
    return least


def _read_aggregate(section: Section, role: Role) -> str | None:
    """Read what is published of the values of a class; None where it is left out."""
    aggregate = section.choice("aggregate", AGGREGATES)
    if aggregate is not None and role is not Role.QUASI:
        message = f"only a quasi-identifier is published by class, not a column of role {role}; leave it out"
        raise PolicyError(message, key=section.path("aggregate"))
    return aggregate


def _read_public_domain(section: Section, role: Role, spec: Spec | None) -> bool:
    """Read whether all leaves of a hierarchy file are public; not, where it is left out."""
    if "public_domain" in section.table and (role is not Role.QUASI or not isinstance(spec, File)):
        message = "only a quasi-identifier with a hierarchy file has leaves to declare public; leave it out"
        raise PolicyError(message, key=section.path("public_domain"))
    return section.flag("public_domain", default=False)


def _read_round(section: Section) -> float | None:
    """Read the step that sampling weights are rounded to, or None where they are published as they are."""
    others = {key: value for key, value in section.table.items() if key != "round"}
    refuse_masks(Section(others, section.key), "weight")
    step = section.number("round")
    if step == 0:
        raise section.error("round", "must be a number above 0")
    return None if step is None else float(step)


def _read_bounds(section: Section) -> tuple[float | str, float | str] | None:
    """Read the lowest and the highest value that may be drawn: two numbers, or two dates as text."""
    value = section.table.get("bounds")
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2:
        low, high = value
        numbers, dates = is_number(low) and is_number(high), isinstance(low, str) and isinstance(high, str)
        if (numbers or dates) and low < high:
            return low, high
    raise section.error(
        "bounds", 'must be the lowest and the highest value, as [0, 120] or ["2020-01-01", "2024-12-31"]'
    )


def _read_atoms(section: Section) -> tuple[float, ...] | None:
    """Read the numbers that stay as they are because many rows share them."""
    value = section.table.get("atoms")
    if value is None:
        return None
    if isinstance(value, list) and all(map(is_number, value)):
        return tuple(float(number) for number in value)
    raise section.error("atoms", "must be a list of numbers such as [0, 40], or [] for none")


def check_least(least: int, height: int, *, column: str) -> None:
    """Refuse a lowest level that the hierarchy of a column does not have.

    >>> check_least(3, 2, column="zip")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.zip.least: is 3, and the hierarchy has levels 0 to 2, of which 2 is '*';
    lower it
    """
    if least > height:
        fault = f"is {least}, and the hierarchy has levels 0 to {height}, of which {height} is '*'"
        raise PolicyError(f"{fault}; lower it", key=dotted_key("columns", column, "least"))


def read_key_file(section: Section, *, individual: bool, folder: Path) -> Path | None:
    """Read the path under ``key`` of a column, from `folder`, or None where it is left out.

    The file itself is not opened before a release is made. A policy can be read, and a release verified against it,
    where the key is not: that is what it is kept apart for.

    >>> read_key_file(Section({"key": "person.key"}, "columns.person"), individual=True, folder=Path("project"))
    PosixPath('project/person.key')
    >>> read_key_file(Section({"key": "person.key"}, "columns.age"), individual=False, folder=Path("project"))
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.age.key: only a column of role individual has pseudonyms, and so a key;
    leave it out
    """
    name = section.text("key")
    if name is None:
        return None
    if not individual:
        why = "only a column of role individual has pseudonyms, and so a key"
        raise PolicyError(f"{why}; leave it out", key=section.path("key"))
    if not name:
        raise section.error("key", "must be the path of a file")
    return folder / name


def check_key_file(columns: Mapping[str, Column], path: Path, what: str) -> None:
    """Refuse a key file that is the file at `path`, which has another purpose: others know what is in it."""
    for column in columns.values():
        if column.key is not None and is_same_file(column.key, path):
            way = "name a file that holds the key alone and is kept apart"
            raise PolicyError(f"{column.key} is {what}; {way}", key=dotted_key("columns", column.name, "key"))


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file that is there."""
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 - Path's own is no better, and takes a path as well
    except (OSError, ValueError):  # one of them is not there, or could not be
        return False
