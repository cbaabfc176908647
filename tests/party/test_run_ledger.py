"""The ledger of runs: it counts by peer and kind of task, and refuses more than are allowed."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.party.consortium import ConsortiumParty
from sfumato.party.party_keys import make_party_keys, read_certificate
from sfumato.party.run_ledger import RunLimitReached, count_run


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The key of a."""
    return make_party_keys("a", tmp_path).private


@pytest.fixture
def peer(tmp_path: Path) -> ConsortiumParty:
    """Party b."""
    return ConsortiumParty("b", "b.example", 1, read_certificate(make_party_keys("b", tmp_path).certificate, ""))


def test_runs_are_counted_by_peer_and_kind(key: Path, peer: ConsortiumParty, tmp_path: Path) -> None:
    """The limit is of one kind of task with one certificate, whatever the peer is called."""
    for _ in range(2):
        count_run(key, "sum", [peer], 2)
    count_run(key, "union", [peer], 2)
    renamed = ConsortiumParty("z", "z.example", 2, peer.certificate)
    with pytest.raises(RunLimitReached, match=r"2 runs of sum with party 'z' .* limit is 2; wait 24 hours, or agree"):
        count_run(key, "sum", [renamed], 2)
    other = read_certificate(make_party_keys("c", tmp_path).certificate, "")
    count_run(key, "sum", [ConsortiumParty("b", "b.example", 1, other)], 2)
    assert (tmp_path / "a.key.runs").stat().st_mode & 0o777 == 0o600


def test_a_refused_run_counts_for_nobody(key: Path, peer: ConsortiumParty, tmp_path: Path) -> None:
    """Where one of several peers has reached the limit, the ledger stays as it was."""
    other = ConsortiumParty("c", "", 1, read_certificate(make_party_keys("c", tmp_path).certificate, ""))
    count_run(key, "sum", [peer], 1)
    before = (tmp_path / "a.key.runs").read_bytes()
    with pytest.raises(RunLimitReached):
        count_run(key, "sum", [other, peer], 1)
    assert (tmp_path / "a.key.runs").read_bytes() == before


def test_a_day_later_runs_are_allowed_again(
    key: Path, peer: ConsortiumParty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of more than a day ago count no more, and are forgotten."""
    count_run(key, "sum", [peer], 1)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_401)
    count_run(key, "sum", [peer], 1)
    assert (tmp_path / "a.key.runs").read_text().count("\n") == 1


def test_runs_at_the_same_time_are_all_counted(key: Path, peer: ConsortiumParty, tmp_path: Path) -> None:
    """Of twenty runs that begin at once, just as many pass as are allowed."""

    def attempt(_: int) -> bool:
        try:
            count_run(key, "sum", [peer], 7)
        except RunLimitReached:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(20))) == 7
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_ledger_allows_nothing(key: Path, peer: ConsortiumParty, tmp_path: Path) -> None:
    """A ledger that cannot be read is no empty one."""
    (tmp_path / "a.key.runs").write_text("17 sum\n")
    with pytest.raises(InputError, match="is damaged; move it away"):
        count_run(key, "sum", [peer], 5)
