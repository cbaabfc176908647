"""Sums of which only the large ones are opened: what parties see, with all that they know themselves taken off."""

import itertools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.errors import RunAborted
from sfumato.party.gated_sums import open_large_sums
from sfumato.party.local_parties import QueueChannel, local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.secure_sum import secure_sum
from sfumato.party.wire_frame import HEADER_BYTES, read_header
from tests.party.watched_parties import Part, change_payloads

Words = NDArray[np.uint64]
Told = dict[tuple[str, str, bytes], Words]
"""What was sent, by sender, receiver and step, as words."""


_LONGEST = 100
"""Words of the longest message that is tried; what transfers send is longer, and has tests of its own."""


def _listen(parts: Mapping[str, Part]) -> Told:
    """Run parties, and give every message that is words."""
    sessions, told = local_sessions(*parts), dict[tuple[str, str, bytes], Words]()

    def hear(sender: str, receiver: str) -> Any:
        def heard(frame: bytes) -> bytes:
            if len(frame) % 8 == HEADER_BYTES % 8:
                step = read_header(frame[:HEADER_BYTES], sender).step
                told[sender, receiver, step] = np.frombuffer(frame[HEADER_BYTES:], dtype="<u8")
            return frame

        return heard

    for sender, session in sessions.items():
        for receiver, channel in session.channels.items():
            assert isinstance(channel, QueueChannel)
            channel.tap = hear(sender, receiver)
    run_parties(parts, sessions)
    return told


def _taken_off(told: Told, coalition: tuple[str, ...]) -> list[Words]:
    """What a coalition makes of a word that it is told, by taking a word off that it sent, or the sum of those of all.

    All words of all messages are tried, so that nothing has to be known of where in a message they stand.
    """
    known: dict[tuple[str, bytes], list[Words]] = defaultdict(list)
    for (sender, receiver, step), words in told.items():
        if sender in coalition and receiver not in coalition and len(words) <= _LONGEST:
            known[receiver, step].append(words)
    own = [np.zeros(1, dtype=np.uint64)]
    for messages in known.values():
        own += messages
        if len({len(words) for words in messages}) == 1:
            own.append(np.sum(messages, axis=0, dtype=np.uint64))
    words = np.unique(np.concatenate(own))
    words = words[(words == 0) | ((words > 1 << 32) & (words < (1 << 64) - (1 << 32)))]
    heard = [
        given
        for (sender, receiver, _), given in told.items()
        if receiver in coalition and sender not in coalition and len(given) <= _LONGEST
    ]
    return [(given[:, None] - sign * words).reshape(-1) for given in heard for sign in (np.uint64(1), ~np.uint64(0))]


def _gated(session: PartySession, values: NDArray[np.int64], to: str) -> Any:
    return open_large_sums(session, values, values[:, None], least=1, step="t", to=list(to))


def _plain(session: PartySession, values: NDArray[np.int64], to: str) -> Any:
    return secure_sum(session, values, step="t", to=list(to))


@pytest.mark.parametrize("names", ["abc", "abcd"])
@pytest.mark.parametrize("to", [None, "c"])
@pytest.mark.parametrize("add_up", [_gated, _plain])
def test_nobody_takes_own_words_off_anothers(add_up: Any, names: str, to: str | None) -> None:
    """No coalition, but both holders, finds a party's counts in what it is told, whatever of its own it takes off."""
    draw = np.random.default_rng(7)
    counts = {name: draw.integers(1 << 20, 1 << 21, 40) for name in names}  # so that no chance makes one
    shown = names if to is None else to

    def part(name: str) -> Part:
        return lambda session: add_up(session, counts[name], shown)

    told = _listen({name: part(name) for name in names})
    coalitions = [own for size in range(1, len(names)) for own in itertools.combinations(names, size)]
    tried = 0
    for coalition in coalitions:
        if add_up is _gated and {"a", "b"} <= set(coalition):
            continue  # these two hold all sums between them, as the statement says
        others = [name for name in names if name not in coalition]
        # one party's counts, or those of some of the others: but of all others together the result tells
        secret = [
            np.sum([counts[name] for name in some], axis=0)
            for size in range(1, len(others))
            for some in itertools.combinations(others, size)
        ]
        for found in _taken_off(told, coalition):
            tried += len(found)
            for values in secret:
                assert not np.isin(found, values.astype(np.uint64)).any(), (coalition, names)
    assert tried > 100


def test_opened_shares_are_uniform_to_a_party_that_shared() -> None:
    """What a third party is told when sums are opened, less what it sent, is uniform: it could draw that itself."""
    counts = np.full(3000, 5, dtype=np.int64)
    told = _listen(
        dict.fromkeys("abc", lambda session: open_large_sums(session, counts, counts[:, None], least=1, step="t"))
    )
    sent = {receiver: words for (sender, receiver, _), words in told.items() if sender == "c" and len(words) == 6000}
    for holder in "ab":
        (opened,) = [words for (*way, _), words in told.items() if way == [holder, "c"] and len(words) == 3000]
        bins = np.bincount((opened - sent[holder][1::2]).view(np.uint8), minlength=256)
        expected = 24_000 / 256
        assert ((bins - expected) ** 2 / expected).sum() < 400  # chi-square with 255 degrees of freedom: 400 is 1e-8


def test_a_truth_value_that_is_none_ends_the_run() -> None:
    """A holder that says 2 where it should say whether a count is large enough is refused by who asks."""
    counts = np.array([7, 8, 9])
    parts = dict.fromkeys("abc", lambda session: open_large_sums(session, counts, counts[:, None], least=1, step="t"))
    sessions = local_sessions(*parts)
    change_payloads(sessions["a"], "c", lambda payload: b"\1\2\0" if len(payload) == 3 else payload)
    with pytest.raises(RunAborted, match="party 'a' sent, at gate/t/large, a truth value that is none"):
        run_parties(parts, sessions)
