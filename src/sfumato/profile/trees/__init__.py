"""Proposed hierarchies, one kind per file."""

from sfumato.profile.facts import Facts
from sfumato.profile.kinds import Kind
from sfumato.profile.trees.calendar import calendar_tree
from sfumato.profile.trees.codes import code_tree
from sfumato.profile.trees.groups import group_tree
from sfumato.profile.trees.intervals import interval_tree
from sfumato.profile.trees.tree import SUPPRESS, Tree

__all__ = ["SUPPRESS", "Tree", "tree_of"]


def tree_of(facts: Facts, k: int, nulls: tuple[str, ...]) -> Tree:
    """A hierarchy for a quasi-identifier, by what its name says and what it holds."""
    if facts.concept == "postal" and facts.shape.moments is None:
        return code_tree(facts, k, nulls)
    if facts.shape.numbers is not None:
        return interval_tree(facts, nulls)
    if facts.kind is Kind.DATE:
        return calendar_tree(facts, nulls)
    if facts.kind is Kind.CODE:
        return code_tree(facts, k, nulls)
    return group_tree(facts, k, nulls)
