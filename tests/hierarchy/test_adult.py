"""The hierarchies of the Adult table, as they are really used."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sfumato.hierarchy import File, Hierarchy, Intervals, write

pytestmark = pytest.mark.adult

HEIGHTS = {
    "education": 4,
    "workclass": 3,
    "marital-status": 3,
    "occupation": 2,
    "race": 2,
    "sex": 1,
    "native-country": 3,
}


@pytest.fixture(scope="module")
def distinct(adult: Path) -> dict[str, list[str | None]]:
    """The distinct values of each column of Adult, ``?`` and the empty text read as NULL."""
    with (adult / "adult.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cells = {name: dict.fromkeys(row[name] for row in rows) for name in rows[0]}
    return {
        name: list(dict.fromkeys(None if cell in {"", "?"} else cell for cell in known))
        for name, known in cells.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("column", "height"), HEIGHTS.items())
def test_files(
    column: str,
    height: int,
    adult: Path,
    distinct: dict[str, list[str | None]],
    lawful: Callable[[Hierarchy, Sequence[str | None]], None],
) -> None:
    """Every file covers its column, with the height the papers give."""
    tree = File(adult / "hierarchies" / f"{column}.csv").bind(distinct[column], column=column, nulls=["", "?"])
    lawful(tree, distinct[column])
    assert tree.height == height


def test_all_files_survive_writing(adult: Path, tmp_path: Path) -> None:
    """Every file that is read and written again reads the same."""
    for path in sorted((adult / "hierarchies").glob("*.csv")):
        spec = File(path)
        write(spec.bind([line[0] for line in spec.lines], column=path.stem), tmp_path / path.name)
        assert File(tmp_path / path.name).lines == spec.lines


def test_age(distinct: dict[str, list[str | None]]) -> None:
    """Ages fall into the bins of the policy's example."""
    tree = Intervals([5, 10, 20], domain=[17, 90]).bind(distinct["age"], column="age")
    assert (tree.height, len(tree.labels[1])) == (4, 16)


def test_every_label_has_a_path(adult: Path) -> None:
    """In no file a text stands in two branches, so that every label has the path that its lines give."""
    for path in sorted((adult / "hierarchies").glob("*.csv")):
        spec = File(path)
        for level in range(len(spec.lines[0]) - 1):
            paths = spec.paths([line[level] for line in spec.lines], column=path.stem, nulls=[])
            assert [found and found[level - len(spec.lines[0]) :] for found in paths] == [
                line[level:] for line in spec.lines
            ]
