"""Axes: what labels a quasi-identifier can have in local recoding. One kind per file."""

from sfumato.recode.local.axes.axis import Axis, Members, Shown
from sfumato.recode.local.axes.ranges import RangeAxis
from sfumato.recode.local.axes.sets import SetAxis
from sfumato.recode.local.axes.tree import Tree

__all__ = ["Axis", "Members", "RangeAxis", "SetAxis", "Shown", "Tree"]
