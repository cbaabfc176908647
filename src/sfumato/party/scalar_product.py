"""The scalar product of two parties' vectors, of which neither sees the other's (chapter, 20.5).

By oblivious transfer (Gilboa, "Two Party RSA Key Generation", CRYPTO 1999): a bit of the one party times a value of the
other is a correlated transfer, after which each holds a random word, and the two add up to the product. A number of b
bits takes b transfers, the k-th of them in words that are k bits shorter, since it counts 2^k times. What comes out are
shares: each party's is a random word by itself, and their sum is the scalar product modulo a power of two.

By Paillier's encryption (Goethals, Laur, Lipmaa and Mielikäinen, "On Private Scalar Product Computation for
Privacy-Preserving Data Mining", ICISC 2004), for vectors of up to a thousand entries: the one party sends its entries
encrypted, the other adds up its own times those, and a random number modulo the key, which is its share.

Adversary: semi-honest. The transfers are safe against malicious parties as well, but what they multiply is not checked:
who sends other values than agreed makes the result wrong. There are two parties, so the one colluder is the other
party; it learns what the result tells, the number of rows and the declared bits. Shares that are not opened tell
nothing at all. A result may tell much: whoever chooses a vector of zeros and a single one learns an entry of the
other's vector.

>>> from sfumato.party.local_parties import run_parties
>>> def part(peer, values):
...     return lambda session: shared_scalar_product(session, peer, np.array(values, np.uint64), bits=4, step="example")
>>> shares = run_parties({"a": part("b", [1, 2, 3]), "b": part("a", [9, 0, 5])})
>>> (shares["a"] + shares["b"]) % 2**64
24
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError, PolicyError, RunAborted, quote
from sfumato.party.oblivious_transfer_extension import BATCH, transfer_receiver, transfer_sender
from sfumato.party.paillier_encryption import CIPHERTEXT_BYTES, KEY_BYTES, PaillierOwner, PaillierSums, require_paillier
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.protocol_statement import SEMI_HONEST, ProtocolStatement
from sfumato.party.ristretto_group import require_group
from sfumato.party.whole_number_column import read_whole_numbers
from sfumato.policy.section import Section

_WORDS_AT_ONCE = 1 << 21
"""Words of shares that are made at a time, so that memory is bounded whatever the number of columns is."""
_MOST_COLUMNS = 1 << 16


def shared_scalar_product(
    session: PartySession, peer: str, values: NDArray[np.uint64], *, bits: int, step: str, share_bits: int = 64
) -> int:
    """Give this party's share of the scalar product with the peer's vector, modulo 2^64 or 2^share_bits.

    Entries are uint64[n] of so many `bits`, from 0 on, at both parties; both call this with the same `bits`.
    """
    shares = shared_products(session, peer, values[:, None], bits=bits, step=step, share_bits=share_bits)
    return int(shares[0, 0])


def shared_products(  # noqa: PLR0913 - the last four have defaults that most callers leave alone
    session: PartySession,
    peer: str,
    columns: NDArray[np.uint64],
    *,
    bits: int,
    step: str,
    signed: bool = False,
    share_bits: int = 64,
    due: int | None = None,
    sends: bool | None = None,
) -> NDArray[np.uint64]:
    """Share the scalar products of every column of this party's with every column of the peer's.

    `columns` is uint64[n, m], entries of so many `bits` from 0 on, or, if they are `signed`, of two's complement. The
    result is uint64[m, m'] for the peer's m' columns: this party's shares, modulo 2^64 or 2^share_bits; fewer bits are
    fewer bytes, where both open the shares anyway and the products fit. Both learn n, m and m', and nothing else.
    Where m' is known, it is `due`, and a peer with another ends the run. `sends`, where both say it, is true at the one
    party whose entries may have as many bits as the shares, whatever `bits` is; those of the other party are of `bits`.
    """
    theirs = agree_on_shape(session, peer, columns.shape, step, due)
    rows, mine = columns.shape
    shares = np.zeros((mine, theirs), dtype=np.uint64)
    # the party with fewer columns chooses, since a transfer is dearer than a word in it; else the later one
    if sends is None:
        sends = (mine, -session.place) > (theirs, -session.parties.index(peer))
    chosen = theirs if sends else mine
    planes = range(min(bits, share_bits))
    for word in sorted({-(-(share_bits - plane) // 8) for plane in planes}, reverse=True):
        # planes whose shares have words of the same number of bytes are done at once
        alike = [plane for plane in planes if -(-(share_bits - plane) // 8) == word]
        weights = np.array([1 << plane for plane in alike], dtype=np.uint64)
        if signed and alike[-1] == bits - 1:
            weights[-1] = np.negative(weights[-1])
        transfers = len(alike) * max(chosen, 1)
        batch = max(1, min(BATCH, _WORDS_AT_ONCE // max(mine if sends else theirs, 1)) // transfers)
        for start in range(0, rows, batch):
            part = columns[start : start + batch]
            here = f"{step}/products"
            if sends:
                values = np.tile(part, (transfers, 1))  # for each plane and each of the peer's columns, all rows
                words = transfer_sender(session, peer).share_products(values, word=word, step=here)
            else:
                bits_there = (part.T[None] >> np.array(alike, dtype=np.uint64)[:, None, None] & np.uint64(1)) > 0
                words = transfer_receiver(session, peer).share_products(
                    bits_there.reshape(-1), theirs, word=word, step=here
                )
            # [planes, columns of who chooses, rows, columns of who sends], added up over planes and rows
            by_plane = words.reshape(len(alike), chosen, len(part), -1).sum(axis=2, dtype=np.uint64)
            total = np.einsum("p,pct->tc", weights, by_plane)
            shares += total if sends else total.T
    if share_bits < 64:
        shares &= np.uint64((1 << share_bits) - 1)
    return shares


def agree_on_shape(session: PartySession, peer: str, shape: tuple[int, ...], step: str, due: int | None = None) -> int:
    """Tell each other the rows and columns; give the number of the peer's columns, which is `due` if that is known.

    The run ends where rows differ, and where the peer has no columns, or too many.
    """
    channel = session.channels[peer]
    channel.send_array(f"{step}/shape", np.array(shape, dtype=np.int64))
    rows, columns = channel.receive_array(f"{step}/shape", np.int64, 2).tolist()
    if rows != shape[0]:
        raise RunAborted(
            f"party {quote(peer)} has {rows:,} rows and this one {shape[0]:,}, which must be the same rows in the same "
            "order; agree on them, and start anew",
            peer=peer,
        )
    if not 0 < columns <= _MOST_COLUMNS or (due is not None and columns != due):
        raise channel.refuse(f"{step}/shape", "a number of columns which cannot be right")
    return int(columns)


# Shares of one exact product, for the task: as many bits as the product can have, which may be more than 64.


@dataclass(frozen=True)
class ProductShare:
    """A party's share of a number: the shares of both add up to it, modulo `modulus`."""

    share: int
    modulus: int

    def open_to(self, session: PartySession, peer: str, to: Sequence[str], *, step: str) -> int | None:
        """Send the share to the peer if it is told the result, and give the number, with its sign, if this party is."""
        size = -(-self.modulus.bit_length() // 8)
        channel = session.channels[peer]
        if peer in to:
            channel.send(f"{step}/share", self.share.to_bytes(size, "little"))
        if session.me not in to:
            return None
        theirs = int.from_bytes(channel.receive(f"{step}/share", exactly=size), "little")
        total = (self.share + theirs) % self.modulus
        return total if 2 * total < self.modulus else total - self.modulus


def product_bits(rows: int, bits: int) -> int:
    """Give the bits that a scalar product can have, with its sign, of entries that are 0 or 1, or signed of `bits`.

    >>> product_bits(1_000_000, 1), product_bits(100_000, 32)
    (21, 80)
    """
    return max(rows, 1).bit_length() + (1 if bits == 1 else 2 * bits - 1)


def share_by_transfers(
    session: PartySession, peer: str, values: NDArray[np.int64], *, bits: int, step: str, spare: int = 0
) -> ProductShare:
    """Share the scalar product exactly, by transfers; entries are int64[n] of `bits` bits, at most 32.

    The party that is earlier in the consortium's order sends, the other one chooses by the bits of its entries. Shares
    have as many bits as a product can have, and `spare` more, for whoever adds something to them.
    """
    agree_on_shape(session, peer, (len(values), 1), step)
    needed = product_bits(len(values), bits) + spare
    sends = session.place < session.parties.index(peer)
    total = 0
    here = f"{step}/product"
    for word in sorted({-(-(needed - plane) // 8) for plane in range(bits)}, reverse=True):
        alike = [plane for plane in range(bits) if -(-(needed - plane) // 8) == word]
        batch = BATCH // len(alike)
        for start in range(0, len(values), batch):
            part = values[start : start + batch]
            if sends:
                words = transfer_sender(session, peer).share_wide_products(
                    np.tile(part, len(alike)), word=word, step=here
                )
            else:
                choices = (part[None] >> np.array(alike)[:, None] & 1) > 0
                words = transfer_receiver(session, peer).share_wide_products(choices.reshape(-1), word=word, step=here)
            # the halves of words are added apart, so that nothing is lost: [planes, rows, 4 halves]
            halves = words.view("<u4").reshape(len(alike), len(part), 4).sum(axis=1, dtype=np.uint64)
            for plane, of_plane in zip(alike, halves.tolist(), strict=True):
                weight = -(1 << plane) if bits > 1 and plane == bits - 1 else 1 << plane
                total += weight * sum(half << 32 * place for place, half in enumerate(of_plane))
            if session.progress is not None:
                session.progress(len(values) * alike[0] + (start + len(part)) * len(alike), len(values) * bits)
    # the product is the chooser's share less the sender's
    return ProductShare((-total if sends else total) % (1 << needed), 1 << needed)


def share_by_paillier(session: PartySession, peer: str, values: NDArray[np.int64], *, step: str) -> ProductShare:
    """Share the scalar product by Paillier's encryption; the party that is earlier has the key."""
    agree_on_shape(session, peer, (len(values), 1), step)
    channel = session.channels[peer]
    if session.place < session.parties.index(peer):
        owner = PaillierOwner()
        channel.send(f"{step}/key", owner.public_bytes)
        for place, value in enumerate(values.tolist(), start=1):
            channel.send(f"{step}/entry", owner.encrypt([value]))
            if session.progress is not None:
                session.progress(place, len(values))
        sealed = channel.receive(f"{step}/masked", exactly=CIPHERTEXT_BYTES)
        try:
            return ProductShare(owner.decrypt(sealed), owner.modulus)
        except ValueError:
            raise channel.refuse(f"{step}/masked", "no ciphertext") from None
    try:
        sums = PaillierSums(channel.receive(f"{step}/key", exactly=KEY_BYTES))
    except ValueError:
        raise channel.refuse(f"{step}/key", "no key of 3,072 bits") from None
    mask = secrets.randbelow(sums.modulus)
    entries = b"".join(channel.receive(f"{step}/entry", exactly=CIPHERTEXT_BYTES) for _ in values)
    try:
        channel.send(f"{step}/masked", sums.weighted_sum(entries, values.tolist(), mask=mask))
    except ValueError:
        raise channel.refuse(f"{step}/entry", "no ciphertext") from None
    return ProductShare(-mask % sums.modulus, sums.modulus)


# The task.

_DEFAULT_BITS = 32
_MOST_BITS = 32
_MOST_PAILLIER_ROWS = 1000


def require_two_parties(section: Section, parties: tuple[str, ...]) -> None:
    """Refuse a consortium of other than two parties, for tasks that are theirs."""
    if len(parties) != 2:
        raise PolicyError(
            f"is a task of two parties, and the consortium has {len(parties)}; make one of those two",
            key=section.path("kind"),
        )


def read_bits(section: Section, *, default: int = _DEFAULT_BITS, most: int = _MOST_BITS) -> int:
    """Read the bits that entries are declared to have."""
    bits = section.whole_number("bits")
    if bits is not None and not 1 <= bits <= most:
        raise section.error("bits", f"must be from 1 to {most}")
    return default if bits is None else bits


def read_column_name(section: Section) -> str:
    """Read the column that a task is about, which it must name."""
    column = section.text("column")
    if column is None:
        raise PolicyError("is missing; name a column of the parties' files", key=section.path("column"))
    return column


@dataclass(frozen=True)
class ScalarProductTask(PartyTask):
    """The scalar product of a column of two parties' files, row by row in the order of the files.

    Entries are whole numbers: 0 and 1 where `bits` is 1, and else signed numbers of so many bits.
    """

    kind: ClassVar[str] = "scalar-product"
    keys: ClassVar[tuple[str, ...]] = ("column", "bits", "method")
    result_to: tuple[str, ...]
    column: str
    bits: int = _DEFAULT_BITS
    method: str = "ot"

    @classmethod
    def read(cls, section: Section, parties: tuple[str, ...], result_to: tuple[str, ...]) -> Self:
        """Read the settings of ``[task]``."""
        require_two_parties(section, parties)
        method = section.choice("method", ("ot", "paillier")) or "ot"
        return cls(result_to, read_column_name(section), read_bits(section), method)

    def statement(self, parties: tuple[str, ...]) -> ProtocolStatement:
        """Say what the scalar product protects from whom."""
        del parties
        papers = {
            "ot": "Gilboa, Two Party RSA Key Generation, CRYPTO 1999, over oblivious transfers extended after Keller, "
            "Orsini and Scholl, CRYPTO 2015, checked as by Roy, CRYPTO 2022.",
            "paillier": "Goethals, Laur, Lipmaa and Mielikäinen, On Private Scalar Product Computation, ICISC 2004, "
            "with Paillier's encryption under a key of 3,072 bits.",
        }
        return ProtocolStatement(
            SEMI_HONEST,
            "there are two parties; each learns of the other what the product tells. A party that chooses its column "
            "for it learns an entry of the other's (zeros and a single one), or several (powers of a large number): "
            "agree on what the columns are, and on how often this is run.",
            "the number of rows.",
            f"Scalar product: {papers[self.method]}",
        )

    def prepare(self, me: str, table: PartyTable) -> NDArray[np.int64]:
        """Read the column; numbers beyond the declared bits are refused."""
        del me
        require_group() if self.method == "ot" else require_paillier()
        values = read_whole_numbers(table, self.column, self.bits)
        if self.method == "paillier" and len(values) > _MOST_PAILLIER_ROWS:
            raise DataError(
                f'{table.name} has {len(values):,} rows, and method = "paillier" is for at most '
                f'{_MOST_PAILLIER_ROWS:,}; write method = "ot"'
            )
        return values

    def run(self, session: PartySession, prepared: NDArray[np.int64]) -> Any:
        """Share the product, and open it to those who are told it."""
        (peer,) = session.others
        if self.method == "ot":
            share = share_by_transfers(session, peer, prepared, bits=self.bits, step="scalar-product")
        else:
            share = share_by_paillier(session, peer, prepared, step="scalar-product")
        product = share.open_to(session, peer, self.result_to, step="scalar-product")
        return None if product is None else {"product": product, "rows": len(prepared)}
