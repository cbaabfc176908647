"""What the tests of hierarchies share: the laws that every bound hierarchy keeps."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from sfumato.hierarchy import File, Hierarchy

Lawful = Callable[[Hierarchy, Sequence[str | None]], None]
Filed = Callable[[str], File]


def _lawful(tree: Hierarchy, values: Sequence[str | None]) -> None:
    size, levels = tree.matrix.shape
    assert (size, levels) == (len(values), tree.height + 1) == (len(values), len(tree.loss))
    assert tree.labels[0] == tuple(values)
    assert tree.labels[-1] == ("*",)
    assert tree.matrix[:, 0].tolist() == list(range(size))
    for level in range(levels):
        assert len(set(tree.labels[level])) == len(tree.labels[level]) == len(tree.loss[level])
        used = sorted(set(tree.matrix[:, level].tolist()))
        assert used == list(range(len(tree.labels[level]))) or not size
    _nested(tree)
    _ordered(tree)


def _nested(tree: Hierarchy) -> None:
    below = np.zeros(len(tree.matrix))
    for level in range(tree.height + 1):
        loss = tree.loss[level][tree.matrix[:, level]]
        assert ((loss >= below) & (loss <= 1)).all()
        below = loss
        if level:
            pairs = np.unique(tree.matrix[:, [level - 1, level]], axis=0)
            assert len(pairs) == len(tree.labels[level - 1])
            assert not (set(tree.labels[level]) - {None}) & {""} or "" in tree.labels[0]


def _ordered(tree: Hierarchy) -> None:
    if tree.ranks is None:
        assert tree.places == 0
    else:
        ranks = tree.ranks.tolist()
        assert len(set(ranks)) == len(ranks) == len(tree.matrix)
        assert all(0 <= rank < tree.places for rank in ranks)


@pytest.fixture(scope="session")
def lawful() -> Lawful:
    """Asserts that a hierarchy is total, functional and nested, with losses that only grow."""
    return _lawful


@pytest.fixture
def filed(tmp_path: Path) -> Filed:
    """Writes a text as ``job.csv`` and reads it as a hierarchy."""

    def make(text: str) -> File:
        (tmp_path / "job.csv").write_bytes(text.encode())
        return File(tmp_path / "job.csv")

    return make


@pytest.fixture(scope="session")
def adult() -> Path:
    """The folder with the Adult table and its hierarchies."""
    folder = Path(os.environ.get("SFUMATO_ADULT", Path(__file__).parents[3] / "shared" / "data" / "adult"))
    if not (folder / "hierarchies").is_dir():
        pytest.skip("the Adult hierarchies are not at hand; set SFUMATO_ADULT to their folder")
    return folder
