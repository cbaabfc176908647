"""The experiments of the sequential-release paper, its section 6.

(X, Y)-anonymity and (X, Y)-linkability on two departments' tables of Adult, against unmodified data, k-anonymity and
removal of attributes: classification error and distortion; then the time of the command on enlarged tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.papers.paper import Paper, Tell, told
from sfumato.papers.record import described, moment, rounded
from sfumato.papers.rows import Rows
from sfumato.papers.sequential.checks import claims
from sfumato.papers.sequential.figures import MEASURED
from sfumato.papers.sequential.page import page, plots
from sfumato.papers.sequential.points import QUICK as QUICK_GRID
from sfumato.papers.sequential.points import Grid, Point, anonymity, linkability
from sfumato.papers.sequential.runs import Experiment
from sfumato.papers.sequential.scale import POINTS, SIZES, Scale
from sfumato.papers.sequential.sets import People


@dataclass(frozen=True)
class Plan:
    """The values that are run, the sizes of enlarged tables, and how often a command is timed."""

    grid: Grid
    sizes: Sequence[int] = SIZES
    repeat: int = 3


FULL, QUICK = Plan(Grid()), Plan(QUICK_GRID, (200_000, 1_000_000), 1)


def run(rows: Rows, quick: bool, tell: Tell) -> dict[str, Any]:
    """Releases and removals of every part, then the enlarged tables; each part with the time when it was done."""
    plan, people, full = QUICK if quick else FULL, People.of(rows), not quick and rows.folder is not None
    every = sum(len(points(plan.grid, part)) + 2 + len(plan.grid.links) for part in MEASURED)
    parts: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    scale: list[dict[str, Any]] = []
    for one in told(_cases(people, plan), every + len(plan.sizes) * len(POINTS), tell, _words):
        (scale if one["part"] == "scale" else cases).append(one)
        parts[one["part"]] = moment(full=full)
    about = {"source": rows.source, "repeat": plan.repeat, "scale": rounded(scale), "parts": parts}
    lesser = {"taxonomies": people.lesser} if rows.folder and people.lesser else {}
    return described(cases, full=full) | about | lesser


def points(grid: Grid, part: str) -> list[Point]:
    """The releases of a part."""
    data = part[-1]
    return list(anonymity(grid, data) if part == data else linkability(grid, data))


def _cases(people: People, plan: Plan) -> Iterator[dict[str, Any]]:
    """The figures of every part; what removal costs comes first."""
    with Experiment.of(people) as experiment:
        for part in MEASURED:
            yield from ({"part": part, **one} for one in experiment.removed(part[-1], plan.grid))
            yield from ({"part": part, **experiment.measured(point)} for point in points(plan.grid, part))
    yield from ({"part": "scale", **one} for one in Scale(people, plan.sizes, plan.repeat).cases())


def _words(one: Mapping[str, Any]) -> str:
    if one["part"] == "scale":
        taken = f"{one['seconds']:.2f} s" if one["code"] == 0 else f"failed: {one['errors']}"
        return f"{one['kind']}, {one['rows']:,} rows: {taken}"
    asked = ", ".join(f"{key} = {one[key]}" for key in ("method", "top", "k", "score") if key in one)
    return f"Set {one['data']}, {asked}: " + (f"error {one['error']:.4f}" if "error" in one else "cannot be met")


_TERMS = """\
XYE and XYD are error and distortion under (X, Y)-privacy, XYE(row) the error with both keys in Y, KAE and KAD those of
k-anonymity, BLE the error of unmodified data, RJE that without the join attributes, RSE that without those in Y; TopN
says how many of the best attributes are in X (in Y for linkability)."""
PAPER = Paper(
    "sequential",
    "Anonymizing sequential releases",
    "the sequential-release experiments",
    ("matplotlib", "sklearn"),
    run,
    claims,
    page,
    plots,
    _TERMS,
)
