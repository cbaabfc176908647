"""Hierarchies written by hand, in a file of one line per leaf: ``leaf,parent,…,*``."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import numpy as np

from sfumato.core.regular_file import read_regular_file
from sfumato.errors import HierarchyError, OutputError, PolicyError, UnreadableFile
from sfumato.hierarchy.hierarchy import ROOT, Branch, Hierarchy, Label, build, label_paths, ncp, refuse_values

_LARGEST_FILE = 1 << 28

_SEPARATORS = ",;\t"
NumberedLine = tuple[int, list[str]]
"""The cells of a line, after its number in the file."""


@dataclass(frozen=True)
class File:
    r"""``"job.csv"``: read and checked at once, so that every label has one parent.

    Its leaves are the domain, in the order of its lines. A line whose leaf is one of the null texts says
    what becomes of NULL; without one NULL stays NULL up to the root.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = path.write_text("cook,service,*\nnurse,health,*\nporter,service,*")
    >>> File(path).bind(["nurse", "cook"], column="job").labels
    (('nurse', 'cook'), ('health', 'service'), ('*',))
    """

    path: Path
    lines: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "type": "string",
        "minLength": 1,
        "description": "A file beside the policy, one line per leaf: leaf,parent,…,*",
    }

    def __post_init__(self) -> None:
        lines = read_lines(self.path)
        for level in range(len(lines[0][1]) - 1):
            _check_parents(lines, level, self.path.name)
        # A leaf that is listed twice has the same path both times by now.
        object.__setattr__(self, "lines", tuple(dict.fromkeys(tuple(cells) for _, cells in lines)))

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Put the values under their parents of the file, all of whose leaves count for the losses.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*")
        >>> File(path).bind(["cook", "spy"], column="job")
        Traceback (most recent call last):
        sfumato.errors.HierarchyError: column 'job': not in job.csv: 'spy'; add a line for each to the file
        """
        branches = self._branches(nulls)
        if None in values:
            branches.setdefault(None, self._null_branch())
        missing = [value for value in values if value not in branches]
        fault, remedy = f"not in {self.path.name}", "add a line for each to the file"
        refuse_values(missing, column=column, fault=fault, remedy=remedy)
        levels = list(zip(*(branches[value] for value in values), strict=True)) or [()] * len(self.lines[0])
        leaves = [Counter(level) for level in list(zip(*branches.values(), strict=True))[1:]]
        loss = [{label: ncp(count, len(branches)) for label, count in level.items()} for level in leaves]
        place = {leaf: i for i, leaf in enumerate(branches)}
        ranks = np.array([place[value] for value in values], dtype=np.int64)
        return build(levels[:-1], loss=loss, ranks=ranks, places=len(branches))

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Find the path of each leaf or inner label of the file; there is none for other texts.

        A text on several levels of one branch counts at the lowest. One in two branches, as a leaf under A and as the
        parent of another leaf under B, is refused, since nobody can say which of them was published.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*")
        >>> File(path).paths(["cook", "service", "spy", None], column="job")
        [('cook', 'service', '*'), ('service', '*'), None, (None, None, '*')]
        """
        branches = self._branches(nulls)
        path, ambiguous = paths_of_labels(branches.values())
        fault = f"stands in two branches of {self.path.name}"
        remedy = "give each place of it a name of its own, in the file and in the tables"
        refused = [text for text in dict.fromkeys(labels) if text in ambiguous]
        refuse_values(refused, column=column, fault=fault, remedy=remedy)
        return label_paths(labels, path.get, null=branches.get(None, self._null_branch()))

    def _null_branch(self) -> Branch:
        """NULL up to the root, where no line says otherwise."""
        return (*[None] * (len(self.lines[0]) - 1), self.lines[0][-1])

    def _branches(self, nulls: Sequence[str]) -> dict[Label, Branch]:
        """The branch of each leaf; on a line of NULL the cells before the first that is no null text are NULL."""
        branches: dict[Label, Branch] = {}
        for cells in self.lines:
            branch: Branch = cells
            if cells[0] in nulls:
                missing = len(list(takewhile(lambda cell: cell in nulls, cells)))
                branch = (*[None] * missing, *cells[missing:])
            if branches.setdefault(branch[0], branch) != branch:
                fault = f"{self.path.name}: NULL has two parents, on the lines of {list(nulls)}"
                raise HierarchyError(f"{fault}; keep one of them")
        return branches


def paths_of_labels(branches: Iterable[Branch]) -> tuple[dict[str, Branch], set[str]]:
    """Find the path of every text in branches of equal length, and the texts that are in two branches.

    At one level a label has one parent, or the lines were refused before. On several levels of one branch a text
    counts at the lowest. It is in two branches where the upper place is not above the lower one. ``*`` is the root
    wherever it is.

    >>> paths_of_labels([("a", "A", "*"), ("A", "A", "*")])
    ({'a': ('a', 'A', '*'), 'A': ('A', 'A', '*')}, set())
    >>> paths_of_labels([("a", "A", "*"), ("b", "a", "*")])[1]
    {'a'}
    """
    lines = list(branches)
    paths: dict[str, Branch] = {}
    ambiguous = set()
    for level in range(len(lines[0]) - 1):
        for text, line in {line[level]: line for line in lines}.items():
            if text is not None and text != ROOT:
                upper = line[level:]
                lowest = paths.setdefault(text, upper)
                if lowest[-len(upper) :] != upper:
                    ambiguous.add(text)
    return paths, ambiguous


def _check_parents(lines: Sequence[NumberedLine], level: int, name: str) -> None:
    """Refuse a label with two parents, on lines of equal length."""
    parents: dict[str, tuple[str, int]] = {}
    for line, cells in lines:
        label, parent = cells[level], cells[level + 1]
        first, where = parents.setdefault(label, (parent, line))
        if first != parent:
            what = f"label {label!r} at level {level}" if level else f"leaf {label!r}"
            fault = f"{what} has two parents, {first!r} (line {where}) and {parent!r} (line {line})"
            hint = "give it one; a shorter line repeats its last label below '*'"
            raise HierarchyError(f"{name}: {fault}: {hint}")


def read_lines(path: Path) -> list[NumberedLine]:
    r"""Read the lines of a hierarchy file with their numbers: all end in the root and are equally long.

    A shorter line repeats the label before the root. Blank lines and empty cells after the root are left out.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = file.write_text("cook;service;*\nnone;*")
    >>> read_lines(file)
    [(1, ['cook', 'service', '*']), (2, ['none', 'none', '*'])]
    """
    text = _read_text(path)
    # The right separator makes most lines end in the root, and most cells.
    read = [_split_lines(text, separator) for separator in _SEPARATORS]
    if not any(isinstance(lines, list) for lines in read):
        raise HierarchyError(f"{path.name} is not a CSV file: {read[0]}; mend its quotes")
    lines = max((lines for lines in read if isinstance(lines, list)), key=_fit)
    if not lines:
        raise HierarchyError(f"{path.name} is empty; write one line per leaf, as in leaf,parent,*")
    for line, cells in lines:
        where = f"{path.name}, line {line}"
        if cells[-1] != ROOT:
            fault = f"ends in {cells[-1]!r} and not in the common root '*'"
            raise HierarchyError(f"{where} {fault}; end every line in '*', and leave out a header")
        if len(cells) < 2:
            raise HierarchyError(f"{where} has a root and no leaf; write it as leaf,parent,*")
        # An empty label would be read as NULL; on NULL's own line that is what it is to say.
        if cells[0] and "" in cells:
            raise HierarchyError(f"{where} has an empty label at level {cells.index('')}; give it a name")
    depth = max(len(cells) for _, cells in lines)
    return [(line, [*cells[:-1], *[cells[-2]] * (depth - len(cells)), ROOT]) for line, cells in lines]


def _read_text(path: Path) -> str:
    try:
        data = read_regular_file(path, most=_LARGEST_FILE, what="a hierarchy file")
    except UnreadableFile as error:
        reason = "cannot be read: No such file or directory" if error.fault == "missing" else error.reason
        raise PolicyError(f"{path.name or 'it'} {reason}") from None
    save = "save it as UTF-8 text"
    if b"\0" in data:
        raise HierarchyError(f"{path.name} is not a text file: byte {data.index(0)} is NUL; {save}")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise HierarchyError(f"{path.name} is not UTF-8 at byte {error.start}; {save}") from error


def _split_lines(text: str, separator: str) -> list[NumberedLine] | str:
    """Split a text into lines of cells, or say why it is no CSV; spreadsheets add empty cells to shorter lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines = []
    try:
        for cells in reader:
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                lines.append((reader.line_num, cells))
    except csv.Error as error:
        return f"line {reader.line_num}, {error}"
    return lines


def _fit(lines: list[NumberedLine]) -> tuple[int, int]:
    rooted = sum(len(cells) > 1 and cells[-1] == ROOT for _, cells in lines)
    return rooted, sum(len(cells) for _, cells in lines)


def write(hierarchy: Hierarchy, path: Path) -> None:
    """Write a hierarchy as a file; what is shown is what is applied.

    Reading it again and binding it to the same values gives the same matrix and labels, and the same losses
    and ranks where the bound values are the whole domain. NULL is an empty cell.

    >>> import tempfile
    >>> from sfumato.hierarchy.mask import Mask
    >>> file = Path(tempfile.mkdtemp(), "zip.csv")
    >>> write(Mask("right").bind(["43", "41"], column="zip"), file)
    >>> file.read_text().splitlines()
    ['43,4*,*', '41,4*,*']
    """
    if {None, ""} <= set(hierarchy.labels[0]):
        raise HierarchyError(f"{path.name}: a file cannot tell NULL from the empty text; mend one of them")
    out = io.StringIO(newline="")
    # Lines end in CR LF, since csv quotes just the line ends that it writes, and a value may hold either.
    writer = csv.writer(out)
    order = np.arange(len(hierarchy.matrix)) if hierarchy.ranks is None else np.argsort(hierarchy.ranks)
    for codes in hierarchy.matrix[order].tolist():
        writer.writerow([level[code] or "" for level, code in zip(hierarchy.labels, codes, strict=True)])
    try:
        path.write_bytes(out.getvalue().encode())
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}") from error
