"""Edits of a hierarchy that is written as lines: nodes are moved, grouped, renamed, and levels come and go.

A line is a leaf with its ancestors up to the root, as a hierarchy file has it, and all lines are equally long. A node
is a label on a level; its leaves are the lines that have it there. What an edit gives is checked by `hierarchy.File`.
"""

from collections.abc import Collection, Sequence

from sfumato.errors import HierarchyError, quote
from sfumato.hierarchy import File
from sfumato.hierarchy.hierarchy_file import write_lines

Lines = list[tuple[str, ...]]


def level_labels(lines: Sequence[Sequence[str]], level: int) -> list[str]:
    """List the labels of a level, each once, in the order of the lines.

    >>> level_labels([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*")], 1)
    ['x', 'y']
    """
    return list(dict.fromkeys(line[level] for line in lines))


def move_nodes(lines: Sequence[Sequence[str]], level: int, labels: Collection[str], parent: str) -> Lines:
    """Put nodes of a level under a node of the next, with all that is below them.

    >>> move_nodes([("a", "x", "*"), ("b", "y", "*")], 0, {"a"}, "y")
    [('a', 'y', '*'), ('b', 'y', '*')]
    """
    path = next((tuple(line[level + 1 :]) for line in lines if line[level + 1] == parent), None)
    if path is None:
        raise HierarchyError(f"there is no group {quote(parent)} on that level any more; look at the tree again")
    return [(*line[: level + 1], *path) if line[level] in labels else tuple(line) for line in lines]


def group_leaves(lines: Sequence[Sequence[str]], leaves: Collection[str], name: str) -> Lines:
    """Put leaves together under a new group, which stands where that of the first of them stood.

    >>> group_leaves([("a", "*"), ("b", "*"), ("c", "*")], ["a", "b"], "x")
    [('a', 'x', '*'), ('b', 'x', '*'), ('c', 'c', '*')]
    """
    if not name.strip() or name == "*":
        raise HierarchyError("a group needs a name, and * is that of the root; give it another")
    if any(name == label for line in lines for label in line):
        raise HierarchyError(f"{quote(name)} is the name of a value or a group already; choose another")
    base = [(line[0], line[0], *line[1:]) for line in lines] if len(lines[0]) == 2 else [tuple(line) for line in lines]
    first = next((line for line in base if line[0] in leaves), None)
    if first is None:
        raise HierarchyError("choose values to put together")
    return [(line[0], name, *first[2:]) if line[0] in leaves else line for line in base]


def rename_node(lines: Sequence[Sequence[str]], level: int, label: str, name: str) -> Lines:
    """Give a group another name, on all levels where it has the old one.

    >>> rename_node([("a", "x", "*")], 1, "x", "y")
    [('a', 'y', '*')]
    """
    if level == 0 or not name.strip() or name == "*" or label == "*":
        raise HierarchyError("values and the root keep their names, and a group needs one that is not *")
    if any(name in line for line in lines):
        raise HierarchyError(f"{quote(name)} is the name of a value or a group already; choose another")
    return [(line[0], *(name if cell == label else cell for cell in line[1:])) for line in lines]


def add_level(lines: Sequence[Sequence[str]], level: int) -> Lines:
    """Add a level above one, with the same nodes, so that these can be put together there.

    >>> add_level([("a", "x", "*")], 1)
    [('a', 'x', 'x', '*')]
    """
    return [(*line[: level + 1], *line[level:]) for line in lines]


def drop_level(lines: Sequence[Sequence[str]], level: int) -> Lines:
    """Take out a level between the values and the root.

    >>> drop_level([("a", "x", "*")], 1)
    [('a', '*')]
    """
    if not 0 < level < len(lines[0]) - 1:
        raise HierarchyError("the values and the root stay")
    return [(*line[:level], *line[level + 1 :]) for line in lines]


def place_values(lines: Sequence[Sequence[str]], values: Sequence[str], parent: str) -> Lines:
    """Add values that had no place, to a group of the first level above them; each by itself where none is named.

    >>> place_values([("a", "x", "*")], ["b"], "x")
    [('a', 'x', '*'), ('b', 'x', '*')]
    """
    path = next((tuple(line[1:]) for line in lines if line[1] == parent), None)
    height = len(lines[0])
    added = [(value, *path) if path else (*[value] * (height - 1), "*") for value in values]
    return [*map(tuple, lines), *added]


def checked_text(lines: Sequence[Sequence[str]]) -> str:
    """Write lines as a file, once they are a hierarchy: every label has one parent."""
    File.from_lines([list(line) for line in lines])
    return write_lines(lines)
