"""What the (α, k) paper states of its figures, held against ours, sentence by sentence."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from sfumato.papers.alpha_k.figures import Figure, figures
from sfumato.papers.alpha_k.runs import INCOGNITO, KS, PAPER, SIZES
from sfumato.papers.claims import Claim, Run, Verdict, judged
from sfumato.papers.trends import falls, rises, stays

ALIKE = 1.5
"""What may lie between values that are nearly unchanged, or similar: the text has no figure."""
EQUAL = "at the others it is equal"
LARGE = 5
"""The size from which a quasi-identifier is large: more than half of the attributes."""
PROGRESSIVE, TOP_DOWN = (one.label for one in PAPER)
LOCAL = (PROGRESSIVE, TOP_DOWN)
EVERY = (INCOGNITO.label, *LOCAL)
_BOTH = " and ".join(LOCAL)
_SHARES = (
    ("distortion", "about 3 times less distortion than extended Incognito, on average", 1 / 3),
    ("seconds", "about 4 times faster than extended Incognito, on average", 1 / 4),
)


_ALPHA, _SIZE = "as α increases", "with the size of the quasi-identifier"
_SHOWN = {"seconds": "{:.3f} s", "distortion": "{:.3f}"}
_VERBS: dict[str, Callable[[Sequence[float], str], Verdict]] = {
    "increases": rises,
    "decreases": falls,
    "remains nearly unchanged": lambda values, _: stays(values, ALIKE),
}


def claims(run: Run) -> list[Claim]:
    """A line for every sentence and all that it is about."""
    return [*_averages(run), *(line for k in KS for line in _lines(run, k)), *_by_k(run), *_large(run)]


def mean(run: Run, label: str, key: str, k: int | None = None) -> float:
    """The average of an algorithm over all points, or those of one k."""
    return fmean(one[key] for one in run["cases"] if one["algorithm"] == label and k in {None, one["k"]})


def _averages(run: Run) -> Iterator[Claim]:
    for key, words, limit in _SHARES:
        for name, members in ((_BOTH, LOCAL), *((label, (label,)) for label in LOCAL)):
            ratio = fmean(mean(run, label, key) for label in members) / mean(run, INCOGNITO.label, key)
            yield Claim("5, 6", words, name, f"× {limit:.2f}", f"× {ratio:.3f}", judged(ratio <= limit))
    seconds = [mean(run, label, "seconds") for label in (PROGRESSIVE, TOP_DOWN, INCOGNITO.label)]
    order = f"{PROGRESSIVE} {seconds[0]:.3f} s, {TOP_DOWN} {seconds[1]:.3f} s, {INCOGNITO.label} {seconds[2]:.3f} s"
    words = "extended Incognito takes the longest, Progressive the shortest, on average"
    yield Claim("5, 6", words, "all points", "that order", order, judged(seconds == sorted(seconds)))
    losses = [mean(run, label, "distortion") for label in LOCAL]
    yield Claim("5, 6", "similar distortion ratios, on average", _BOTH, "similar", *stays(losses, ALIKE))


def _lines(run: Run, k: int) -> Iterator[Claim]:
    """What is said of each figure; those of k = 10 are said to be similar to those of k = 2."""
    times, growing, losses, wider = figures(k)
    yield _line(run, times, INCOGNITO.label, ("time", "increases", _ALPHA))
    yield _line(run, times, TOP_DOWN, ("time", "decreases", _ALPHA))
    yield _line(run, times, PROGRESSIVE, ("time", "remains nearly unchanged", _ALPHA))
    yield from (_line(run, growing, label, ("time", "increases", _SIZE)) for label in EVERY)
    yield from (_line(run, losses, label, ("distortion", "decreases", _ALPHA)) for label in EVERY)
    yield from (_line(run, wider, label, ("distortion", "increases", _SIZE)) for label in EVERY)


def _line(run: Run, figure: Figure, label: str, says: tuple[str, str, str]) -> Claim:
    verdict = _VERBS[says[1]](_values(run, figure, label), _SHOWN[figure.up])
    return Claim(figure.number, " ".join(says), f"{label}, k = {figure.k}", says[1], *verdict)


def _by_k(run: Run) -> Iterator[Claim]:
    """Both sweeps of one k against those of the other."""
    faster = _apart(run, 1, PROGRESSIVE, less=True)
    yield Claim("5, 6 (b)", "time is smaller when k is larger", PROGRESSIVE, "smaller", *faster)
    for label in EVERY:
        worse = _apart(run, 3, label, less=False)
        yield Claim("5, 6 (d)", "distortion is greater when k is larger", label, "greater", *worse)


def _apart(run: Run, place: int, label: str, *, less: bool) -> Verdict:
    """Whether all values of a figure are lower with the larger k, or higher; in part where some are equal."""
    pairs = list(zip(*(_values(run, figures(k)[place], label) for k in KS), strict=True))
    steps = [(small - large if less else large - small) for small, large in pairs]
    held = sum(step > 0 for step in steps)
    verdict = EQUAL if 0 < held < len(steps) and min(steps) == 0 else judged(held == len(steps))
    return f"at {held} of {len(steps)} sizes", verdict


def _large(run: Run) -> Iterator[Claim]:
    figure = figures(KS[1])[3]
    lines = {line.label: dict(zip(line.across, line.up, strict=True)) for line in figure.lines(run)}
    sizes = [size for size in SIZES if size >= LARGE and size in lines[TOP_DOWN]]
    held = sum(lines[TOP_DOWN][size] > lines[PROGRESSIVE][size] for size in sizes)
    words = "Top-Down has a larger distortion ratio than Progressive where the quasi-identifier is large"
    of = f"k = {KS[1]}, sizes from {LARGE}"
    yield Claim("6 (d)", words, of, "larger", f"at {held} of {len(sizes)} sizes", judged(held == len(sizes)))


def _values(run: Run, figure: Figure, label: str) -> list[float]:
    return list(next(line.up for line in figure.lines(run) if line.label == label))
