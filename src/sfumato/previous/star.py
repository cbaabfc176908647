"""Star: the current table, the earlier releases around it, and what ties their records together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sfumato.encode import CodedColumn, EncodedTable
from sfumato.policy import ColumnReference, ValueCondition, read_reference
from sfumato.previous.read import Earlier
from sfumato.previous.taxonomy import Taxonomy

Rule = tuple[ValueCondition, ValueCondition]


@dataclass(frozen=True, eq=False, repr=False)
class Star:
    """What an adversary has, and how records of different tables are matched.

    `joins` are for each earlier release the columns that it shares with the current table and is matched by;
    `apart` those that are shared but not matched, because they have no taxonomy. `rules` are pairs of values that rule
    a match out. `taxonomies` are those of all columns that matter for it, and `declared` those of them that have one in
    the policy. `known` are the columns of the current table
    that are published as they are, as far as anybody asks for them.
    """

    encoded: EncodedTable
    earlier: tuple[Earlier, ...]
    joins: tuple[tuple[str, ...], ...]
    apart: tuple[str, ...]
    rules: tuple[Rule, ...]
    taxonomies: Mapping[str, Taxonomy]
    known: Mapping[str, CodedColumn]
    declared: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the earlier releases."""
        return [each.name for each in self.earlier]

    @property
    def matched(self) -> tuple[str, ...]:
        """The columns of the current table that its records are matched by."""
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table is None]
        return tuple(dict.fromkeys([*(name for join in self.joins for name in join), *ruled]))

    def matched_of(self, place: int) -> tuple[str, ...]:
        """The columns of an earlier release that its records are matched by, with those of any other table."""
        name, own = self.earlier[place].name, self.earlier[place].columns
        others = [each.columns for i, each in enumerate(self.earlier) if i != place]
        between = [column for column in own if column not in self.apart and any(column in each for each in others)]
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table == name]
        return tuple(dict.fromkeys([*self.joins[place], *between, *ruled]))

    def only(self, names: Sequence[str] | None) -> "Star":
        """The same with some of the earlier releases; all, where none is named."""
        if names is None:
            return self
        places = [place for place, name in enumerate(self.names) if name in names]
        rules = [rule for rule in self.rules if all(side.reference.table in {None, *names} for side in rule)]
        chosen = tuple(self.earlier[place] for place in places), tuple(self.joins[place] for place in places)
        return replace(self, earlier=chosen[0], joins=chosen[1], rules=tuple(rules))

    def references(self, names: Sequence[str]) -> list[ColumnReference]:
        """The columns that an x or y names."""
        return [read_reference(name, self.names) for name in names]
