"""The store: each submission once, in no order of arrival, with no address and no time finer than a day."""

import asyncio
import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from sfumato.collect.answer_store import AnswerStore
from sfumato.collect.group_commit import GroupCommit
from sfumato.collect.noise import Noise
from sfumato.collect.submission import Submission
from sfumato.errors import InputError
from sfumato.serving.refused_request import Refused

NOISE = Noise.read(
    {
        "format": "sfumato-noise/1",
        "columns": {
            "age": {"kind": "laplace", "scale": 20.0, "domain": [10, 90]},
            'a "b"': {"kind": "response", "values": ["it's", "b"], "keep": 0.5},
        },
    }
)


def submissions(count: int) -> list[Submission]:
    """Submissions under random keys."""
    return [Submission(os.urandom(16).hex(), (float(place), "it's")) for place in range(count)]


def test_a_key_is_kept_once(tmp_path: Path) -> None:
    """In one group and over groups, the same again counts once, and other reports under its key are not kept."""
    store = AnswerStore(tmp_path / "a.duckdb", NOISE)
    first, second = submissions(2)
    assert store.keep([first, second, first]) == [True, True, True]
    assert store.keep([first, Submission(first.key, (9.0, "b"))]) == [True, False]
    fresh = submissions(1)[0]
    assert store.keep([fresh, Submission(fresh.key, (9.0, "b"))]) == [True, False]
    assert store.count == 3
    assert sorted(store.read("age").column("age").to_pylist()) == [0.0, 0.0, 1.0]
    store.close()


def test_answers_survive_closing(tmp_path: Path) -> None:
    """What was kept is there when the store is opened again, for the same noise and for no other."""
    path = tmp_path / "a.duckdb"
    store = AnswerStore(path, NOISE)
    store.keep(submissions(5))
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == ["a.duckdb"]
    again = AnswerStore(path, NOISE)
    assert (again.count, again.days()) == (5, [(datetime.now(UTC).date(), 5)])
    again.close()
    other = Noise({"age": NOISE.columns["age"]})
    with pytest.raises(InputError, match=r"a\.duckdb holds answers to other questions or under other noise"):
        AnswerStore(path, other)


def test_nothing_is_kept_but_reports_key_and_day(tmp_path: Path) -> None:
    """The columns of the file are those, and rows lie in the order of their random keys, not of their arrival."""
    path = tmp_path / "a.duckdb"
    store = AnswerStore(path, NOISE)
    arrived = submissions(200)
    for place in range(0, 200, 10):
        store.keep(arrived[place : place + 10])
    assert store.read("age").column("age").to_pylist() == [
        cells[0] for _, cells in sorted((s.key, s.cells) for s in arrived)
    ]
    store.close()
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = [line[:2] for line in connection.execute("DESCRIBE answers").fetchall()]
        keys = [key for (key,) in connection.execute("SELECT key FROM answers ORDER BY rowid").fetchall()]
    assert columns == [("key", "VARCHAR"), ("day", "DATE"), ("age", "DOUBLE"), ('a "b"', "VARCHAR")]
    assert keys == sorted(one.key for one in arrived)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A file that is no store is left as it is, and a sentence says so."""
    (tmp_path / "text").write_text("hello\n" * 1000, encoding="utf-8")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE people (name VARCHAR)")
    before = (tmp_path / "text").read_bytes()
    for name in ("text", "other.duckdb", ".", "none/a.duckdb"):
        with pytest.raises(InputError, match=r"name another store|name a file|make that first"):
            AnswerStore(tmp_path / name, NOISE)
    assert (tmp_path / "text").read_bytes() == before


def test_what_waits_is_kept_together() -> None:
    """Submissions that arrive while a group is being flushed go together, and none is acknowledged before its flush."""
    groups: list[int] = []
    gate = threading.Event()

    def keep(group: Sequence[Submission]) -> list[bool]:
        gate.wait(10)
        groups.append(len(group))
        return [True] * len(group)

    async def run() -> None:
        commit = GroupCommit(keep)
        commit.start()
        first = asyncio.ensure_future(commit.keep(submissions(1)[0]))
        await asyncio.sleep(0.05)
        rest = [asyncio.ensure_future(commit.keep(one)) for one in submissions(50)]
        await asyncio.sleep(0.05)
        assert not first.done()
        gate.set()
        assert all(await asyncio.gather(first, *rest))
        await commit.stop()
        with pytest.raises(Refused):
            await commit.keep(submissions(1)[0])

    asyncio.run(run())
    assert groups == [1, 50]


def test_a_group_that_fails_is_not_acknowledged() -> None:
    """Where the disk fails, all of the group are told to send again, and the next group is tried."""
    tries: list[int] = []

    def keep(group: Sequence[Submission]) -> list[bool]:
        tries.append(len(group))
        if len(tries) == 1:
            raise OSError("disk full")
        return [True] * len(group)

    async def run() -> None:
        commit = GroupCommit(keep)
        commit.start()
        one = submissions(1)[0]
        with pytest.raises(Refused) as error:
            await commit.keep(one)
        assert error.value.status == 503
        assert await commit.keep(one)
        await commit.stop()

    asyncio.run(run())
    assert tries == [1, 1]
