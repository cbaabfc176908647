"""The sums of a naive Bayes classifier where two parties hold different columns of the same rows.

One party holds the classes. Its own columns it counts by itself. Of the other's, how many rows of a class have a value
is the scalar product of two vectors of zeros and ones, one at each party; and the sum of a number within a class is one
as well, of a vector of numbers and one of zeros and ones, and so is the sum of its squares (Vaidya and Clifton,
"Privacy preserving naive Bayes classifier for vertically partitioned data", SDM 2004). All of them are made at once by
`shared_products`, and opened.

Adversary: semi-honest. There are two parties, so each is the only colluder against the other. Both learn the model:
counts, sums and sums of squares within each class, and no row. A sum of squares that may have more than 63 bits is
opened as two, of the lower and of the upper 32 bits of the squares.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.party.party_session import PartySession
from sfumato.party.scalar_product import shared_products

_LOW = (1 << 32) - 1


def add_by_other_classes(
    session: PartySession,
    columns: NDArray[np.uint64] | None,
    classes: NDArray[np.int64] | None,
    *,
    width: int,
    limits: Sequence[int],
    step: str,
) -> NDArray[np.int64]:
    """Add up the columns of the one party by the classes of the other, and open the sums.

    columns:  uint64[n, m], at the party that has no classes;  classes: int64[n], below `width`, at the one that does
    limits:   the largest that an entry of each of the m columns may be; both parties know them
    returns:  int64[width, m], to both

    >>> from sfumato.party.local_parties import run_parties
    >>> numbers = np.array([[1, 0], [1, 1], [0, 9]], dtype=np.uint64)
    >>> task = {"width": 3, "limits": (1, 9), "step": "t"}
    >>> run_parties({
    ...     "a": lambda session: add_by_other_classes(session, None, np.array([0, 2, 2]), **task),
    ...     "b": lambda session: add_by_other_classes(session, numbers, None, **task),
    ... })["a"].tolist()
    [[1, 0], [0, 0], [1, 10]]
    """
    (peer,) = session.others
    if classes is not None:
        mine, due = (classes[:, None] == np.arange(width)).astype(np.uint64), len(limits)
    elif columns is not None:
        mine, due = columns, width
    else:
        raise ValueError("columns or classes")  # a bug of ours
    largest = [len(mine) * limit for limit in limits]
    few = max(largest).bit_length() + 1  # a sum has no more bits
    # of flags and classes either may choose; numbers are sent, and the classes choose
    sends = None if max(limits) == 1 else columns is not None
    shares = shared_products(session, peer, mine, bits=1, step=step, share_bits=few, due=due, sends=sends)
    channel = session.channels[peer]
    channel.send_array(f"{step}/open", shares)
    theirs = channel.receive_array(f"{step}/open", np.uint64, shares.shape[::-1]).T
    total = (shares + theirs) & np.uint64((1 << few) - 1)
    total = total if classes is not None else total.T
    if (total > np.array(largest, dtype=np.uint64)).any():
        raise channel.refuse(f"{step}/open", "a sum that cannot be right")
    return np.ascontiguousarray(total).view(np.int64)


def number_limits(most: int, rows: int) -> tuple[int, ...]:
    """Give the largest entries of the columns that numbers from 0 to `most`, below 2^31, are added up by.

    These are the number and its square, or, if so many squares may leave 63 bits, its lower and upper 32 bits.

    >>> number_limits(9, 1000), number_limits(2**31 - 1, 2), number_limits(2**31 - 1, 3)
    ((9, 81), (2147483647, 4611686014132420609), (2147483647, 4294967295, 1073741823))
    """
    square = most * most
    return (most, square) if rows * square < 1 << 63 else (most, _LOW, square >> 32)


def number_columns(steps: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
    """Write numbers as those columns, uint64[n, width]: the number and its square, or the two halves of that.

    >>> number_columns(np.array([5, 2**17]), 3).tolist()
    [[5, 25, 0], [131072, 0, 4]]
    """
    squares = steps * steps
    columns = [steps, squares] if width == 2 else [steps, squares & _LOW, squares >> 32]
    return np.stack(columns, axis=1).astype(np.uint64)
