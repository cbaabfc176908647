"""Distances of two parties' vectors: Euclidean and Hamming, exact."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PolicyError, RunAborted
from sfumato.party.local_parties import run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.vector_distance import DistanceTask, share_hamming_distance
from sfumato.policy.section import Section

RunPair = Callable[..., dict[str, Any]]


def _task(**settings: Any) -> DistanceTask:
    section = Section({"kind": "distance", "column": "x"} | settings, "task")
    return DistanceTask.read(section, ("a", "b"), settings.get("result_to", ("a", "b")))


def _run(run: RunPair, task: DistanceTask, one: Any, other: Any) -> dict[str, Any]:
    def part(values: Any) -> Callable[[PartySession], Any]:
        return lambda session: task.run(session, task.prepare(session.me, PartyTable(pa.table({"x": values}), "x.csv")))

    return run({"a": part(one), "b": part(other)})


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_distances_are_those_of_plain_computation(run_pair: RunPair, data: st.DataObject) -> None:
    """Both distances are exact for any entries of the declared bits, the extreme ones included."""
    bits = data.draw(st.sampled_from([1, 2, 8, 32]))
    least, most = (0, 1) if bits == 1 else (-(1 << bits - 1), (1 << bits - 1) - 1)
    entries = st.sampled_from([least, most, 0]) | st.integers(least, most)
    rows = data.draw(st.lists(st.tuples(entries, entries), min_size=1, max_size=9))
    one, other = map(list, zip(*rows, strict=True))
    squared = _run(run_pair, _task(bits=bits), one, other)
    expected = {"squared_distance": sum((x - y) ** 2 for x, y in rows), "rows": len(rows)}
    assert squared == {"a": expected, "b": expected}
    hamming = _run(run_pair, _task(bits=bits, metric="hamming", result_to=("a",)), one, other)
    assert hamming == {"a": {"distance": sum(x != y for x, y in rows), "rows": len(rows)}, "b": None}


def test_a_share_alone_is_uniform(run_pair: RunPair) -> None:
    """Shares of the same distance are another each time, evenly over their modulus."""
    values = np.array([1, 5, 2, 2])

    def part(peer: str) -> Callable[[PartySession], list[float]]:
        def run(session: PartySession) -> list[float]:
            shares = [share_hamming_distance(session, peer, values, bits=4, step="t") for _ in range(40)]
            return [share.share / share.modulus for share in shares]

        return run

    shares = run_pair({"a": part("b"), "b": part("a")})
    for name in "ab":
        assert 0.2 < np.mean(shares[name]) < 0.8
        assert len(set(shares[name])) > 8


def test_lengths_must_agree() -> None:
    """Vectors of different lengths end the run, whichever distance is asked for."""
    for metric in ("euclidean", "hamming"):
        with pytest.raises(RunAborted, match=r"party '[ab]' has [12] rows and this one [12]"):
            _run(run_parties, _task(metric=metric), [1], [1, 2])


def test_wrong_settings_are_named() -> None:
    """A metric that there is not is refused by the name of its key, and the statement warns of chosen columns."""
    with pytest.raises(PolicyError, match=r"task\.metric: must be euclidean or hamming"):
        _task(metric="manhattan")
    assert "from zeros" in " ".join(_task().statement(("a", "b")).sentences())
