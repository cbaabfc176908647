"""A hierarchy written by hand, in a file of one line per leaf: ``leaf,parent,…,*``."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import numpy as np

from sfumato.errors import HierarchyError
from sfumato.hierarchy.base import Branch, Hierarchy, Label, build, ncp, refuse
from sfumato.hierarchy.lines import Line, read
from sfumato.hierarchy.paths import climb, nodes

Domain = dict[Label, Branch]


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
        lines = read(self.path)
        for level in range(len(lines[0][1]) - 1):
            _one_parent(lines, level, self.path.name)
        # A leaf that is listed twice has the same path both times by now.
        object.__setattr__(self, "lines", tuple(dict.fromkeys(tuple(cells) for _, cells in lines)))

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """The values under their parents of the file, all of whose leaves count for the losses.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*")
        >>> File(path).bind(["cook", "spy"], column="job")
        Traceback (most recent call last):
        sfumato.errors.HierarchyError: column 'job': not in job.csv: 'spy'; add a line for each to the file
        """
        domain = self._domain(nulls)
        if None in values:
            domain.setdefault(None, self._null())
        missing = [value for value in values if value not in domain]
        fault, remedy = f"not in {self.path.name}", "add a line for each to the file"
        refuse(missing, column=column, fault=fault, remedy=remedy)
        levels = list(zip(*(domain[value] for value in values), strict=True)) or [()] * len(self.lines[0])
        place = {leaf: i for i, leaf in enumerate(domain)}
        ranks = np.array([place[value] for value in values], dtype=np.int64)
        return build(levels[:-1], loss=_losses(domain), ranks=ranks, places=len(domain))

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """The path of each leaf or inner label of the file; none for other texts.

        A text on several levels of one branch counts at the lowest. One that stands in two branches, as a leaf under
        A and as the parent of another leaf under B, is refused, since what was published under it cannot be told.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "job.csv")
        >>> _ = path.write_text("cook,service,*")
        >>> File(path).paths(["cook", "service", "spy", None], column="job")
        [('cook', 'service', '*'), ('service', '*'), None, (None, None, '*')]
        """
        domain = self._domain(nulls)
        known, torn = nodes(domain.values())
        fault = f"stands in two branches of {self.path.name}"
        remedy = "give each place of it a name of its own, in the file and in the tables"
        refuse([text for text in dict.fromkeys(labels) if text in torn], column=column, fault=fault, remedy=remedy)
        return climb(labels, known.get, null=domain.get(None, self._null()))

    def _null(self) -> Branch:
        """NULL up to the root, where no line says otherwise."""
        return (*[None] * (len(self.lines[0]) - 1), self.lines[0][-1])

    def _domain(self, nulls: Sequence[str]) -> Domain:
        domain: Domain = {}
        for cells in self.lines:
            leaf, path = (None, _null_path(cells, nulls)) if cells[0] in nulls else (cells[0], cells)
            if domain.setdefault(leaf, path) != path:
                fault = f"{self.path.name}: NULL has two parents, on the lines of {list(nulls)}"
                raise HierarchyError(f"{fault}; keep one of them")
        return domain


def _null_path(cells: Sequence[str], nulls: Sequence[str]) -> Branch:
    """NULL as long as the line repeats a null text; only from the leaf on, where NULL is alone."""
    stays = len(list(takewhile(lambda cell: cell in nulls, cells)))
    return (*[None] * stays, *cells[stays:])


def _losses(domain: Domain) -> list[dict[Label, float]]:
    counts = [Counter(level) for level in list(zip(*domain.values(), strict=True))[1:]]
    return [{label: ncp(n, len(domain)) for label, n in count.items()} for count in counts]


def _one_parent(lines: Sequence[Line], level: int, name: str) -> None:
    """Refuses a label with two parents, on lines filled up already."""
    known: dict[str, tuple[str, int]] = {}
    for line, cells in lines:
        label, parent = cells[level], cells[level + 1]
        first, where = known.setdefault(label, (parent, line))
        if first != parent:
            what = f"label {label!r} at level {level}" if level else f"leaf {label!r}"
            fault = f"{what} has two parents, {first!r} (line {where}) and {parent!r} (line {line})"
            hint = "give it one; a shorter line repeats its last label below '*'"
            raise HierarchyError(f"{name}: {fault}: {hint}")
