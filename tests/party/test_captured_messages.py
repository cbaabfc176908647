"""What travels between two parties, before it is encrypted: no identifier, whatever the task."""

from typing import Any

import pyarrow as pa
import pytest

from sfumato.party.party_task import PartyTable
from sfumato.party.task_kinds import task_class
from sfumato.policy.section import Section
from tests.party.watched_parties import Part, watch_parties

_LINKED = {"partition": "vertical", "link_on": "name"}
TASKS: dict[str, dict[str, Any]] = {
    "union-size": {"column": "name"},
    "intersection": {"column": "name", "method": "dh"},
    "intersection by KKRT": {"column": "name", "method": "kkrt"},
    "intersection-size": {"column": "name", "by": "ward", "groups": ["north", "south"], "min_count": 1},
    "union": {"column": "name"},
    "sum": {"key": "name", "columns": ["beds"]},
    "contingency": {"columns": ["name"], "min_count": 2},
    "rules": {"min_support": 1, "min_confidence": 0.5, **_LINKED, "columns": {"a": ["ward"], "b": ["beds"]}},
    "naive-bayes": {"class": "ward", **_LINKED, "columns": {"a": ["ward"], "b": ["beds"]}, "bounds": {"beds": [0, 99]}},
    "k-means": {
        **_LINKED,
        "columns": {"a": ["age"], "b": ["beds"]},
        "bounds": {"beds": [0, 99], "age": [0, 99]},
        "k": 2,
        "iterations": 2,
    },
}


@pytest.mark.parametrize("name", TASKS)
def test_no_message_holds_an_identifier(name: str) -> None:
    """Among all that is sent there is no name that only one party has; in a union there is none before it is told."""
    kind = task_class(name.removesuffix(" by KKRT"))
    task = kind.read(Section.from_value(TASKS[name], "task", kind.keys), ("a", "b"), ("a",))
    tables = {
        who: pa.table({
            "name": [f"canary {who}{place}" if place else "canary of both" for place in range(4)],
            "ward": ["north", "south"] * 2,
            "age": ["20", "30", "40", "50"],
            "beds": ["1", "2", "30", "40"],
        })
        for who in "ab"
    }  # fmt: skip

    def part(who: str) -> Part:
        prepared = task.prepare(who, PartyTable(tables[who], who))
        return lambda session: task.run(session, prepared)

    results, seen = watch_parties({who: part(who) for who in "ab"})
    assert results["a"] is not None
    told = b"\0".join(seen["a"] + seen["b"])
    assert len(told) > 200
    if name in {"sum", "contingency"}:  # all parties learn the values, which the first of those who get them tells
        first = seen["a"]
        assert not any(b"canary" in payload for payload in first)
    else:
        assert b"canary" not in told
