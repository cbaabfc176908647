"""What the sequential-release paper states of its figures, held against ours, sentence by sentence.

Each sentence on errors is held against the releases by the paper's score, and then against those by the conditional
score, which is not the paper's.
"""

from collections.abc import Iterator
from itertools import pairwise

from benchmarks.sequential_figures import CAT, CONT, Run, mean, tops, values
from benchmarks.sequential_points import CLASSIFYING, DISTORTION, KA, LINK, ROW, XY
from benchmarks.sequential_reading import Check, Reading, benefit, least, measured, most, said
from benchmarks.sequential_runs import BASE, NO_JOIN

NEAR = 0.5
"""How far a figure may be from the paper's where the text has no bound: half a percentage point, or half a unit."""
NONE = 0.05
"""What counts as no loss, in percentage points."""
ADDED, ADDED_VERDICT = "conditional", "conditional verdict"
_LINKS = "{}, linkability"


def checks(run: Run) -> list[Check]:
    """A line for every figure and sentence of what was run."""
    every = {
        "A": (_unscored_a, _set_a),
        "B": (_unscored_b, _set_b),
        "links-A": (None, _links_a),
        "links-B": (None, _links_b),
    }
    found: list[Check] = []
    parts = {one["part"] for one in run["cases"]}
    for unscored, scored in (lines for part, lines in every.items() if part in parts):
        found += [one | {ADDED: "", ADDED_VERDICT: ""} for one in (unscored(run) if unscored else ())]
        both = (scored(Reading(run, score)) for score in CLASSIFYING)
        found += [
            one | {ADDED: other["ours"], ADDED_VERDICT: other["verdict"]} for one, other in zip(*both, strict=True)
        ]
    return found


def _unscored_a(run: Run) -> Iterator[Check]:
    yield from _levels(Reading(run), "A", {BASE: 17.5, NO_JOIN: 22.3})
    theirs = mean(run, CAT, data="A", method=KA, score=DISTORTION)
    yield measured("A", "KAD", "9.23 units", ([theirs], abs(theirs - 9.23) <= NEAR), unit="units")
    gain = _reduction(run, "A", CAT)
    yield measured("A", "KAD − XYD, by TopN", "from 1 to 7.16 units", (gain, least(gain) >= 1), unit="units")


def _unscored_b(run: Run) -> Iterator[Check]:
    yield from _levels(Reading(run), "B", {BASE: 14.7, NO_JOIN: 17.3})
    for up in (CAT, CONT):
        gain = _reduction(run, "B", up)
        yield measured("B", f"KAD({up}) − XYD({up}), by TopN", "a reduction", (gain, least(gain) > 0), unit="units")


def _set_a(reading: Reading) -> Iterator[Check]:
    yield from _levels(reading, "A", {KA: 18.4})
    more = reading.loss("A", XY)
    yield measured("A", "XYE − BLE", "at most 0.9 %", (more, most(more) <= 0.9))
    yield _rows(reading, "A", 0.2, "at most 0.2 %")
    yield benefit("A", "RJE − XYE", (3.9, 4.9), reading.less("A", NO_JOIN, XY))
    yield from _short(reading)


def _set_b(reading: Reading) -> Iterator[Check]:
    yield from _levels(reading, "B", {KA: 18.2})
    more = reading.error("B", XY) - reading.error("B", BASE)
    yield measured("B", "XYE − BLE, averaged", "0.75 %", ([more], more <= 0.75))
    yield _rows(reading, "B", NONE, "no loss")
    gone = values(reading.run, "join", data="B", score=reading.score, method=XY)
    whole = sum(one == 3 for one in gone)
    words = "all join attributes are fully generalized, by both methods"
    yield said("B", words, "everywhere", (f"{whole} of {len(gone)} with Y = K1", whole == len(gone)))
    if tops(reading.run, "A", XY):
        yield from _beside_a(reading)


def _beside_a(reading: Reading) -> Iterator[Check]:
    """Set B as the text compares it with Set A."""
    lines = (("RJE − XYE is smaller than in Set A", NO_JOIN, -1), ("KAE − XYE is larger than in Set A", KA, 1))
    for words, other, sign in lines:
        a, b = (reading.error(data, other) - reading.error(data, XY) for data in "AB")
        yield said("B", words, "", (f"{b:.2f} against {a:.2f}", sign * (b - a) > 0))


def _links_a(reading: Reading) -> Iterator[Check]:
    data = _LINKS.format("A")
    more = reading.loss("A", LINK)
    yield measured(data, "XYE − BLE, every case", "at most 0.7 %", (more, most(more) <= 0.7))
    more = [-one for one in reading.by_top("A", BASE, LINK)]
    yield measured(data, "XYE − BLE, by TopN", "at most 0.7 %", (more, most(more) <= 0.7))
    gain = reading.kept("A")
    yield benefit(data, "RSE − XYE, by TopN", (-0.2, 5.6), gain)
    grows = all(less <= more for less, more in pairwise(gain))
    figure = " → ".join(f"{one:.2f}" for one in gain)
    yield said(data, "RSE − XYE increases with the attributes in Y", "", (figure, grows))
    yield benefit(data, "RJE − XYE, every case", (4.1, 4.5), reading.less("A", NO_JOIN, LINK))
    yield benefit(data, "RJE − XYE, by TopN", (4.1, 4.5), reading.by_top("A", NO_JOIN, LINK))


def _links_b(reading: Reading) -> Iterator[Check]:
    data = _LINKS.format("B")
    ours = reading.error("B", LINK)
    yield measured(data, "XYE, averaged", "15.8 %", ([ours], ours - 15.8 <= NEAR))
    more = ours - reading.error("B", BASE)
    yield measured(data, "XYE − BLE, averaged", "1.1 %", ([more], more <= 1.1))
    gain, left = reading.kept("B"), reading.less("B", NO_JOIN, LINK)
    yield benefit(data, "RSE − XYE, by TopN", (0.1, 1.9), gain)
    yield benefit(data, "RJE − XYE, every case", (0.7, 2.6), left)
    yield benefit(data, "RJE − XYE, by TopN", (0.7, 2.6), reading.by_top("B", NO_JOIN, LINK))
    below = least([*gain, *left])
    yield said(data, "XYE is below RSE and RJE", "everywhere", (f"the smallest benefit is {below:.2f} %", below > 0))


def _levels(reading: Reading, data: str, paper: dict[str, float]) -> Iterator[Check]:
    for method, theirs in paper.items():
        ours = reading.error(data, method)
        yield measured(data, f"{method}E", f"{theirs:g} %", ([ours], abs(ours - theirs) <= NEAR))


def _rows(reading: Reading, data: str, bound: float, paper: str) -> Check:
    """The loss by asking for keys of T1 alone, averaged over the thresholds as the figures are."""
    more = reading.by_top(data, XY, ROW)
    return measured(data, "XYE − XYE(row), by TopN", paper, (more, most(more) <= bound))


def _reduction(run: Run, data: str, up: str) -> list[float]:
    """How much less distortion there is than by k-anonymity."""
    theirs = mean(run, up, data=data, method=KA, score=DISTORTION)
    return [theirs - mean(run, up, data=data, method=XY, score=DISTORTION, top=top) for top in tops(run, data, XY)]


def _short(reading: Reading) -> Iterator[Check]:
    """With Y = {K1, K2}: how many x values have fewer than k keys of T1."""
    top = max(tops(reading.run, "A", ROW))
    asked = {"data": "A", "method": ROW, "score": reading.score, "top": top, "k": 200}
    for one in reading.run["cases"]:
        if asked.items() <= one.items() and "x" in one:
            figure = f"{100 * one['short'] / one['x']:.1f} % ({one['short']:,} of {one['x']:,})"
            words = f"Y = {{K1, K2}}, Top{one['top']}, k = {one['k']}: x values with fewer than k keys of T1"
            yield said("A", words, "5.5 %", (figure, one["short"] > 0))
