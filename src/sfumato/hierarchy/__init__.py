"""Hierarchies: how a value of a column may be told less and less exactly, up to ``*``.

A policy declares a :class:`Spec` before any data is seen; :func:`parse` makes it from what TOML gave.
Bound to the distinct values of a column it is a :class:`Hierarchy`: one integer matrix, leaf x level.
Of a label that was published, of whatever level, :meth:`Spec.paths` gives the path to the root.
One kind per file: `file`, `intervals`, `mask`, `dates`, `suppress` and, without levels, `open_ended`.

>>> from pathlib import Path
>>> spec = parse({"intervals": [5, 10]}, folder=Path(), key="columns.age.hierarchy")
>>> spec.bind(["37", "41"], column="age").labels
(('37', '41'), ('35-39', '40-44'), ('30-39', '40-49'), ('*',))
>>> spec.paths(["35-39"], column="age")
[('35-39', '30-39', '*')]
"""

from sfumato.hierarchy.base import Branch, Hierarchy, Spec
from sfumato.hierarchy.dates import Dates
from sfumato.hierarchy.file import File
from sfumato.hierarchy.intervals import Intervals
from sfumato.hierarchy.lines import write
from sfumato.hierarchy.mask import Mask
from sfumato.hierarchy.open_ended import Ranges, Sets
from sfumato.hierarchy.parse import SCHEMA, parse
from sfumato.hierarchy.suppress import Suppress

__all__ = [
    "SCHEMA",
    "Branch",
    "Dates",
    "File",
    "Hierarchy",
    "Intervals",
    "Mask",
    "Ranges",
    "Sets",
    "Spec",
    "Suppress",
    "parse",
    "write",
]
