"""Trees: hierarchies made in Python, of dicts, paths, frames, functions and graphs, and written as hierarchy files.

However a tree is given, it becomes lines, one for each leaf, from the leaf over its parents to ``*``, which are what a
hierarchy file has. Lines are equally long: a leaf that is less deep than others is repeated, so that each label is at
one level. Whether labels have one parent each is checked where a policy reads them, or here by `check`.

>>> Tree.of({"Europe": {"Switzerland": ["Bern", "Thun"], "France": ["Lyon"]}, "Asia": {"Japan": ["Kobe"]}}).lines[2]
('Lyon', 'France', 'Europe', '*')
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as keys_of
from pathlib import Path
from typing import Any, Self

from sfumato.errors import HierarchyError, OutputError, listing, quote
from sfumato.hierarchy import Dates, File, Intervals, LabelFunction, Mask, Ranges
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.hierarchy.hierarchy_file import write_lines
from sfumato.hierarchy.label_function import align_paths, write_label
from sfumato.page.display import Display, FigureTable
from sfumato.table.frames import frame_kind, frame_to_arrow

_KINDS = {"intervals": Intervals, "mask": Mask, "dates": Dates, "ranges": Ranges}
_FRAME_MODULES = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb")
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Tree:
    """A hierarchy as lines, each from a leaf to the root ``*``.

    >>> print(Tree.of({"Bern": "Switzerland", "Thun": "Switzerland", "Lyon": "France"}))
    Tree of 3 leaves in 2 levels: Bern → Switzerland → *, Thun → Switzerland → *, Lyon → France → *
    """

    lines: tuple[tuple[str, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, source: Any) -> Self:
        """Make a tree of whatever tells one.

        A dict from a child to its parent, ``{"Bern": "Switzerland", …}``, or nested from parents to children,
        ``{"Switzerland": ["Bern", "Thun"], …}``; a list of paths from leaf to root; a frame with a column for each
        level, the leaves first; or a directed graph of networkx.
        """
        if isinstance(source, Tree):
            return cls(source.lines)
        if isinstance(source, Mapping):
            return cls.from_dict(source)
        if hasattr(source, "successors") and hasattr(source, "nodes"):
            return cls.from_graph(source)
        if type(source).__module__.partition(".")[0] in _FRAME_MODULES:
            return cls.from_frame(source)
        if isinstance(source, Iterable) and not isinstance(source, str | bytes):
            return cls.from_paths(source)
        if callable(source):
            raise HierarchyError(
                "a function tells a tree of values; give them: sf.Tree.from_function(function, values)"
            )
        what = "a dict, a list of paths, a frame, a function or a graph"
        raise HierarchyError(f"a tree is made of {what}, not of {type(source).__name__}")

    @classmethod
    def from_dict(cls, tree: Mapping[Any, Any]) -> Self:
        """Make a tree of a dict, from child to parent or nested from parents to children.

        Of children and parents, who is nobody's parent is a leaf. A label whose parent is ``None`` or ``*``, or that
        has none, is right under the root.

        >>> Tree.from_dict({"Bern": "Switzerland", "Switzerland": "Europe", "Monaco": "Europe"}).lines
        (('Bern', 'Switzerland', 'Europe', '*'), ('Monaco', 'Monaco', 'Europe', '*'))
        """
        nested = [name for name, value in tree.items() if isinstance(value, Mapping | list | tuple | set | frozenset)]
        if not nested:
            return cls._from_parents({write_label(child): _parent(parent) for child, parent in tree.items()})
        if len(nested) < len(tree):
            flat = next(name for name in tree if name not in nested)
            fault = f"{quote(str(nested[0]))} has children and {quote(str(flat))} has a parent"
            raise HierarchyError(f"a dict goes from children to parents or from parents to children, and {fault}")
        return cls._from_lines(list(_walk(tree, ())))

    @classmethod
    def from_paths(cls, paths: Iterable[Any]) -> Self:
        """Make a tree of paths, each from a leaf to the label below the root, or to the root itself.

        >>> Tree.from_paths([["cook", "service"], ["nurse", "health", "*"]]).lines
        (('cook', 'service', '*'), ('nurse', 'health', '*'))
        """
        every = list(paths)
        wrong = [path for path in every if isinstance(path, str) or not isinstance(path, list | tuple) or not path]
        if wrong:
            raise HierarchyError('a path is a list from a leaf to the root, as in ["Bern", "Switzerland", "*"]')
        return cls._from_lines([[write_label(label) for label in path] for path in every])

    @classmethod
    def from_frame(cls, frame: Any) -> Self:
        """Make a tree of a frame with a column for each level, the leaves first; a missing cell is a level left out.

        >>> import pyarrow
        >>> Tree.from_frame(pyarrow.table({"job": ["cook", "nurse"], "field": ["service", "health"]})).lines[0]
        ('cook', 'service', '*')
        """
        kind = frame_kind(frame)
        names = list(frame.column_names if kind == "arrow" else frame.columns)
        levels = [frame_to_arrow(frame, kind, [name]).column(0).to_pylist() for name in names]
        paths = []
        for place, cells in enumerate(zip(*levels, strict=True)):
            if _is_missing(cells[0]):
                raise HierarchyError(f"row {place + 1} of the frame has no leaf in {quote(str(names[0]))}; give it one")
            paths.append([cell for cell in cells if not _is_missing(cell)])
        return cls.from_paths(paths)

    @classmethod
    def from_function(cls, function: Callable[[Any], Any], values: Iterable[Any]) -> Self:
        """Make a tree of a function from a value to its labels, the finest first, for all values that there can be.

        >>> Tree.from_function(lambda age: [f"{age // 10 * 10}s"], range(30, 32)).lines
        (('30', '30s', '*'), ('31', '30s', '*'))
        """
        texts = [(write_label(value), value) for value in values]
        return cls._from_lines(LabelFunction(function).lines(texts))

    @classmethod
    def from_graph(cls, graph: Any) -> Self:
        """Make a tree of a directed graph, such as one of networkx, with edges from parents to children.

        Edges may go from children to parents, too, where a parent has several children. The root of the graph is a
        label like others, unless it is called ``*``.
        """
        if not hasattr(graph, "successors") or not hasattr(graph, "predecessors"):
            raise HierarchyError(
                "the graph has no direction; make a tree of it first, as networkx.bfs_tree(graph, root) does"
            )
        above: Callable[[Any], list[Any]] = lambda node: list(graph.predecessors(node))  # noqa: E731 - one of two
        if any(len(above(node)) > 1 for node in graph.nodes):
            above = lambda node: list(graph.successors(node))  # noqa: E731 - the other
        several = [node for node in graph.nodes if len(above(node)) > 1]
        if several:
            raise HierarchyError(f"the graph is no tree: {listing(several[:_MOST_SHOWN])} has two parents; give it one")
        parents = {node: (above(node) or [None])[0] for node in graph.nodes}
        alone = {write_label(node): _parent(parent) for node, parent in parents.items() if node != ROOT}
        roots = {name for name, parent in alone.items() if parent is None}
        inner = set(alone.values())
        # a root is a label above leaves, not a leaf of its own, unless it has nobody below
        return cls._from_parents(
            {name: parent for name, parent in alone.items() if name not in roots or name not in inner}
        )

    @classmethod
    def _from_parents(cls, parents: Mapping[str, str | None]) -> Self:
        inner = {parent for parent in parents.values() if parent is not None}
        paths = []
        for leaf in parents:
            if leaf in inner:
                continue
            path, label = [leaf], parents[leaf]
            while label is not None:
                if label in path:
                    raise HierarchyError(f"{quote(label)} is above itself; take the circle apart")
                path.append(label)
                label = parents.get(label)
            paths.append(path)
        if parents and not paths:
            raise HierarchyError(f"{quote(next(iter(parents)))} is above itself; take the circle apart")
        return cls._from_lines(paths)

    @classmethod
    def _from_lines(cls, paths: Sequence[Sequence[str]]) -> Self:
        if not paths:
            raise HierarchyError("a tree needs a leaf; give one at least")
        return cls(tuple(tuple(line) for line in align_paths(paths)))

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values that it generalizes, in their order."""
        return tuple(line[0] for line in self.lines)

    @property
    def height(self) -> int:
        """Steps from a leaf to the root."""
        return len(self.lines[0]) - 1

    def check(self) -> None:
        """Refuse a tree in which a label has two parents, as a policy would."""
        File.from_lines(self.lines)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a hierarchy file, after it was checked."""
        self.check()
        target = Path(path)
        try:
            target.write_bytes(write_lines(self.lines).encode())
        except OSError as error:
            raise OutputError(f"cannot write {target}: {error.strerror}; choose another name") from None
        return target

    def __len__(self) -> int:
        return len(self.lines)

    def _repr_html_(self) -> str:
        head = ("leaf", *(f"level {level}" for level in range(1, self.height + 1)))
        more = [f"and {len(self) - _MOST_SHOWN:,} more"] if len(self) > _MOST_SHOWN else []
        return Display("tree", [FigureTable(head, self.lines[:_MOST_SHOWN])], more).as_html()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown = ", ".join(" → ".join(line) for line in self.lines[:_MOST_SHOWN])
        more = f" and {len(self) - _MOST_SHOWN:,} more" if len(self) > _MOST_SHOWN else ""
        leaves = "1 leaf" if len(self) == 1 else f"{len(self):,} leaves"
        return f"Tree of {leaves} in {self.height} levels: {shown}{more}"


def is_kind_of_hierarchy(source: Any) -> bool:
    """Whether a dict is the table of a kind of hierarchy, such as ``{"mask": "right"}``, and no tree.

    >>> is_kind_of_hierarchy({"intervals": [5], "top": 90}), is_kind_of_hierarchy({"Bern": "Switzerland"})
    (True, False)
    """
    if not isinstance(source, Mapping):
        return False
    allowed = [{each.name for each in keys_of(kind)} for name, kind in _KINDS.items() if name in source]
    return list(source) == ["lines"] or any(set(source) <= names for names in allowed)


def _walk(tree: Mapping[Any, Any] | Iterable[Any], above: tuple[str, ...]) -> Iterator[list[str]]:
    """List the paths of all leaves of nested dicts and lists."""
    if not isinstance(tree, Mapping):
        for leaf in tree:
            yield [write_label(leaf), *above]
        return
    for label, below in tree.items():
        name = write_label(label)
        children = below if isinstance(below, Mapping | list | tuple | set | frozenset) else [below]
        yield from _walk(children, (name, *above)) if children else [[name, *above]]


def _parent(label: Any) -> str | None:
    return None if _is_missing(label) or label == ROOT else write_label(label)


def _is_missing(label: Any) -> bool:
    return label is None or label != label  # noqa: PLR0124 - NaN is what is not itself
