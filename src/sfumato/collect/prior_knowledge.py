"""What an adversary knows of a column before they see anybody's report: how its true values are distributed.

It may be nothing but the domain, taken as uniform; or public knowledge, such as a census; or a reconstruction, which
the collection itself makes public.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise, Unperturbed
from sfumato.core.regular_file import read_regular_file
from sfumato.errors import InputError, quote

Floats = NDArray[np.float64]
Prior = Sequence[float] | Mapping[str, Any] | str | Path
"""Shares in order, shares by answer, what ``collect reconstruct --json`` prints, or the path of a file of that."""

_LARGEST_FILE = 1 << 26
_ADDS_UP = 1e-6


@dataclass(frozen=True)
class PriorKnowledge:
    """Shares of true values.

    shares: float[k]; of the bins between `edges` for numbers, of the values for answers, and they add up to 1; for
            baskets the share of baskets that hold each item, whatever they add up to
    edges:  float[k + 1] for numbers, bounds that span the domain; None for answers and baskets
    given:  whether anything is known beyond the domain
    """

    shares: Floats
    edges: Floats | None = None
    given: bool = False

    @classmethod
    def uniform(cls, noise: ColumnNoise) -> "PriorKnowledge":
        """Nothing but the domain is known: all values are as likely, and each item is in half of the baskets.

        >>> from sfumato.channels.category_noise import ResponseNoise
        >>> PriorKnowledge.uniform(ResponseNoise(("a", "b"), 0.5)).shares.tolist()
        [0.5, 0.5]
        """
        if isinstance(noise, Unperturbed):
            raise InputError("a column that is sent as it is has no domain, and nothing to measure")
        if isinstance(noise, AdditiveNoise):
            return cls(np.ones(1), np.array(noise.domain))
        if isinstance(noise, FlipNoise):
            return cls(np.full(len(noise.items), 0.5))
        return cls(np.full(len(noise.values), 1 / len(noise.values)))

    @classmethod
    def read(cls, prior: "Prior | PriorKnowledge | None", noise: ColumnNoise, column: str) -> "PriorKnowledge":
        """Check a prior of a column: shares of equal bins, shares by answer, or a reconstruction.

        >>> from sfumato.channels.additive_noise import GaussianNoise
        >>> known = PriorKnowledge.read([0.5, 0.25, 0.25, 0], GaussianNoise(20.0, (0.0, 100.0)), "age")
        >>> known.edges.tolist(), known.shares.tolist()
        ([0.0, 25.0, 50.0, 75.0, 100.0], [0.5, 0.25, 0.25, 0.0])
        """
        if prior is None:
            return cls.uniform(noise)
        if isinstance(prior, PriorKnowledge):
            return prior
        if isinstance(noise, Unperturbed):
            raise InputError(f"{quote(column)} is sent as it is, so nothing that is known of it matters; leave it out")
        try:
            if isinstance(prior, str | Path):
                prior = read_prior_file(prior)
            if isinstance(noise, AdditiveNoise):
                return cls._read_numbers(prior, noise)
            return cls._read_answers(prior, noise)
        except InputError as error:
            raise InputError(f"what is known of {quote(column)}: {error}") from None

    @classmethod
    def _read_numbers(cls, prior: Sequence[float] | Mapping[str, Any], noise: AdditiveNoise) -> "PriorKnowledge":
        low, high = noise.domain
        if not isinstance(prior, Mapping):
            return cls(_shares(prior, whole=True), np.linspace(low, high, len(prior) + 1), given=True)
        bins = prior.get("bins")
        if not isinstance(bins, list) or not bins or not all(isinstance(one, Mapping) for one in bins):
            raise InputError('must have a list "bins" of objects with "low", "high" and "share"')
        ends = [_shares([one.get(key) for one in bins], whole=False, most=math.inf) for key in ("low", "high")]
        near = 1e-9 * noise.width
        if (
            (ends[0][0] - low) > near
            or (high - ends[1][-1]) > near
            or (np.abs(ends[0][1:] - ends[1][:-1]) > near).any()
        ):
            raise InputError(f"its bins must follow one another and span the domain from {low:g} to {high:g}")
        edges = np.clip(np.append(ends[0], ends[1][-1]), low, high)
        if (np.diff(edges) <= 0).any():
            raise InputError("each of its bins must have a high above its low")
        return cls(_shares([one.get("share") for one in bins], whole=True), edges, given=True)

    @classmethod
    def _read_answers(cls, prior: Sequence[float] | Mapping[str, Any], noise: Any) -> "PriorKnowledge":
        baskets = isinstance(noise, FlipNoise)
        names = noise.items if baskets else noise.values
        if isinstance(prior, Mapping):
            listed = prior.get("values")
            if isinstance(listed, list) and all(isinstance(one, Mapping) for one in listed):
                prior = {one.get("value"): one.get("share") for one in listed}
            missing = [name for name in names if name not in prior]
            if missing:
                raise InputError(f"there is no share of {quote(missing[0])}; give one, be it 0")
            prior = [prior[name] for name in names]
        if len(prior) != len(names):
            raise InputError(f"there must be {len(names)} shares, and there are {len(prior)}")
        return cls(_shares(prior, whole=not baskets), given=True)


def read_prior_file(path: str | Path) -> dict[str, Any]:
    """Read what ``collect reconstruct --json`` printed."""
    path = Path(path)
    try:
        document = json.loads(read_regular_file(path, most=_LARGEST_FILE, what="a reconstruction"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InputError(f"{path.name} is not one JSON object; keep what sfumato collect reconstruct --json prints")
    return document


def _shares(numbers: Sequence[Any], *, whole: bool, most: float = 1.0) -> Floats:
    """Check shares: numbers from 0 on; with `whole` they add up to 1, but for rounding, and then exactly."""
    if len(numbers) == 0:
        raise InputError("there are no shares")
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float | np.floating | np.integer):
            raise InputError(f"must be numbers, not {quote(number)}")
    shares = np.array([float(number) for number in numbers])
    if not np.isfinite(shares).all() or (most <= 1 and ((shares < 0) | (shares > most + _ADDS_UP)).any()):
        raise InputError("shares must be numbers from 0 to 1")
    if not whole:
        return shares
    total = math.fsum(shares)
    if abs(total - 1) > _ADDS_UP * max(len(shares), 1) + 1e-3 * (total == 0):
        raise InputError(f"the shares add up to {total:.6g} and not to 1")
    return shares / total
