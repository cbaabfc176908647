"""The experiment of the lossy-join paper, its section 7.

Query error of Alpha (generalized), Anatomy and Alpha(Lossy) on Adult, against the number of quasi-identifiers, query
dimensionality, selectivity and table size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.papers.lossy_join.checks import claims
from sfumato.papers.lossy_join.page import page, plots
from sfumato.papers.lossy_join.points import IMPROVED, METHODS, Method, Point, points, sweeps
from sfumato.papers.lossy_join.runs import cases
from sfumato.papers.occupations import Occupations
from sfumato.papers.paper import Paper, Tell, told
from sfumato.papers.record import described
from sfumato.papers.rows import Rows


@dataclass(frozen=True)
class Plan:
    """Queries a point, and the methods that are added at the default point."""

    queries: int = 1000
    extra: Sequence[Method] = IMPROVED


FULL, QUICK = Plan(), Plan(300, ())


def run(rows: Rows, quick: bool, tell: Tell) -> dict[str, Any]:
    """Every method at every point."""
    plan, adult = QUICK if quick else FULL, Occupations.of(rows)
    default, swept = Point(adult.frame.num_rows), sweeps(adult.frame.num_rows, quick=quick)
    every = points(swept)
    found = cases(adult, every, queries=plan.queries, at_default=(default, plan.extra))
    told_of = list(told(found, len(every) * len(METHODS) + len(plan.extra), tell, _words))
    about = {"source": rows.source, "queries": plan.queries, "default": asdict(default)}
    values = {name: [getattr(point, name) for point in members] for name, members in swept.items()}
    return described(told_of, full=not quick and rows.folder is not None) | about | {"sweeps": values}


def _words(one: Mapping[str, Any]) -> str:
    point = f"n = {one['rows']:,}, d = {one['attributes']}, qd = {one['dimensions']}, s = {one['selectivity']}"
    return f"{one['method']}, {point}: error {one['expected']['average']:.4f}"


_TERMS = """\
Alpha is the generalized table of the paper's algorithm, Alpha(Lossy) the same classes published as two tables, Anatomy
two tables of buckets with ℓ different values."""
PAPER = Paper(
    "lossy-join",
    "(α, k)-anonymity based privacy preservation by lossy join",
    "the lossy-join experiment",
    ("matplotlib",),
    run,
    claims,
    page,
    plots,
    _TERMS,
)
