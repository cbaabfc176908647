"""The experiments of the identity-reserved paper, its section 5.

Common against identity-reserved anonymity, and global against local recoding, on Adult with several rows per person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.papers.identity.checks import claims
from sfumato.papers.identity.page import page, plots
from sfumato.papers.identity.points import QUICK as QUICK_GRID
from sfumato.papers.identity.points import Grid, points
from sfumato.papers.identity.runs import PEOPLE, Experiment
from sfumato.papers.occupations import Occupations
from sfumato.papers.paper import Paper, Tell, told
from sfumato.papers.record import described
from sfumato.papers.rows import Rows


@dataclass(frozen=True)
class Plan:
    """The values that are run, and how many rows are people, or all where there are fewer."""

    grid: Grid
    people: int = PEOPLE


FULL, QUICK = Plan(Grid()), Plan(QUICK_GRID)


def run(rows: Rows, quick: bool, tell: Tell) -> dict[str, Any]:
    """Every release of every figure."""
    plan, adult = QUICK if quick else FULL, Occupations.of(rows)
    experiment = Experiment(adult, min(plan.people, adult.frame.num_rows))
    every = points(plan.grid)
    cases = (experiment.measured(point) for point in every)
    found = described(list(told(cases, len(every), tell, _words)), full=not quick and rows.folder is not None)
    return found | {"source": rows.source, "people": experiment.people, "rpis": list(plan.grid.rpis)}


def _words(one: Mapping[str, Any]) -> str:
    keys = ("method", "model", "rpi", "k", "l", "alpha", "beta")
    asked = ", ".join(f"{key} = {one[key]}" for key in keys[2:] if key in one)
    return f"{one['method']}, {one['model']}, {asked}: distortion {one['distortion']:.3f}"


_TERMS = """\
rpi is the rows per individual; a vulnerable group has at least k rows and fewer than k people, a single value group the
rows of one person; local is the paper's bottom-up algorithm, global the full-domain optimum."""
PAPER = Paper(
    "identity",
    "Identity-reserved anonymity in privacy preserving data publishing",
    "the identity-reserved experiments",
    ("matplotlib",),
    run,
    claims,
    page,
    plots,
    _TERMS,
)
