"""What each column is to the people in the table: the [columns] part of a policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from sfumato.errors import PolicyError
from sfumato.hierarchy import Mask, Spec, Suppress, parse
from sfumato.policy.key import read_key
from sfumato.policy.section import Section, among, as_table, dotted

KEYS = ("role", "hierarchy", "least", "weight", "key")


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


@dataclass(frozen=True)
class Column:
    """One column of the table: its role, how it generalizes, and what its precision is worth.

    `key` is the file of the key that pseudonyms are made under; without one they are random. `least` is the lowest
    level of the hierarchy that may be published, however many rows share a value.

    >>> Column("visits", Role.PLAIN).weight
    1.0
    """

    name: str
    role: Role
    hierarchy: Spec | None = None
    weight: float = 1.0
    key: Path | None = None
    least: int = 0


def read_columns(value: object, *, folder: Path, levels: bool = True) -> Mapping[str, Column]:
    """The [columns] table, in its own order; hierarchy files are sought from `folder`.

    Where nothing is generalized, a quasi-identifier needs no `levels`: its values as they are, and ``*``, will do.

    >>> read_columns({"ssn": {"role": "identifier"}}, folder=Path())["ssn"].role
    <Role.IDENTIFIER: 'identifier'>
    """
    if value is None:
        raise PolicyError('is missing; give every column a role, as in age = { role = "plain" }', key="columns")
    items = as_table(value, "columns").items()
    return MappingProxyType({name: _column(name, item, folder, levels=levels) for name, item in items})


def _column(name: str, value: object, folder: Path, *, levels: bool) -> Column:
    key = dotted("columns", name)
    section = Section.of(as_table(value, key, such_as='{ role = "plain" }'), key, KEYS)
    role = _role(section)
    hierarchy = _hierarchy(section, role, folder, levels=levels)
    file = read_key(section, individual=role is Role.INDIVIDUAL, folder=folder)
    return Column(name, role, hierarchy, _weight(section, role), file, _least(section, name, role, hierarchy))


def _role(section: Section) -> Role:
    role = section.choice("role", Role)
    if role is None:
        raise PolicyError(f"is missing; choose {among(Role)}", key=section.path("role"))
    return Role(role)


def _hierarchy(section: Section, role: Role, folder: Path, *, levels: bool) -> Spec | None:
    key, value = section.path("hierarchy"), section.table.get("hierarchy")
    if value is None and role is Role.QUASI and not levels:
        return Suppress()
    if value is None and role is Role.QUASI:
        way = 'write hierarchy = "suppress" as the simplest'
        raise PolicyError(f"is missing, and a quasi-identifier needs one; {way}", key=key)
    if value is None:
        return None
    if role not in {Role.QUASI, Role.SENSITIVE}:
        raise PolicyError(f"a column of role {role} is never generalized; leave the hierarchy out", key=key)
    return _levelled(parse(value, folder=folder, key=key), role, key)


def _levelled(spec: Spec, role: Role, key: str) -> Spec:
    """Refuses ranges and sets of a sensitive column: distances need levels."""
    if role is Role.SENSITIVE and not spec.levelled:
        raise PolicyError("a sensitive hierarchy is for distances and needs levels; give a tree", key=key)
    return spec


def _weight(section: Section, role: Role) -> float:
    weight = section.number("weight")
    if weight is not None and role is not Role.QUASI:
        message = f"only a quasi-identifier has a weight, not a column of role {role}"
        raise PolicyError(message, key=section.path("weight"))
    return 1.0 if weight is None else float(weight)


def _least(section: Section, name: str, role: Role, spec: Spec | None) -> int:
    """The lowest level that may be published; checked against the hierarchy where that has its levels by itself."""
    least = section.whole("least")
    if least is not None and role is not Role.QUASI:
        message = f"only a quasi-identifier has levels that are published, not a column of role {role}; leave it out"
        raise PolicyError(message, key=section.path("least"))
    if not least or spec is None:
        return 0
    if not spec.levelled:
        way = "give intervals, dates, a mask or a file in place of ranges and sets"
        raise PolicyError(f"the hierarchy has no levels; {way}", key=section.path("least"))
    if not isinstance(spec, Mask) or spec.length is not None:  # the levels of a bare mask are known from the values
        check_least(least, spec.bind((), column=name).height, column=name)
    return least


def check_least(least: int, height: int, *, column: str) -> None:
    """Refuses a lowest level that the hierarchy of a column does not have.

    >>> check_least(3, 2, column="zip")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.zip.least: is 3, and the hierarchy has levels 0 to 2, of which 2 is '*';
    lower it
    """
    if least > height:
        fault = f"is {least}, and the hierarchy has levels 0 to {height}, of which {height} is '*'"
        raise PolicyError(f"{fault}; lower it", key=dotted("columns", column, "least"))
