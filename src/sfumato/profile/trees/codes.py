"""Codes: characters starred out from the right, as of postal codes."""

import numpy as np
import pyarrow.compute as pc

from sfumato.core.arrow import numpy_numbers
from sfumato.profile.facts import Facts
from sfumato.profile.trees.groups import group_tree
from sfumato.profile.trees.tree import SUPPRESS, Tree

_LONGEST = 10
"""Longer codes would have more levels than a search can use."""

_FEW_VALUES = 4
_SLIPS = 0.005
"""Rows, by their share, whose code may have another length by mistake."""


def code_tree(facts: Facts, k: int, nulls: tuple[str, ...]) -> Tree:
    """A mask over codes of one length or nearly; groups of what has no common beginning.

    The length is declared where codes differ in it. Where they do not, one that is longer by mistake would change the
    labels of all.
    """
    if facts.values.distinct <= _FEW_VALUES:
        return SUPPRESS
    lengths = numpy_numbers(pc.utf8_length(facts.values.texts)).astype(np.int64)
    if lengths.max() > _LONGEST or not _maskable(facts):
        return group_tree(facts, k, nulls)
    rows = np.bincount(lengths, weights=facts.values.counts)
    usual = int(rows.argmax())
    if facts.values.present - rows[usual] <= max(1, _SLIPS * facts.values.present):
        return Tree({"mask": "right"}, f"codes of {usual} characters, masked from the right")
    length = int(lengths.max())
    return Tree({"mask": "right", "length": length}, f"codes of up to {length} characters, masked from the right")


def _maskable(facts: Facts) -> bool:
    """No star, which is the mask's own, and no empty code."""
    return facts.values.all_match(r"^[^*]+$")
