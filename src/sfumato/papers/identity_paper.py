"""The experiments of the identity-reserved paper, its section 5.

"Identity-reserved anonymity in privacy preserving data publishing": common against identity-reserved anonymity, and
global against local recoding, on Adult with several rows per person (rpi: rows per individual). Figures 1 and 2 count
groups that common k-anonymity leaves vulnerable, Figures 3 to 8 have the distortion ratio.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import IntArray
from sfumato.datasets import repeated
from sfumato.datasets.repeated import PERSON_COLUMN
from sfumato.papers.claims import (
    FAILS,
    HOLDS,
    NOT_AT_EVERY_STEP,
    Claim,
    Reason,
    Run,
    Verdict,
    decreases,
    explain_claims,
    holds_if,
    select_cases,
    stays_within,
)
from sfumato.papers.experiment import (
    SENSITIVE,
    AdultOccupations,
    Paper,
    RowSource,
    Tell,
    describe_run,
    report_progress,
)
from sfumato.papers.markdown_tables import caveats, claims_table, lines_table, markdown_table, picture, setting_line
from sfumato.papers.plots import Panel, PlotLine
from sfumato.release import anonymize

# The points: table, requirement and method of every release that is made.

PEOPLE = 40_000
COMMON, RESERVED = "k-anonymity", "identity-k-anonymity"
DIVERSITY, SHARES = "identity-kl-diversity", "identity-alpha-beta"
FIXED_K, FIXED_SHARE, FIXED_RPI = 10, 0.5, 1.4
COMPARED_RPIS = (1.2, 1.4)
"""The rows per individual of Figures 3 and 4."""


@dataclass(frozen=True)
class IdentityMethod:
    """A line of the plots; `improve` is our pass after the paper's algorithm, `suppression` a share of the rows."""

    label: str
    algorithm: str
    suppression: float = 0.0
    improve: bool = False

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm as a policy has it."""
        named = {"name": self.algorithm, "metric": "distortion", "improve": self.improve, "seed": 1}
        return named | ({"suppression": self.suppression} if self.suppression else {})


LOCAL = IdentityMethod("local", "bottom-up")
IMPROVED = IdentityMethod("local, improved", "bottom-up", improve=True)
GLOBAL = IdentityMethod("global", "optimal")
SUPPRESSING = tuple(
    IdentityMethod(f"global, ≤ {100 * share:g} % suppressed", "optimal", share) for share in (0.001, 0.01)
)
RECODINGS = (GLOBAL, LOCAL, *SUPPRESSING)
COMMON_METHODS = (LOCAL, SUPPRESSING[-1])
"""The text does not say by which algorithm the tables of Figures 1 and 2 are common k-anonymous."""


@dataclass(frozen=True)
class IdentityPoint:
    """One release: the rows per individual, the model, the method, and the keys that the model has.

    `uniform` says that sensitive values were drawn evenly.
    """

    rpi: float
    model: str
    method: IdentityMethod
    k: int | None = None
    l: int | None = None  # noqa: E741 - the model's own name
    alpha: float | None = None
    beta: float | None = None
    uniform: bool = False

    @property
    def keys(self) -> dict[str, float]:
        """The keys of the model with their values."""
        keys = {"k": self.k, "l": self.l, "alpha": self.alpha, "beta": self.beta}
        return {name: value for name, value in keys.items() if value is not None}

    @property
    def privacy(self) -> dict[str, Any]:
        """The requirement as a policy has it."""
        column = {"column": SENSITIVE} if self.model in {DIVERSITY, SHARES} else {}
        return {"model": self.model, **column, **self.keys}

    def as_json(self) -> dict[str, Any]:
        """Plain data: a case begins with it."""
        uniform = {"uniform": self.uniform} if self.model == DIVERSITY else {}
        return {"rpi": self.rpi, "model": self.model, **self.keys, "method": self.method.label, **uniform}


@dataclass(frozen=True)
class IdentityGrid:
    """The values that are run: rows per individual, k, l, and shares for both α and β; `improved` are values of k."""

    rpis: Sequence[float] = (1.2, 1.4, 1.6, 1.8)
    ks: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    ls: Sequence[int] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    shares: Sequence[float] = (0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    improved: Sequence[int] = (2, 5, 10)

    def points(self) -> list[IdentityPoint]:
        """Give every point once, in the order of the figures."""
        return list(dict.fromkeys(self._points()))

    def _points(self) -> Iterator[IdentityPoint]:
        # Figures 1 to 4: common k-anonymity everywhere, and the identity-reserved one beside it
        for method, rpi, k in product(COMMON_METHODS, self.rpis, self.ks):
            yield IdentityPoint(rpi, COMMON, method, k=k)
        for rpi, k in product(COMPARED_RPIS, self.ks):
            yield IdentityPoint(rpi, RESERVED, LOCAL, k=k)
        # Figures 5 and 6
        for method, k in product(RECODINGS, self.ks):
            yield IdentityPoint(FIXED_RPI, RESERVED, method, k=k)
        for uniform, method, values in product((True, False), (GLOBAL, LOCAL), self.ls):
            yield IdentityPoint(FIXED_RPI, DIVERSITY, method, k=FIXED_K, l=values, uniform=uniform)
        # Figures 7 and 8
        for share in self.shares:
            yield IdentityPoint(FIXED_RPI, SHARES, LOCAL, alpha=FIXED_SHARE, beta=share)
        for share in self.shares:
            yield IdentityPoint(FIXED_RPI, SHARES, LOCAL, alpha=share, beta=FIXED_SHARE)
        # not of the paper: what the improvement pass changes
        for rpi, k in product(self.rpis, self.improved):
            yield IdentityPoint(rpi, COMMON, IMPROVED, k=k)
        for rpi, k in product(COMPARED_RPIS, self.improved):
            yield IdentityPoint(rpi, RESERVED, IMPROVED, k=k)


FULL, QUICK = IdentityGrid(), IdentityGrid(COMPARED_RPIS, (2, 4, 10), (2, 6, 10), (0.2, 0.5, 0.9), ())


# What is measured at a point.


@dataclass(frozen=True)
class IdentityExperiment:
    """The Adult table, and how many of its rows are people."""

    adult: AdultOccupations
    people: int = PEOPLE

    def table(self, rpi: float, *, uniform: bool = False) -> Any:
        """Make the paper's table of so many rows per individual; with occupations as they are, or drawn evenly."""
        frame = draw_evenly(self.adult.frame, SENSITIVE) if uniform else self.adult.frame
        return repeated(frame, rpi, people=self.people, sensitive=SENSITIVE)

    def policy(self, model: Mapping[str, Any], search: Mapping[str, Any]) -> dict[str, Any]:
        """Write a policy; common k-anonymity does not know of the individuals."""
        role = "identifier" if model["model"] == COMMON else "individual"
        columns = {PERSON_COLUMN: {"role": role}, **self.adult.columns}
        return {"columns": columns, "privacy": [dict(model)], "algorithm": dict(search)}

    def measure_point(self, point: IdentityPoint) -> dict[str, Any]:
        """Measure a point's verified release.

        A suppressed row counts as lost in the distortion ratio; ``published`` is the ratio of published rows alone.
        """
        table = self.table(point.rpi, uniform=point.uniform)
        release = anonymize(table, self.policy(point.privacy, point.method.search))
        rows, persons = count_rows_and_people(release.recoding.class_of, table.column(PERSON_COLUMN).to_numpy())
        k, loss = point.k or 0, release.utility.distortion_ratio
        total, suppressed = release.encoded.rows, release.suppressed
        return {
            **point.as_json(),
            "rows": total,
            "suppressed": suppressed,
            "classes": len(rows),
            "vulnerable": int(np.count_nonzero((rows >= k) & (persons < k))),
            "single": int(np.count_nonzero(persons == 1)),
            "distortion": loss,
            "published": (loss * total - suppressed) / (total - suppressed),
            "ncp": release.utility.ncp,
        }


def draw_evenly(frame: Any, column: str) -> Any:
    """Draw the values of a column anew, each as likely as any other; where a row stands says nothing of its value.

    >>> drawn = draw_evenly(pa.table({"job": ["cook"] * 60 + ["clerk"] * 3 + ["smith"]}), "job")
    >>> all(count >= 10 for count in drawn["job"].value_counts().field("counts").to_pylist())
    True
    """
    plain = frame[column].cast(pa.string())
    values = sorted(plain.unique().to_pylist())
    codes = np.random.default_rng(1).integers(0, len(values), frame.num_rows)
    return frame.set_column(frame.column_names.index(column), column, pa.array(values).take(pa.array(codes)))


def count_rows_and_people(class_of: IntArray, ids: IntArray) -> tuple[IntArray, IntArray]:
    """Count the rows of each class, and the people they are of; rows of class -1 are in none.

    class_of, ids: int[n], the class and the number of the person of each row; both results are int[classes].

    >>> count_rows_and_people(np.array([0, 0, 1, 1, -1]), np.array([7, 7, 7, 8, 9]))
    (array([2, 2]), array([1, 2]))
    """
    published, people = class_of[class_of >= 0], ids[class_of >= 0]
    width = int(ids.max(initial=0)) + 1
    return np.bincount(published), np.bincount(np.unique(published * width + people) // width)


def run_experiment(source: RowSource, quick: bool, tell: Tell) -> dict[str, Any]:
    """Make and measure every release of every figure."""
    grid, adult = QUICK if quick else FULL, AdultOccupations.from_source(source)
    experiment = IdentityExperiment(adult, min(PEOPLE, adult.frame.num_rows))
    points = grid.points()
    measured = (experiment.measure_point(point) for point in points)
    cases = list(report_progress(measured, len(points), tell, _describe_case))
    about = {"source": source.kind, "people": experiment.people, "rpis": list(grid.rpis)}
    return describe_run(cases, full=not quick and source.folder is not None) | about


def _describe_case(case: Mapping[str, Any]) -> str:
    asked = ", ".join(f"{key} = {case[key]}" for key in ("rpi", "k", "l", "alpha", "beta") if key in case)
    return f"{case['method']}, {case['model']}, {asked}: distortion {case['distortion']:.3f}"


# The figures: which cases each of their lines is made of.

Selection = Mapping[str, Any]
_UNITS = {
    "vulnerable ratio": "vulnerable group ratio",
    "single ratio": "single value group ratio",
    "distortion": "distortion ratio",
}
_AXES = {"k": "k", "l": "l", "alpha": "α", "beta": "β"}


def series(run: Run, selection: Selection, across: str, up: str) -> tuple[list[Any], list[float]]:
    """Find what the selected cases differ in, in order, and what was measured there, or its ratio to all groups.

    >>> case = {"model": "k-anonymity", "k": 2, "classes": 8, "vulnerable": 2}
    >>> series({"cases": [case | {"k": 5, "vulnerable": 1}, case]}, {"model": "k-anonymity"}, "k", "vulnerable ratio")
    ([2, 5], [0.25, 0.125])
    """
    cases = sorted(select_cases(run, **selection), key=lambda case: case[across])
    key = up.removesuffix(" ratio")
    values = [case[key] if up == key else case[key] / case["classes"] for case in cases]
    return [case[across] for case in cases], values


def common(rpi: float, method: IdentityMethod = LOCAL) -> Selection:
    """Select the cases of common k-anonymity."""
    return {"model": COMMON, "rpi": rpi, "method": method.label}


def reserved(rpi: float, method: IdentityMethod = LOCAL) -> Selection:
    """Select the cases of identity-reserved k-anonymity."""
    return {"model": RESERVED, "rpi": rpi, "method": method.label}


def diversity(method: IdentityMethod, *, uniform: bool = True) -> Selection:
    """Select the cases of (k, l)-diversity; of evenly drawn sensitive values, or of occupations as they are."""
    return {"model": DIVERSITY, "rpi": FIXED_RPI, "k": FIXED_K, "method": method.label, "uniform": uniform}


def shares(fixed: str) -> Selection:
    """Select the cases of (α, β)-anonymity with one of the two fixed."""
    return {"model": SHARES, "rpi": FIXED_RPI, fixed: FIXED_SHARE, "method": LOCAL.label}


@dataclass(frozen=True)
class IdentityFigure:
    """One of the paper's figures: what is measured (`up`) against what (`across`), and the cases of each line."""

    name: str
    fixed: str
    across: str
    lines: Mapping[str, Selection]
    up: str = "distortion"

    @property
    def title(self) -> str:
        """As the paper's captions say it, with what is fixed."""
        return f"{self.name}: {_UNITS[self.up]}, {self.fixed}"

    def panel(self, run: Run) -> Panel:
        """Plot the figure."""
        lines = [PlotLine(label, *series(run, cases, self.across, self.up)) for label, cases in self.lines.items()]
        return Panel(self.title.replace(", ", "\n", 1), _AXES[self.across], _UNITS[self.up], lines)


def paper_figures(run: Run) -> dict[str, list[IdentityFigure]]:
    """Give the paper's figures, two to a picture; the first two by two methods."""
    groups, against_common = [], []
    for method, (name, up) in product(COMMON_METHODS, (("Figure 1", "vulnerable ratio"), ("Figure 2", "single ratio"))):
        by_rpi = {f"rpi = {rpi}": common(rpi, method) for rpi in run["rpis"]}
        groups.append(IdentityFigure(name, f"common k-anonymity, {method.label}", "k", by_rpi, up))
    for number, rpi in enumerate(COMPARED_RPIS, 3):
        both = {"common": common(rpi), "identity-reserved": reserved(rpi)}
        against_common.append(IdentityFigure(f"Figure {number}", f"local recoding, rpi = {rpi}", "k", both))
    by_k = {method.label: reserved(FIXED_RPI, method) for method in RECODINGS}
    by_l, as_they_are = (
        {method.label: diversity(method, uniform=uniform) for method in (GLOBAL, LOCAL)} for uniform in (True, False)
    )
    beside = f"(k, l)-diversity of occupations as they are, k = {FIXED_K}"
    recodings = [
        IdentityFigure("Figure 5", f"k-anonymity, rpi = {FIXED_RPI}", "k", by_k),
        IdentityFigure("Figure 6", f"(k, l)-diversity, k = {FIXED_K}, rpi = {FIXED_RPI}", "l", by_l),
        IdentityFigure("Figure 6", f"{beside}, rpi = {FIXED_RPI}", "l", as_they_are),
    ]
    by_share = [
        IdentityFigure(name, f"{_AXES[fixed]} = {FIXED_SHARE}, rpi = {FIXED_RPI}", across, {"local": shares(fixed)})
        for name, fixed, across in (("Figure 7", "alpha", "beta"), ("Figure 8", "beta", "alpha"))
    ]
    return {
        "identity-groups": groups,
        "identity-common": against_common,
        "identity-recoding": recodings,
        "identity-shares": by_share,
    }


def plots(run: Run) -> dict[str, list[Panel]]:
    """Plot the figures, by the name of the file."""
    return {name: [figure.panel(run) for figure in members] for name, members in paper_figures(run).items()}


# What the paper states of its figures.

SLIGHT, SLOW, STEADY, MUCH, REST = 0.05, 0.05, 1.05, 0.5, 0.1
"""Thresholds, since the text has none; the page says what each is of."""
MOST_ROWS = 3
"""The most rows that a person has."""


REASONS: tuple[Reason, ...] = (
    Reason(
        "2",
        "single value groups exist only*",
        "*",
        "A group with more rows than anybody has cannot be one person's, whatever was done, so that it could not fail.",
        idle=True,
    ),
    Reason(
        "1",
        "ratio of vulnerable groups decreases as k increases",
        "local*",
        "The paper argues with the number of people in a group, but a group of about k rows is vulnerable as soon as "
        "two of them are one person's, which is the likelier the more rows it has; their number falls.",
    ),
    Reason(
        "1",
        "ratio of vulnerable groups decreases as k increases",
        "global*",
        "Ours: the text does not say how its table was made k-anonymous, and by full-domain recoding another "
        "generalization is best at each k, so that single steps jump.",
    ),
    Reason(
        "5",
        "global recoding has a bit lower*",
        "*",
        "Ours: the text does not say how many rows it suppressed, and with 0.1 or 1 % of them more is gained than what "
        "we call a bit.",
    ),
    Reason(
        "6",
        "distortion increases slowly as l increases",
        "*",
        "Ours: of evenly drawn values an l up to 7 asks for next to nothing, so that one step of the greedy algorithm "
        "shows, which is four tenths of a thousandth down.",
    ),
    Reason(
        "8",
        "distortion decreases as α increases*",
        "*",
        "Ours: the algorithm is greedy, so that a weaker requirement need not lose less at every single step.",
    ),
)


def claims(run: Run) -> list[Claim]:
    """Hold every sentence against our figures, for all that it is about."""
    every = [
        *_claims_on_groups(run),
        *_claims_against_common(run),
        *_claims_on_recodings(run),
        *_claims_on_diversity(run),
        *_claims_on_shares(run),
    ]
    return list(explain_claims(every, REASONS))


def grows_slowly(places: Sequence[float], values: Sequence[float]) -> Verdict:
    """Judge whether no value is lower than the one before, or higher by more than a little for each unit across.

    >>> grows_slowly([2, 3, 4], [0.10, 0.12, 0.15])
    ('0.100 → 0.150, at most 0.030 a step', 'holds')
    >>> grows_slowly([2, 3], [0.1, 0.3])[1], grows_slowly([2, 3, 4], [0.12, 0.11, 0.13])[1]
    ('does not hold', 'from end to end, not at every step')
    """
    pairs = zip(pairwise(places), pairwise(values), strict=True)
    steps = [(after - before) / (to - at) for (at, to), (before, after) in pairs]
    figure = f"{values[0]:.3f} → {values[-1]:.3f}, at most {max(steps):.3f} a step"
    if values[-1] < values[0] or max(steps) > SLOW:
        return figure, FAILS
    return figure, HOLDS if min(steps) >= 0 else NOT_AT_EVERY_STEP


def _values(run: Run, selection: Selection, across: str = "k", up: str = "distortion") -> list[float]:
    return series(run, selection, across, up)[1]


def _claims_on_groups(run: Run) -> Iterator[Claim]:
    """Judge Figures 1 and 2: ratios as the text has them, and the number of vulnerable groups beside."""
    kinds = (("1", "vulnerable", "vulnerable groups"), ("2", "single", "single value groups"))
    for (figure, key, groups), method in product(kinds, COMMON_METHODS):
        ratios = {rpi: _values(run, common(rpi, method), up=f"{key} ratio") for rpi in run["rpis"]}
        for rpi, by_k in ratios.items():
            says, of = f"ratio of {groups} decreases as k increases", f"{method.label}, rpi = {rpi}"
            number = decreases(_values(run, common(rpi, method), up=key), "{:,.0f}")
            other = f"their number: {', '.join(number)}" if key == "vulnerable" else ""
            yield Claim(figure, says, of, "decreases", *decreases(by_k), other)
        columns = list(zip(*reversed(ratios.values()), strict=True))  # per k, from the highest rpi to the lowest
        held = sum(decreases(by_rpi)[1] == HOLDS for by_rpi in columns)
        ours = f"at {held} of {len(columns)} values of k", holds_if(held == len(columns))
        yield Claim(figure, f"ratio of {groups} decreases as rpi decreases", method.label, "decreases", *ours)
    single = sum(case["single"] for case in select_cases(run, model=COMMON) if case["k"] > MOST_ROWS)
    says = "single value groups exist only where k is at most the rows of a person"
    yield Claim("2", says, f"k > {MOST_ROWS}", "none", f"{single} groups", holds_if(single == 0))


def _claims_against_common(run: Run) -> Iterator[Claim]:
    """Judge Figures 3 and 4."""
    for figure, rpi in zip("34", COMPARED_RPIS, strict=True):
        pairs = zip(_values(run, common(rpi)), _values(run, reserved(rpi)), strict=True)
        more = [ours - theirs for theirs, ours in pairs]
        lower = f"at {sum(step > 0 for step in more)} of {len(more)} values of k", holds_if(min(more) > 0)
        yield Claim(figure, "common k-anonymity has less distortion", f"rpi = {rpi}", "less", *lower)
        most = f"at most {max(more):.3f} more", holds_if(max(more) <= SLIGHT)
        yield Claim(figure, "the difference to common k-anonymity is slight", f"rpi = {rpi}", "slight", *most)


def _claims_on_recodings(run: Run) -> Iterator[Claim]:
    """Judge Figure 5."""
    for method in RECODINGS:
        slowly = grows_slowly(*series(run, reserved(FIXED_RPI, method), "k", "distortion"))
        yield Claim("5", "distortion increases slowly as k increases", method.label, "increases slowly", *slowly)
    without = _values(run, reserved(FIXED_RPI, GLOBAL))
    share = max(local / full for local, full in zip(_values(run, reserved(FIXED_RPI)), without, strict=True))
    much = f"at most × {share:.2f}", holds_if(share <= MUCH)
    yield Claim("5", "local recoding has much lower distortion than global", "every k", "much lower", *much)

    def lower_by_a_bit(method: IdentityMethod, up: str) -> Verdict:
        values = _values(run, reserved(FIXED_RPI, method), up=up)
        less = [before - after for before, after in zip(without, values, strict=True)]
        verdict = "lower, by more than a bit" if min(less) > 0 and max(less) > SLIGHT else holds_if(min(less) > 0)
        return f"by {min(less):.3f} to {max(less):.3f}", verdict

    for method in SUPPRESSING:
        says = "global recoding has a bit lower distortion with suppression"
        alone = f"published rows alone: {', '.join(lower_by_a_bit(method, 'published'))}"
        yield Claim("5", says, method.label, "a bit lower", *lower_by_a_bit(method, "distortion"), alone)


def _claims_on_diversity(run: Run) -> Iterator[Claim]:
    """Judge Figure 6, and Figure 5 beside it; evenly drawn values as the text has them, occupations beside."""

    def steady(*, uniform: bool) -> Verdict:
        return stays_within(_values(run, diversity(GLOBAL, uniform=uniform), "l"), STEADY)

    def slowly(*, uniform: bool) -> Verdict:
        return grows_slowly(*series(run, diversity(LOCAL, uniform=uniform), "l", "distortion"))

    def little(method: IdentityMethod, *, uniform: bool) -> Verdict:
        lines = _values(run, diversity(method, uniform=uniform), "l"), _values(run, reserved(FIXED_RPI, method))
        by_l, by_k = (values[-1] - values[0] for values in lines)
        return f"by {by_l:.3f} along l, by {by_k:.3f} along k", holds_if(by_l <= MUCH * by_k)

    def beside(verdict: Verdict) -> str:
        return f"occupations as they are: {', '.join(verdict)}"

    says = "distortion keeps steady as l increases"
    yield Claim("6", says, GLOBAL.label, "steady", *steady(uniform=True), beside(steady(uniform=False)))
    says, of = "distortion increases slowly as l increases", LOCAL.label
    yield Claim("6", says, of, "increases slowly", *slowly(uniform=True), beside(slowly(uniform=False)))
    for method in (GLOBAL, LOCAL):
        says, other = "l affects distortion little compared to k", beside(little(method, uniform=False))
        yield Claim("5, 6", says, method.label, "little", *little(method, uniform=True), other)


def _claims_on_shares(run: Run) -> Iterator[Claim]:
    """Judge Figures 7 and 8."""
    places, by_beta = series(run, shares("alpha"), "beta", "distortion")
    by_alpha = _values(run, shares("beta"), "alpha")
    place = places.index(FIXED_SHARE)
    fallen, other = by_beta[0] - by_beta[place], by_alpha[0] - by_alpha[place]
    share, rest = by_beta[place] / by_beta[0], (by_beta[place] - by_beta[-1]) / (by_beta[0] - by_beta[-1])
    remarkable = f"× {share:.2f} at β = {FIXED_SHARE}", holds_if(share <= MUCH)
    steady = f"{rest:.0%} of the decrease is beyond", holds_if(abs(rest) <= REST)
    steeper = f"by {fallen:.3f} against {other:.3f}", holds_if(fallen > other)
    similar = "distortion decreases as α increases, similar to Figure 7"
    both = f"Figure 7 decreases steeper than Figure 8 (up to {FIXED_SHARE})"
    yield Claim("7", "distortion decreases as β increases", LOCAL.label, "decreases", *decreases(by_beta))
    yield Claim("7", "distortion decreases remarkably", LOCAL.label, "remarkably", *remarkable)
    yield Claim("7", f"steady once β matches α ({FIXED_SHARE})", LOCAL.label, "steady", *steady)
    yield Claim("8", similar, LOCAL.label, "decreases", *decreases(by_alpha))
    yield Claim("7, 8", both, LOCAL.label, "steeper", *steeper)


# The page.

_INTRO = """\
The experiments of section 5 of the identity-reserved paper: {people:,} rows of Adult, drawn at random, are people; by
its Table 6 some of them get a second row and some a third, with the same quasi-identifiers and another occupation
(`datasets.repeated`). The eight quasi-identifiers are those of the lossy-join paper, the salary class among them;
occupation is sensitive, since a person with three rows needs three values and the salary class has two. What the text
says of Figure 6 it says of sensitive values that "distribute uniformly", which occupations do not; so Figure 6 is of
occupations that were drawn anew, each as likely as any other, and beside it of those that people have. Distortion
ratio: levels climbed, of all there are. Local recoding is the paper's bottom-up algorithm (`bottom-up`, without our
improvement pass), global recoding the full-domain optimum by distortion (`optimal`). A vulnerable group has at least k
rows and fewer than k people, a single value group the rows of one person. Every release was verified."""
_NOTES = f"""\
The text has words where a check needs numbers. Slight and a bit: at most {SLIGHT} of distortion ratio. Slowly: never
lower, and at most {SLOW} higher for each 1 of k or l, which is about a level of one attribute. Steady: at most ×
{STEADY} between the largest and the smallest, and for β at most {REST:.0%} of the whole decrease. Much lower and
remarkably: at most half (× {MUCH}), and so for l beside k, of the increase from end to end. Decreases: lower at every
step, or none left. The text does not say which rpi Figures 5 to 8 have, nor the k of Figure 6; here they are
{FIXED_RPI} and {FIXED_K}. Nor does it say how many rows may be suppressed, or whether suppressed ones count in the
ratio; plots and verdicts count them as lost. β begins where it does because no class can be below the share of the most
frequent occupation in the table. A person's rows with equal quasi-identifiers stay in one class wherever the individual
is known (`keep_together`, the default)."""
_SIZES = """\
Figure 1 depends on how common k-anonymity is reached, which the text does not say. It argues that groups have more
people as k increases. But what counts is how many more than k: a group of exactly k rows is vulnerable as soon as two
of them are one person's, which should be the likelier the more rows there are. On average classes have {sizes}.
Global recoding was added here after local recoding had not shown the trend; in single runs top-down, progressive and
mondrian did not show it either, and global recoding without suppression left next to no vulnerable groups."""


def page(run: Run) -> str:
    """Write the page: what the paper states, a plot and a table per figure of the paper, and notes."""
    parts = ["# Several rows per person: the identity-reserved experiment", setting_line(run), *caveats(run)]
    parts += [_INTRO.format(people=run["people"]), "## What the paper states", claims_table(claims(run))]
    for stem, members in paper_figures(run).items():
        title = " and ".join(dict.fromkeys(figure.name for figure in members))
        parts.append(f"## {title}\n\n{picture(title, stem)}")
        for figure in members:
            form = "{:.2%}" if figure.up.endswith("ratio") else "{:.3f}"  # ratios of groups are percentages
            table = lines_table(_AXES[figure.across], figure.panel(run).lines, up=form)
            parts.append(f"### {figure.title}\n\n{table}")
    parts += [*_improvement(run), "## Notes", _NOTES, _describe_class_sizes(run)]
    return "\n\n".join(parts) + "\n"


def _improvement(run: Run) -> Iterator[str]:
    """Write what the improvement pass changes, where it was run."""
    lines = []
    for better in select_cases(run, method=IMPROVED.label):
        keys = {key: better[key] for key in ("model", "rpi", "k")}
        both = (select_cases(run, method=LOCAL.label, **keys)[0], better)
        model = {COMMON: "common", RESERVED: "identity-reserved"}[keys["model"]]
        losses = [f"{case['distortion']:.3f}" for case in both]
        ratios = [f"{case[key] / case['classes']:.2%}" for key in ("vulnerable", "single") for case in both]
        lines.append([model, f"{keys['rpi']}", f"{keys['k']}", *losses, *ratios])
    if lines:
        head = ("model", "rpi", "k", "distortion", "improved", "vulnerable", "improved", "single", "improved")
        yield "## With the improvement pass"
        yield markdown_table(head, lines)


def _describe_class_sizes(run: Run) -> str:
    """Say how much larger than k classes are, which Figure 1 depends on."""
    ranges = []
    for method in COMMON_METHODS:
        cases = select_cases(run, model=COMMON, method=method.label)
        sizes = [(case["rows"] - case["suppressed"]) / case["classes"] / case["k"] for case in cases]
        ranges.append(f"{min(sizes):.1f} to {max(sizes):.1f} × k rows ({method.label})")
    return _SIZES.format(sizes=" and ".join(ranges))


_TERMS = """\
rpi is the rows per individual; a vulnerable group has at least k rows and fewer than k people, a single value group the
rows of one person; local is the paper's bottom-up algorithm, global the full-domain optimum."""
PAPER = Paper(
    name="identity",
    title="Identity-reserved anonymity in privacy preserving data publishing",
    section="the identity-reserved experiments",
    needs=("matplotlib",),
    run=run_experiment,
    claims=claims,
    page=page,
    plots=plots,
    terms=_TERMS,
)
