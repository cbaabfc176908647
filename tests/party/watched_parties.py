"""Parties whose messages a test looks at, or changes on the way."""

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.party.local_parties import QueueChannel, local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable, PartyTask
from sfumato.party.wire_frame import HEADER_BYTES

Part = Callable[[PartySession], Any]


def change_payloads(session: PartySession, peer: str, change: Callable[[bytes], bytes]) -> None:
    """Have every payload that a party sends to a peer changed on its way."""
    channel = session.channels[peer]
    assert isinstance(channel, QueueChannel)
    channel.tap = lambda frame: frame[:HEADER_BYTES] + change(frame[HEADER_BYTES:])


def watch_parties(parts: Mapping[str, Part]) -> tuple[dict[str, Any], dict[str, list[bytes]]]:
    """Run parties; give what each returned, and every payload that each received."""
    sessions = local_sessions(*parts)
    seen: dict[str, list[bytes]] = {name: [] for name in parts}

    def keep(receiver: str) -> Callable[[bytes], bytes]:
        def kept(payload: bytes) -> bytes:
            seen[receiver].append(payload)
            return payload

        return kept

    for session in sessions.values():
        for receiver in session.others:
            change_payloads(session, receiver, keep(receiver))
    return run_parties(parts, sessions), seen


def run_task(task: PartyTask, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task with the Arrow table of each party, which is called NAME.csv; give each party's result."""

    def part(name: str) -> Part:
        prepared = task.prepare(name, PartyTable(tables[name], f"{name}.csv"))
        return lambda session: task.run(session, prepared)

    return run_parties({name: part(name) for name in tables})
