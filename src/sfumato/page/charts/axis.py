"""Axes: what they are called, where round numbers stand on them, and where a figure lies."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """What is told along a side; `percent` writes shares as percentages, `whole` has no ticks between whole numbers."""

    title: str
    log: bool = False
    percent: bool = False
    whole: bool = False

    def ends(self, figures: Iterable[float]) -> tuple[float, float]:
        """Where the axis begins and ends: at round numbers around the figures, from nothing unless it is logarithmic.

        >>> Axis("rows").ends([3, 41]), Axis("seconds", log=True).ends([0.03, 4])
        ((0.0, 50.0), (0.01, 10.0))
        """
        known = list(figures)
        if self.log:
            above = [one for one in known if one > 0] or [1.0]
            return 10.0 ** floor(log10(min(above))), 10.0 ** max(ceil(log10(max(above))), floor(log10(min(above))) + 1)
        low, high = min([0.0, *known]), max([0.0, *known])
        high = high if high > low else low + 1
        step = self._step(low, high)
        return floor(low / step) * step, max(ceil(round(high / step, 9)), 1 if low >= 0 else 0) * step

    def ticks(self, low: float, high: float) -> list[float]:
        """Round numbers from end to end.

        >>> Axis("share", percent=True).ticks(0, 0.5), Axis("seconds", log=True).ticks(0.01, 10)
        ([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], [0.01, 0.1, 1.0, 10.0])
        """
        if self.log:
            powers = range(round(log10(low)), round(log10(high)) + 1)
            every = -(-len(powers) // _TICKS)
            return [10.0**power for power in powers[::every]]
        step = self._step(low, high)
        return [float(f"{low + place * step:.9g}") for place in range(round((high - low) / step) + 1)]

    def share(self, figure: float, ends: tuple[float, float]) -> float:
        """How far along the axis a figure lies, from 0 to 1; on a logarithmic axis what is not above nothing is at 0.

        >>> Axis("rows").share(25, (0, 50)), Axis("seconds", log=True).share(0.1, (0.01, 1))
        (0.5, 0.5)
        """
        low, high = ends
        if not self.log:
            return (figure - low) / (high - low)
        return max(0.0, (log10(figure) - log10(low)) / (log10(high) - log10(low))) if figure > 0 else 0.0

    def text(self, figure: float) -> str:
        """A tick in words.

        >>> Axis("share", percent=True).text(0.25), Axis("rows").text(20000), Axis("loss").text(0.05)
        ('25%', '20,000', '0.05')
        """
        if self.percent:
            return f"{100 * figure:.6g}%"
        return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.6g}"

    def _step(self, low: float, high: float) -> float:
        """A step of 1, 2 or 5 times a power of ten that makes about five of the way."""
        rough = (high - low) / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
        return max(step, 1.0) if self.whole else step
