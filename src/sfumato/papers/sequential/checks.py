"""What the sequential-release paper states of its errors and distortions, held against ours, sentence by sentence.

Each sentence on errors is held against the releases by the paper's score; what those by the conditional score show,
which is not the paper's, stands beside.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from sfumato.papers.claims import NOT_MEASURED, NOT_QUICKLY, Claim, Run
from sfumato.papers.sequential.figures import CAT, CONT, mean, tops, values
from sfumato.papers.sequential.points import CLASSIFYING, CONDITIONAL, DISTORTION, KA, LINK, ROW, XY
from sfumato.papers.sequential.reading import Place, Reading, benefit, least, measured, most, said
from sfumato.papers.sequential.runs import BASE, NO_JOIN
from sfumato.papers.sequential.seconds import seconds

NEAR = 0.5
"""How far a figure may be from the paper's where the text has no bound: half a percentage point, or half a unit."""
NONE = 0.05
"""What counts as no loss, in percentage points."""
_A, _B = ("2", "Set A"), ("4", "Set B")
_LINKS_A, _LINKS_B = ("6", "Set A, linkability"), ("7", "Set B, linkability")


def claims(run: Run) -> list[Claim]:
    """A line for every figure and sentence."""
    found = [*_unscored(run), *_scored(run), *seconds(run)]
    ordered = sorted(found, key=lambda one: one.figure)  # by figure, as the text has them
    return [replace(one, verdict=NOT_QUICKLY) if _left_out(run, one) else one for one in ordered]


def _left_out(run: Run, claim: Claim) -> bool:
    return claim.verdict == NOT_MEASURED and not run["full"]


def _scored(run: Run) -> Iterator[Claim]:
    """What depends on the score, by both."""
    for lines in (_set_a, _set_b, _beside_a, _links_a, _links_b, _links_beside_a):
        for one, other in zip(*(lines(Reading(run, score)) for score in CLASSIFYING), strict=True):
            yield replace(one, other=f"{CONDITIONAL} score: {', '.join(filter(None, (other.ours, other.verdict)))}")


def _unscored(run: Run) -> Iterator[Claim]:
    reading, loss = Reading(run), ("1", "Set A")
    yield from _levels(reading, _A, {BASE: 17.5, NO_JOIN: 22.3})
    yield from _levels(reading, _B, {BASE: 14.7, NO_JOIN: 17.3})
    theirs = mean(run, CAT, data="A", method=KA, score=DISTORTION)
    yield measured(loss, "KAD", "9.23 units", ([theirs], abs(theirs - 9.23) <= NEAR), unit="units")
    gain = _reduction(run, "A", CAT)
    yield measured(loss, "KAD − XYD, by TopN", "from 1 to 7.16 units", (gain, least(gain) >= 1), unit="units")
    for up in (CAT, CONT):
        gain = _reduction(run, "B", up)
        what = f"KAD({up}) − XYD({up}), by TopN"
        yield measured(("3", "Set B"), what, "a reduction", (gain, least(gain) > 0), unit="units")


def _set_a(reading: Reading) -> Iterator[Claim]:
    yield from _levels(reading, _A, {KA: 18.4})
    more = reading.loss("A", XY)
    yield measured(_A, "XYE − BLE, every case", "at most 0.9 %", (more, most(more) <= 0.9))
    yield _rows(reading, _A, 0.2, "at most 0.2 %")
    yield benefit(_A, "RJE − XYE, every case", (3.9, 4.9), reading.less("A", NO_JOIN, XY))
    gain = [reading.error("A", KA) - reading.error("A", XY)]
    yield measured(_A, "KAE − XYE is not very significant", f"small (≤ {NEAR} %)", (gain, most(gain) <= NEAR))
    yield _short(reading)


def _set_b(reading: Reading) -> Iterator[Claim]:
    yield from _levels(reading, _B, {KA: 18.2})
    more = reading.error("B", XY) - reading.error("B", BASE)
    yield measured(_B, "XYE − BLE, averaged", "0.75 %", ([more], more <= 0.75))
    yield _rows(reading, _B, NONE, "no loss")
    gone = values(reading.run, "join", data="B", score=reading.score, method=XY)
    whole = sum(one == 3 for one in gone)
    words = "all join attributes are fully generalized"
    yield said(_B, words, "everywhere", (f"in {whole} of {len(gone)} releases", whole == len(gone)))


def _beside_a(reading: Reading) -> Iterator[Claim]:
    """Set B as the text compares it with Set A."""
    lines = (("RJE − XYE is smaller than in Set A", NO_JOIN, -1), ("KAE − XYE is larger than in Set A", KA, 1))
    for words, other, sign in lines:
        a, b = (reading.error(data, other) - reading.error(data, XY) for data in "AB")
        yield said(_B, words, words.split()[4], (f"{b:.2f} % against {a:.2f} %", sign * (b - a) > 0))


def _links_a(reading: Reading) -> Iterator[Claim]:
    more = reading.loss("A", LINK)
    yield measured(_LINKS_A, "XYE − BLE, every case", "at most 0.7 %", (more, most(more) <= 0.7))
    more = [-one for one in reading.by_top("A", BASE, LINK)]
    yield measured(_LINKS_A, "XYE − BLE, by TopN", "at most 0.7 %", (more, most(more) <= 0.7))
    gain = reading.kept("A")
    yield benefit(_LINKS_A, "RSE − XYE, by TopN", (-0.2, 5.6), gain)
    grows = all(less <= more for less, more in pairwise(gain))
    figure = " → ".join(f"{one:.2f}" for one in gain)
    yield said(_LINKS_A, "RSE − XYE increases with the attributes in Y", "increases", (f"{figure} %", grows))
    yield benefit(_LINKS_A, "RJE − XYE, every case", (4.1, 4.5), reading.less("A", NO_JOIN, LINK))
    yield benefit(_LINKS_A, "RJE − XYE, by TopN", (4.1, 4.5), reading.by_top("A", NO_JOIN, LINK))


def _links_b(reading: Reading) -> Iterator[Claim]:
    ours = reading.error("B", LINK)
    yield measured(_LINKS_B, "XYE, averaged", "15.8 %", ([ours], ours - 15.8 <= NEAR))
    more = ours - reading.error("B", BASE)
    yield measured(_LINKS_B, "XYE − BLE, averaged", "1.1 %", ([more], more <= 1.1))
    gain, left = reading.kept("B"), reading.less("B", NO_JOIN, LINK)
    yield benefit(_LINKS_B, "RSE − XYE, by TopN", (0.1, 1.9), gain)
    yield benefit(_LINKS_B, "RJE − XYE, every case", (0.7, 2.6), left)
    yield benefit(_LINKS_B, "RJE − XYE, by TopN", (0.7, 2.6), reading.by_top("B", NO_JOIN, LINK))
    below = least([*gain, *left])
    yield said(
        _LINKS_B, "XYE is below RSE and RJE", "everywhere", (f"the smallest benefit is {below:.2f} %", below > 0)
    )


def _links_beside_a(reading: Reading) -> Iterator[Claim]:
    a, b = (fmean(reading.kept(data)) for data in "AB")
    yield said(_LINKS_B, "RSE − XYE is smaller than in Set A", "smaller", (f"{b:.2f} % against {a:.2f} %", b < a))
    a, b = (fmean(reading.by_top(data, NO_JOIN, LINK)) for data in "AB")
    yield said(_LINKS_B, "RJE − XYE is smaller than in Set A", "smaller", (f"{b:.2f} % against {a:.2f} %", b < a))


def _levels(reading: Reading, place: Place, paper: dict[str, float]) -> Iterator[Claim]:
    for method, theirs in paper.items():
        ours = reading.error(place[1][-1], method)
        yield measured(place, f"{method}E", f"{theirs:g} %", ([ours], abs(ours - theirs) <= NEAR))


def _rows(reading: Reading, place: Place, bound: float, paper: str) -> Claim:
    """The loss by asking for keys of T1 alone, averaged over the thresholds as the figures are."""
    more = reading.by_top(place[1][-1], XY, ROW)
    return measured(place, "XYE − XYE(row), by TopN", paper, (more, most(more) <= bound))


def _reduction(run: Run, data: str, up: str) -> list[float]:
    """How much less distortion there is than by k-anonymity."""
    theirs = mean(run, up, data=data, method=KA, score=DISTORTION)
    return [theirs - mean(run, up, data=data, method=XY, score=DISTORTION, top=top) for top in tops(run, data, XY)]


def _short(reading: Reading) -> Claim:
    """With Y = {K1, K2}: how many x values have fewer than k keys of T1."""
    top = max(tops(reading.run, "A", ROW))
    asked = {"data": "A", "method": ROW, "score": reading.score, "top": top, "k": 200}
    words, paper = f"Y = {{K1, K2}}, Top{top}, k = 200: x values with fewer than k keys of T1", "5.5 %"
    for one in reading.run["cases"]:
        if asked.items() <= one.items() and "x" in one:
            figure = f"{100 * one['short'] / one['x']:.1f} % ({one['short']:,} of {one['x']:,})"
            return said(_A, words, paper, (figure, one["short"] > 0))
    return Claim(_A[0], words, _A[1], paper, "", NOT_MEASURED)
