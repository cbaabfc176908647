"""View: what one family of requirements sees of the table, and what a specialization would do to it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.recode.tds.axes import Split
from sfumato.recode.tds.groups import Parted


@dataclass(frozen=True, eq=False, repr=False)
class Tried:
    """What a specialization would do: how many rows more fail by it, and how private the parts are.

    `figures` are the worst of each requirement among the parts. `parted` and `more` are what is needed to do it.
    """

    change: int
    figures: Mapping[str, float]
    parted: Parted
    more: tuple[object, ...]


class View(ABC):
    """Tuples of leaf codes, one array per quasi-identifier that matters here; and their groups."""

    leaves: Mapping[int, Codes]
    """By the place of the quasi-identifier."""
    failing: int
    """Rows that fail now."""
    figures: dict[str, float]
    """The worst figure of each requirement now."""

    @property
    @abstractmethod
    def falls(self) -> bool:
        """Whether what fails goes on failing, however it is specialized."""

    @property
    def local(self) -> bool:
        """Whether what becomes of some groups does not matter to what is found of others."""
        return True

    @abstractmethod
    def tried(self, place: int, split: Split) -> Tried | None:
        """What a specialization would do; nothing where it does not matter here."""

    @abstractmethod
    def commit(self, tried: Tried) -> None:
        """Do what was tried."""

    @abstractmethod
    def lost(self, figures: Mapping[str, float]) -> float:
        """The privacy that is lost from the present figures to others."""

    def touched(self, tried: Tried, cuts: Mapping[int, IntArray]) -> dict[int, IntArray]:
        """The nodes of each quasi-identifier whose groups a specialization has changed."""
        tuples = tried.parted.tuples
        return {place: np.unique(cuts[place][codes[tuples]]) for place, codes in self.leaves.items()}
