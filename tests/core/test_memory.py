"""How much memory may be used: by the environment, or the least that any limit of the machine leaves."""

from pathlib import Path

import pytest

from sfumato.core import memory
from sfumato.core.memory import check_memory, find_memory_allowed, read_size
from sfumato.errors import DataError, InputError


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "4 XB", "1e9", "4GBB", "٤GB", "four"])
def test_sizes_that_mean_nothing(text: str) -> None:
    """What is no number of bytes is refused by a sentence that shows how one is written."""
    with pytest.raises(InputError, match=r"as in 4GB or 500MB$"):
        read_size(text)


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment allows stands in place of what is free, and of that a byte more is refused."""
    monkeypatch.setenv(memory.VARIABLE, "1.5MB")
    assert find_memory_allowed() == 1_500_000
    check_memory(1_500_000, "it")
    with pytest.raises(DataError, match=r"^it takes at least"):
        check_memory(1_500_001, "it")


def _answer(monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> int:
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    monkeypatch.setattr(memory, "_read_lines", lambda path: files.get(str(path), "").splitlines())
    return find_memory_allowed()


MACHINE = {"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4000 kB\nSwapFree: 1000 kB"}


def test_what_is_free_is_memory_and_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without other limits it is what the machine has left."""
    assert _answer(monkeypatch, MACHINE) == 5000 * 1024


@pytest.mark.parametrize(
    "files",
    [
        {
            "/proc/self/cgroup": "0::/jobs/mine",
            "/sys/fs/cgroup/jobs/memory.max": "3000000",
            "/sys/fs/cgroup/jobs/memory.current": "2500000",
            "/sys/fs/cgroup/jobs/memory.stat": "anon 1\ninactive_file 100000\nactive_file 200000",
            "/sys/fs/cgroup/jobs/mine/memory.max": "max",
            "/sys/fs/cgroup/jobs/mine/memory.current": "5",
        },
        {
            "/proc/self/cgroup": "3:cpu:/x\n4:memory:/mine\n0::/",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": "5",
            "/sys/fs/cgroup/memory/mine/memory.limit_in_bytes": "3000000",
            "/sys/fs/cgroup/memory/mine/memory.usage_in_bytes": "2500000",
            "/sys/fs/cgroup/memory/mine/memory.stat": "inactive_file 7\ntotal_inactive_file 300000\ntotal_rss 9",
        },
    ],
    ids=["version 2", "version 1"],
)
def test_control_groups_are_kept(monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    """A container's limit counts, wherever above the process it is set; cached files are given back."""
    assert _answer(monkeypatch, MACHINE | files) == 800_000


def test_nothing_is_known_where_nothing_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc nothing is refused."""
    assert _answer(monkeypatch, {}) >= 1 << 62


def test_this_machine_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the machine at hand are understood."""
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    assert 1 << 20 < find_memory_allowed() < 1 << 62
    assert Path("/proc/meminfo").exists()
