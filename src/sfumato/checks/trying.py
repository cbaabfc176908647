"""Try cases: publish each, and hold what comes out against the definitions."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from sfumato.checks.tables import Case


def tried(cases: Iterable[Case], checked: Callable[[Case, Path], str]) -> Counter[str]:
    """How many cases ended in which way; `checked` gets a folder for what a policy needs, and says how it ended.

    >>> tried([], lambda case, folder: "whole")
    Counter()
    """
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for case in cases:
            seen[checked(case, Path(name))] += 1
    return seen
