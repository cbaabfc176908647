"""A generalized table as classes: the labels of each line, and which lines have the same.

It has the form of two tables, with labels where those have values: a class is told by its labels here, by its number
there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, value_totals
from sfumato.recode import Recoding
from sfumato.split import TwoTables
from sfumato.split.two_tables import column_names_of_role, read_published_columns


def labels_of(encoded: EncodedTable, recoding: Recoding) -> TwoTables:
    """The labels of a recoding, before any of it is shuffled."""
    rows = slice(None) if recoding.published is None else np.flatnonzero(recoding.published)
    quasi = [CodedColumn(name, one.codes[rows], one.texts, None) for name, one in recoding.labels.items()]
    return _classes(quasi, [replace(one, codes=one.codes[rows]) for one in encoded.sensitive.values()])


def labels_of_file(table: Path, manifest: Mapping[str, Any]) -> TwoTables:
    """The labels of a published table, from its file, under the names of the original."""
    quasi, sensitive = column_names_of_role(manifest, "quasi"), column_names_of_role(manifest, "sensitive")
    found = read_published_columns(table, manifest, [*quasi, *sensitive])
    return _classes([found[name] for name in quasi], [found[name] for name in sensitive])


def _classes(quasi: Sequence[CodedColumn], sensitive: Sequence[CodedColumn]) -> TwoTables:
    owner, _ = number_tuples(pack_tuples([one.codes for one in quasi], [one.width for one in quasi]))
    ones: IntArray = np.ones(len(owner), dtype=np.int64)
    bags = {one.name: count_values(owner, one.codes.astype(np.int64), ones, value_totals(one)) for one in sensitive}
    return TwoTables(tuple(quasi), owner, np.bincount(owner), bags)
