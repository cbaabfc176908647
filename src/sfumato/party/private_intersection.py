"""Private set intersection: two parties learn which items both have, and nothing of the others.

Two methods:

- ``dh``: both hash their items to points of ristretto255, and multiply each by a secret scalar of their own, and the
  other's by it as well. Items are equal if points are equal that both have multiplied, and no party can multiply by
  the other's secret (Meadows, "A more efficient cryptographic matchmaking protocol", IEEE S&P 1986; Huberman, Franklin
  and Hogg, ACM EC 1999). Few bytes, and 130 microseconds an item.
- ``kkrt``: a batched oblivious pseudo-random function (`batched_oblivious_prf`). A sixth of a second to begin with,
  and then a few microseconds an item, for about twice the bytes.

Adversary: semi-honest. Lists are padded with random points, or values, to a public size, and shuffled. Of two parties
nobody else can collude. Whoever gets the result learns which of its own items the other has; the other learns nothing,
not even how many. What no protocol can prevent: a party may put guesses into its set, and learns which of them the
other has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness
from sfumato.errors import PolicyError
from sfumato.party.batched_oblivious_prf import match_tags, receive_matches, send_matches, tag_bytes
from sfumato.party.commutative_encryption import CommutativeKey, agree_sizes, random_rows, swap_rows
from sfumato.party.identifiers import (
    Identifiers,
    read_identifier_keys,
    read_identifiers,
    require_at_most,
    size_sentence,
)
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import POINT_BYTES, hash_to_point, points_array
from sfumato.policy.section import Section

METHODS = ("auto", "dh", "kkrt")
LARGEST_BY_POINTS = 2_000
"""With ``auto``, sets of at most this public size are compared by points; for larger ones KKRT is faster."""


def intersect(  # noqa: PLR0913 - agreed on with those who call it
    session: PartySession,
    peer: str,
    items: Sequence[bytes],
    *,
    step: str,
    method: str = "auto",
    most_items: int | None = None,
    to: Sequence[str] | None = None,
) -> NDArray[np.int64] | None:
    """Give the places of those of `items`, which are distinct, that the peer has, too.

    Those of `to` (both, if left out) get the result, and the other ``None``. Where both get it, they get it in the same
    order, which is random: the n-th place of the one and the n-th of the other are of the same item.

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(peer, *items):
    ...     return lambda session: intersect(session, peer, items, step="t", most_items=4)
    >>> results = run_parties({"a": part("b", b"Anna", b"Bo", b"Jo"), "b": part("a", b"Jo", b"Max", b"Anna")})
    >>> sorted(zip(results["a"].tolist(), results["b"].tolist()))
    [(0, 2), (2, 0)]
    """
    if len(set(items)) < len(items):
        raise ValueError("items must be distinct")  # a bug of ours
    to = (session.me, peer) if to is None else tuple(to)
    sizes = agree_sizes(session, peer, len(items), most_items, step=step)
    if method == "auto":
        method = "dh" if max(sizes) <= LARGEST_BY_POINTS else "kkrt"
    if method == "dh":
        return _intersect_points(session, peer, items, sizes, step, to)

    # KKRT: the receiver gets the result first; of two that get it, the earlier of the consortium's order.
    receiver = to[0] if len(to) == 1 else min(session.me, peer, key=session.parties.index)
    channel = session.channels[peer]
    if session.me == receiver:
        places, slots = receive_matches(session, peer, items, sizes, step=f"{step}/kkrt")
        if peer in to:
            channel.send_json(f"{step}/count", len(slots))
            channel.send_array(f"{step}/slots", slots)
        return places
    listed = send_matches(session, peer, items, (sizes[1], sizes[0]), step=f"{step}/kkrt")
    if session.me not in to:
        return None
    count = channel.receive_json(f"{step}/count", most=20)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= min(sizes):
        raise channel.refuse(f"{step}/count", "a number of items that cannot be right")
    slots = channel.receive_array(f"{step}/slots", np.int64, count)
    if count and (slots[0] < 0 or slots[-1] >= len(listed) or (np.diff(slots) <= 0).any() or (listed[slots] < 0).any()):
        raise channel.refuse(f"{step}/slots", "places that cannot be right")
    return listed[slots]


def _intersect_points(
    session: PartySession,
    peer: str,
    items: Sequence[bytes],
    sizes: tuple[int, int],
    step: str,
    to: Sequence[str],
) -> NDArray[np.int64] | None:
    """Compare by points that both have multiplied; each returns bytes of the other's, in the other's order."""
    channel = session.channels[peer]
    size, others = sizes
    length = tag_bytes(size, others)
    domain, salt = f"intersection/{step}", session.session_id
    points = points_array(hash_to_point(domain, salt, item) for item in items)
    order = Randomness().permutation(size)  # the item of each row that is sent, where it is below len(items)
    key = CommutativeKey()
    mine = key.encrypt(np.concatenate([points, random_rows(size - len(items))])[order])
    theirs = swap_rows(channel, channel, mine, (others, POINT_BYTES), step=f"{step}/points")
    theirs = key.encrypt_from(channel, f"{step}/points", theirs)
    # The first bit of an encoding is always 0, so the first byte says less than the others.
    theirs = np.ascontiguousarray(theirs[:, 1 : length + 1])
    returned = theirs if peer in to else theirs[:0]
    awaited = (size if session.me in to else 0, length)
    tags = swap_rows(channel, channel, returned, awaited, step=f"{step}/twice")
    if session.me not in to:
        return None
    rows, _ = match_tags(tags, theirs)
    rows = rows[order[rows] < len(items)]
    return order[rows[np.lexsort(tags[rows].T)]]  # an order that both know: by what both have multiplied


# The task


@dataclass(frozen=True)
class IntersectionTask(PartyTask):
    """List the identifiers of a column that both parties have, as this party's file writes them, sorted."""

    kind: ClassVar[str] = "intersection"
    keys: ClassVar[tuple[str, ...]] = ("column", "normalize", "most_items", "method")
    result_to: tuple[str, ...]
    column: str
    normalize: str = "text"
    most_items: int | None = None
    method: str = "auto"

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        if len(parties) != 2:
            raise PolicyError(
                "intersection is between two parties; among more, intersection-size counts what all have",
                key=section.path("kind"),
            )
        return cls(result_to, *read_identifier_keys(section), section.choice("method", METHODS) or "auto")

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what an intersection protects from whom."""
        by_points = "Diffie-Hellman on ristretto255, Meadows 1986, Huberman, Franklin and Hogg 1999"
        by_function = "a batched oblivious pseudo-random function, Kolesnikov et al., CCS 2016"
        method = self.method
        if method == "auto" and self.most_items is not None:
            method = "dh" if self.most_items <= LARGEST_BY_POINTS else "kkrt"
        paper = {"dh": by_points, "kkrt": by_function, "auto": f"{by_points}; for larger sets {by_function}"}[method]
        silent = [name for name in parties if name not in self.result_to]
        learned = [f"{silent[0]} learns nothing, not even how many identifiers are shared"] if silent else []
        learned.append(size_sentence(self.most_items))
        learned.append("whoever puts guesses into its set learns which of them the other has")
        return ProtocolStatement(
            SEMI_HONEST, "there is one other party.", "; ".join(learned) + ".", f"Private set intersection by {paper}."
        )

    def prepare(self, me: str, table: PartyTable) -> Identifiers:
        """Take this party's identifiers."""
        del me
        found = read_identifiers(table, self.column, normalize=self.normalize)
        require_at_most(len(found.items), self.most_items, self.column, table.name)
        return found

    def cautions(self, prepared: Identifiers) -> tuple[str, ...]:
        """Say which identifiers repeat, and which can be guessed."""
        return prepared.warnings

    def run(self, session: PartySession, prepared: Identifiers) -> Any:
        """Find what both have."""
        places = intersect(
            session,
            session.others[0],
            prepared.items,
            step="intersection",
            method=self.method,
            most_items=self.most_items,
            to=self.result_to,
        )
        return None if places is None else sorted(prepared.written[place] for place in places.tolist())
