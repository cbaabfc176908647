"""Masked texts: which values a label such as ``435*`` may stand for."""

from collections.abc import Mapping
from typing import Any

from sfumato.hierarchy.base import ROOT


def masked(mask: Mapping[str, Any], label: str, leaf: str | None) -> bool:
    """Whether a label is a value with characters starred out, by the mask that the manifest declares.

    >>> masked({"side": "right"}, "435*", "4350"), masked({"side": "right"}, "435*", "43501")
    (True, False)
    >>> masked({"side": "right", "length": 5}, "I21**", "I21"), masked({"side": "left"}, "*b", "ab")
    (True, True)
    """
    if label == ROOT or leaf is None:
        return label == ROOT
    stars, length = label.count(ROOT), mask.get("length")
    kept = len(leaf) - stars if length is None else min(length - stars, len(leaf))
    if kept < 0:
        return False
    if mask.get("side") == "left":
        return label == ROOT * stars + leaf[len(leaf) - kept :]
    return label == leaf[:kept] + ROOT * stars
