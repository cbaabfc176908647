"""A table with one cell of a megabyte: TRUST.md 15 and 25, for every role that a column may have."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.papers import watch_process

pytestmark = pytest.mark.slow

HUGE = "CANARY" + "z" * 1_000_000
ROOM = 700
"""Megabytes that a release of four thousand rows may take; where the cell is neither copied for each row nor for each
class it takes half of that."""
ROWS = 4_000
COLUMNS = {
    "ssn": '{ role = "identifier" }',
    "who": '{ role = "individual" }',
    "age": '{ role = "quasi", hierarchy = { intervals = [5, 10] } }',
    "town": '{ role = "quasi", hierarchy = SETS }',
    "zip": '{ role = "quasi", hierarchy = { mask = "right" } }',
    "job": '{ role = "quasi", hierarchy = "suppress" }',
    "note": '{ role = "plain" }',
    "illness": '{ role = "sensitive" }',
}
REFUSED = {"age": "not finite numbers", "zip": "longer than the 100 characters that a mask takes"}


@pytest.mark.parametrize("form", ["generalized", "lossy-join", "anatomy"])
@pytest.mark.parametrize("column", COLUMNS)
def test_one_huge_cell(column: str, form: str, tmp_path: Path) -> None:
    """The release is made and verified, or the cell is refused in a sentence, in the memory that any release takes."""
    rows = [
        [f"n{i}", f"p{i // 2}", str(18 + i * 7 % 60), "ABC"[i % 3], str(4300 + i % 40), "xyz"[i % 3], f"{i % 9}"]
        for i in range(ROWS)
    ]
    cells = [dict(zip(COLUMNS, [*row, f"illness {i % 5}"], strict=True)) for i, row in enumerate(rows)]
    cells[7][column] = HUGE
    lines = [",".join(COLUMNS), *(",".join(row.values()) for row in cells)]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    roles = [f"{name} = {text}" for name, text in COLUMNS.items()]
    sets = '"sets"' if form == "generalized" else '"suppress"'
    (tmp_path / "policy.toml").write_text(
        '[data]\nsource = "table.csv"\n[columns]\n'
        + "\n".join(roles).replace("SETS", sets)
        + '\n[[privacy]]\nmodel = "distinct-l-diversity"\ncolumn = "illness"\nl = 3\n'
        + f'[publish]\nform = "{form}"\n'
    )
    main = "from sfumato.cli.main import main; main()"
    command = [sys.executable, "-c", main, "anonymize", "policy.toml", "--out", "release"]
    # a small starter: Linux counts the memory of whoever starts a program into the peak of the program
    watched = subprocess.run(
        [sys.executable, watch_process.__file__, "out", "err", *command], cwd=tmp_path, capture_output=True, check=True
    )
    used = json.loads(watched.stdout)
    printed = (tmp_path / "out").read_text() + (tmp_path / "err").read_text()
    assert len(printed) < 8_000
    assert used["megabytes"] < ROOM
    refused = REFUSED | ({"town": "longer than the 1,000 characters that a set takes"} if form == "generalized" else {})
    if column in refused:
        assert used["code"] == 2
        assert refused[column] in printed
        assert not (tmp_path / "release").exists()
    else:
        assert used["code"] == 0, printed
        assert "verified by a second implementation" in printed
        assert HUGE[:50] not in printed
