"""Sums of which only those are opened whose count is large enough; nobody learns the others (chapter, 20.5).

Two parties, the first of the consortium, hold the sums between them. Each of the others splits every number x into a
random word r and x - r modulo 2^64, and sends the one to the one holder and the other to the other. So what each holder
adds up is a share: uniformly random by itself, and the sum together with the other's. The holders compare the shared
counts with the least count (`compare_shares`), both learn one bit for each, and only where it is one are the shares of
the sums put together. Splitting is additive secret sharing, and the comparison that of `secure_comparison` (Garay et
al. 2007).

Before they are put together, the two holders split these sums anew: the one adds a mask that both stretch from their
agreed key, the other takes it off. For who sent random words to the holders knows them, and could take them off a
holder's share: what is left of it would be that holder's own numbers.

Adversary: semi-honest. The two holders together learn every sum, so they must not collude with each other; no others
learn anything beyond the result, however many collude, but what follows from it with their own numbers. All parties
learn which counts are large enough.
"""

import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.party.party_session import PartySession
from sfumato.party.secure_comparison import compare_shares
from sfumato.party.secure_sum import add_mask
from sfumato.policy.section import Section

Words = NDArray[np.uint64]

LARGEST_LEAST = 10**12
"""No least count is larger."""
_BITS = 48
"""Bits of a count, its sign included: more rows than any parties have, and fewer bits to compare than a word has."""


def open_large_sums(
    session: PartySession,
    counts: NDArray[np.int64],
    values: NDArray[np.int64],
    *,
    least: int,
    step: str,
    to: Sequence[str] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.int64] | None]:
    """Add up counts and values of all parties, and open the values of those counts that reach `least`.

    counts:   int64[n], this party's;  values: int64[n, m], what goes with each count (the count itself, if wanted)
    returns:  bool[n], whether each count reaches `least`, which all parties learn; and int64[large, m], the sums of
              those that do, for the parties of `to` (all, if left out), and None for others

    >>> from sfumato.party.local_parties import run_parties
    >>> def part(counts):
    ...     column = np.array(counts)
    ...     return lambda session: open_large_sums(session, column, column[:, None], least=5, step="t", to=["c"])
    >>> found = run_parties({"a": part([3, 1, 0]), "b": part([3, 1, 0]), "c": part([0, 1, 5])})
    >>> found["a"], found["c"]
    ((array([ True, False,  True]), None), (array([ True, False,  True]), array([[6], [5]])))
    """
    to = session.parties if to is None else tuple(to)
    holders = session.parties[:2]
    rows = np.concatenate([counts[:, None], values], axis=1).astype(np.int64)
    words = rows.view(np.uint64)
    if not len(words):
        return np.zeros(0, dtype=bool), rows[:, 1:] if session.me in to else None
    session.agree_keys()
    if session.me not in holders:
        masks = np.frombuffer(secrets.token_bytes(8 * words.size), dtype="<u8").reshape(words.shape)
        session.channels[holders[0]].send_array(f"gate/{step}/share", masks)
        session.channels[holders[1]].send_array(f"gate/{step}/share", words - masks)
        large = session.channels[holders[0]].receive_array(f"gate/{step}/large", np.bool_, (len(rows),))
        return large, _open(session, holders, f"gate/{step}/open", (int(large.sum()), rows.shape[1] - 1), to)
    shares = words.copy()
    for peer in session.parties[2:]:
        shares += session.channels[peer].receive_array(f"gate/{step}/share", np.uint64, words.shape)
    peer = holders[1 - session.place]
    large = compare_shares(session, peer, np.ascontiguousarray(shares[:, 0]), least, step=f"gate/{step}", bits=_BITS)
    if session.place == 0:
        for other in session.parties[2:]:
            session.channels[other].send_array(f"gate/{step}/large", large)
    passed = np.ascontiguousarray(shares[large, 1:])
    add_mask(passed, session.agreed_key(peer, f"gate/{step}"), session.place == 0)
    for other in to:
        if other != session.me:
            session.channels[other].send_array(f"gate/{step}/open", passed)
    if session.me not in to:
        return large, None
    passed = passed + session.channels[peer].receive_array(f"gate/{step}/open", np.uint64, passed.shape)
    return large, passed.view(np.int64)


def read_min_count(section: Section) -> int:
    """Read ``min_count`` of a task, 0 where it is left out."""
    least = section.whole_number("min_count") or 0
    if least > LARGEST_LEAST:
        raise section.error("min_count", f"must be at most {LARGEST_LEAST:,}")
    return least


def _open(
    session: PartySession, holders: Sequence[str], step: str, shape: tuple[int, int], to: Sequence[str]
) -> NDArray[np.int64] | None:
    """Put the holders' shares together, at a party that is none of them."""
    if session.me not in to:
        return None
    one, other = (session.channels[holder].receive_array(step, np.uint64, shape) for holder in holders)
    total: Words = one + other
    return total.view(np.int64)
