"""What the intersection of releases found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.core.arrays import IntArray


@dataclass(frozen=True)
class Seen:
    """One of the releases: its folder as it was named, and what could be looked up in it.

    `by` are the quasi-identifiers that persons were looked up by. `absent` are the persons who fit no row, so that they
    are not in it. `k` is the largest that its promise has, ``None`` where it has none.
    """

    release: str
    form: str
    rows: int
    classes: int
    by: tuple[str, ...]
    absent: int
    k: int | None


@dataclass(frozen=True)
class Share:
    """The largest share that a value has of the rows left to a person, in the release where that is most.

    `largest` is that of the person of whom one can be surest, `average` that of all; `alone` the averages over the rows
    that fit in each release by itself. As a chance it holds for somebody to whom all rows left are equally likely.
    """

    largest: float | None
    average: float | None
    alone: tuple[float | None, ...]


@dataclass(frozen=True)
class Narrowed:
    """What the releases leave of one sensitive column, in persons.

    `persons` fit rows of two releases or more that have the column; the others stand `apart`. `smallest` is the fewest
    values that anybody has left, `below` how many persons have fewer than `threshold`. `exposed` are these without the
    persons of whom it is known that the true value is not among those left, and `alone` is the same for each release
    by itself, ``None`` where it lacks the column; `added` are exposed by the releases together and by none alone.
    `empty` are persons who have no value left. Where true values are known, `right` are the persons whose true value
    is the only one left, and `contradicted` those of whom it is not left. `histogram` counts persons by the number of
    values that they have left.
    """

    persons: int
    apart: int
    smallest: int | None
    threshold: int
    below: int
    exposed: int
    alone: tuple[int | None, ...]
    added: int
    empty: int
    right: int | None
    contradicted: int | None
    histogram: Mapping[int, int]
    share: Share


@dataclass(frozen=True)
class Rows:
    """Rows that are left to persons: those that fit and hold a value that is left, in the release that has the fewest.

    `below` are the persons with fewer rows than the release has promised as k, and `alone` those with fewer rows that
    fit in each release by itself; ``None`` where no k is promised.
    """

    smallest: int | None
    below: int | None
    alone: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Intersection:
    """What several releases leave open when they are taken together.

    `left` has for each person, in the order of their rows, how many values of a column are left; -1 for those apart.
    `notes` say what was not made use of.
    """

    persons: int
    releases: tuple[Seen, ...]
    columns: Mapping[str, Narrowed]
    rows: Rows
    assumes: str
    notes: tuple[str, ...] = ()
    left: Mapping[str, IntArray] = field(default_factory=dict, repr=False)

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON, without what is known of single persons."""
        return {
            "persons": self.persons,
            "releases": [asdict(one) for one in self.releases],
            "columns": {name: asdict(one) for name, one in self.columns.items()},
            "rows": asdict(self.rows),
            "assumes": self.assumes,
            "notes": list(self.notes),
        }
