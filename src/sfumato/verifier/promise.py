"""What a release promises, as plain data: all that the verifier knows besides the files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.verifier.linkage.earlier import Earlier, Taxonomies
from sfumato.verifier.linkage.rules import is_xy
from sfumato.verifier.rules import by_person, looked_at


@dataclass(frozen=True)
class Needs:
    """A sensitive column in the whole input table, for distances that compare with it.

    It stays with the data holder: it counts rows that may not have been published.

    >>> needs = Needs(("flu", None), (3, 1))
    >>> Needs.from_json(needs.as_json()) == needs
    True
    """

    values: tuple[str | None, ...]
    totals: tuple[int, ...]
    ranks: tuple[int, ...] | None = None
    places: int = 0
    ancestors: tuple[tuple[int, ...], ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """For the private audit."""
        return {
            "values": list(self.values),
            "totals": list(self.totals),
            "ranks": None if self.ranks is None else list(self.ranks),
            "places": self.places,
            "ancestors": None if self.ancestors is None else [list(line) for line in self.ancestors],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Needs":
        """Back from the private audit."""
        ranks, ancestors = data["ranks"], data["ancestors"]
        return cls(
            tuple(data["values"]),
            tuple(data["totals"]),
            None if ranks is None else tuple(ranks),
            data["places"],
            None if ancestors is None else tuple(tuple(line) for line in ancestors),
        )

    @property
    def sound(self) -> bool:
        """Whether it can be a column of a table: as many totals, places and lines of ancestors as values."""
        lengths = {len(part) for part in (self.values, self.totals, self.ranks, self.ancestors) if part is not None}
        lines = {len(line) for line in self.ancestors or ()}
        numbers = [self.places, *self.totals, *(self.ranks or ()), *(n for line in self.ancestors or () for n in line)]
        return (
            lengths == {len(set(self.values))}
            and len(lines) <= 1
            and _are(self.values, (str, type(None)))
            and _are(numbers, (int,))
            and all(0 <= number < 2**53 for number in numbers)
            and all(total > 0 for total in self.totals)
            and self.places > max(self.ranks or (-1,))
        )


def _are(values: Iterable[object], kinds: tuple[type, ...]) -> bool:
    """Whether all are of these types, whatever the annotations of JSON data hope for."""
    return all(type(value) in kinds for value in values)


@dataclass(frozen=True)
class Asked:
    """What somebody asks of a release in place of what its manifest promises: a policy, as plain data.

    `requirements` are its [[privacy]] tables, `roles` the role of each column, `costs` as in `Promise`. Where
    there are no `previous` releases or `taxonomies`, those of the manifest count; an earlier release without a path has
    the file that the manifest has under its name.
    """

    requirements: Sequence[Mapping[str, Any]]
    roles: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    previous: Sequence[Earlier] = ()
    taxonomies: Taxonomies = field(default_factory=dict)

    def differing(self, columns: Sequence[Mapping[str, Any]]) -> list[str]:
        """Published columns that have another role here, and columns asked for that are not published."""
        published = {column["name"]: column["role"] for column in columns}
        asked = {name: role for name, role in self.roles.items() if role != "identifier"}
        return sorted(name for name in published | asked if published.get(name) != asked.get(name))


@dataclass(frozen=True)
class Promise:
    """Which columns are the quasi-identifier, and what must hold of the classes they form.

    `requirements` are the policy's [[privacy]] tables. `costs` are the ground distances of a general earth
    mover's distance, by column: (value, value) to cost. `complete` says that no row could be suppressed, so that
    the published table is the whole one; `ordered` names columns whose order is that of a hierarchy, which the
    published table does not tell. `previous` are the releases that this one is joined with, and `taxonomies` tell which
    labels match.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    individual: str | None
    requirements: tuple[Mapping[str, Any], ...]
    needs: Mapping[str, Needs] = field(default_factory=dict)
    costs: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
    complete: bool = False
    ordered: frozenset[str] = frozenset()
    previous: tuple[Earlier, ...] = ()
    taxonomies: Taxonomies = field(default_factory=dict)

    @property
    def joined(self) -> tuple[Earlier, ...]:
        """The earlier releases, where a requirement is about the join with them."""
        return self.previous if any(map(is_xy, self.requirements)) else ()

    @property
    def named(self) -> frozenset[str]:
        """What requirements about the join name, or are joined on: columns of any of the tables."""
        rules = [rule for rule in self.requirements if is_xy(rule)]
        sides = (side.partition("=")[0] for each in self.joined for pair in each.inconsistent for side in pair)
        names = (name for rule in rules for key in ("x", "y") for name in rule[key])
        return frozenset([*names, *sides, *(name for each in self.joined for name in each.join)])

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns that the requirements look at, in the order of their first use."""
        return tuple(dict.fromkeys(column for rule in self.requirements for column in looked_at(rule)))

    @property
    def needed(self) -> tuple[str, ...]:
        """The same with the quasi-identifiers and the individuals."""
        return (*self.quasi, *self.looked_at, *([self.individual] if self.individual else []))

    @property
    def by_person(self) -> bool:
        """Whether some requirement is about the rows of each person."""
        return any(map(by_person, self.requirements))
