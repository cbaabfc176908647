"""Hierarchy files: their names, which every system takes, and their text."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from sfumato.profile.trees import Tree

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60


def file_names(names: Iterable[str], folder: str) -> dict[str, str]:
    """A file for each column: a name that every system takes, and no name twice.

    >>> file_names(["job", "Job", "Größe (cm)", "***"], "policy-hierarchies")["Größe (cm)"]
    'policy-hierarchies/Gr_e_cm.csv'
    """
    taken: dict[str, str] = {}
    for name in names:
        stem = _UNSAFE.sub("_", name).strip("_-")[:_LONGEST] or "column"
        number = next(n for n in range(1, len(taken) + 2) if _numbered(stem, n).lower() not in taken)
        taken[_numbered(stem, number).lower()] = name
    return {name: str(PurePosixPath(folder, f"{stem}.csv")) for stem, name in _spelt(taken)}


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _spelt(taken: dict[str, str]) -> Iterable[tuple[str, str]]:
    """Stems in the spelling of their column, where that is theirs."""
    for stem, name in taken.items():
        plain = _UNSAFE.sub("_", name).strip("_-")[:_LONGEST]
        yield (plain if plain.lower() == stem else stem), name


def file_text(tree: Tree) -> str:
    """The file of a hierarchy, a line per value."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(tree.lines)
    return out.getvalue()
