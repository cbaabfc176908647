"""What a collector sees of true cells: a channel is the chance of each report for each true cell.

Numbers are put into bins, answers are the values of the noise. The cells of reports of numbers are finer than the bins
and go beyond the domain as far as the noise does, so that hardly anything is lost by counting reports and no step of a
reconstruction depends on how many there are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise, UniformNoise
from sfumato.channels.category_noise import CategoryNoise

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_CELLS_PER_BIN = 2
_CELLS_PER_SPREAD = 25


@dataclass(frozen=True)
class BinnedChannel:
    """The channel of additive noise between k bins of the domain and m cells of reports.

    edges:   float[k + 1], bounds of the bins
    reports: float[m + 1], bounds of the cells of reports, all of one width; what lies beyond belongs to the outermost
    matrix:  float[m, k], the chance of a report in a cell for a value that is uniform in a bin; columns add up to 1
    """

    noise: AdditiveNoise
    edges: Floats
    reports: Floats
    matrix: Floats

    @classmethod
    def of(cls, noise: AdditiveNoise, bins: int) -> "BinnedChannel":
        """Lay `bins` equal bins over the domain.

        >>> from sfumato.channels.additive_noise import GaussianNoise
        >>> channel = BinnedChannel.of(GaussianNoise(20.0, (0.0, 100.0)), 10)
        >>> channel.edges[:3].tolist(), channel.matrix.sum(axis=0).round(12).tolist()[:2]
        ([0.0, 10.0, 20.0], [1.0, 1.0])
        """
        low, high = noise.domain
        edges = np.linspace(low, high, bins + 1)
        wanted = max(noise.width / bins / _CELLS_PER_BIN, noise.spread / _CELLS_PER_SPREAD)
        cells = int(np.ceil((noise.width + 2 * noise.reach) / wanted))
        reports = np.linspace(low - noise.reach, high + noise.reach, cells + 1)
        return cls(noise, edges, reports, noise.interval_mass(edges, reports))

    def observe(self, reports: Floats) -> Codes:
        """Find the cell of each of n reports; -1 where there is none (NaN)."""
        scale = (len(self.reports) - 1) / (self.reports[-1] - self.reports[0])
        scaled = reports - self.reports[0]
        scaled *= scale
        missing = bool(np.isnan(scaled.sum()))  # one pass tells of all
        nothing = np.isnan(scaled) if missing else None
        if nothing is not None:
            scaled[nothing] = 0.0
        places: Codes = scaled.astype(np.int64)
        np.clip(places, 0, len(self.reports) - 2, out=places)
        if nothing is not None:
            places[nothing] = -1
        return places

    def midpoint_matrix(self) -> Floats:
        """Give the densities of the chapter's rule, float[m, k]: of the noise between midpoints of cells and of bins.

        Uniform noise has edges, which midpoints miss by up to half a cell, and the shares with them; so its exact
        chances are taken in place of its densities.
        """
        if isinstance(self.noise, UniformNoise):
            return self.matrix
        middle, centre = (self.reports[:-1] + self.reports[1:]) / 2, (self.edges[:-1] + self.edges[1:]) / 2
        densities: Floats = self.noise.density(middle[:, None] - centre[None, :])
        densities *= self.reports[1] - self.reports[0]
        return densities


def category_channel(noise: CategoryNoise) -> Floats:
    """Give the channel of one of several answers, float[reports, values]: the transition matrix, turned over."""
    return np.ascontiguousarray(noise.transition.T)
