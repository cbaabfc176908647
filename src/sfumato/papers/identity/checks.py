"""What the identity-reserved paper states of its figures, held against ours, sentence by sentence."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from sfumato.papers.claims import FAILS, HOLDS, Claim, Run, Verdict, judged
from sfumato.papers.identity.figures import Chosen, along, common, diversity, reserved, shares
from sfumato.papers.identity.points import (
    COMMON,
    COMMONLY,
    COMPARED,
    FIXED_RPI,
    FIXED_SHARE,
    GLOBAL,
    LOCAL,
    SUPPRESSING,
    Method,
)
from sfumato.papers.trends import STEPS, falls, stays

SLIGHT, SLOW, STEADY, MUCH, REST = 0.05, 0.05, 1.05, 0.5, 0.1
"""Thresholds, since the text has none; the page says what each is of."""
MOST_ROWS = 3
"""The most rows that a person has."""


def claims(run: Run) -> list[Claim]:
    """A line for every sentence and all that it is about."""
    return [*_groups(run), *_against(run), *_recodings(run), *_diversity(run), *_shares(run)]


def grows_slowly(line: tuple[Sequence[float], Sequence[float]]) -> Verdict:
    """Whether no value is lower than the one before, or higher by more than a little for each unit across.

    >>> grows_slowly(([2, 3, 4], [0.10, 0.12, 0.15]))
    ('0.100 → 0.150, at most 0.030 a step', 'holds')
    >>> grows_slowly(([2, 3], [0.1, 0.3]))[1], grows_slowly(([2, 3, 4], [0.12, 0.11, 0.13]))[1]
    ('does not hold', 'from end to end, not at every step')
    """
    values = line[1]
    steps = [(after - before) / (to - at) for (at, to), (before, after) in zip(*map(pairwise, line), strict=True)]
    figure = f"{values[0]:.3f} → {values[-1]:.3f}, at most {max(steps):.3f} a step"
    if values[-1] < values[0] or max(steps) > SLOW:
        return figure, FAILS
    return figure, HOLDS if min(steps) >= 0 else STEPS


def _groups(run: Run) -> Iterator[Claim]:
    """Ratios as the text has them, and the number of vulnerable groups beside."""
    kinds = (("1", "vulnerable", "vulnerable groups"), ("2", "single", "single value groups"))
    for (figure, key, words), method in product(kinds, COMMONLY):
        yield from _ratios(run, figure, key, method=method)
        lines = [_values(run, common(rpi, method.label), up=f"{key} ratio") for rpi in reversed(run["rpis"])]
        held = sum(falls(by_rpi)[1] == HOLDS for by_rpi in zip(*lines, strict=True))
        verdict = f"at {held} of {len(lines[0])} values of k", judged(held == len(lines[0]))
        yield Claim(figure, f"ratio of {words} decreases as rpi decreases", method.label, "decreases", *verdict)
    large = [one for one in run["cases"] if one["model"] == COMMON and one["k"] > MOST_ROWS]
    found = sum(one["single"] for one in large)
    words = "single value groups exist only where k is at most the rows of a person"
    yield Claim("2", words, f"k > {MOST_ROWS}", "none", f"{found} groups", judged(found == 0))


def _ratios(run: Run, figure: str, key: str, *, method: Method) -> Iterator[Claim]:
    words = {"vulnerable": "vulnerable groups", "single": "single value groups"}[key]
    for rpi in run["rpis"]:
        chosen = common(rpi, method.label)
        ratio = falls(_values(run, chosen, up=f"{key} ratio"))
        number = falls(_values(run, chosen, up=key), "{:,.0f}")
        other = f"their number: {', '.join(number)}" if key == "vulnerable" else ""
        of = f"{method.label}, rpi = {rpi}"
        yield Claim(figure, f"ratio of {words} decreases as k increases", of, "decreases", *ratio, other)


def _against(run: Run) -> Iterator[Claim]:
    for figure, rpi in zip("34", COMPARED, strict=True):
        pairs = list(zip(_values(run, common(rpi)), _values(run, reserved(rpi)), strict=True))
        more = [ours - theirs for theirs, ours in pairs]
        lower = f"at {sum(one > 0 for one in more)} of {len(more)} values of k", judged(min(more) > 0)
        yield Claim(figure, "common k-anonymity has less distortion", f"rpi = {rpi}", "less", *lower)
        most = f"at most {max(more):.3f} more", judged(max(more) <= SLIGHT)
        yield Claim(figure, "the difference to common k-anonymity is slight", f"rpi = {rpi}", "slight", *most)


def _recodings(run: Run) -> Iterator[Claim]:
    lines = {one.label: _values(run, reserved(FIXED_RPI, one.label)) for one in (GLOBAL, LOCAL, *SUPPRESSING)}
    for label in lines:
        slowly = grows_slowly(along(run, reserved(FIXED_RPI, label), "k", up="distortion"))
        yield Claim("5", "distortion increases slowly as k increases", label, "increases slowly", *slowly)
    share = max(one / other for one, other in zip(lines[LOCAL.label], lines[GLOBAL.label], strict=True))
    much = f"at most × {share:.2f}", judged(share <= MUCH)
    yield Claim("5", "local recoding has much lower distortion than global", "every k", "much lower", *much)
    for one in SUPPRESSING:
        lost, alone = (_bit(run, lines[GLOBAL.label], one, up) for up in ("distortion", "published"))
        words = "global recoding has a bit lower distortion with suppression"
        yield Claim("5", words, one.label, "a bit lower", *lost, f"published rows alone: {', '.join(alone)}")


def _bit(run: Run, without: Sequence[float], method: Method, up: str) -> Verdict:
    """By how much distortion is lower than without suppression; `up` says whether suppressed rows count as lost."""
    values = _values(run, reserved(FIXED_RPI, method.label), up=up)
    less = [before - after for before, after in zip(without, values, strict=True)]
    verdict = "lower, by more than a bit" if min(less) > 0 and max(less) > SLIGHT else judged(min(less) > 0)
    return f"by {min(less):.3f} to {max(less):.3f}", verdict


def _diversity(run: Run) -> Iterator[Claim]:
    steady = stays(_values(run, diversity(GLOBAL.label), "l"), STEADY)
    yield Claim("6", "distortion keeps steady as l increases", GLOBAL.label, "steady", *steady)
    slowly = grows_slowly(along(run, diversity(LOCAL.label), "l", up="distortion"))
    yield Claim("6", "distortion increases slowly as l increases", LOCAL.label, "increases slowly", *slowly)
    for label in (GLOBAL.label, LOCAL.label):
        lines = (_values(run, diversity(label), "l"), _values(run, reserved(FIXED_RPI, label)))
        by_l, by_k = (values[-1] - values[0] for values in lines)
        little = f"by {by_l:.3f} along l, by {by_k:.3f} along k", judged(by_l <= MUCH * by_k)
        yield Claim("5, 6", "l affects distortion little compared to k", label, "little", *little)


def _shares(run: Run) -> Iterator[Claim]:
    places, by_beta = along(run, shares("alpha"), "beta", up="distortion")
    by_alpha = _values(run, shares("beta"), "alpha")
    place = places.index(FIXED_SHARE)
    fallen, other = by_beta[0] - by_beta[place], by_alpha[0] - by_alpha[place]
    share, rest = by_beta[place] / by_beta[0], (by_beta[place] - by_beta[-1]) / (by_beta[0] - by_beta[-1])
    yield Claim("7", "distortion decreases as β increases", LOCAL.label, "decreases", *falls(by_beta))
    remarkable = f"× {share:.2f} at β = {FIXED_SHARE}", judged(share <= MUCH)
    yield Claim("7", "distortion decreases remarkably", LOCAL.label, "remarkably", *remarkable)
    steady = f"{rest:.0%} of the decrease is beyond", judged(abs(rest) <= REST)
    yield Claim("7", f"steady once β matches α ({FIXED_SHARE})", LOCAL.label, "steady", *steady)
    words = "distortion decreases as α increases, similar to Figure 7"
    yield Claim("8", words, LOCAL.label, "decreases", *falls(by_alpha))
    steeper = f"by {fallen:.3f} against {other:.3f}", judged(fallen > other)
    yield Claim(
        "7, 8", f"Figure 7 decreases steeper than Figure 8 (up to {FIXED_SHARE})", LOCAL.label, "steeper", *steeper
    )


def _values(run: Run, chosen: Chosen, across: str = "k", up: str = "distortion") -> list[float]:
    return along(run, chosen, across, up=up)[1]
