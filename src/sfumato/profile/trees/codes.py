"""Codes: characters starred out from the right, as of postal codes."""

from sfumato.profile.facts import Facts
from sfumato.profile.trees.groups import group_tree
from sfumato.profile.trees.tree import SUPPRESS, Tree

_LONGEST = 10
"""Longer codes would have more levels than a search can use."""

_FEW_VALUES = 4


def code_tree(facts: Facts, k: int, nulls: tuple[str, ...]) -> Tree:
    """A mask over codes of one length or nearly; groups of what has no common beginning."""
    texts = facts.values.texts
    if facts.values.distinct <= _FEW_VALUES:
        return SUPPRESS
    lengths = {len(text) for text in facts.values.sample}
    if max(lengths) > _LONGEST or not _maskable(facts):
        return group_tree(facts, k, nulls)
    length = max(len(text) for text in texts.to_pylist()) if len(texts) <= 100_000 else _longest(texts)
    if length > _LONGEST:
        return group_tree(facts, k, nulls)
    return Tree({"mask": "right", "length": length}, f"codes of {length} characters, masked from the right")


def _maskable(facts: Facts) -> bool:
    """No star, which is the mask's own, and no empty code."""
    return facts.values.all_match(r"^[^*]+$")


def _longest(texts: object) -> int:
    import pyarrow.compute as pc  # noqa: PLC0415 - only for large columns

    return int(pc.max(pc.utf8_length(texts)).as_py())
