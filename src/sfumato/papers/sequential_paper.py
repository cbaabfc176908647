"""The experiments of the sequential-release paper (Wang and Fung, "Anonymizing sequential releases"), its section 6.

(X, Y)-anonymity and (X, Y)-linkability on two departments' tables of Adult, against unmodified data, k-anonymity and
removal of attributes: classification error and distortion (`sequential_releases`), then the time of the command on
enlarged tables (`sequential_scale`). Here are the run of all parts, the figures, the claims and the page.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise, product
from statistics import fmean
from typing import Any

from sfumato.papers.claims import (
    HOLDS,
    NOT_COUNTED,
    NOT_IN_A_QUICK_RUN,
    NOT_MEASURED,
    Claim,
    Reason,
    Run,
    Verdict,
    as_printed,
    explain_claims,
    holds_if,
    is_as_printed,
    is_within,
    select_cases,
)
from sfumato.papers.experiment import (
    Paper,
    RowSource,
    Tell,
    describe_moment,
    describe_run,
    report_progress,
    round_floats,
)
from sfumato.papers.markdown_tables import caveats, claims_table, lines_table, markdown_table, picture, setting_line
from sfumato.papers.plots import Panel, PlotLine
from sfumato.papers.sequential_releases import (
    BASE,
    CONDITIONAL,
    EVERY_STEP,
    FULL,
    KA,
    LEAST,
    LINK,
    LITERAL,
    NEXT_CUT,
    NO_JOIN,
    NO_Y,
    OUR_TREES,
    QUICK,
    ROW,
    XY,
    Departments,
    SequentialExperiment,
    SequentialGrid,
)
from sfumato.papers.sequential_scale import POINTS, measure_scale, scale_parts, scale_plots, time_claims

PARTS = {
    "A": ("Figure 1", "Figure 2"),
    "B": ("Figure 3", "Figure 4"),
    "links-A": ("Figure 6",),
    "links-B": ("Figure 7",),
    "scale": ("Figure 5", "Figure 8"),
}
"""The parts of a run, and the figures that each is for: errors last."""
MEASURED = tuple(part for part in PARTS if part != "scale")


def run_experiment(source: RowSource, quick: bool, tell: Tell) -> dict[str, Any]:
    """Run releases and removals of every part, then the enlarged tables; each part with the time when it was done."""
    grid, full = QUICK if quick else FULL, not quick and source.folder is not None
    departments = Departments.from_source(source)
    total = sum(len(grid.points(part)) + 2 + len(grid.links) for part in MEASURED) + len(grid.sizes) * len(POINTS)
    parts: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    scale: list[dict[str, Any]] = []
    for case in report_progress(_measure_parts(departments, grid), total, tell, _describe_case):
        (scale if case["part"] == "scale" else cases).append(case)
        parts[case["part"]] = describe_moment(full=full)
    about = {"source": source.kind, "repeat": grid.repeat, "scale": round_floats(scale), "parts": parts}
    lower = departments.lower_taxonomies
    return describe_run(cases, full=full) | about | ({"taxonomies": lower} if source.folder and lower else {})


def _measure_parts(departments: Departments, grid: SequentialGrid) -> Iterator[dict[str, Any]]:
    """Measure every part; what removal costs comes first."""
    with SequentialExperiment.prepare(departments) as experiment:
        for part in MEASURED:
            yield from ({"part": part, **case} for case in experiment.measure_removals(part[-1], grid))
            yield from ({"part": part, **experiment.measure_point(point)} for point in grid.points(part))
    yield from ({"part": "scale", **case} for case in measure_scale(departments, grid.sizes, grid.repeat))


def _describe_case(case: Mapping[str, Any]) -> str:
    if case["part"] == "scale":
        taken = f"{case['seconds']:.2f} s" if case["code"] == 0 else f"failed: {case['errors']}"
        return f"{case['kind']}, {case['rows']:,} rows: {taken}"
    asked = ", ".join(f"{key} = {case[key]}" for key in ("method", "top", "k", "reading") if key in case)
    return f"Set {case['data']}, {asked}: " + (f"error {case['error']:.4f}" if "error" in case else "cannot be met")


# Figures 1 to 4, 6 and 7: averages over the thresholds.

CAT, CONT = "cat", "cont"
NAMES = {BASE: "BLE", XY: "XYE", LINK: "XYE", ROW: "XYE(row)", KA: "KAE", NO_JOIN: "RJE", NO_Y: "RSE"}
"""What the paper calls the error of each method."""
RELEASED = (XY, ROW, KA, LINK)
"""Methods that depend on how `tds` is run; the others are the same beside any reading."""
READINGS = (LITERAL, CONDITIONAL, NEXT_CUT, OUR_TREES)
EVERY_CASE, BY_TOP, AVERAGED = "every case", "by TopN", "averaged"


def values(run: Run, key: str, **selection: Any) -> list[float]:
    """Find what was measured in the selected cases, those left out that no release can meet.

    >>> case = {"data": "A", "method": "XY", "top": 3, "k": 40, "error": 0.2}
    >>> values({"cases": [case, case | {"k": 80, "error": 0.3}]}, "error", data="A", k=40)
    [0.2]
    """
    return [case[key] for case in select_cases(run, **selection) if key in case]


def mean(run: Run, key: str, **selection: Any) -> float:
    """Average what was measured in the selected cases; NaN where there are none."""
    figures = values(run, key, **selection)
    return sum(figures) / len(figures) if figures else math.nan


def tops(run: Run, data: str, method: str) -> list[int]:
    """Find the N of the TopN that were run."""
    return sorted({case["top"] for case in select_cases(run, data=data, method=method)})


@dataclass(frozen=True)
class ReleaseFigures:
    """The errors of a run in percent, and its distortions; those of releases by one reading."""

    run: Run
    reading: str = LITERAL

    def reading_of(self, data: str, method: str) -> str:
        """Find the reading by which there are releases: Set A has no range, and so no next cut of one.

        >>> case = {"data": "B", "method": "KA", "reading": "next cut"}
        >>> of = ReleaseFigures({"cases": [case]}, "next cut")
        >>> of.reading_of("B", "KA"), of.reading_of("A", "KA")
        ('next cut', "the paper's")
        """
        there = select_cases(self.run, data=data, method=method, reading=self.reading)
        return self.reading if there else LITERAL

    def error(self, data: str, method: str, top: int | None = None) -> float:
        """Average the errors of a method over the thresholds, and over TopN where none is asked for.

        >>> case = {"data": "A", "method": "XY", "reading": "the paper's", "top": 3, "error": 0.2}
        >>> ReleaseFigures({"cases": [case, case | {"reading": "our trees", "error": 0.1}]}).error("A", "XY")
        20.0
        """
        released = {"reading": self.reading_of(data, method)} if method in RELEASED else {}
        at_top = {} if top is None or method in {BASE, NO_JOIN, KA} else {"top": top}
        return 100 * mean(self.run, "error", data=data, method=method, **at_top, **released)

    def differences(self, data: str, more: str, less: str, over: str) -> list[float]:
        """Subtract the error of one method from another's: for every case, by TopN, or of all averaged."""
        if over == AVERAGED:
            return [self.error(data, more) - self.error(data, less)]
        released = less if less in RELEASED else more
        if over == BY_TOP:
            pairs = [
                (self.error(data, more, top), self.error(data, less, top)) for top in tops(self.run, data, released)
            ]
            if released == more:
                return [-(smaller - larger) for larger, smaller in pairs]  # equal errors differ by -0.00 on the page
            return [larger - smaller for larger, smaller in pairs]
        every = values(self.run, "error", data=data, method=released, reading=self.reading_of(data, released))
        if released == less:
            return [self.error(data, more) - 100 * error for error in every]
        return [100 * error - self.error(data, less) for error in every]

    def distortion(self, data: str, method: str, key: str, **selection: Any) -> float:
        """Average the distortion of one type of attribute over the releases of a method."""
        reading = self.reading_of(data, method)
        return mean(self.run, key, data=data, method=method, reading=reading, **selection)

    def reductions(self, data: str, key: str) -> list[float]:
        """Subtract the distortion of (X, Y)-anonymity from that of k-anonymity, by TopN."""
        places = tops(self.run, data, XY)
        return [self.distortion(data, KA, key) - self.distortion(data, XY, key, top=top) for top in places]


def part_figures(run: Run, part: str) -> dict[str, list[Panel]]:
    """Plot the figures of a part: errors as the paper has it, and beside them by other readings."""
    data, (*first, last) = part[-1], PARTS[part]
    # XYE(row) is last, since it has the paper's reading alone and every panel gives the first line the first colour
    methods = (BASE, XY, KA, NO_JOIN, ROW) if part == data else (BASE, LINK, NO_Y, NO_JOIN)
    places = tops(run, data, methods[1])
    errors = []
    for reading in (
        reading for reading in READINGS if select_cases(run, data=data, method=methods[1], reading=reading)
    ):
        of = ReleaseFigures(run, reading)
        shown = [method for method in methods if method != ROW or reading == LITERAL]
        lines = [PlotLine(NAMES[method], places, [of.error(data, method, top) for top in places]) for method in shown]
        errors.append(Panel(f"{last}, {reading}, Set {data}", "TopN", "error, %", lines))
    losses = _distortion_lines(ReleaseFigures(run), data)
    return {name: [Panel(f"{name}, Set {data}", "TopN", "units a record", losses)] for name in first} | {last: errors}


def _distortion_lines(of: ReleaseFigures, data: str) -> list[PlotLine]:
    """Plot KAD and XYD for Set A; how much lower XYD is than KAD for Set B, by type of attribute."""
    places = tops(of.run, data, XY)
    if data == "B":
        return [PlotLine(f"KAD({key}) − XYD({key})", places, of.reductions(data, key)) for key in (CAT, CONT)]
    ours = [of.distortion(data, XY, CAT, top=top) for top in places]
    return [PlotLine("KAD", places, [of.distortion(data, KA, CAT)] * len(places)), PlotLine("XYD", places, ours)]


def plots(run: Run) -> dict[str, list[Panel]]:
    """Plot the paper's figures, a file each and those on scale together, by the name of the file."""
    figures = (pair for part in MEASURED for pair in part_figures(run, part).items())
    return {_stem(name): panels for name, panels in figures} | scale_plots(run)


def _stem(figure: str) -> str:
    return f"sequential-{figure[-1]}"


# What the paper states. Each sentence on errors is held against the releases as the paper makes them; what those by
# other readings show stands beside. Figures are compared as the paper prints them, in both directions. Its plots are of
# averages over the thresholds, so averages by TopN are what is judged; every single case stands beside.

SMALL = 0.5
"""The most that is not very significant, in percentage points."""
Place = tuple[str, str]
"""The figure that a sentence is about, and the set, whose letter is its fifth character."""
Rule = Callable[[Sequence[float]], bool]
Sentence = tuple[Place, str, str, Callable[[ReleaseFigures], Verdict]]
"""A place, what the text says there, its figure or word, and the judge of ours."""


def least(figures: Sequence[float]) -> float:
    """Find the least figure; NaN if there are none or one is missing, and nothing holds of it then."""
    return math.nan if any(map(math.isnan, figures)) else min(figures, default=math.nan)


def most(figures: Sequence[float]) -> float:
    """Find the greatest figure; NaN likewise."""
    return -least([-figure for figure in figures])


def _is(theirs: str) -> Rule:
    return lambda ours: is_as_printed(ours[0], theirs)


def _at_most(limit: str) -> Rule:
    return lambda ours: as_printed(most(ours), limit) <= Decimal(limit)


def _between(low: str, high: str) -> Rule:
    return lambda ours: is_within(ours, low, high)


def _judge_figures(figures: Sequence[float], rule: Rule, unit: str = "%") -> Verdict:
    """Judge figures by a rule; show the only one, or the least and the most."""
    if math.isnan(least(figures)):
        return "", NOT_MEASURED
    ends = f"{least(figures):.2f}" if len(figures) == 1 else f"{least(figures):.2f} to {most(figures):.2f}"
    return f"{ends} {unit}", holds_if(rule(figures))


def _level(place: Place, method: str, theirs: str) -> Sentence:
    """State that the error of a method is the paper's."""
    data, says = place[1][4], NAMES[method]
    return place, says, f"{theirs} %", lambda of: _judge_figures([of.error(data, method)], _is(theirs))


def _difference(place: Place, methods: tuple[str, str], over: str, theirs: str, rule: Rule) -> Sentence:
    """State that the first method's error is larger than the second's by so much."""
    data, says = place[1][4], f"{NAMES[methods[0]]} − {NAMES[methods[1]]}, {over}"
    return place, says, theirs, lambda of: _judge_figures(of.differences(data, *methods, over), rule)


def _every_case(of: ReleaseFigures, claim: Claim) -> str:
    """Say what every single case shows, where the averages by TopN are judged."""
    names = {name: method for method, name in NAMES.items() if method not in {XY, LINK, ROW}}
    names["XYE"] = LINK if "linkability" in claim.of else XY
    more, _, less = claim.says.removesuffix(f", {BY_TOP}").partition(" − ")
    if not claim.says.endswith(BY_TOP) or not {more, less} <= names.keys() or {names[more], names[less]} & {KA, NO_Y}:
        return ""
    figures = of.differences(claim.of[4], names[more], names[less], EVERY_CASE)
    return f"every case: {least(figures):.2f} to {most(figures):.2f} %"


def _beside_set_a(place: Place, methods: tuple[str, str], theirs: str) -> Sentence:
    """State that a difference of Set B is smaller or larger than that of Set A."""

    def judge(of: ReleaseFigures) -> Verdict:
        over = BY_TOP if LINK in methods else AVERAGED
        a, b = (fmean(of.differences(data, *methods, over)) for data in "AB")
        return f"{b:.2f} % against {a:.2f} %", holds_if(b < a if theirs == "smaller" else b > a)

    return place, f"{NAMES[methods[0]]} − {NAMES[methods[1]]} is {theirs} than in Set A", theirs, judge


def _reduction(place: Place, says: str, theirs: str, key: str, rule: Rule) -> Sentence:
    """State that distortion is lower than by k-anonymity."""
    data = place[1][4]
    return place, says, theirs, lambda of: _judge_figures(of.reductions(data, key), rule, "units")


def _fully_generalized(of: ReleaseFigures) -> Verdict:
    counts = values(of.run, "join", data="B", reading=of.reading_of("B", XY), method=XY)
    whole = sum(count == 3 for count in counts)
    return f"in {whole} of {len(counts)} releases", holds_if(whole == len(counts))


def _benefit_increases(of: ReleaseFigures) -> Verdict:
    gains = of.differences("A", NO_Y, LINK, BY_TOP)
    figure = " → ".join(f"{gain:.2f}" for gain in gains)
    return f"{figure} %", holds_if(all(before <= after for before, after in pairwise(gains)))


def _below_removals(of: ReleaseFigures) -> Verdict:
    below = least([*of.differences("B", NO_Y, LINK, BY_TOP), *of.differences("B", NO_JOIN, LINK, BY_TOP)])
    return f"the smallest benefit is {below:.2f} %", holds_if(below > 0)


_LOSS_A, _A, _LOSS_B, _B = ("1", "Set A"), ("2", "Set A"), ("3", "Set B"), ("4", "Set B")
_LINKS_A, _LINKS_B = ("6", "Set A, linkability"), ("7", "Set B, linkability")
REMOVED_SENTENCES: tuple[Sentence, ...] = (
    _level(_A, BASE, "17.5"),
    _level(_A, NO_JOIN, "22.3"),
    _level(_B, BASE, "14.7"),
    _level(_B, NO_JOIN, "17.3"),
)
"""What does not depend on any release."""
RELEASE_SENTENCES: tuple[Sentence, ...] = (
    (_LOSS_A, "KAD", "9.23 units", lambda of: _judge_figures([of.distortion("A", KA, CAT)], _is("9.23"), "units")),
    _reduction(_LOSS_A, "KAD − XYD, by TopN", "from 1 to 7.16 units", CAT, _between("1", "7.16")),
    *(
        _reduction(_LOSS_B, f"KAD({key}) − XYD({key}), by TopN", "a reduction", key, lambda ours: least(ours) > 0)
        for key in (CAT, CONT)
    ),
    _level(_A, KA, "18.4"),
    _difference(_A, (XY, BASE), BY_TOP, "at most 0.9 %", _at_most("0.9")),
    _difference(_A, (XY, ROW), BY_TOP, "at most 0.2 %", _at_most("0.2")),
    _difference(_A, (NO_JOIN, XY), BY_TOP, "from 3.9 to 4.9 %", _between("3.9", "4.9")),
    (
        _A,
        "KAE − XYE is not very significant",
        f"small (≤ {SMALL} %)",
        lambda of: _judge_figures(of.differences("A", KA, XY, AVERAGED), lambda ours: ours[0] <= SMALL),
    ),
    _level(_B, KA, "18.2"),
    _difference(_B, (XY, BASE), AVERAGED, "0.75 %", _is("0.75")),
    _difference(_B, (XY, ROW), BY_TOP, "no loss", _at_most("0.0")),
    (_B, "all join attributes are fully generalized", "everywhere", _fully_generalized),
    _beside_set_a(_B, (NO_JOIN, XY), "smaller"),
    _beside_set_a(_B, (KA, XY), "larger"),
    _difference(_LINKS_A, (LINK, BASE), BY_TOP, "at most 0.7 %", _at_most("0.7")),
    _difference(_LINKS_A, (NO_Y, LINK), BY_TOP, "from -0.2 to 5.6 %", _between("-0.2", "5.6")),
    (_LINKS_A, "RSE − XYE increases with the attributes in Y", "increases", _benefit_increases),
    _difference(_LINKS_A, (NO_JOIN, LINK), BY_TOP, "from 4.1 to 4.5 %", _between("4.1", "4.5")),
    (_LINKS_B, "XYE, averaged", "15.8 %", lambda of: _judge_figures([of.error("B", LINK)], _is("15.8"))),
    _difference(_LINKS_B, (LINK, BASE), AVERAGED, "1.1 %", _is("1.1")),
    _difference(_LINKS_B, (NO_Y, LINK), BY_TOP, "from 0.1 to 1.9 %", _between("0.1", "1.9")),
    _difference(_LINKS_B, (NO_JOIN, LINK), BY_TOP, "from 0.7 to 2.6 %", _between("0.7", "2.6")),
    (_LINKS_B, "XYE is below RSE and RJE", "everywhere", _below_removals),
    _beside_set_a(_LINKS_B, (NO_Y, LINK), "smaller"),
    _beside_set_a(_LINKS_B, (NO_JOIN, LINK), "smaller"),
)
"""What is said of releases that were made."""

_CHOSEN = "The tree was chosen so that this figure comes near the paper's, so that it could not fail."
_COINCIDE = "The two requirements coincide, since T2 has values that one record alone holds, so that it could not fail."
_SECONDS = "Seconds of the paper's machine, of 2006, say nothing of an algorithm."
REASONS: tuple[Reason, ...] = (
    *(Reason("[24]", name, "*", _CHOSEN, idle=True) for name in ("BLE", "RJE")),
    Reason("[24]", "XYE − XYE(row)*", "*", _COINCIDE, idle=True),
    Reason("[58]", "seconds of a million rows", "*", _SECONDS, idle=True),
    Reason("8", "generalizing takes 25 seconds", "*", _SECONDS, idle=True),
    Reason("section 6.*", "every release takes less*", "*", _SECONDS, idle=True),
    Reason(
        "2",
        "XYE − BLE*",
        "*",
        "Ours: on unmodified data our tree errs by 17.38 % where the paper prints 17.5, from which our 18.42 %, the "
        "paper's own figure for the same requirement (KAE), is 0.9.",
    ),
    Reason(
        "2",
        "RJE − XYE*",
        "*",
        "Ours: at Top3 our tree errs less on the release (17.28 %) than on unmodified data (17.38 %), so that the "
        "benefit is a tenth above the paper's largest.",
    ),
    Reason(
        "2",
        "KAE − XYE*",
        "*",
        "Ours: that half a point is not very significant is our number for the paper's words; 0.62 is a seventh of the "
        "benefit over removal.",
    ),
    Reason(
        "2",
        "Y = *",
        "*",
        "The paper has all of T2 in X, and values of T2 that one record alone holds match in every group of T1, so "
        "that k pairs of keys are k keys of T1; 5.5 % needs another X than its text has.",
    ),
    Reason(
        "4",
        "all join attributes*",
        "*",
        "The paper's score takes marital status first: of all attributes that are whole it tells most of the class, "
        "and nothing fails yet; that it stays whole does not follow from the algorithm of the text.",
    ),
    Reason(
        "4",
        "KAE",
        "*",
        "Ours: our cuts lie between elementary intervals of k rows, so that no extreme record shows, where the paper's "
        'lie between any two numbers; with such (`ranges = "boxes"`) it is 18.17 %.',
    ),
    Reason(
        "4",
        "XYE − BLE*",
        "*",
        "The paper's rule that a range has its best cut alone leaves ages and gains whole where that cut fails, at "
        "k = 200 most; with the next cut that passes it is 0.7 %.",
    ),
    Reason(
        "[58]", "*preprocessing*", "*", "Ours: our search does the preprocessing as well, and does not time it apart."
    ),
    Reason(
        "6",
        "RSE − XYE*",
        "*",
        "Ours: without four attributes our tree errs by 23.7 %, so that the largest benefit is above the paper's.",
    ),
    Reason(
        "6", "RJE − XYE*", "*", "Ours: our releases lose less than the paper's, so that the benefit is above its range."
    ),
    Reason(
        "7",
        "XYE, averaged",
        "*",
        "Ours: on unmodified data our tree errs by 14.76 %, a little above the paper's 14.7, and the loss from there "
        "is the paper's 1.1.",
    ),
    *(
        Reason(
            "7",
            says,
            "*",
            "Ours: our tree makes up for marital status by relationship, so that to remove it costs 0.2 points, less "
            "than any release does.",
        )
        for says in ("RSE − XYE, by TopN", "XYE is below*")
    ),
)


def claims(run: Run) -> list[Claim]:
    """Hold every figure and sentence against ours, in the order of the paper's figures."""
    every = list(_judge_sentences(REMOVED_SENTENCES, ReleaseFigures(run)))
    literal, *others = (ReleaseFigures(run, reading) for reading in READINGS)
    judged = [[*_judge_sentences(RELEASE_SENTENCES, of)] for of in (literal, *others)]
    for claim, *beside in zip(*judged, strict=True):
        readings = [_every_case(literal, claim)]
        readings += [
            f"{of.reading}: {', '.join(filter(None, (other.ours, other.verdict)))}"
            for of, other in zip(others, beside, strict=True)
            if _is_another(of, claim)
        ]
        if claim.of == "Set A" and claim.says.startswith("KAD"):
            readings.append(f"{EVERY_STEP}: {_without_the_last_rule(run, claim)}")
        every.append(replace(claim, other="; ".join(filter(None, readings))))
    every.append(_claim_on_keys(literal))
    every = sorted([*every, *time_claims(run)], key=lambda claim: claim.figure)
    if not run["full"]:
        every = [
            replace(claim, verdict=NOT_IN_A_QUICK_RUN) if claim.verdict == NOT_MEASURED else claim for claim in every
        ]
    return list(explain_claims(every, REASONS))


def _is_another(of: ReleaseFigures, claim: Claim) -> bool:
    """Whether there are releases by this reading in the figure of a claim; those with both keys in Y have none."""
    method = LINK if "linkability" in claim.of else XY
    return of.reading_of(claim.of[4], method) == of.reading and NAMES[ROW] not in claim.says


def _without_the_last_rule(run: Run, claim: Claim) -> str:
    """Say what a claim on KAD shows where k-anonymity takes steps of no gain as well."""
    kad = mean(run, CAT, data="A", method=KA, reading=EVERY_STEP)
    if claim.says == "KAD":
        return f"{kad:.2f} units"
    lower = [kad - ReleaseFigures(run).distortion("A", XY, CAT, top=top) for top in tops(run, "A", XY)]
    return f"{least(lower):.2f} to {most(lower):.2f} units"


def _judge_sentences(sentences: Iterable[Sentence], figures: ReleaseFigures) -> Iterator[Claim]:
    for (figure, of), says, theirs, judge in sentences:
        yield Claim(figure, says, of, theirs, *judge(figures))


def _claim_on_keys(of: ReleaseFigures) -> Claim:
    """With Y = {K1, K2}, count the x values with fewer than k keys of T1, at the largest TopN."""
    top = max(tops(of.run, "A", ROW))
    cases = select_cases(of.run, data="A", method=ROW, top=top, k=200)
    ours = "", NOT_MEASURED
    if case := next((case for case in cases if "x" in case), None):
        share = 100 * case["short"] / case["x"]
        ours = f"{share:.1f} % ({case['short']:,} of {case['x']:,})", holds_if(is_as_printed(share, "5.5"))
    says = f"Y = {{K1, K2}}, Top{top}, k = 200: x values with fewer than k keys of T1"
    return Claim(_A[0], says, _A[1], "5.5 %", *ours)


# The page.

_TITLES = {
    **dict.fromkeys(("Figure 1", "Figure 3"), "distortion, (X, Y)-anonymity"),
    **dict.fromkeys(("Figure 2", "Figure 4"), "errors, (X, Y)-anonymity"),
    **dict.fromkeys(("Figure 6", "Figure 7"), "errors, (X, Y)-linkability"),
}
_TAXONOMIES = """\
**Of the trees of ours the folder of the table has no five-level one, or none at all, for: {missing}. The one that it
has was taken, or the value was suppressed in one step; this is about the reading by our trees alone.**"""
_INTRO = """\
The experiments of section 6 of the sequential-release paper. T2 (immigration: marital status, relationship, sex,
native country, race) was published unmodified; T1 (taxation: the same three shared attributes, education, occupation,
workclass, in Set B six continuous attributes more, and the class) is released after it by `tds`, so that (X, Y)-privacy
holds on the join of both. XYE and XYE(row) are the errors with Y = K1 and Y = {K1, K2} (`$row` and
`immigration.$row`), KAE that of k-anonymity on all attributes of T1 (`tds` as well), BLE that of unmodified data, RJE
that without the three join attributes, RSE that without the attributes of Y. Errors and distortions (XYD, KAD) are of
the same releases, made with `score = "classification"`, the paper's equation (2) to the letter, along the taxonomy
trees of the top-down specialization papers. Distortion: one unit for each step that a categorical value is taken up its
taxonomy in a record, (b − a) / (f2 − f1) for a number published as [a, b); a number published as it is counts nothing.
A label that stands on several levels of a tree's file, so that all lines are equally long, is one step and not several.
Distortion is given per record. Every release was verified."""
_READINGS = """\
**Readings.** The paper's: score, trees and cuts as its text has them. *Conditional score*: `score = "conditional"`, an
addition of ours. *Next cut*: of a range the next best cut is tried where the best one fails (`next_cut = true`); the
text knows only "the binary split that maximizes InfoGain". *Our trees*: the trees of `hierarchies/`, which were made
before those of the papers were found. The baseline, k-anonymity, is top-down specialization of one table, which
specializes a value only where that is *beneficial* (`beneficial = true`): without that rule (*every step*) it takes one
step that gains nothing, from any work class to Worked, which all rows are; KAD is 8.23 then, and equals XYD of Top6,
which asks for the same. That the paper's two programs differ in this step is read off its figures: the text does not
say it, but gives a benefit of 1 at Top6, where both requirements are k-anonymity of T1."""
_TREE = f"""\
The tree is scikit-learn's (CART, entropy, at least {LEAST} training rows a leaf), where the paper does not name its
own. It is the same for every table; criterion, leaf size, pruning and the form of the labels were chosen once, on the
errors of unmodified data with and without the join attributes, out of 32 combinations, because these came near the
paper's BLE and RJE: that those are near is therefore no finding. A categorical attribute is seen as one column for each
label as published, a range by its middle. Training and testing rows are generalized together, as in
the paper, so the class entropies that guide `tds` are of both; the tree learns from training rows alone."""
_CONDITIONAL_SCORE = """\
**What was said here of the paper's score was wrong.** An earlier page said that it looks at one column at a time, and
that this is why its figures were missed. Its InfoGain is that of the rows under one label; but its PrivLoss is measured
over all columns of X, on the join, and the figures were missed because the trees were ours. With the trees of the
papers the score, to the letter, comes to the paper's figures.

**The conditional score is not the paper's, and was chosen before the papers' trees were found.** Its gain is the fall
of the class entropy within the classes of the table, over PrivLoss + 1 as in equation (1). It was picked among about
ten variants by looking at errors on the testing rows, along our trees: verdicts in its columns tell what can be
reached, not what an untouched test would have found."""
_NOTES = f"""\
A figure holds where it is the paper's, rounded to as many digits as the paper prints; a range where all of ours lie
within it, rounded likewise, so that better than the paper's best does not hold either. What is not very significant is
at most {SMALL:g} points. The figures plot averages over the thresholds, and averages by TopN are judged; every single
case stands beside. Not counted are figures that were chosen to fit (errors of unmodified data and of removals, on which
the tree was chosen), differences of two requirements that coincide, and seconds of a machine of 2006. Seconds of single
releases are of `anonymize` in a warm process from a table in memory, verification included, where the paper's have disk
I/O in them. What the paper counts as preprocessing (sorting, and an index of T2) is part of our search, and is not told
apart.

A requirement for which no release was made is left out of the averages and listed; those of Top2 at 10 % no release of
these rows can meet. With sex fully generalized, the value Female of T2 is joined to Unmarried in 11.0 % of the lines,
with sex as it is in 16.2 %, and to specialize other attributes leaves some value of X with at least as much.

X of (X, Y)-anonymity has the top N attributes of T1 (the paper's ranking), the join attributes, and all of T2.
Attributes of T1 outside X are published as they are. For (X, Y)-linkability the text says that X has all attributes in
T1 not in Y, "except T2.Ra and T2.Nc", and elsewhere that a shared attribute in X stands there from both tables. Taken
here: X has all attributes of T1 that are not in Y, and T2's copies of the shared ones among them; not race and native
country, and not T2's copies of attributes in Y, since these would give Y away. Attributes of Y stay as they are, and
join by equality. Each attribute of Y has a requirement of its own, on the less frequent half of its values (of seven
values three).

X of (X, Y)-anonymity has all of T2 in it, and T2 has values that one record alone holds, which match in every group of
T1: so a value of X has as many keys of T1 as pairs of keys where it has fewest, and Y = K1 asks for no more than
Y = {{K1, K2}}. Both make the same releases at every point.

The trees have the heights and leaves of the paper's Table 2, which does not print them; they are those that programs of
the same authors for top-down specialization use."""


def page(run: Run) -> str:
    """Write the page: what the paper states, times on enlarged tables, a plot and a table per figure, and notes."""
    parts = ["# Releases after releases: the sequential-release experiment", setting_line(run)]
    if len({moment["date"] for moment in run["parts"].values()}) > 1:
        dates = (f"{part} {moment['date']} (load {moment['load']})" for part, moment in run["parts"].items())
        parts.append(f"Parts: {', '.join(dates)}.")
    parts += [*caveats(run), _INTRO]
    if run.get("taxonomies"):  # where the folder of the table had not all of them
        parts.append(_TAXONOMIES.format(missing=", ".join(run["taxonomies"])))
    parts += [_READINGS, _TREE, _CONDITIONAL_SCORE, *_claim_parts(run), *scale_parts(run)]
    for part in MEASURED:
        for name, panels in part_figures(run, part).items():
            parts.append(f"## {name}: {_TITLES[name]}, Set {part[-1]}\n\n{picture(name, _stem(name))}")
            parts.append(_figure_table(panels))
    parts += [*_spread_parts(run), *_infeasible_parts(run), "## Notes", _NOTES]
    return "\n\n".join(parts) + "\n"


def _claim_parts(run: Run) -> Iterator[str]:
    every = claims(run)
    yield from ("## What the paper states", claims_table(every))
    for reading in READINGS[1:]:
        both = [claim for claim in every if f"{reading}: " in claim.other and claim.verdict != NOT_COUNTED]
        if both:
            ours = sum(claim.verdict == HOLDS for claim in both)
            other = sum(_holds_by(reading, claim) for claim in both)
            yield f"Of {len(both)} lines that it says anything of, {other} hold by *{reading}*, {ours} by the paper's."


def _holds_by(reading: str, claim: Claim) -> bool:
    """Whether a claim holds by another reading."""
    part = next(part for part in claim.other.split("; ") if part.startswith(f"{reading}: "))
    return part.endswith(f", {HOLDS}")


def _figure_table(panels: Sequence[Panel]) -> str:
    """Write a line per TopN and a column per line of the plot; of the second plot those that are not in the first."""
    first, *more = panels
    released = {NAMES[method] for method in (XY, KA)}
    lines = [*first.lines]
    for panel in more:
        reading = panel.title.split(", ")[1]
        lines += [replace(line, label=f"{line.label}, {reading}") for line in panel.lines if line.label in released]
    table = lines_table(first.across, lines, across="Top{:g}", up="{:.2f}")
    return f"In {first.up}, averaged over the thresholds.\n\n{table}"


def _spread_parts(run: Run) -> Iterator[str]:
    """Write distortion by reading and type of attribute, and the seconds of a release."""
    lines = []
    for data, method, reading in product("AB", RELEASED, (*READINGS, EVERY_STEP)):
        selection = {"data": data, "method": method, "reading": reading}
        if seconds := values(run, "seconds", **selection):
            losses = [f"{mean(run, key, **selection):.2f}" for key in (CAT, CONT)]
            lines.append([data, method, reading, *losses, f"{sum(seconds) / len(seconds):.2f}", f"{max(seconds):.2f}"])
    if lines:
        yield "## Distortion by reading, and seconds"
        yield markdown_table(("set", "method", "reading", "cat", "cont", "seconds a release", "at most"), lines)
        yield "Seconds are of `anonymize` in a warm process, the verifier included, from a table in memory."


def _infeasible_parts(run: Run) -> Iterator[str]:
    lines = [
        (case["data"], case["method"], f"Top{case['top']}", f"{case['k']:g}", case["infeasible"])
        for case in run["cases"]
        if "infeasible" in case
    ]
    if lines:
        yield "## Requirements for which no release was made"
        head = ("set", "method", "X, Y", "k", "what sfumato says")
        yield markdown_table(head, dict.fromkeys(lines))  # the same by every reading


_TERMS = """\
XYE and XYD are error and distortion under (X, Y)-privacy, XYE(row) the error with both keys in Y, KAE and KAD those of
k-anonymity, BLE the error of unmodified data, RJE that without the join attributes, RSE that without those in Y; TopN
says how many of the best attributes are in X (in Y for linkability)."""
PAPER = Paper(
    name="sequential",
    title="Anonymizing sequential releases",
    section="the sequential-release experiments",
    needs=("matplotlib", "sklearn"),
    run=run_experiment,
    claims=claims,
    page=page,
    plots=plots,
    terms=_TERMS,
)
