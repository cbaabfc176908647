"""The figures of the attack: what the bags allow, what a learner makes of them, and what it can do to anybody else."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.attack.definetti.assign import assigned, trained
from sfumato.attack.definetti.bag import bag_of
from sfumato.attack.definetti.found import Attacked, Beyond, Definetti, Sampled
from sfumato.attack.definetti.guess import Guesses, within, without
from sfumato.attack.definetti.people import people
from sfumato.attack.definetti.sample import Limits
from sfumato.attack.definetti.trial import Trial, outside
from sfumato.attack.definetti.truth import Original, truth
from sfumato.errors import DataError, listing
from sfumato.split import TwoTables

_ROUNDING = 1e-4
"""Nobody is taken to be surer than the bound for what balancing leaves open."""


@dataclass(frozen=True)
class Effort:
    """How much is tried.

    Of a release with more than `cells` different lines, or with more than `links` pairs of such a line and a value of
    its bag times quasi-identifiers, a sample is looked at; `held_out` of five parts of the classes are held out in
    turn. The seed decides on both; it protects nothing.
    """

    cells: int = 50_000
    links: int = 16_000_000
    held_out: int = 5
    seed: int = 1


THOROUGH = Effort()
QUICK = Effort(cells=20_000, links=4_000_000, held_out=2)
"""For a report, that nobody should have to wait for."""


def definetti(
    tables: TwoTables, original: Original, bounds: Mapping[str, Bound], *, effort: Effort = THOROUGH
) -> Definetti:
    """Try the attack on two tables, and say how often it is right by the original.

    The learner sees the tables and nothing else; the original is for counting what it got right.
    """
    _check_columns(tables, original)
    found = {name: _column(tables, original, name, bounds.get(name), effort) for name in tables.bags}
    return Definetti(len(tables.sizes), effort.seed, found)


def _column(tables: TwoTables, original: Original, name: str, bound: Bound | None, effort: Effort) -> Attacked:
    _check(tables, name)
    rng, bag = np.random.default_rng(effort.seed), bag_of(name, tables.bags[name])
    crowd = people(tables, Limits.of(effort.cells, effort.links, len(tables.quasi), bag.lines), rng)
    trial = Trial(tables, bag, crowd, truth(original, tables, crowd, bag))
    return _attacked(trial, bound, outside(trial, effort.held_out, rng))


def _attacked(trial: Trial, bound: Bound | None, elsewhere: float | None) -> Attacked:
    bag, join = trial.bag, trial.join()
    learner = trained(join)
    weights = assigned(join, learner)
    protected = bag.protected(bound)
    sure, largest = within(join, weights, protected), bag.largest_share(trial.tables.sizes, bound)
    return Attacked(
        lines=trial.tables.rows,
        sampled=Sampled(int(trial.people.lines.sum()), int(trial.people.weight.sum())),
        values=int(bag.told.sum()),
        bound=None if bound is None else bound.share,
        largest_share=largest,
        blind=bag.blind,
        random=trial.drawn(join),
        bag=trial.accuracy(within(join, join.even, bag.told)),
        attack=trial.accuracy(within(join, weights, bag.told)),
        without_bag=trial.accuracy(without(trial.people, learner, bag.told)),
        outside=elsewhere,
        largest_posterior=float(sure.sure.max(initial=0.0)),
        beyond_bound=_beyond(trial, sure, bound.share if bound else largest),
    )


def _beyond(trial: Trial, guesses: Guesses, limit: float) -> Beyond:
    """Lines of profiles with a value that is likelier than the limit."""
    weight = trial.people.weight
    over = weight * (guesses.surest(len(weight)) > limit + _ROUNDING)
    lines = int(over.sum())
    return Beyond(lines, float((guesses.right(trial.truth) * over).sum() / lines) if lines else None)


def _check_columns(tables: TwoTables, original: Original) -> None:
    names = [*(column.name for column in tables.quasi), *tables.bags]
    lacking = [name for name in names if name not in original.columns]
    if lacking:
        why = f"columns of the release are neither quasi-identifiers nor sensitive by the policy: {listing(lacking)}"
        raise DataError(f"{why}; give the policy that the release was made by")


def _check(tables: TwoTables, name: str) -> None:
    """Files may have been changed: each class needs a bag of its own size."""
    bag = tables.bags[name]
    if not np.array_equal(np.bincount(bag.class_of, bag.count, len(tables.sizes)), tables.sizes):
        raise DataError(f"the lines of '{name}' do not fit the classes of the release; check it with sfumato verify")
