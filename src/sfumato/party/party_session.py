"""A session: one run of a task among parties, each with a channel to every other.

A session knows who takes part, in the order of the consortium file, and its id, which is drawn from what every party
brought and which binds every message and every key of the run. How the channels came about (certificates, greetings)
is not its business.
"""

import hmac
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sfumato.party.party_channel import Channel

_KEY_BYTES = 32


class PartySession:
    """One party's side of a run.

    `me` is this party's name, `parties` all names in the order of the consortium, `channels` the channel to each other
    party by name, `session_id` 32 bytes that all of them share and no other run has. `progress` is told how far a long
    protocol is, in parts of a whole.

    What a task writes itself is entered into `until_end`. Whoever conducts the run closes it: when all parties are done
    what was written appears, and where the run ends otherwise it is taken back.
    """

    def __init__(
        self,
        me: str,
        parties: Sequence[str],
        channels: Mapping[str, Channel],
        session_id: bytes,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.me = me
        self.parties = tuple(parties)
        self.channels = dict(channels)
        self.session_id = session_id
        self.progress = progress
        self.until_end = ExitStack()
        self._pair_secrets: dict[str, bytes] = {}
        self._given_keys: set[tuple[str, str]] = set()

    @property
    def others(self) -> tuple[str, ...]:
        """All parties but this one, in the order of the consortium."""
        return tuple(name for name in self.parties if name != self.me)

    @property
    def place(self) -> int:
        """The place of this party in the order of the consortium."""
        return self.parties.index(self.me)

    @property
    def bytes_sent(self) -> int:
        """Bytes that this party sent so far, to all."""
        return sum(channel.bytes_sent for channel in self.channels.values())

    @property
    def rounds(self) -> int:
        """The most rounds so far with any peer."""
        return max((channel.rounds for channel in self.channels.values()), default=0)

    def agreed_key(self, peer: str, purpose: str) -> bytes:
        """Derive a key of 32 bytes that this party and `peer` share, and nobody else knows, for one purpose.

        All parties must have called `agree_keys` before. A key for another purpose, session or pair is another key. Of
        each there is one use: a second mask from the same key would hide nothing, so asking again is an error.
        """
        if (peer, purpose) in self._given_keys:
            raise ValueError(f"a second key for {purpose}")  # a bug of ours
        self._given_keys.add((peer, purpose))
        return HKDF(SHA256(), _KEY_BYTES, self.session_id, b"sfumato-key\0" + purpose.encode()).derive(
            self._pair_secrets[peer]
        )

    def agree_keys(self) -> None:
        """Agree on a secret with each other party; the first call sends, and further ones do nothing.

        The secret is the result of X25519 (RFC 7748), bound to both public keys, and fresh for every session.
        """
        if self._pair_secrets:
            return
        mine = X25519PrivateKey.generate()
        public = mine.public_key().public_bytes_raw()
        for peer in self.others:
            self.channels[peer].send("session/key", public)
        for peer in self.others:
            channel = self.channels[peer]
            theirs = channel.receive("session/key", exactly=_KEY_BYTES)
            try:
                shared = mine.exchange(X25519PublicKey.from_public_bytes(theirs))
            except ValueError:  # a point of small order: the result would be zero, whatever our key is
                raise channel.refuse("session/key", "a key of small order") from None
            self._pair_secrets[peer] = shared + b"".join(sorted([public, theirs]))

    def find_disagreement(self, purpose: str, content: bytes) -> str | None:
        """Name a party whose `content` is another than this one's, or nobody; every party calls this at the same step.

        What is sent is an HMAC of it under the key of the pair, always 32 bytes. A peer that
        guesses the content can tell that the guess is right, and learns nothing else of one that differs.
        """
        self.agree_keys()
        keys = {peer: self.agreed_key(peer, f"same/{purpose}") for peer in self.others}
        for peer, key in keys.items():
            self.channels[peer].send(f"same/{purpose}", hmac.digest(key, self.me.encode() + b"\0" + content, "sha256"))
        differing = None
        for peer, key in keys.items():
            expected = hmac.digest(key, peer.encode() + b"\0" + content, "sha256")
            given = self.channels[peer].receive(f"same/{purpose}", exactly=len(expected))
            if differing is None and not hmac.compare_digest(expected, given):
                differing = peer
        return differing
