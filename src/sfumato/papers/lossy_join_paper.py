"""The experiment of the lossy-join paper, its section 7.

"(α, k)-anonymity based privacy preservation by lossy join": query error of Alpha (generalized), Anatomy and
Alpha(Lossy) on Adult, against the number of quasi-identifiers (Figure 2), query dimensionality (Figure 3), selectivity
(Figure 4) and table size (Figure 5).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise, product
from statistics import fmean
from typing import Any

import numpy as np

from sfumato.labels.data_dictionary import describe_labels
from sfumato.papers.claims import (
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
from sfumato.release import Release, anonymize
from sfumato.split import tables_from_recoding
from sfumato.utility.query_error import (
    CountEstimator,
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    measure_query_errors,
    tables_of_labels,
)

# The points, and the methods that are compared at each.

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")
"""The eight quasi-identifiers of the paper's Table 8, in its order; its ninth, the occupation, is sensitive."""
K, ALPHA = 2, 0.33
SEED = 1
SMALLER_TABLES = (5_000, 10_000, 20_000, 30_000, 40_000)


@dataclass(frozen=True)
class LossyJoinPoint:
    """What is asked for: rows, how many quasi-identifiers there are, how many a query asks of, how selective it is."""

    rows: int
    attributes: int = 8
    dimensions: int = 4
    selectivity: float = 0.05


@dataclass(frozen=True)
class LossyJoinMethod:
    """A line of the plots: `values` is the ℓ of Anatomy's buckets, `improve` our pass after the paper's algorithm.

    `refined` is the bound that the papers adopt: ⌈α·size⌉ rows of a class may have the same value.
    """

    label: str
    form: str
    values: int = 0
    improve: bool = False
    refined: bool = True

    @property
    def short(self) -> str:
        """A name for a line of many."""
        return f"Anatomy {self.values}" if self.values else "Lossy" if self.form == "lossy-join" else "Alpha"

    @property
    def privacy(self) -> dict[str, Any]:
        """What a policy requires of every class."""
        if self.values:
            return {"model": "distinct-l-diversity", "column": SENSITIVE, "l": self.values}
        model = {"model": "alpha-k-anonymity", "column": SENSITIVE, "k": K, "alpha": ALPHA}
        return model | ({"refined": True} if self.refined else {})

    @property
    def search(self) -> dict[str, Any]:
        """The algorithm as a policy has it."""
        return {"name": "anatomy"} if self.values else {"name": "top-down", "improve": self.improve}


ALPHA_LOSSY = LossyJoinMethod("Alpha(Lossy)", "lossy-join")
ANATOMIES = tuple(LossyJoinMethod(f"Anatomy, ℓ = {values}", "anatomy", values) for values in (3, 4))
GENERALIZED = LossyJoinMethod("Alpha", "generalized")
METHODS = (ALPHA_LOSSY, *ANATOMIES, GENERALIZED)
PLAIN = {alpha: replace(alpha, label=f"{alpha.label}, plain α", refined=False) for alpha in (ALPHA_LOSSY, GENERALIZED)}
"""The same with α·size as the bound, which the papers begin with and leave as too restrictive."""
IMPROVED = tuple(replace(alpha, label=f"{alpha.label}, improved", improve=True) for alpha in (ALPHA_LOSSY, GENERALIZED))


@dataclass(frozen=True)
class LossyJoinPlan:
    """Queries a point, and the methods that are added at the default point."""

    queries: int = 1000
    extra: Sequence[LossyJoinMethod] = IMPROVED


FULL, QUICK = LossyJoinPlan(), LossyJoinPlan(300, ())


def sweep_points(rows: int, *, quick: bool = False) -> dict[str, list[LossyJoinPoint]]:
    """Give the points of each sweep, by the field that it varies; all of them pass through the default point."""
    default = LossyJoinPoint(rows)
    sizes = [size for size in SMALLER_TABLES if size < rows] or [rows // 4, rows // 2]
    varied: dict[str, Sequence[float]] = {
        "attributes": (4, 5, 6, 7, 8),
        "dimensions": (1, 2, 3, 4, 5, 6, 7, 8),
        "selectivity": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3),
        "rows": [*sizes, rows],
    }
    chosen = {sweep: values[:: len(values) // 2] if quick else values for sweep, values in varied.items()}
    return {
        sweep: [replace(default, **{sweep: value}) for value in sorted({*values, getattr(default, sweep)})]
        for sweep, values in chosen.items()
    }


def distinct_points(sweeps: Mapping[str, Sequence[LossyJoinPoint]]) -> list[LossyJoinPoint]:
    """Give every point once, those of one table and one number of quasi-identifiers together."""
    points = {point for members in sweeps.values() for point in members}
    return sorted(points, key=lambda point: (-point.rows, -point.attributes, point.dimensions, point.selectivity))


# What is measured at a point.


def make_release(adult: AdultOccupations, method: LossyJoinMethod, point: LossyJoinPoint) -> Release:
    """Make the verified release of a method; quasi-identifiers beyond the point's number are left out of it.

    Rows are drawn at random, those of a smaller table among those of a larger one.
    """
    left_out = {name: {"role": "identifier"} for name in QUASI[point.attributes :]}
    policy = {
        "columns": adult.columns | left_out,
        "privacy": [method.privacy],
        "algorithm": method.search | {"seed": SEED},
        "publish": {"form": method.form},
    }
    sample = np.sort(np.random.default_rng(SEED).permutation(adult.frame.num_rows)[: point.rows])
    return anonymize(adult.frame.take(sample), policy)


def answers_from(release: Release) -> CountEstimator:
    """Prepare a release to answer queries on the occupation."""
    if release.policy.publish.split:
        return estimator_from_tables(
            tables_from_recoding(release.encoded, release.recoding), release.encoded, SENSITIVE
        )
    labels = tables_of_labels(release.encoded, release.recoding)
    entries = {
        column.name: describe_labels(release.policy.columns[column.name], column.texts) for column in labels.quasi
    }
    return estimator_from_labels(labels, release.encoded, SENSITIVE, entries=entries)


def measure_points(
    adult: AdultOccupations, points: Sequence[LossyJoinPoint], plan: LossyJoinPlan
) -> Iterator[dict[str, Any]]:
    """Measure the query errors of each method at each point, all asked the same queries; some at the default alone."""
    default = LossyJoinPoint(adult.frame.num_rows)
    for rows, attributes in dict.fromkeys((point.rows, point.attributes) for point in points):
        table_points = [point for point in points if (point.rows, point.attributes) == (rows, attributes)]
        for method in (*METHODS, *PLAIN.values(), *(plan.extra if default in table_points else ())):
            release = make_release(adult, method, table_points[0])
            answers = answers_from(release)
            for point in [default] if method in plan.extra else table_points:
                work = Workload(plan.queries, point.dimensions, point.selectivity, SEED)
                errors = measure_query_errors(draw_queries(release.encoded, SENSITIVE, work), answers).as_json()
                figures = {key: errors[key] for key in ("answered", "zero", "expected", "paper")}
                classes = len(release.recoding.classes)
                yield {**vars(point), "classes": classes, **figures, "method": method.label}


def run_experiment(source: RowSource, quick: bool, tell: Tell) -> dict[str, Any]:
    """Run every method at every point."""
    plan, adult = QUICK if quick else FULL, AdultOccupations.from_source(source)
    sweeps = sweep_points(adult.frame.num_rows, quick=quick)
    points = distinct_points(sweeps)
    total = len(points) * len([*METHODS, *PLAIN]) + len(plan.extra)
    cases = list(report_progress(measure_points(adult, points, plan), total, tell, _describe_case))
    return describe_run(cases, full=not quick and source.folder is not None) | {
        "source": source.kind,
        "queries": plan.queries,
        "default": asdict(LossyJoinPoint(adult.frame.num_rows)),
        "sweeps": {sweep: [getattr(point, sweep) for point in members] for sweep, members in sweeps.items()},
    }


def _describe_case(case: Mapping[str, Any]) -> str:
    point = f"n = {case['rows']:,}, d = {case['attributes']}, qd = {case['dimensions']}, s = {case['selectivity']}"
    return f"{case['method']}, {point}: error {case['expected']['average']:.4f}"


# The figures of a run.

FIGURES = {"attributes": "2", "dimensions": "3", "selectivity": "4", "rows": "5"}
ACROSS = {
    "attributes": "quasi-identifiers (d)",
    "dimensions": "query dimensionality (qd)",
    "selectivity": "selectivity (s)",
    "rows": "rows (n)",
}
PAPER_ESTIMATE, EXPECTED = "paper", "expected"
ESTIMATES = {EXPECTED: "expected value", PAPER_ESTIMATE: "the paper's"}
MEASURES = ("average", "median")
PICTURES = {
    "lossy-join-expected": (EXPECTED, "average"),
    "lossy-join-paper": (PAPER_ESTIMATE, "average"),
    "lossy-join-paper-median": (PAPER_ESTIMATE, "median"),
}
"""The estimate and the measure of each picture, by the name of its file."""


def run_points(run: Run) -> list[dict[str, Any]]:
    """Give every point of a run once, in the order of the sweeps."""
    points = [run["default"] | {sweep: value} for sweep, values in run["sweeps"].items() for value in values]
    return [point for place, point in enumerate(points) if point not in points[:place]]


def cases_at(run: Run, point: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Find the case of each method at a point, by the method's label."""
    return {case["method"]: case for case in select_cases(run, **point)}


def errors_along(run: Run, sweep: str, method: LossyJoinMethod, estimate: str, measure: str = "average") -> list[float]:
    """Give the errors of a method along a sweep."""
    cases = [cases_at(run, run["default"] | {sweep: value})[method.label] for value in run["sweeps"][sweep]]
    return [case[estimate][measure] for case in cases]


def sweep_lines(run: Run, sweep: str, estimate: str, measure: str) -> list[PlotLine]:
    """Give the line of each method along a sweep."""
    places, methods = run["sweeps"][sweep], (*METHODS, *PLAIN.values())
    return [PlotLine(method.label, places, errors_along(run, sweep, method, estimate, measure)) for method in methods]


def plots(run: Run) -> dict[str, list[Panel]]:
    """Plot the paper's four figures for each estimate, by the name of the file."""
    panels: dict[str, list[Panel]] = {stem: [] for stem in PICTURES}
    for (stem, (estimate, measure)), sweep in product(PICTURES.items(), run["sweeps"]):
        title, up = f"Figure {FIGURES[sweep]}: {ACROSS[sweep]}", f"{measure} relative error"
        panels[stem].append(Panel(title, ACROSS[sweep], up, sweep_lines(run, sweep, estimate, measure), "y"))
    return panels


# What the paper states of its figures. Each sentence is held against the paper's estimate and the refined bound; the
# expected value, which is not the paper's, is a second reading, and the plain bound a third.

PLAIN_BOUND = "plain α"
"""What the page calls the reading by the plain bound and the paper's estimate."""
FLAT, LITTLE = 1.5, 2.0
"""What may lie between the largest and the smallest error of a line that is unchanged, or little affected."""
TRENDS: dict[str, tuple[str, str, Callable[[Sequence[float]], Verdict]]] = {
    "attributes": (
        "is unchanged by the number of quasi-identifiers",
        "unchanged",
        lambda errors: stays_within(errors, FLAT),
    ),
    "dimensions": (
        "is little affected by query dimensionality",
        "little effect",
        lambda errors: stays_within(errors, LITTLE),
    ),
    "selectivity": ("decreases when selectivity increases", "decreases", decreases),
    "rows": ("decreases slightly when the number of rows increases", "decreases slightly", decreases),
}
"""What the text says of the average error along each sweep, its word for it, and the rule."""


REASONS: tuple[Reason, ...] = (
    Reason(
        "2",
        "Anatomy has a lower error than Alpha*",
        "*",
        "The paper's estimate counts everybody who shares a class with somebody who matches, which is most where rows "
        "of a class are unlike, as in Anatomy; by the expected value it is as the text says.",
    ),
    Reason(
        "5",
        "average error decreases slightly*",
        ALPHA_LOSSY.label,
        "The paper's estimate is of who shares a class, and classes of a small table are the smaller ones here; the "
        "expected value falls, though not at every step.",
    ),
    Reason(
        "5",
        "average error decreases slightly*",
        "Anatomy*",
        "The paper's reason, more rows that are alike, is none for Anatomy, whose buckets are dealt at random whatever "
        "the number of rows: what is left is the chance of a sample, about a hundredth.",
    ),
    Reason(
        "5",
        "average error decreases slightly*",
        GENERALIZED.label,
        "The paper's word is of the ends of the line: a sample of fewer rows is another table, and single steps are "
        "its chance.",
    ),
)


def claims(run: Run) -> list[Claim]:
    """Hold every sentence on a figure against ours, for each method that it is about."""
    return list(explain_claims((claim for sweep in FIGURES for claim in _claims_on_sweep(run, sweep)), REASONS))


def _claims_on_sweep(run: Run, sweep: str) -> Iterator[Claim]:
    def errors(method: LossyJoinMethod, reading: str) -> list[float]:
        """Give the errors of a method along the sweep; the paper's estimate for the plain bound as well."""
        if reading == PLAIN_BOUND:
            return errors_along(run, sweep, PLAIN.get(method, method), PAPER_ESTIMATE)
        return errors_along(run, sweep, method, reading)

    def claim(says: str, of: str, theirs: str, judge: Callable[[str], Verdict], *, refined: bool = True) -> Claim:
        others = [(ESTIMATES[EXPECTED], judge(EXPECTED)), *([(PLAIN_BOUND, judge(PLAIN_BOUND))] if refined else [])]
        other = "; ".join(f"{reading}: {', '.join(verdict)}" for reading, verdict in others)
        return Claim(FIGURES[sweep], says, of, theirs, *judge(PAPER_ESTIMATE), other)

    def lower(method: LossyJoinMethod) -> Callable[[str], Verdict]:
        return lambda by: _lower_everywhere(errors(ALPHA_LOSSY, by), errors(method, by))

    def lower_than_alpha(method: LossyJoinMethod) -> Callable[[str], Verdict]:
        return lambda by: _lower_on_average(errors(method, by), errors(GENERALIZED, by))

    def trend(method: LossyJoinMethod) -> Callable[[str], Verdict]:
        return lambda by: judge(errors(method, by))

    if sweep != "selectivity":  # of Figure 4 the text does not say it
        for method in (*ANATOMIES, GENERALIZED):
            of = f"against {method.label}"
            yield claim(f"{ALPHA_LOSSY.label} has a lower average error", of, "lower", lower(method))
    if sweep == "attributes":  # said of Figure 2 alone
        for method in ANATOMIES:
            says = "Anatomy has a lower error than Alpha, on average"
            yield claim(says, method.label, "lower", lower_than_alpha(method))
    says, theirs, judge = TRENDS[sweep]
    for method in METHODS:
        yield claim(f"average error {says}", method.label, theirs, trend(method), refined=method in PLAIN)


def _lower_everywhere(ours: Sequence[float], others: Sequence[float]) -> Verdict:
    held = sum(less < more for less, more in zip(ours, others, strict=True))
    return f"at {held} of {len(ours)} points", holds_if(held == len(ours))


def _lower_on_average(ours: Sequence[float], others: Sequence[float]) -> Verdict:
    return f"{fmean(ours):.3f} against {fmean(others):.3f}", holds_if(fmean(ours) < fmean(others))


def count_orders(run: Run) -> Iterator[dict[str, str]]:
    """Count the points at which the methods have errors in the order of the text, by each estimate and measure."""
    points = [cases_at(run, point) for point in run_points(run)]
    for estimate, measure, anatomy in product(ESTIMATES, MEASURES, ANATOMIES):
        for chain in (
            (ALPHA_LOSSY.label, anatomy.label),
            (PLAIN[ALPHA_LOSSY].label, anatomy.label),
            (ALPHA_LOSSY.label, anatomy.label, GENERALIZED.label),
        ):
            held = sum(
                all(cases[less][estimate][measure] < cases[more][estimate][measure] for less, more in pairwise(chain))
                for cases in points
            )
            yield {
                "order": " < ".join(chain),
                "estimate": ESTIMATES[estimate],
                "of": measure,
                "ours": f"{held} of {len(points)} points",
            }


# The page.

_INTRO = """\
The experiment of section 7 of the lossy-join paper: Adult, the eight quasi-identifiers of its Table 8, occupation
sensitive, k = 2, α = 0.33, {queries:,} queries a point. By default all {rows:,} rows, d = 8, qd = 4, s = 0.05; each
figure varies one of them. Alpha is the generalized table of the paper's top-down algorithm, Alpha(Lossy) the same
classes as two tables, Anatomy two tables of buckets of ℓ different values. α = 0.33 asks for ℓ = 4, since a third is
more; the paper does not say what it took, and ℓ = 3 is the nearest. Top-down is the paper's plain algorithm, without
our improvement pass; "improved" is with it. The bound is the refined one: ⌈α·size⌉ rows of a class may have the same
value (Definition 5 of the (α, k) paper), so that two rows with two values are a class; lines that say "plain α" have
α·size as the bound, which asks for four rows at least."""
_ESTIMATES = """\
Expected value: of the wanted sensitive values of a class, the share of its people who match; of a generalized cell,
the share of the values it is declared to cover that are wanted. The paper's estimate: all wanted sensitive values of
every class in which somebody matches; in a generalized table, all rows with wanted values whose every cell may match
(the text does not say when a generalized cell matches). So the paper's estimate counts those who share a class with
somebody who matches, and is the further off the larger the classes are: {lossy:.1f} rows on average by top-down,
{buckets:.1f} by Anatomy with ℓ = 3. The expected value does not, and shows what the paper argues for: in Alpha(Lossy)
those whose quasi-identifiers are alike stand together, and no value is generalized."""
_NOTES = f"""\
Claims are held against the paper's estimate, since that is how the text counts; beside stands what the expected value
shows. Errors are |actual − estimate| / actual; all methods are asked the same queries, and queries that no row matches
are drawn again ({{zero:,}} of {{draws:,}} at the point where it was most frequent). Samples of fewer rows are random.
Every release was verified. "Unchanged" is read as at most × {FLAT} between the largest and the smallest error of a
line, "little effect" as at most × {LITTLE:g}, "decreases" and "decreases slightly" as lower at every step."""
_ORDERS = """\
From the smallest error to the largest, at each point. The order of the text is Alpha(Lossy), Anatomy, Alpha."""


def page(run: Run) -> str:
    """Write the page: what the paper states, a plot and a table per figure and estimate, and the orders of methods."""
    default, at_default = run["default"], cases_at(run, run["default"])
    lossy, buckets = (
        case["rows"] / case["classes"] for case in (at_default[ALPHA_LOSSY.label], at_default[ANATOMIES[0].label])
    )
    most = max(run["cases"], key=lambda case: case["zero"])
    parts = ["# Query error: lossy join, Anatomy and generalization", setting_line(run), *caveats(run)]
    parts.append(_INTRO.format(rows=default["rows"], queries=run["queries"]))
    parts.append(_ESTIMATES.format(lossy=lossy, buckets=buckets))
    parts += ["## What the paper states", claims_table(claims(run))]
    parts += ["## At the default point", _default_table(at_default), *_figure_parts(run)]
    head = ("order", "estimate", "of", "ours")
    counts = markdown_table(head, [[order[key] for key in head] for order in count_orders(run)])
    parts += [f"## Orders\n\n{_ORDERS}", counts, _orders_table(run)]
    parts += ["## Notes", _NOTES.format(zero=most["zero"], draws=most["zero"] + most["answered"])]
    return "\n\n".join(parts) + "\n"


def _default_table(at_default: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the errors of every method at the default point, the improved ones as well."""
    head = ("method", "classes", *(f"{words}, {of}" for words in ESTIMATES.values() for of in (*MEASURES, "9 in 10")))
    measures = (*MEASURES, "ninth_decile")
    lines = [
        [label, f"{case['classes']:,}", *(f"{case[name][key]:.3f}" for name in ESTIMATES for key in measures)]
        for label, case in at_default.items()
    ]
    return markdown_table(head, lines)


def _figure_parts(run: Run) -> Iterator[str]:
    for stem, (estimate, measure) in PICTURES.items():
        words = ESTIMATES[estimate] + (" estimate" if estimate == PAPER_ESTIMATE else "")
        title = f"{measure.capitalize()} relative error, {words}"
        yield f"## {title}\n\n{picture(title, stem)}"
        for sweep in run["sweeps"]:
            table = lines_table(ACROSS[sweep], sweep_lines(run, sweep, estimate, measure), across="{:,}")
            yield f"### Figure {FIGURES[sweep]}: {ACROSS[sweep]}\n\n{table}"


def _orders_table(run: Run) -> str:
    """Write the order of the methods at each point, by each estimate and measure."""
    lines = []
    for point in run_points(run):
        cases = cases_at(run, point)
        line = [*(f"{point[key]:g}" for key in ("attributes", "dimensions", "selectivity")), f"{point['rows']:,}"]
        for estimate, measure in product(ESTIMATES, MEASURES):
            error = {method: cases[method.label][estimate][measure] for method in METHODS}
            line.append(" < ".join(method.short for method in sorted(METHODS, key=error.__getitem__)))
        lines.append(line)
    head = ("d", "qd", "s", "rows", *(f"{words}, {of}" for words in ESTIMATES.values() for of in MEASURES))
    return markdown_table(head, lines)


_TERMS = """\
Alpha is the generalized table of the paper's algorithm, Alpha(Lossy) the same classes published as two tables, Anatomy
two tables of buckets with ℓ different values."""
PAPER = Paper(
    name="lossy-join",
    title="(α, k)-anonymity based privacy preservation by lossy join",
    section="the lossy-join experiment",
    needs=("matplotlib",),
    run=run_experiment,
    claims=claims,
    page=page,
    plots=plots,
    terms=_TERMS,
)
