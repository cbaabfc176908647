"""A generalized table as classes: the labels of each line, and which lines have the same.

It has the form of two tables, with labels where those have values: a class is told by its labels here, by its number
there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.classes import IntArray, tally
from sfumato.coding import Coded
from sfumato.encode import Encoded, plain_domain
from sfumato.keys import number, pack
from sfumato.recode import Recoding
from sfumato.split import TwoTables
from sfumato.split.tables import coded, columns_of


def labels_of(encoded: Encoded, recoding: Recoding) -> TwoTables:
    """The labels of a recoding, before any of it is shuffled."""
    rows = slice(None) if recoding.kept is None else np.flatnonzero(recoding.kept)
    quasi = [Coded(name, one.codes[rows], one.texts, None) for name, one in recoding.labels.items()]
    return _classes(quasi, [replace(one, codes=one.codes[rows]) for one in encoded.sensitive.values()])


def labels_of_file(table: Path, manifest: Mapping[str, Any]) -> TwoTables:
    """The labels of a published table, from its file, under the names of the original."""
    quasi, sensitive = columns_of(manifest, "quasi"), columns_of(manifest, "sensitive")
    found = coded(table, manifest, [*quasi, *sensitive])
    return _classes([found[name] for name in quasi], [found[name] for name in sensitive])


def _classes(quasi: Sequence[Coded], sensitive: Sequence[Coded]) -> TwoTables:
    owner, _ = number(pack([one.codes for one in quasi], [one.width for one in quasi]))
    ones: IntArray = np.ones(len(owner), dtype=np.int64)
    bags = {one.name: tally(owner, one.codes.astype(np.int64), ones, plain_domain(one)) for one in sensitive}
    return TwoTables(tuple(quasi), owner, np.bincount(owner), bags)
