"""The people that the releases are about: as an adversary knows them, or as rows of the first release."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.classes import IntArray
from sfumato.coding import Coded, code
from sfumato.keys import pack
from sfumato.matching.labels import Side
from sfumato.matching.released import Released
from sfumato.queries.entry import Entry
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class People:
    """Persons by what is known of them: `known` has a code for each different tuple, and `tuples` each person's tuple.

    `entries` say how labels are read; there are none where values are known. `truth` has a code for each person, of the
    sensitive columns that are known. Where persons are `lines` of the first release, its lines are the tuples.
    """

    known: Mapping[str, Coded]
    tuples: IntArray
    entries: Mapping[str, Entry] = field(default_factory=dict)
    truth: Mapping[str, Coded] = field(default_factory=dict)
    lines: bool = False

    @property
    def different(self) -> int:
        """How many different tuples there are."""
        return len(next(iter(self.known.values())).codes)

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return len(self.tuples)

    def side(self, column: str) -> Side:
        """What is known in a column."""
        return Side(self.known[column].texts, self.entries.get(column, {}))


def people_known(table: Table, quasi: Iterable[str], sensitive: Iterable[str]) -> People:
    """The rows of a table, each a person; NULL is a value.

    >>> import pyarrow
    >>> table = Table(pyarrow.table({"age": ["37", "37", "52"], "illness": ["flu", "HIV", "flu"]}))
    >>> people = people_known(table, ["age"], ["illness"])
    >>> people.different, people.tuples.tolist()
    (2, [0, 0, 1])
    """
    coded = {name: code(table, name) for name in quasi}
    packed = pack([one.codes for one in coded.values()], [one.width for one in coded.values()])
    _, first, tuples = np.unique(packed.keys, return_index=True, return_inverse=True)
    known = {name: replace(one, codes=one.codes[first]) for name, one in coded.items()}
    return People(known, tuples.astype(np.int64), truth={name: code(table, name) for name in sensitive})


def people_released(release: Released, quasi: Iterable[str]) -> People:
    """The rows of a release, each a person who is known by its labels."""
    names = list(quasi)
    known = {name: release.quasi[name] for name in names}
    return People(known, release.lines, {name: release.entry(name) for name in names}, lines=True)
