"""Hierarchies written by hand, in a file of one line per leaf: ``leaf,parent,…,*``.

Files may have millions of lines. So a file is one table of numbers, a line per leaf and a column per level, and the
list of the texts that these numbers stand for; nothing here goes through all lines one by one, but for a file with
quotes, which is split as Python's `csv` does it.
"""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.arrow import arrow_numbers, arrow_text, arrow_texts, numpy_numbers
from sfumato.core.keys import find_first
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import HierarchyError, OutputError, PolicyError, UnreadableFile, listing, quote, shorten
from sfumato.hierarchy.hierarchy import MOST_LEVELS, ROOT, Branch, Hierarchy, Label, label_paths, refuse_values

_LARGEST_FILE = 1 << 28

_SEPARATORS = ",;\t"
_NULL_CODE = -1
"""The number of NULL, which is no text."""
_IN_NO_FILE = "the lines of the hierarchy"
"""How sentences call lines that are in no file."""
_NOWHERE = arrow_numbers(np.array([-1], dtype=np.int32))[0]


@dataclass(frozen=True)
class File:
    r"""``"job.csv"``: read and checked at once, so that every label has one parent.

    Its leaves are the domain, in the order of its lines. A line whose leaf is one of the null texts says
    what becomes of NULL; without one NULL stays NULL up to the root.

    `texts` are the different cells of the file, an Arrow array, and `codes` int32[leaves, levels] says which of them
    each line has; no leaf is there twice. Two files are equal whose lines are, wherever they are: `digest` is that of
    the lines. `written` are lines that are in no file, as they would be in one; `path` is then how a sentence calls
    them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "job.csv")
    >>> _ = path.write_text("cook,service,*\nnurse,health,*\nporter,service,*")
    >>> File(path).bind(["nurse", "cook"], column="job").labels
    (('nurse', 'cook'), ('health', 'service'), ('*',))
    """

    path: Path = field(compare=False)
    written: str | None = field(default=None, repr=False, compare=False)
    digest: str = field(init=False, repr=False)
    texts: Any = field(init=False, repr=False, compare=False)
    codes: NDArray[np.int32] = field(init=False, repr=False, compare=False)

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "type": "string",
        "minLength": 1,
        "description": "A file beside the policy, one line per leaf: leaf,parent,…,*",
    }

    def __post_init__(self) -> None:
        text = _read_text(self.path) if self.written is None else self.written
        lines = _find_lines(text, self.path.name)
        _check_lines(lines, self.path.name)
        texts, codes = _number_cells(lines)
        for level in range(codes.shape[1] - 1):
            _check_parents(texts, codes, level, lines.number, self.path.name)
        # A leaf that is listed twice has the same path both times by now.
        once = find_first(codes[:, 0], len(texts))[codes[:, 0]] == np.arange(len(codes))
        codes = codes if once.all() else codes[once]
        digest = sha256("\0".join([str(codes.shape), *texts.to_pylist()]).encode())  # no cell of a text file has NUL
        digest.update(codes.tobytes())
        for name, value in (("digest", digest.hexdigest()), ("texts", texts), ("codes", codes)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_lines(cls, lines: Sequence[Sequence[str]]) -> Self:
        """Make the hierarchy of lines that are in no file, each from a leaf to the root.

        >>> File.from_lines([["cook", "service", "*"]]).bind(["cook"], column="job").labels
        (('cook',), ('service',), ('*',))
        """
        return cls(Path(_IN_NO_FILE), write_lines(lines))

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The cells of each line, all lines equally long and no leaf twice."""
        return self._cells_of(self.codes)

    def lines_of(self, values: Collection[Label], nulls: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        r"""The lines of those leaves that are among the values; the null texts are leaves of NULL.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*\nnurse,health,*\n?,unknown,*")
        >>> File(path).lines_of(["cook", None], ["?"])
        (('cook', 'service', '*'), ('?', 'unknown', '*'))
        """
        leaves = dict.fromkeys([value for value in values if value is not None] + list(nulls if None in values else ()))
        return self._cells_of(self.codes[np.isin(self.codes[:, 0], self._find_texts(list(leaves)))])

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Put the values under their parents of the file, all of whose leaves count for the losses.

        With m leaves in the domain, n values and l levels: domain int32[m, l] has the text of each leaf on each level,
        place int[n] the leaf that each value is. Labels of a level are numbered in the order of the values.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*")
        >>> File(path).bind(["cook", "spy"], column="job")
        Traceback (most recent call last):
        sfumato.errors.HierarchyError: column 'job': not in job.csv: 'spy'; add a line for each to the file
        """
        if len(set(values)) < len(values):
            raise ValueError("a hierarchy is bound to distinct values")
        domain = self._domain(nulls)
        if None in values and not (domain[:, 0] == _NULL_CODE).any():
            domain = np.vstack([domain, self._null_line()])
        leaf_of = find_first(domain[:, 0] + 1, len(self.texts) + 1)  # by the number of its text, NULL first
        is_null = np.array([value is None for value in values], dtype=np.bool_)
        text_of = self._find_texts(values)
        place = np.where((text_of < 0) & ~is_null, -1, leaf_of[text_of + 1])
        missing = [values[i] for i in np.flatnonzero(place < 0).tolist()]
        where = "to the file" if self.written is None else "there"
        fault, remedy = f"not in {self.path.name}", f"add a line for each {where}"
        refuse_values(missing, column=column, fault=fault, remedy=remedy)
        bound, leaves = domain[place], len(domain)
        labels, loss = [tuple(values)], [np.zeros(len(values))]
        matrix = np.zeros(bound.shape, dtype=np.int32)
        matrix[:, 0] = np.arange(len(values))
        for level in range(1, bound.shape[1] - 1):
            codes = bound[:, level] + 1
            first = find_first(codes, len(self.texts) + 1)
            used = np.flatnonzero(first >= 0)
            used = used[np.argsort(first[used])]
            matrix[:, level] = find_first(used, len(first))[codes]
            labels.append(self._texts_of(used - 1))
            under = np.bincount(domain[:, level] + 1, minlength=len(first))[used]
            loss.append((under - 1) / max(leaves - 1, 1))
        labels.append((ROOT,))
        loss.append(np.array([1.0 if leaves > 1 else 0.0]))
        return Hierarchy(matrix, tuple(labels), tuple(loss), place, leaves)

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
        domain = self._domain(nulls)
        different = [text for text in dict.fromkeys(labels) if text is not None and text != ROOT]
        known = dict(zip(different, self._find_texts(different).tolist(), strict=True))
        paths: dict[str, Branch] = {}
        ambiguous = set()
        for level in range(domain.shape[1] - 1):
            # At one level a label has one parent, or the file was refused: any line that has it there will do.
            line_of = find_first(domain[:, level] + 1, len(self.texts) + 1)
            lines = {text: int(line_of[code + 1]) for text, code in known.items() if code >= 0}
            there = {text: line for text, line in lines.items() if line >= 0}
            uppers = self._cells_of(domain[list(there.values()), level:])
            for text, upper in zip(there, uppers, strict=True):
                lowest = paths.setdefault(text, upper)
                if lowest[-len(upper) :] != upper:
                    ambiguous.add(text)
        fault = f"stands in two branches of {self.path.name}"
        remedy = "give each place of it a name of its own, in the file and in the tables"
        refused = [text for text in different if text in ambiguous]
        refuse_values(refused, column=column, fault=fault, remedy=remedy)
        null = domain[domain[:, 0] == _NULL_CODE]
        (null_path,) = self._cells_of(null if len(null) else self._null_line())
        return label_paths(labels, paths.get, null=null_path)

    def _domain(self, nulls: Sequence[str]) -> NDArray[np.int32]:
        """The texts of each leaf; on a line of NULL the cells before the first that is no null text are NULL."""
        missing = {code for code in self._find_texts(list(dict.fromkeys(nulls))).tolist() if code >= 0}
        of_null = np.flatnonzero(np.isin(self.codes[:, 0], list(missing)))
        if not len(of_null):
            return self.codes
        domain = self.codes.copy()
        for line in of_null.tolist():
            domain[line, : len(list(takewhile(missing.__contains__, domain[line].tolist())))] = _NULL_CODE
        if (domain[of_null] != domain[of_null[0]]).any():
            fault = f"{self.path.name}: NULL has two parents, on the lines of {listing(nulls)}"
            raise HierarchyError(f"{fault}; keep one of them")
        return np.delete(domain, of_null[1:], axis=0)

    def _null_line(self) -> NDArray[np.int32]:
        """NULL up to the root, where no line says otherwise."""
        line = np.full((1, self.codes.shape[1]), _NULL_CODE, dtype=np.int32)
        line[0, -1] = self.codes[0, -1]
        return line

    def _find_texts(self, texts: Sequence[Label]) -> IntArray:
        """Find the number of each of some different texts, -1 for NULL and for a text that the file does not have."""
        place = numpy_numbers(pc.fill_null(pc.index_in(self.texts, value_set=arrow_texts(texts)), _NOWHERE))
        found = np.flatnonzero(place >= 0)
        numbers = np.full(len(texts), -1, dtype=np.int64)
        numbers[place[found]] = found
        return numbers

    def _texts_of(self, codes: NDArray[Any]) -> tuple[Any, ...]:
        """Look up the texts of some numbers."""
        if not (codes < 0).any():
            return tuple(self.texts.take(arrow_numbers(codes)).to_pylist())
        texts = self.texts.take(arrow_numbers(np.maximum(codes, 0))).to_pylist()
        return tuple(None if code < 0 else text for code, text in zip(codes.tolist(), texts, strict=True))

    def _cells_of(self, codes: NDArray[np.int32]) -> tuple[tuple[Any, ...], ...]:
        """Write lines of numbers as lines of texts."""
        return tuple(zip(*(self._texts_of(codes[:, level]) for level in range(codes.shape[1])), strict=True))


# Reading


class FileLines(NamedTuple):
    """The lines of a file that are not blank, without the empty cells that spreadsheets add to shorter lines.

    With n lines: number int[n] is that of each in the file, first int[n] the place of its first cell among all `cells`,
    an Arrow array of texts, and length int[n] how many it has.
    """

    number: IntArray
    first: IntArray
    length: IntArray
    cells: Any

    @property
    def last(self) -> IntArray:
        """The place of the last cell of each line."""
        return self.first + self.length - 1

    @property
    def is_root(self) -> BoolArray:
        """Which cells are the root."""
        same: BoolArray = numpy_numbers(pc.equal(self.cells, arrow_text(ROOT)).cast(pa.uint8())) > 0
        return same

    @property
    def is_empty(self) -> BoolArray:
        """Which cells are empty."""
        empty: BoolArray = cell_sizes(self.cells) == 0
        return empty


def _find_lines(text: str, name: str) -> FileLines:
    """Split a text by the separator that makes most lines end in the root, and most cells."""
    # A separator that does not occur leaves lines of one cell, and no such line is right.
    split = [_split_lines(text, separator) for separator in [mark for mark in _SEPARATORS if mark in text] or [","]]
    read = [lines for lines in split if isinstance(lines, FileLines)]
    if not read:
        raise HierarchyError(f"{name} is not a CSV file: {split[0]}; mend its quotes")
    lines = max(read, key=_fit)
    if not len(lines.number):
        raise HierarchyError(f"{name} is empty; write one line per leaf, as in leaf,parent,*")
    return lines


def _fit(lines: FileLines) -> tuple[int, int]:
    rooted = lines.is_root[lines.last[lines.length > 1]] if len(lines.number) else lines.length
    return int(rooted.sum()), int(lines.length.sum())


def _split_lines(text: str, separator: str) -> FileLines | str:
    """Split a text into lines of cells, or say why it is no CSV."""
    if '"' not in text:
        ends = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        whole = pc.split_pattern(arrow_texts([ends]), "\n").flatten()
        split = pc.split_pattern(whole, separator)
        first = numpy_numbers(split.offsets).astype(np.int64)
        if cell_sizes(split.values).max(initial=0) <= csv.field_size_limit():
            return _without_empty_ends(np.arange(1, len(whole) + 1), first[:-1], first[1:], split.values)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    cells: list[str] = []
    numbers, ends_of_lines = [], [0]
    try:
        for line in reader:
            cells += line
            numbers.append(reader.line_num)
            ends_of_lines.append(len(cells))
    except csv.Error as error:
        return f"line {reader.line_num}, {error}"
    place = np.array(ends_of_lines, dtype=np.int64)
    return _without_empty_ends(np.array(numbers, dtype=np.int64), place[:-1], place[1:], arrow_texts(cells))


def _without_empty_ends(number: IntArray, first: IntArray, end: IntArray, cells: Any) -> FileLines:
    """Leave out the empty cells at the end of each line, and lines without any other.

    Lines are ``first[i]:end[i]`` of the cells; filled int[...] are the places of all cells that are not empty.
    """
    filled = np.flatnonzero(cell_sizes(cells))
    before = np.searchsorted(filled, end)  # so many cells up to the end of the line are not empty
    last = np.concatenate(([-1], filled))[before]
    kept = last >= first
    return FileLines(number[kept], first[kept], last[kept] + 1 - first[kept], cells)


def cell_sizes(cells: Any) -> IntArray:
    """Count the bytes of each text of an Arrow array without NULL.

    >>> cell_sizes(arrow_texts(["a", "", "é"])).tolist()
    [1, 0, 2]
    """
    return numpy_numbers(pc.binary_length(cells)).astype(np.int64)


def _check_lines(lines: FileLines, name: str) -> None:
    """Refuse the first line that does not go from a leaf to the root by labels with names, and not too many.

    Sums int[cells + 1] count the empty cells, or the roots, before each place.
    """
    is_root, is_empty = lines.is_root, lines.is_empty
    roots, empty = (np.concatenate(([0], np.cumsum(some))) for some in (is_root, is_empty))
    end = lines.first + lines.length
    unnamed = ~is_empty[lines.first] & (empty[end] > empty[lines.first])
    wrong = ~is_root[lines.last] | (lines.length < 2) | unnamed | (lines.length - 1 > MOST_LEVELS)
    wrong |= roots[lines.last] > roots[lines.first]
    if not wrong.any():
        return
    line = int(wrong.argmax())
    cells = lines.cells[lines.first[line] : end[line]].to_pylist()
    where = f"{name}, line {lines.number[line]}"
    if cells[-1] != ROOT:
        fault = f"ends in {quote(cells[-1])} and not in the common root '*'"
        raise HierarchyError(f"{where} {fault}; end every line in '*', and leave out a header")
    if len(cells) < 2:
        raise HierarchyError(f"{where} has a root and no leaf; write it as leaf,parent,*")
    # An empty label would be read as NULL; on NULL's own line that is what it is to say.
    if cells[0] and "" in cells:
        raise HierarchyError(f"{where} has an empty label at level {cells.index('')}; give it a name")
    if ROOT in cells[:-1]:
        fault = f"has '*' in column {cells.index(ROOT) + 1} of {len(cells)}, and '*' is the root"
        raise HierarchyError(f"{where} {fault}; give it another name, or leave it out: a shorter line repeats a label")
    fault = f"has {len(cells) - 1:,} levels, and a hierarchy has at most {MOST_LEVELS}"
    raise HierarchyError(f"{where} {fault}; leave some out")


def _number_cells(lines: FileLines) -> tuple[Any, NDArray[np.int32]]:
    """Number the different cells, and fill up shorter lines with the label before the root: int32[lines, levels]."""
    encoded = lines.cells.dictionary_encode()
    code = numpy_numbers(encoded.indices)
    depth = int(lines.length.max())
    codes = np.empty((len(lines.number), depth), dtype=np.int32)
    for level in range(depth - 1):
        codes[:, level] = code[lines.first + np.minimum(level, lines.length - 2)]
    codes[:, -1] = code[lines.last]
    return encoded.dictionary.cast(pa.string()), codes


def _check_parents(texts: Any, codes: NDArray[np.int32], level: int, number: IntArray, name: str) -> None:
    """Refuse a label with two parents; the first line that says otherwise than one before it is named."""
    label, parent = codes[:, level], codes[:, level + 1]
    earlier = find_first(label, len(texts))[label]
    wrong = parent != parent[earlier]
    if wrong.any():
        line = int(wrong.argmax())
        which = quote(texts[label[line]].as_py())
        what = f"label {which} at level {level}" if level else f"leaf {which}"
        first, second = (f"{quote(texts[parent[at]].as_py())} (line {number[at]})" for at in (earlier[line], line))
        hint = "give it one; a shorter line repeats its last label below '*'"
        raise HierarchyError(f"{name}: {what} has two parents, {first} and {second}: {hint}")


def _read_text(path: Path) -> str:
    try:
        data = read_regular_file(path, most=_LARGEST_FILE, what="a hierarchy file")
    except UnreadableFile as error:
        reason = "cannot be read: No such file or directory" if error.fault == "missing" else error.reason
        raise PolicyError(f"{shorten(path.name) or 'it'} {reason}") from None
    save = "save it as UTF-8 text"
    if b"\0" in data:
        raise HierarchyError(f"{path.name} is not a text file: byte {data.index(0)} is NUL; {save}")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise HierarchyError(f"{path.name} is not UTF-8 at byte {error.start}; {save}") from error


def write(hierarchy: Hierarchy, path: Path) -> None:
    """Write a hierarchy as a file; what is shown is what is applied.

    Reading it again and binding it to the same values gives the same matrix and labels, and the same losses
    and ranks where the bound values are the whole domain. NULL is an empty cell. A file cannot say that ``*`` stands
    below the root, as it does for a short value under a mask without a length: that is refused.

    >>> import tempfile
    >>> from sfumato.hierarchy.mask import Mask
    >>> file = Path(tempfile.mkdtemp(), "zip.csv")
    >>> write(Mask("right").bind(["43", "41"], column="zip"), file)
    >>> file.read_text().splitlines()
    ['43,4*,*', '41,4*,*']
    """
    if {None, ""} <= set(hierarchy.labels[0]):
        raise HierarchyError(f"{path.name}: a file cannot tell NULL from the empty text; mend one of them")
    if any(ROOT in level for level in hierarchy.labels[:-1]):
        raise HierarchyError(
            f"{path.name}: a file has '*' as its root alone; give a mask a length, or mend the value '*'"
        )
    order = np.arange(len(hierarchy.matrix)) if hierarchy.ranks is None else np.argsort(hierarchy.ranks)
    lines = (
        [level[code] or "" for level, code in zip(hierarchy.labels, codes, strict=True)]
        for codes in hierarchy.matrix[order].tolist()
    )
    try:
        path.write_bytes(write_lines(lines).encode())
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}") from error


def write_lines(lines: Iterable[Sequence[str]]) -> str:
    r"""Write lines as the text of a hierarchy file.

    >>> write_lines([["a,b", "A", "*"]])
    '"a,b",A,*\r\n'
    """
    out = io.StringIO(newline="")
    # Lines end in CR LF, since csv quotes just the line ends that it writes, and a value may hold either.
    csv.writer(out).writerows(lines)
    return out.getvalue()
