"""Reading hierarchy files: the quick way reads and refuses what a plain one, line by line, reads and refuses."""

import csv
import io
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import File, Hierarchy

Lines = list[list[str]]


def split(text: str, separator: str) -> Lines | None:
    """The lines of a text by Python's `csv`, or nothing where it is no CSV."""
    lines = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                lines.append(cells)
    except csv.Error:
        return None
    return lines


def read(text: str) -> Lines | None:
    """The lines of a hierarchy file, no leaf twice, or nothing where it is to be refused."""
    every = [lines for lines in (split(text, separator) for separator in ",;\t") if lines is not None]
    if not every:
        return None
    rooted = [sum(len(cells) > 1 and cells[-1] == "*" for cells in lines) for lines in every]
    best = max(range(len(every)), key=lambda i: (rooted[i], sum(map(len, every[i]))))
    lines = every[best]
    depth = max(map(len, lines), default=0)
    wrong = [cells[-1] != "*" or len(cells) < 2 or "*" in cells[:-1] or (cells[0] and "" in cells) for cells in lines]
    if not lines or any(wrong):
        return None
    full = [[*cells[:-1], *[cells[-2]] * (depth - len(cells)), "*"] for cells in lines]
    for level in range(depth - 1):
        parents: dict[str, set[str]] = {}
        for cells in full:
            parents.setdefault(cells[level], set()).add(cells[level + 1])
        if any(len(names) > 1 for names in parents.values()):
            return None
    return [list(cells) for cells in dict.fromkeys(map(tuple, full))]


def bind(lines: Lines, values: list[str | None]) -> tuple[list[tuple[str | None, ...]], list[list[float]], list[int]]:
    """Labels, losses by level and ranks of some values, NULL without a line of its own among them."""
    branches: dict[str | None, list[str | None]] = {cells[0]: list(cells) for cells in lines}
    if None in values:
        branches[None] = [*[None] * (len(lines[0]) - 1), "*"]
    bound = list(zip(*(branches[value] for value in values), strict=True))
    labels = [tuple(dict.fromkeys(level)) for level in bound]
    counts = [Counter(level) for level in zip(*branches.values(), strict=True)]
    most = max(len(branches) - 1, 1)
    loss = [
        [0.0 if level == 0 else (counts[level][label] - 1) / most for label in texts]
        for level, texts in enumerate(labels)
    ]
    return labels, loss, [list(branches).index(value) for value in values]


def filed(text: str) -> File | None:
    """The file of a text, or nothing where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(text.encode())
        try:
            return File(path)
        except HierarchyError:
            return None


def lines_of_cells() -> st.SearchStrategy[str]:
    """Lines that are often right: few names, one of three separators, quotes here and there, line ends of all kinds."""
    names = st.sampled_from(
        ["a", "b", "c", "d", "A", "B", "A", "B", "", " ", "é", '"a"', '"x,y"', "*", '"', "\f", "\x1c"]
    )
    cells = st.lists(names, max_size=4)
    ends = st.sampled_from([["*"], ["*"], ["*"], ["*", ""], ["*", "", ""], [], ["root"]])
    line = st.tuples(cells, ends).map(lambda parts: parts[0] + parts[1])

    def text(drawn: tuple[list[list[str]], str, str]) -> str:
        lines, separator, end = drawn
        return end.join(separator.join(cells) for cells in lines)

    return st.tuples(st.lists(line, max_size=7), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n", "\r"])).map(
        text
    )


@pytest.mark.slow
@settings(max_examples=600)
@given(lines_of_cells() | st.text('ab*,;\t"\r\n', max_size=14))
@example("a,*\n\n\r\n\rb,*")
@example("a,A,*,,,\nb,*,")
@example("é,*\u2028\nb,*")
def test_what_is_read_and_what_is_refused(text: str) -> None:
    """Any text is read as the plain way reads it, and refused where that refuses."""
    expected, found = read(text), filed(text)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert [list(cells) for cells in found.lines] == expected


@given(lines_of_cells(), st.data())
def test_what_is_bound(text: str, data: st.DataObject) -> None:
    """Labels, losses and ranks are those of a count over all lines."""
    lines, found = read(text), filed(text)
    if lines is None or found is None:
        return
    leaves = [cells[0] for cells in lines if cells[0]]
    values = data.draw(st.lists(st.sampled_from([*leaves, None]), unique=True, min_size=1))
    tree: Hierarchy = found.bind(values, column="x", nulls=["?"])
    labels, loss, ranks = bind(lines, values)
    assert list(tree.labels) == labels
    assert [level.tolist() for level in tree.loss] == [pytest.approx(level) for level in loss]
    assert tree.ranks is not None
    assert tree.ranks.tolist() == ranks
    shown = [[level[code] for level, code in zip(tree.labels, line, strict=True)] for line in tree.matrix.tolist()]
    by_leaf: dict[str | None, list[str | None]] = {cells[0]: list(cells) for cells in lines}
    by_leaf.setdefault(None, [*[None] * (len(lines[0]) - 1), "*"])
    assert shown == [by_leaf[value] for value in values]
