"""What the identity-reserved paper states of its figures, held against ours, sentence by sentence."""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from benchmarks.identity_figures import Chosen, Run, along, common, diversity, reserved, shares
from benchmarks.identity_points import COMMON, COMMONLY, COMPARED, FIXED_RPI, FIXED_SHARE, GLOBAL, LOCAL, SUPPRESSING

SLIGHT, SLOW, STEADY, MUCH, REST = 0.05, 0.05, 1.05, 0.5, 0.1
"""Thresholds, since the text has none; the page says what each is of."""
MOST_ROWS = 3
"""The most rows that a person has."""

Verdict = tuple[str, str]
Check = dict[str, str]


def checks(run: Run) -> list[Check]:
    """A line for every sentence and all that it is about."""
    return [*_groups(run), *_against(run), *_recodings(run), *_diversity(run), *_shares(run)]


def falls(values: Sequence[float], shown: str = "{:.3f}") -> Verdict:
    """Whether values are lower at every step, until there is nothing left to fall.

    >>> falls([0.2, 0.1, 0.0, 0.0]), falls([0.2, 0.1, 0.15])[1], falls([0.1, 0.2])[1]
    (('0.200 → 0.000', 'holds'), 'from end to end, not at every step', 'does not hold')
    """
    figure = " → ".join(shown.format(value) for value in (values[0], values[-1]))
    if all(more > less or more == less == 0 for more, less in pairwise(values)):
        return figure, "holds"
    return figure, "from end to end, not at every step" if values[-1] < values[0] else "does not hold"


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
        return figure, "does not hold"
    return figure, "holds" if min(steps) >= 0 else "from end to end, not at every step"


def _said(condition: object) -> str:
    return "holds" if condition else "does not hold"


def _line(figure: str, statement: str, of: str, verdict: Verdict) -> Check:
    return {"figure": figure, "statement": statement, "of": of, "ours": verdict[0], "verdict": verdict[1]}


def _groups(run: Run) -> Iterator[Check]:
    """Ratios as the text has them, and numbers beside those of vulnerable groups."""
    kinds = (("1", "vulnerable", "vulnerable groups"), ("2", "single", "single value groups"))
    for (figure, key, words), method in product(kinds, COMMONLY):
        lines = [along(run, common(rpi, method.label), "k", up=f"{key} ratio")[1] for rpi in run["rpis"]]
        numbers = [along(run, common(rpi, method.label), "k", up=key)[1] for rpi in run["rpis"]]
        for rpi, ratios, counts in zip(run["rpis"], lines, numbers, strict=True):
            of = f"{method.label}, rpi = {rpi}"
            yield _line(figure, f"ratio of {words} decreases as k increases", of, falls(ratios))
            if key == "vulnerable":
                yield _line(figure, "(the same of their number)", of, falls(counts, "{:,.0f}"))
        held = sum(falls(by_rpi)[1] == "holds" for by_rpi in zip(*reversed(lines), strict=True))
        verdict = f"{held} of {len(lines[0])} values of k", _said(held == len(lines[0]))
        yield _line(figure, f"ratio of {words} decreases as rpi decreases", method.label, verdict)
    large = [one for one in run["cases"] if one["model"] == COMMON and one["k"] > MOST_ROWS]
    found = sum(one["single"] for one in large)
    words = f"single value groups exist only where k is at most the rows of a person ({MOST_ROWS})"
    yield _line("2", words, f"k > {MOST_ROWS}, everywhere", (f"{found} groups", _said(found == 0)))


def _against(run: Run) -> Iterator[Check]:
    for figure, rpi in zip("34", COMPARED, strict=True):
        pairs = list(zip(_losses(run, common(rpi)), _losses(run, reserved(rpi)), strict=True))
        more = [ours - theirs for theirs, ours in pairs]
        lower = f"{sum(one > 0 for one in more)} of {len(more)} values of k", _said(min(more) > 0)
        yield _line(figure, "common k-anonymity has less distortion", f"rpi = {rpi}", lower)
        most = f"at most {max(more):.3f} more", _said(max(more) <= SLIGHT)
        yield _line(figure, "but the difference is slight", f"rpi = {rpi}", most)


def _recodings(run: Run) -> Iterator[Check]:
    lines = {one.label: _losses(run, reserved(FIXED_RPI, one.label)) for one in (GLOBAL, LOCAL, *SUPPRESSING)}
    for label in lines:
        slowly = grows_slowly(along(run, reserved(FIXED_RPI, label), "k", up="distortion"))
        yield _line("5", "distortion increases slowly as k increases", label, slowly)
    share = max(_divided(lines[LOCAL.label], lines[GLOBAL.label]))
    yield _line("5", "local: much lower than global", "every k", (f"at most × {share:.2f}", _said(share <= MUCH)))
    for one in SUPPRESSING:
        for up, words in (("distortion", "suppressed rows count as lost"), ("published", "published rows alone")):
            values = _losses(run, reserved(FIXED_RPI, one.label), up=up)
            less = [before - after for before, after in zip(lines[GLOBAL.label], values, strict=True)]
            figure = f"by {min(less):.3f} to {max(less):.3f}"
            verdict = "lower, by more than a bit" if min(less) > 0 and max(less) > SLIGHT else _said(min(less) > 0)
            yield _line("5", f"a bit lower than global without suppression ({words})", one.label, (figure, verdict))


def _diversity(run: Run) -> Iterator[Check]:
    values = _losses(run, diversity(GLOBAL.label), "l")
    ratio = max(values) / min(values)
    yield _line("6", "steady as l increases", GLOBAL.label, (f"× {ratio:.2f}", _said(ratio <= STEADY)))
    slowly = grows_slowly(along(run, diversity(LOCAL.label), "l", up="distortion"))
    yield _line("6", "increases slowly as l increases", LOCAL.label, slowly)


def _shares(run: Run) -> Iterator[Check]:
    places, by_beta = along(run, shares("alpha"), "beta", up="distortion")
    by_alpha = _losses(run, shares("beta"), "alpha")
    place = places.index(FIXED_SHARE)
    fallen, other = by_beta[0] - by_beta[place], by_alpha[0] - by_alpha[place]
    share, rest = by_beta[place] / by_beta[0], (by_beta[place] - by_beta[-1]) / (by_beta[0] - by_beta[-1])
    yield _line("7", "decreases as β increases", LOCAL.label, falls(by_beta))
    remarkable = f"× {share:.2f} at β = {FIXED_SHARE}", _said(share <= MUCH)
    yield _line("7", "decreases remarkably", LOCAL.label, remarkable)
    steady = f"{rest:.0%} of the decrease is beyond", _said(abs(rest) <= REST)
    yield _line("7", f"steady once β matches α ({FIXED_SHARE})", LOCAL.label, steady)
    yield _line("8", "decreases as α increases, similar to Figure 7", LOCAL.label, falls(by_alpha))
    steeper = f"by {fallen:.3f} against {other:.3f}", _said(fallen > other)
    yield _line("7, 8", f"Figure 7 decreases steeper than Figure 8 (up to {FIXED_SHARE})", LOCAL.label, steeper)


def _losses(run: Run, chosen: Chosen, across: str = "k", up: str = "distortion") -> list[float]:
    return along(run, chosen, across, up=up)[1]


def _divided(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(above, below, strict=True)]
