"""The experiment of the (α, k) paper, its section 5.

Extended Incognito, Progressive and Top-Down on Adult, against α and against the size of the quasi-identifier, for
k = 2 and 10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sfumato.papers.alpha_k.checks import claims
from sfumato.papers.alpha_k.page import page, plots
from sfumato.papers.alpha_k.runs import ALGORITHMS, ALPHAS, INCOGNITO, SIZES, Adult, Algorithm, measured, points
from sfumato.papers.alpha_k.runs import PAPER as THEIRS
from sfumato.papers.paper import Paper, Tell, told
from sfumato.papers.record import described
from sfumato.papers.rows import Rows


@dataclass(frozen=True)
class Plan:
    """The values that are run, and how often a search is timed."""

    alphas: Sequence[float] = ALPHAS
    sizes: Sequence[int] = SIZES
    algorithms: Sequence[Algorithm] = ALGORITHMS
    repeat: int = 5


FULL = Plan()
QUICK = Plan((0.3, 0.5, 0.9), (2, 5, 8), (INCOGNITO, *THEIRS), 3)


def run(rows: Rows, quick: bool, tell: Tell) -> dict[str, Any]:
    """Every algorithm at every point."""
    plan, adult = QUICK if quick else FULL, Adult.of(rows)
    every = list(product(points(plan.alphas, plan.sizes), plan.algorithms))
    cases = (measured(adult, point, algorithm, repeat=plan.repeat) for point, algorithm in every)
    full = not quick and rows.folder is not None
    about = {"source": rows.source, "repeat": plan.repeat}
    return described(list(told(cases, len(every), tell, _words)), full=full) | about


def _words(one: Mapping[str, Any]) -> str:
    point = f"{one['algorithm']}, k = {one['k']}, α = {one['alpha']}, size {one['size']}"
    return f"{point}: {one['seconds']:.3f} s, distortion {one['distortion']:.3f}"


_TERMS = "Progressive and Top-Down are the paper's two ways of local recoding, extended Incognito its global one."
PAPER = Paper(
    "alpha-k",
    "(α, k)-anonymous data publishing",
    "the (α, k) experiment",
    ("matplotlib",),
    run,
    claims,
    page,
    plots,
    _TERMS,
)
