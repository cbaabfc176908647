"""The distance of two parties' vectors, of which neither sees the other's (chapter, 20.5).

The squared Euclidean distance is |x|² + |y|² - 2 x·y: each party adds the square that it knows to its share of the
scalar product, which is made by oblivious transfers (see `scalar_product`). For vectors of zeros and ones this is the
Hamming distance, the number of places where they differ, as SHADE has it (Bringer, Chabanne and Patey, "SHADE: Secure
Hamming Distance Computation from Oblivious Transfer", FC Workshops 2013). Of other numbers it is first shared, place by
place, whether they differ (see `secure_comparison`); each party then has a vector of random bits, and the Hamming
distance of those two is that of the numbers.

Adversary: semi-honest. Two parties: the one colluder is the other party, who learns what the distance tells, and the
number of rows and bits. Whoever chooses a vector for it learns more: the distance from zeros is the other's length, and
two distances from neighbouring vectors tell an entry.

>>> from sfumato.party.local_parties import run_parties
>>> def part(peer, values):
...     return lambda session: share_squared_distance(session, peer, np.array(values), bits=8, step="example").open_to(
...         session, peer, ["b"], step="example")
>>> run_parties({"a": part("b", [1, 2, -3]), "b": part("a", [1, 0, 5])})
{'a': None, 'b': 68}
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import require_group
from sfumato.party.scalar_product import (
    ProductShare,
    agree_on_shape,
    read_bits,
    read_column_name,
    require_two_parties,
    share_by_transfers,
)
from sfumato.party.secure_comparison import share_order, unpack_bits
from sfumato.party.whole_number_column import read_whole_numbers
from sfumato.policy.section import Section


def share_squared_distance(
    session: PartySession, peer: str, values: NDArray[np.int64], *, bits: int, step: str
) -> ProductShare:
    """Share the squared Euclidean distance from the peer's vector; entries are int64[n], 0 or 1 or signed of `bits`."""
    product = share_by_transfers(session, peer, values, bits=bits, step=step, spare=2)
    # squares of 32 bits have 64, so their upper and lower halves are added apart
    squares = (values * values).view(np.uint64)
    own = (int((squares >> np.uint64(32)).sum()) << 32) + int((squares & np.uint64(0xFFFFFFFF)).sum())
    return ProductShare((own - 2 * product.share) % product.modulus, product.modulus)


def share_hamming_distance(
    session: PartySession, peer: str, values: NDArray[np.int64], *, bits: int, step: str
) -> ProductShare:
    """Share the number of places where the peer's vector has another entry; entries as of the squared distance."""
    if bits > 1:
        agree_on_shape(session, peer, (len(values), 1), f"{step}/equal")
        words = values.view(np.uint64) & np.uint64((1 << bits) - 1)
        _, equal = share_order(session, peer, words, bits=bits, step=f"{step}/equal")
        shared = unpack_bits(equal, len(values)).astype(np.int64)
        # that they differ is that they are not equal, and one of the two turns its bits for that
        values = 1 - shared if session.place < session.parties.index(peer) else shared
    return share_squared_distance(session, peer, values, bits=1, step=step)


# The task.

_METRICS = ("euclidean", "hamming")


@dataclass(frozen=True)
class DistanceTask(PartyTask):
    """The distance between a column of two parties' files, row by row in the order of the files.

    `metric` is ``euclidean``, whose square is given, or ``hamming``, the number of rows that differ.
    """

    kind: ClassVar[str] = "distance"
    keys: ClassVar[tuple[str, ...]] = ("column", "bits", "metric")
    result_to: tuple[str, ...]
    column: str
    bits: int
    metric: str = "euclidean"

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        require_two_parties(section, parties)
        metric = section.choice("metric", _METRICS) or "euclidean"
        return cls(result_to, read_column_name(section), read_bits(section), metric)

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the distance protects from whom."""
        del parties
        return ProtocolStatement(
            SEMI_HONEST,
            "there are two parties; each learns of the other what the distance tells. A party that chooses its column "
            "for it learns the length of the other's (from zeros), and by two runs with columns that differ in a row "
            "the other's entry there: agree on what the columns are, and on how often this is run.",
            "the number of rows.",
            "Distance: Bringer, Chabanne and Patey, SHADE, FC Workshops 2013, and Gilboa, Two Party RSA Key "
            "Generation, CRYPTO 1999, over extended oblivious transfers.",
        )

    def prepare(self, me: str, table: PartyTable) -> NDArray[np.int64]:
        """Read the column; numbers beyond the declared bits are refused."""
        del me
        require_group()
        return read_whole_numbers(table, self.column, self.bits)

    def run(self, session: PartySession, prepared: NDArray[np.int64]) -> Any:
        """Share the distance, and open it to those who are told it."""
        (peer,) = session.others
        share = share_squared_distance if self.metric == "euclidean" else share_hamming_distance
        distance = share(session, peer, prepared, bits=self.bits, step="distance").open_to(
            session, peer, self.result_to, step="distance"
        )
        if distance is None:
            return None
        return {"squared_distance" if self.metric == "euclidean" else "distance": distance, "rows": len(prepared)}
