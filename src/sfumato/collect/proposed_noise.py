"""Noise for a wanted privacy: so large that an interval is so wide, or that ε is so small."""

import math
from collections.abc import Callable, Sequence

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.category_noise import MANY_CATEGORIES, ResponseNoise, UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.noise import ColumnNoise
from sfumato.collect.privacy_measures import noise_interval
from sfumato.errors import InputError, did_you_mean, quote

_NUMBERS: dict[str, type[AdditiveNoise]] = {kind.kind: kind for kind in (GaussianNoise, UniformNoise, LaplaceNoise)}
_ANSWERS = ("response", "unary")
_DIGITS = 6
_LARGEST_EPSILON = 50.0


def propose_noise(
    *,
    domain: tuple[float, float] | None = None,
    values: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    kind: str | None = None,
    privacy: float | None = None,
    epsilon: float | None = None,
) -> ColumnNoise:
    """Choose the noise of one column: of numbers by their `domain`, of answers by `values`, of baskets by `items`.

    For numbers `privacy` is the width of the 95 % interval of the noise over that of the domain: 1.0 is what Agrawal
    and Srikant (2000) call 100 % privacy. `epsilon` is the local ε, which Laplace noise, answers and baskets (all items
    together) have. Above ten answers it is unary encoding, else randomized response, unless `kind` says otherwise.

    >>> propose_noise(domain=(0, 100), kind="gaussian", privacy=1.0)
    GaussianNoise(spread=25.5107, domain=(0.0, 100.0))
    >>> propose_noise(domain=(0, 60), kind="laplace", epsilon=2.0).epsilon
    2.0
    >>> propose_noise(values=["yes", "no"], epsilon=1.0)
    ResponseNoise(values=('yes', 'no'), keep=0.462117)
    >>> propose_noise(values=[str(month) for month in range(1, 13)], epsilon=1.0).kind
    'unary'
    """
    if sum(one is not None for one in (domain, values, items)) != 1:
        raise InputError("say what the column holds: the domain of numbers, or the values of an answer, or items")
    if (privacy is None) == (epsilon is None):
        raise InputError("say how private it is to be: either a privacy, such as 100%, or an epsilon, such as 1")
    for name, wanted in (("privacy", privacy), ("epsilon", epsilon)):
        if wanted is not None and not (math.isfinite(wanted) and wanted > 0):
            raise InputError(f"{name} must be a number above 0, not {quote(wanted)}")
    if domain is not None:
        return _propose_number_noise(domain, kind, privacy, epsilon)
    if epsilon is None:
        raise InputError("answers have no interval whose width could be wanted; say an epsilon in place of a privacy")
    if epsilon > _LARGEST_EPSILON:
        raise InputError(f"an epsilon of {epsilon:g} protects nobody; choose one of a few units at most")
    if items is not None:
        if kind not in (None, "flip"):
            raise InputError(f"the noise of items is of the kind flip, not {quote(kind)}")
        return FlipNoise(tuple(items), _round_down(1 / (1 + math.exp(-epsilon / max(len(items), 1)))))
    return _propose_answer_noise(values or (), kind, epsilon)


def _propose_number_noise(
    domain: tuple[float, float], kind: str | None, privacy: float | None, epsilon: float | None
) -> ColumnNoise:
    kind = ("gaussian" if epsilon is None else "laplace") if kind is None else kind
    if kind not in _NUMBERS:
        raise InputError(
            f"the noise of numbers is one of {', '.join(_NUMBERS)}, not {quote(kind)}{did_you_mean(kind, _NUMBERS)}"
        )
    low, high = map(float, domain)
    unit = _NUMBERS[kind](1.0, (0.0, 1.0))
    if epsilon is not None:
        if kind != "laplace":
            raise InputError(f"{kind} noise has no epsilon; take laplace, or say a privacy in place of it")
        return LaplaceNoise(_round_up((high - low) / epsilon), (low, high))
    assert privacy is not None  # noqa: S101 - one of the two is there
    return _NUMBERS[kind](_round_up(privacy * (high - low) / noise_interval(unit)), (low, high))


def _propose_answer_noise(values: Sequence[str], kind: str | None, epsilon: float) -> ColumnNoise:
    kind = ("unary" if len(values) > MANY_CATEGORIES else "response") if kind is None else kind
    if kind not in _ANSWERS:
        raise InputError(
            f"the noise of answers is one of {', '.join(_ANSWERS)}, not {quote(kind)}{did_you_mean(kind, _ANSWERS)}"
        )
    if kind == "unary":
        return UnaryNoise(tuple(values), 0.5, _round_up(1 / (math.exp(epsilon) + 1)))
    gain = math.expm1(epsilon)
    return ResponseNoise(tuple(values), _round_down(gain / (gain + max(len(values), 1))))


def _round_up(number: float) -> float:
    """Round to six digits, and never to less noise."""
    return _rounded(number, math.ceil)


def _round_down(number: float) -> float:
    """Round to six digits, and never to a larger chance of the truth."""
    return _rounded(number, math.floor)


def _rounded(number: float, towards: Callable[[float], int]) -> float:
    if not (math.isfinite(number) and number > 0):
        return number
    places = _DIGITS - 1 - math.floor(math.log10(number))
    exact = number * 10.0**places
    whole = round(exact)
    near = whole if abs(exact - whole) < 1e-6 else towards(exact)
    return float(f"{near}e{-places}")
