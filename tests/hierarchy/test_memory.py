"""What hierarchies take: as much memory as they are given, for one huge cell and for many values of every kind."""

import subprocess
import sys
from pathlib import Path

import pytest

HUGE = 1_000_000
"""Characters of a dirty cell."""
MANY = 150_000
"""Different values of a column."""
ROOM = 500 << 20
"""Bytes that binding may take besides what Python and Arrow need to start: some 3 kB for each of many values."""

BIND = """
import json, resource, sys
from pathlib import Path
import numpy, pyarrow, pyarrow.compute
from sfumato.errors import SfumatoError
from sfumato.hierarchy import parse
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[2]),) * 2)
spec, several = eval(sys.argv[1])
for values in several:
    try:
        tree = parse(spec, folder=Path(sys.argv[3]), key="x").bind(values, column="x")
        print("bound", tree.matrix.shape)
    except SfumatoError as error:
        print(error)
"""

NUMBERS = f"[str(n) for n in range({MANY})]"
CODES = f"[format(n, '07') for n in range({MANY})]"
DAYS = f"[str(numpy.datetime64('1900-01-01') + n // 24) + f'T{{n % 24:02}}:00' for n in range({MANY})]"
KINDS = {
    "file": ("'leaves.csv'", CODES),
    "intervals": ('{"intervals": [5, 10, 100]}', NUMBERS),
    "mask": ('{"mask": "right"}', CODES),
    "mask with a length": ('{"mask": "left", "length": 12}', CODES),
    "dates": ('{"dates": ["day", "month", "year", "decade"]}', DAYS),
    "dates in a format": ('{"dates": ["day", "year"], "format": "%Y-%m-%dT%H:%M"}', DAYS),
    "suppress": ("'suppress'", CODES),
    "ranges": ('{"ranges": True}', NUMBERS),
    "sets": ("'sets'", CODES),
}
TAKES_ANY = {"suppress"}


def _bind(spec: str, folder: Path, *several: str, room: int = ROOM) -> list[str]:
    """Bind a hierarchy to several lists of values, in a process of its own with so much room; a line for each."""
    command = [sys.executable, "-c", BIND, f"({spec}, [{', '.join(several)}])", str(room), str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout.splitlines()


def _write_leaves(folder: Path, leaves: int) -> None:
    """Write a hierarchy file with a line for each of so many codes."""
    lines = [f"{n:07},group{n // 50},region{n // 5000},*\n" for n in range(leaves)]
    (folder / "leaves.csv").write_text("".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_one_huge_cell(kind: str, tmp_path: Path) -> None:
    """A cell of a megabyte among short ones is taken or refused, in room for a hundred of them, and is not printed."""
    _write_leaves(tmp_path, 1000)
    spec, values = KINDS[kind]
    values = values.replace(f"range({MANY})", "range(1000)")
    few = [f"{values} + [{cell} * {HUGE}]" for cell in ("'x'", "'9'", "'1e-9'", "'*'", "'['", "'1,'")]
    for printed in _bind(spec, tmp_path, *few, room=100 << 20):
        assert len(printed) < 600
        if kind in TAKES_ANY:
            assert printed.startswith("bound (1001,")
        else:
            assert printed.startswith("column 'x': ")
            assert "characters)" in printed


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_values(kind: str, tmp_path: Path) -> None:
    """Hundreds of thousands of values are bound in the room that so many take, one of a hundred characters included."""
    _write_leaves(tmp_path, MANY)
    spec, values = KINDS[kind]
    odd = " + ['x' * 100]" if kind in {"mask", "suppress", "sets"} else ""
    (printed,) = _bind(spec, tmp_path, values + odd)
    assert printed.startswith(f"bound ({MANY + bool(odd)},")


def test_a_deep_line_among_many(tmp_path: Path) -> None:
    """A line of a million labels is refused before all others are filled up to its length."""
    (tmp_path / "leaves.csv").write_text("a,*\n" * 1000 + "b," + "c," * HUGE + "*\n")
    (printed,) = _bind("'leaves.csv'", tmp_path, "['a']", room=300 << 20)
    assert printed.startswith("leaves.csv, line 1001 has 1,000,001 levels, and a hierarchy has at most 100")


def test_a_huge_label_in_a_file(tmp_path: Path) -> None:
    """A label of a hundred thousand characters stands once in memory, however many leaves are under it."""
    label = "x" * 100_000
    (tmp_path / "leaves.csv").write_text("".join(f"{n},{label},*\n" for n in range(300)))
    (printed,) = _bind("'leaves.csv'", tmp_path, "[str(n) for n in range(300)]", room=400 << 20)
    assert printed == "bound (300, 3)"


@pytest.mark.slow
def test_masks_say_how_long_a_value_may_be(tmp_path: Path) -> None:
    """The sentence names the column, shows the beginning of the value with its length, and the way out."""
    (printed,) = _bind('{"mask": "right"}', tmp_path, f"['4350', 'a' * {HUGE}]", room=100 << 20)
    beginning = "a" * 40
    assert printed == (
        f"column 'x': longer than the 100 characters that a mask takes: '{beginning}…' (1,000,000 characters); "
        "mend them, or give it another hierarchy than a mask"
    )
    (printed,) = _bind('{"mask": "right", "length": 1000}', tmp_path, "['4350']", room=100 << 20)
    assert printed == "x.length: must be at most 100, one level for each character, not 1000"
