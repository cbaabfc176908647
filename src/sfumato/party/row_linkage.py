"""Record linkage: two parties that hold different columns of the same people bring their rows into one order first.

With ``link_on = "patient"`` both have a column of identifiers, and a private intersection (`intersect`) finds those
that both have: under keyed pseudonyms, points that each party has multiplied by a secret of its own, so that nobody
sees an identifier that it does not have itself. Rows of people whom both know are kept, in an order that both agree on
and that is random; all others are left out. Both parties learn which of their people the other has as well, which no
result over the common rows could hide. Without ``link_on``, both files must have the same people in the same order, and
only the number of rows is compared.

Adversary: semi-honest. There are two parties, so each is the only colluder against the other; what is learned is what
`private_intersection` tells (Meadows 1986; Kolesnikov et al. 2016).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, PolicyError, RunAborted, quote
from sfumato.party.identifiers import LARGEST_SET, NORMALIZATIONS, read_identifiers, require_at_most, size_sentence
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.private_intersection import METHODS, intersect
from sfumato.policy.section import Section, require_table

LINKAGE_KEYS = ("link_on", "normalize", "method", "most_items")
"""Keys of a task that say how rows of two parties are linked."""


@dataclass(frozen=True)
class RowLinkage:
    """How the rows of two parties are brought into one order: by the column `link_on`, or as they are."""

    link_on: str | None = None
    normalize: str = "text"
    method: str = "auto"
    most_items: int | None = None

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...]) -> Self:
        """Read the keys of ``[task]``; columns of the same people are for two parties."""
        if len(parties) != 2:
            raise PolicyError(
                f'"vertical" is for two parties, and the consortium has {len(parties)}', key=section.path("partition")
            )
        most = section.whole_number("most_items")
        if most is not None and not 0 < most <= LARGEST_SET:
            raise section.error("most_items", f"must be from 1 to {LARGEST_SET:,}")
        link_on = section.text("link_on")
        for name in ("normalize", "method", "most_items"):
            if link_on is None and name in section.table:
                raise PolicyError("goes with link_on, the column of identifiers", key=section.path(name))
        normalize, method = section.choice("normalize", NORMALIZATIONS), section.choice("method", METHODS)
        return cls(link_on, normalize or "text", method or "auto", most)

    def sentence(self) -> str:
        """Say what linking discloses."""
        if self.link_on is None:
            return "Both parties learn that they have as many rows."
        return (
            f"Both parties learn which of their own values of {quote(self.link_on)} the other has, too, and so how "
            f"many rows they have in common; {size_sentence(self.most_items)}."
        )

    def hold(self, table: PartyTable) -> "LinkedRows":
        """Take what linking needs from a party's table; an identifier that two rows have is refused."""
        rows = table.arrow.num_rows
        if self.link_on is None:
            return LinkedRows((), rows)
        found = read_identifiers(table, self.link_on, normalize=self.normalize)
        if len(found.items) < rows:
            raise DataError(
                f"{table.name}: {quote(self.link_on)} has an identifier in two rows, and rows are linked one to one; "
                "keep one of them, or name another column"
            )
        require_at_most(rows, self.most_items, self.link_on, table.name)
        return LinkedRows(found.items, rows, found.warnings)

    def link(self, session: PartySession, held: "LinkedRows", *, step: str) -> NDArray[np.int64]:
        """Give the rows of this party that the other has, too, in the order that both agree on, int64[common].

        >>> import pyarrow as pa
        >>> from sfumato.party.local_parties import run_parties
        >>> def part(*patients):
        ...     linkage = RowLinkage("patient", most_items=4)
        ...     held = linkage.hold(PartyTable(pa.table({"patient": patients}), "a.csv"))
        ...     return lambda session: linkage.link(session, held, step="t")
        >>> rows = run_parties({"a": part("ann", "bob", "cyd"), "b": part("cyd", "eve", "ann")})
        >>> sorted(zip(rows["a"].tolist(), rows["b"].tolist()))
        [(0, 2), (2, 0)]
        """
        (peer,) = session.others
        if self.link_on is not None:
            found = intersect(
                session, peer, held.items, step=f"{step}/link", method=self.method, most_items=self.most_items
            )
            rows = np.zeros(0, dtype=np.int64) if found is None else found
            if not len(rows):
                raise RunAborted(f"no {quote(self.link_on)} of this party is at party {quote(peer)}, too", peer=peer)
            return rows
        channel = session.channels[peer]
        channel.send_json(f"{step}/rows", held.rows)
        theirs = channel.receive_json(f"{step}/rows", most=20)
        if theirs != held.rows:
            raise RunAborted(
                f"party {quote(peer)} has another number of rows; both files need the same people in the same order, "
                "or link_on a column of identifiers",
                peer=peer,
            )
        if not held.rows:
            raise RunAborted("no party has a row, so that there is nothing to work out; name other files")
        return np.arange(held.rows)


@dataclass(frozen=True)
class LinkedRows:
    """What a party brings to a linkage: its identifiers, row by row (none without ``link_on``), and how many rows.

    `warnings` are sentences for the holder of the table.
    """

    items: tuple[bytes, ...]
    rows: int
    warnings: tuple[str, ...] = ()


def read_divided_columns(section: Section, parties: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Read ``columns`` where they are divided: ``columns = { a = ["age"], b = ["job"] }``, none of them at both."""
    key = section.path("columns")
    given = require_table(section.table.get("columns"), key, example='{ a = ["age"], b = ["job", "pay"] }')
    divided = {}
    for name in parties:
        own = given.get(name)
        if not isinstance(own, list) or not own or not all(isinstance(column, str) for column in own):
            raise PolicyError('must be a list of columns such as ["age"]', key=f"{key}.{name}")
        divided[name] = tuple(own)
    for name in given:
        if name not in parties:
            raise PolicyError("is no party of the consortium", key=f"{key}.{name}")
    every = [column for own in divided.values() for column in own]
    if len(set(every)) < len(every):
        raise PolicyError("names a column twice; every column is at one party", key=key)
    return divided


def read_partition(section: Section, vertical: tuple[str, ...], horizontal: tuple[str, ...] = ()) -> bool:
    """Tell whether ``partition`` is vertical; keys that go with one of the two only are refused with the other."""
    is_vertical = section.choice("partition", ("horizontal", "vertical")) == "vertical"
    for name in horizontal if is_vertical else vertical:
        if name in section.table:
            other = "horizontal" if is_vertical else "vertical"
            raise PolicyError(f'goes with partition = "{other}"; leave it out', key=section.path(name))
    return is_vertical
