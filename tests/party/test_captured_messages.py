"""What travels between two parties, before it is encrypted: no identifier, whatever the task."""

from sfumato.party.party_task import PartyTable
from tests.party.every_task import EVERY_TASK, TABLES, read_task
from tests.party.watched_parties import Part, watch_parties

_FOUND_TOGETHER = {"sum by key", "contingency of names"}
"""Tasks in which all parties learn the names, which the first of those who get them tells."""


@EVERY_TASK
def test_no_message_holds_an_identifier(name: str) -> None:
    """Among all that is sent there is no name that only one party has; in a union there is none before it is told."""
    task = read_task(name, ("a",))

    def part(who: str) -> Part:
        prepared = task.prepare(who, PartyTable(TABLES[who], who))
        return lambda session: task.run(session, prepared)

    results, seen = watch_parties({who: part(who) for who in "ab"})
    assert results["a"] is not None
    told = b"\0".join(seen["a"] + seen["b"])
    assert len(told) > 50
    if name in _FOUND_TOGETHER:
        assert not any(b"canary" in payload for payload in seen["a"])
    else:
        assert b"canary" not in told
