"""Deconvolution: the chapter's first way, a kernel density of the reports with the noise divided out.

The characteristic function of a sum of independent numbers is the product of theirs. So that of the reports, smoothed
by a kernel, is divided by that of the noise, and transformed back (Stefanski and Carroll 1990). The chapter's warning
applies: with much noise and few reports, what is divided out is mostly chance. Where the noise's characteristic
function is near zero, as that of uniform noise is again and again, the quotient is held down by a ridge (Hall and
Meister 2007).
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.channel import BinnedChannel

Floats = NDArray[np.float64]

_FREQUENCIES = 400


def deconvolve(channel: BinnedChannel, counts: Floats) -> Floats:
    """Estimate the shares of the bins from counts of reports.

    counts:  float[b, m], reports by problem and cell
    returns: float[b, k], shares that are not negative and add up to 1 in each problem

    The kernel's characteristic function is (1 - (h t)²)³ on |h t| <= 1, so that no frequency above 1/h is looked at.
    A bin's share is the integral of the density over it, which frequency by frequency is a difference of sines.
    """
    noise, middle = channel.noise, (channel.reports[:-1] + channel.reports[1:]) / 2
    shares = np.empty((len(counts), channel.matrix.shape[1]))
    for number, weights in enumerate(counts):
        rows = weights.sum()
        # frequencies t > 0, midpoints of a grid: float[t]
        highest = cutoff_frequency(noise, float(rows))
        t = (np.arange(_FREQUENCIES) + 0.5) * highest / _FREQUENCIES
        seen = np.exp(1j * t[:, None] * middle[None, :]) @ (weights / rows)
        divisor = noise.characteristic(t)
        ridge = 1 / np.sqrt(rows)
        quotient = divisor / np.maximum(divisor**2, ridge**2)
        smooth = (1 - (t / highest) ** 2) ** 3
        phi = seen * quotient * smooth
        # ∫ from l to u of e^{-itx} dx = (e^{-itl} - e^{-itu}) / (it); the density is real, so twice the real part
        waves = np.exp(-1j * t[:, None] * channel.edges[None, :])
        mass = ((waves[:, :-1] - waves[:, 1:]) / (1j * t[:, None]) * phi[:, None]).real.sum(axis=0)
        mass = np.maximum(mass * (highest / _FREQUENCIES) / np.pi, 0.0)
        shares[number] = mass / mass.sum() if mass.sum() > 0 else 1 / len(mass)
    return shares


def cutoff_frequency(noise: AdditiveNoise, rows: float) -> float:
    """Find the highest frequency worth looking at: where the noise leaves less than the error of so many reports.

    The mean of n reports has an error of about n^(-1/2) at any frequency. Beyond the last frequency at which the
    noise's envelope is above twice that, or beyond what k bins can show, there is only chance.
    """
    most = 60 * np.pi / noise.width
    t = np.linspace(0, most, 4000)[1:]
    envelope = np.maximum.accumulate(np.abs(noise.characteristic(t))[::-1])[::-1]
    seen = t[envelope > 2 / np.sqrt(rows)]
    return float(seen[-1]) if len(seen) else float(np.pi / noise.width)
