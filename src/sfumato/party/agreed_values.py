"""The values of categories that parties agree on: those of the task, or those that any of them has, by a secure union.

One union serves all columns: an item is the number of its column and the value's text.

Adversary: semi-honest; that of `secure_union` (Kantarcioglu and Clifton 2004). All parties learn which values there
are, and nobody learns who has which; what colluders learn besides stands there.
"""

from collections.abc import Sequence

from sfumato.party.party_session import PartySession
from sfumato.party.public_domains import LONGEST_VALUE, HeldValues, ValueList
from sfumato.party.secure_union import secure_union

_NUMBER_BYTES = 2


def agree_on_values(
    session: PartySession,
    domains: Sequence[ValueList],
    held: Sequence[HeldValues],
    *,
    step: str,
    most_items: int | None = None,
) -> list[tuple[str, ...]]:
    """List the values of each column: those of the task in their order, or those of all parties, sorted.

    >>> from sfumato.party.local_parties import run_parties
    >>> import numpy as np
    >>> def part(*texts):
    ...     held = HeldValues(texts, np.zeros(0, dtype=np.int64))
    ...     return lambda session: agree_on_values(session, [ValueList("ward", None)], [held], step="t")
    >>> run_parties({"a": part("north", "west"), "b": part("west"), "c": part("south")})["b"]
    [('north', 'south', 'west')]
    """
    unknown = [place for place, domain in enumerate(domains) if domain.values is None]
    found: dict[int, list[str]] = {place: [] for place in unknown}
    if unknown:
        items = [
            place.to_bytes(_NUMBER_BYTES, "big") + text.encode() for place in unknown for text in held[place].texts
        ]
        union = secure_union(
            session, items, step=f"{step}/values", longest=_NUMBER_BYTES + LONGEST_VALUE, most_items=most_items
        )
        for item in union or []:
            place = int.from_bytes(item[:_NUMBER_BYTES], "big")
            if place in found:  # a peer may have put in what it likes
                found[place].append(item[_NUMBER_BYTES:].decode(errors="replace"))
    return [
        domain.values if domain.values is not None else tuple(sorted(found[place]))
        for place, domain in enumerate(domains)
    ]
