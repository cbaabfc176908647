"""Measure: what the optimality of the algorithm betrays (Wong, Fu, Wang and Pei 2007).

A class is published as coarse as it is because what is finer failed. Who knows that can rule out the ways to deal its
bag out under which something finer would have passed, and be surer of a value than its share in the class.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.bound import Bound, bounds
from sfumato.attack.minimality.basis import basis_of, obstacle, unknown
from sfumato.attack.minimality.cells import cells
from sfumato.attack.minimality.found import Betrayed, Beyond, Looked, Minimality
from sfumato.attack.minimality.nodes import Nodes
from sfumato.attack.minimality.posterior import guessed, nobody, posterior
from sfumato.attack.minimality.seen import Seen, by_classes, by_nodes
from sfumato.attack.minimality.shares import by_shares
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Limits
from sfumato.attack.sensitive_columns import SensitiveColumn, SensitiveColumns, sensitive_columns_from_recoding
from sfumato.core.arrays import BoolArray
from sfumato.core.classes import Histogram
from sfumato.encode import EncodedTable
from sfumato.policy import Policy
from sfumato.recode import Recoding

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Effort:
    """How much is tried: the most rows that are looked at, worlds of a class, and rows of all worlds together.

    The seed decides which classes and which worlds are drawn; it protects nothing.
    """

    rows: int = 2_000_000
    worlds: int = 1_000
    slots: int = 5_000_000
    seed: int = 1


THOROUGH = Effort()
QUICK = Effort(rows=50_000, worlds=200, slots=400_000)
"""For a report, that nobody should have to wait for."""


def minimality(
    encoded: EncodedTable, recoding: Recoding, policy: Policy, *, effort: Effort = QUICK, column: str | None = None
) -> Minimality:
    """Try the attack on a release in memory, on one sensitive column or on all."""
    rng = np.random.default_rng(effort.seed)
    situation = Situation.of(encoded, recoding, policy, most=effort.rows, rng=rng)
    limits = Limits(effort.worlds, effort.slots, rng)
    looked = Looked(situation.published, len(situation.rows), situation.classes)
    basis = basis_of(situation, limits)
    why = obstacle(situation, policy, basis)
    asked = [name for name in encoded.sensitive if column in {None, name}]
    if why or basis in {"drawn", "nothing"}:
        told = {
            name: one
            for name, one in sensitive_columns_from_recoding(encoded, recoding, policy).items()
            if name in asked
        }
        found = by_shares(told, policy, situation.columns)
        return Minimality(recoding.algorithm, basis, looked, effort.seed, found, why)
    seen, looked = _seen(situation, policy, basis, limits, looked)
    told = {name: SensitiveColumn(situation.bag(name), situation.sizes) for name in asked}
    promised = bounds(policy, SensitiveColumns(told))
    found = {name: _betrayed(situation, seen, name, told[name].bag, promised.get(name)) for name in asked}
    return Minimality(recoding.algorithm, basis, looked, effort.seed, found, unknown(looked, basis))


def _seen(
    situation: Situation, policy: Policy, basis: str, limits: Limits, looked: Looked
) -> tuple[Seen | None, Looked]:
    if basis in {"all nodes", "nodes below"}:
        return by_nodes(situation, Nodes(situation, policy), limits, looked)
    return by_classes(situation, limits, looked)


def _betrayed(situation: Situation, seen: Seen | None, name: str, bag: Histogram, bound: Bound | None) -> Betrayed:
    """The figures of a column; those of the shares alone where nothing is told."""
    protected, share = _protected(bag, bound), bag.count / situation.sizes[bag.class_of]
    largest = float(share[protected[bag.value]].max(initial=0.0))
    true = situation.encoded.sensitive[name].codes[situation.rows].astype(np.int64)
    telling = seen if seen is not None and name in situation.columns and seen.telling.any() else None
    split = cells(situation, ()) if telling is None else telling.cells
    believed = nobody() if telling is None else posterior(telling, bag, name)
    common, best = guessed(situation, split, believed, bag)
    surest, beyond = largest, np.zeros(len(split), dtype=np.bool_)
    if telling is not None:
        sure = believed.only(protected[believed.value] & telling.right[split.home[believed.cell]])
        rest = share[protected[bag.value] & ~(telling.telling & telling.right)[bag.class_of]]
        surest = float(max(rest.max(initial=0.0), sure.surely.max(initial=0.0)))
        beyond[sure.cell[sure.surely > (largest if bound is None else bound.share) + _ROUNDING]] = True
    rows = beyond[split.of]
    return Betrayed(
        bound=None if bound is None else bound.share,
        largest_share=largest,
        largest_posterior=surest,
        beyond_bound=Beyond(int(rows.sum()), float((best == true)[rows].mean()) if rows.any() else None),
        blind=float((true == bag.domain.totals.argmax()).mean()),
        bag=float((common == true).mean()),
        attack=float((best == true).mean()),
        asked=name in situation.columns,
    )


def _protected(bag: Histogram, bound: Bound | None) -> BoolArray:
    """Which values a bound is about: all, where it names none or is none."""
    about = None if bound is None else bound.values
    return np.array([about is None or value in about for value in bag.domain.values], dtype=np.bool_)
