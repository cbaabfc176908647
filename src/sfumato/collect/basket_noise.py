"""Noise for baskets, the sets of items somebody has: each item's bit is kept with some chance, and turned otherwise."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.category_noise import check_names, draw_uniform
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError, quote


@dataclass(frozen=True)
class FlipNoise:
    """Bit flipping: whether an item is in the basket is reported rightly with chance `keep`, item by item.

    The ε of one item is ln(keep / (1 - keep)) (`item_epsilon`); that of whole baskets is as many times that as there
    are items, since two baskets may differ in all of them.

    >>> noise = FlipNoise(("bread", "milk"), 0.9)
    >>> round(noise.item_epsilon, 4), round(noise.epsilon, 4)
    (2.1972, 4.3944)
    """

    items: tuple[str, ...]
    keep: float

    kind: ClassVar[str] = "flip"

    def __post_init__(self) -> None:
        check_names(self.items, "items", least=1)
        for item in self.items:
            if "|" in item:
                raise InputError(f"items has {quote(item)}, and | parts the items of a basket; rename it")
        if not 0 < self.keep < 1 or self.keep == 0.5:  # NaN is not between them
            raise InputError(f"keep must be a number above 0 and below 1 other than 0.5, not {quote(self.keep)}")

    @property
    def item_epsilon(self) -> float:
        """The local ε of one item."""
        return abs(math.log(self.keep / (1 - self.keep)))

    @property
    def epsilon(self) -> float:
        """The local ε of a whole basket."""
        return len(self.items) * self.item_epsilon

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind, "items": list(self.items), "keep": self.keep}

    def perturb(self, baskets: NDArray[np.bool_], randomness: Randomness) -> NDArray[np.bool_]:
        """Turn bits of n baskets, bool[n, items]."""
        return baskets ^ (draw_uniform(baskets.shape, randomness) >= self.keep)
