"""``sfumato attack known`` as users meet it: what it prints, draws and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Saves = Callable[..., Path]

ROWS = "bread,milk,beer\n1,0,0\n1,1,0\n0,1,1\n0,1,\n"


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """A raw file of four baskets; of one nobody knows whether there was beer in it."""
    (tmp_path / "items.csv").write_text(ROWS)
    return tmp_path / "items.csv"


def test_the_json(items: Path, runs: Runs) -> None:
    """One object with success over B, the baseline, and what was tried."""
    told = runs("attack", "known", items, "--columns", "bread,milk,beer", "--json")
    assert (told.code, told.err) == (0, "")
    answer = json.loads(told.out)
    assert (answer["rows"], answer["targets"], answer["baseline"], answer["released"]) == (4, 4, 0.25, False)
    (series,) = answer["series"]
    assert [point["known"] for point in series["points"]] == [1, 2, 3]
    assert series["points"][-1]["only"] == 1.0
    assert answer["tried"][0]["success"] == 1.0


def test_the_table_and_the_chart(items: Path, runs: Runs) -> None:
    """A line for each B within eighty columns, and a chart that is a file of its own."""
    told = runs("attack", "known", items, "--columns", "bread,milk,beer", "--plot", "chart.svg")
    assert "only / picked" in told.out
    assert "100% / 100%" in told.out
    assert "knows of the person B values" in told.out
    drawn = (items.parent / "chart.svg").read_text()
    assert drawn.startswith("<svg")
    assert "known values (B)" in drawn


def test_many_columns_are_shown_in_twenty_lines(runs: Runs, tmp_path: Path) -> None:
    """Of sixty items some lines are printed, the first and the last among them; JSON has all."""
    names = [f"i{place}" for place in range(60)]
    lines = [",".join(names), *(",".join(str(row >> place % 8 & 1) for place in range(60)) for row in range(200))]
    (tmp_path / "many.csv").write_text("\n".join(lines))
    shown = runs("attack", "known", "many.csv", "--columns", ",".join(names)).out
    numbered = [line.split()[1] for line in shown.splitlines() if line.startswith("│")]
    assert (len(numbered), numbered[0], numbered[-1]) == (20, "1", "60")
    answer = json.loads(runs("attack", "known", "many.csv", "--columns", ",".join(names), "--json").out)
    assert len(answer["series"][0]["points"]) == 60


def test_a_release_needs_its_original(saves: Saves, people: Any, roles: Any, rules: Any, runs: Runs) -> None:
    """Targets are found by true values, which a release alone does not have."""
    folder = saves(people, rules(roles, k=3), "release")
    assert "name the table that it was made from (--original)" in runs("attack", "known", folder).sentence


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "which columns of items.csv may be known? name them (--columns), or give a policy"),
        (["--columns", "bread,mlk"], "items.csv has no column 'mlk'; did you mean milk?"),
        (["--columns", "bread,bread"], "column 'bread' is named twice"),
        (["--columns", "bread", "--plot", "chart.png"], "name a file that ends in .svg, not chart.png"),
        (["--columns", "bread", "--plot", "nowhere/chart.svg"], "chart.svg cannot be written"),
        (["--columns", "bread", "--original", "nobody.csv"], "nobody.csv does not exist"),
        (["--columns", "bread", "--known", "0"], "--known"),
    ],
)
def test_what_is_refused(arguments: list[str], says: str, items: Path, runs: Runs) -> None:
    """One sentence that names the column or the file and the way out, and exit code 2."""
    told = runs("attack", "known", items, *arguments)
    assert told.code == 2
    assert says in told.sentence
