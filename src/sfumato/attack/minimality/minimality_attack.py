"""The minimality attack: what it betrays that an algorithm publishes nothing coarser than it must.

A class is published as coarse as it is because everything finer failed. Who knows that can rule out the ways to deal
the bag of the class out to its rows under which something finer would have passed, and be surer of a value than its
share in the class.

Reference: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sfumato.attack.bound import Bound, bounds
from sfumato.attack.homogeneity import homogeneity
from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge, RowCells
from sfumato.attack.minimality.minimality_result import (
    WAYS,
    MinimalityCoverage,
    MinimalityFigures,
    MinimalityResult,
    RowsBeyondBound,
)
from sfumato.attack.minimality.possible_worlds import WorldLimits, can_list_table_worlds
from sfumato.attack.minimality.posterior import ROUNDING, CellPosterior, Evidence, guess_values, posterior
from sfumato.attack.sensitive_columns import (
    SensitiveColumn,
    SensitiveColumns,
    select_sensitive_columns,
    sensitive_columns_from_recoding,
)
from sfumato.core.arrays import BoolArray
from sfumato.core.classes import Histogram
from sfumato.encode import EncodedTable, encode
from sfumato.errors import DataError, InputError, PolicyError, did_you_mean, listing, quote
from sfumato.policy import Policy
from sfumato.reading.release_view import ReleaseLines, read_release_lines, view_recoding
from sfumato.recode import Recoding, recode
from sfumato.recode.recoding import Progress
from sfumato.split import lossy_join
from sfumato.split.two_tables import check_row_count
from sfumato.table import Table

_OTHER_CLASSES = (
    "made again from this table, the release has other classes; name the table and the policy that it was made from "
    "and by, with this version of sfumato"
)


@dataclass(frozen=True)
class MinimalityEffort:
    """How much is tried: the most rows that are looked at, worlds of a class, and rows of all worlds together.

    The seed decides which classes and which worlds are drawn; it protects nothing.
    """

    rows: int = 2_000_000
    worlds: int = 1_000
    slots: int = 5_000_000
    seed: int = 1


THOROUGH = MinimalityEffort()
QUICK = MinimalityEffort(rows=50_000, worlds=200, slots=400_000)
"""For a report, which nobody should have to wait for."""


def minimality(
    encoded: EncodedTable,
    recoding: Recoding,
    policy: Policy,
    *,
    effort: MinimalityEffort = QUICK,
    column: str | None = None,
    applied: bool = False,
) -> MinimalityResult:
    """Try the attack on a release in memory, on one sensitive column or on all.

    Where the recoding of another release was `applied`, nothing was searched: the labels tell nothing of these rows,
    and what is told by which of them were dropped is not measured.
    """
    rng = np.random.default_rng(effort.seed)
    knowledge = AdversaryKnowledge.from_recoding(encoded, recoding, policy, most=effort.rows, rng=rng)
    limits = WorldLimits(effort.worlds, effort.slots, rng)
    coverage = MinimalityCoverage(knowledge.published, len(knowledge.rows), knowledge.classes)
    basis = "applied" if applied else find_basis(knowledge, limits)
    why = _find_obstacle(knowledge, policy, basis)
    names = [name for name in encoded.sensitive if column in {None, name}]
    if why or basis in {"drawn", "nothing", "applied"}:
        told = {
            name: one
            for name, one in sensitive_columns_from_recoding(encoded, recoding, policy).items()
            if name in names
        }
        figures = _figures_from_shares(told, policy, knowledge.columns)
        return MinimalityResult(recoding.algorithm, basis, coverage, effort.seed, figures, why)
    evidence, coverage = gather_evidence(knowledge, policy, basis, limits, coverage)
    told = {name: SensitiveColumn(knowledge.bag(name), knowledge.sizes) for name in names}
    promised = bounds(policy, SensitiveColumns(told))
    figures = {name: _measure_column(knowledge, evidence, name, told[name].bag, promised.get(name)) for name in names}
    return MinimalityResult(recoding.algorithm, basis, coverage, effort.seed, figures, _why_unknown(coverage, basis))


# What the adversary concludes from, and whether that can be measured


def find_basis(knowledge: AdversaryKnowledge, limits: WorldLimits) -> str:
    """Name what is known of the algorithm; `MinimalityResult.assumes` puts it into words."""
    recoding = knowledge.recoding
    if recoding.algorithm == "anatomy":
        return "drawn"
    if not knowledge.columns:
        return "nothing"
    if recoding.levels is None:
        return "cut" if recoding.cut and recoding.group is None else "class"
    if knowledge.requirement.limit:
        return "nodes below"
    return "all nodes" if can_list_table_worlds(knowledge, limits) else "node"


def gather_evidence(
    knowledge: AdversaryKnowledge, policy: Policy, basis: str, limits: WorldLimits, coverage: MinimalityCoverage
) -> tuple[Evidence | None, MinimalityCoverage]:
    """Weigh possible worlds by the alternatives that go with the basis."""
    if basis in {"all nodes", "nodes below"}:
        from sfumato.attack.minimality.node_alternatives import evidence_from_nodes  # noqa: PLC0415 - one is needed

        return evidence_from_nodes(knowledge, policy, limits, coverage)
    from sfumato.attack.minimality.class_alternatives import evidence_from_classes  # noqa: PLC0415 - same

    return evidence_from_classes(knowledge, limits, coverage)


def _find_obstacle(knowledge: AdversaryKnowledge, policy: Policy, basis: str) -> str | None:
    """Say why what the adversary concludes cannot be measured; ``None`` where it can."""
    if basis in {"drawn", "nothing"}:
        return None
    if basis == "applied":
        dropped = "rows were dropped by what their classes hold, and what that tells is not looked at"
        return dropped if knowledge.recoding.suppressed else None
    requirement, rows = knowledge.requirement, len(knowledge.rows)
    obstacles = {
        "the different rows that came in were too many for one machine": knowledge.encoded.coarse,
        "every class has more rows than this effort looks at": not rows,
        "something finer may have failed by the join with earlier releases": bool(policy.linkage)
        and not policy.lenient,
        "something finer may have failed because too few persons share somebody's classes": basis != "class"
        and requirement.linked > 1,
        "cuts through hierarchies are measured only where no row may be suppressed": basis == "cut"
        and requirement.limit > 0,
        f"the table has more rows than the {rows:,} that this effort looks at": basis == "nodes below"
        and not knowledge.is_whole,
    }
    return next((why for why, is_there in obstacles.items() if is_there), None)


def _why_unknown(coverage: MinimalityCoverage, basis: str) -> str | None:
    """Say why nothing is known: too few worlds fit, or too few of the classes that go together were looked at."""
    tried = coverage.counted + coverage.drawn
    if coverage.unfit and coverage.unfit == tried:
        fit = round(coverage.fitting * coverage.worlds)
        return f"too few of {coverage.worlds:,} {WAYS} fit ({fit:,})"
    part = coverage.looked < coverage.rows or tried < coverage.open
    if basis in {"node", "cut"} and part and (coverage.telling or coverage.unfit):
        return "the classes stand and fall together, and are too many for all of them to be looked at with this effort"
    return None


# Figures


def _measure_column(
    knowledge: AdversaryKnowledge, evidence: Evidence | None, name: str, bag: Histogram, bound: Bound | None
) -> MinimalityFigures:
    """Measure what is betrayed of a column; by the shares of classes alone where nothing is informative.

    protected:  bool[v], the values that the bound is about
    share:      float[e], of each entry of the bags in its class
    beyond:     bool[c], the cells with a value that is surer than the bound
    true, frequent, guess:  int[n], of each row its value, the most frequent one of its class, and what the attack says
    """
    protected = _bounded_values(bag, None if bound is None else bound.values)
    share = bag.count / knowledge.sizes[bag.class_of]
    largest = float(share[protected[bag.value]].max(initial=0.0))
    true = knowledge.encoded.sensitive[name].codes[knowledge.rows].astype(np.int64)
    if evidence is None or name not in knowledge.columns or not evidence.informative.any():
        cells = RowCells.from_labels(knowledge, [])
        believed, surest, beyond = CellPosterior.empty(), largest, np.zeros(len(cells), dtype=np.bool_)
    else:
        cells, beyond = evidence.cells, np.zeros(len(evidence.cells), dtype=np.bool_)
        believed = posterior(evidence, bag, name)
        # where the truth is ruled out, the adversary errs, and is not surer of anything that is so
        in_truth = evidence.truth_possible[cells.class_of[believed.cell]]
        sure = believed.select(protected[believed.value] & in_truth)
        elsewhere = ~(evidence.informative & evidence.truth_possible)[bag.class_of]
        rest = share[protected[bag.value] & elsewhere]
        surest = float(max(rest.max(initial=0.0), sure.lower_limit.max(initial=0.0)))
        beyond[sure.cell[sure.lower_limit > (largest if bound is None else bound.share) + ROUNDING]] = True
    frequent, guess = guess_values(knowledge, cells, believed, bag)
    rows = beyond[cells.cell_of]
    return MinimalityFigures(
        bound=None if bound is None else bound.share,
        largest_share=largest,
        largest_posterior=surest,
        beyond_bound=RowsBeyondBound(int(rows.sum()), float((guess == true)[rows].mean()) if rows.any() else None),
        blind=float((true == bag.domain.totals.argmax()).mean()),
        bag=float((frequent == true).mean()),
        attack=float((guess == true).mean()),
        asked=name in knowledge.columns,
    )


def _figures_from_shares(
    told: Mapping[str, SensitiveColumn], policy: Policy, columns: Collection[str]
) -> dict[str, MinimalityFigures]:
    """Measure what the shares of classes tell by themselves; a requirement looks at `columns`."""
    figures = {}
    for name, homogeneous in homogeneity(told, bounds(policy, SensitiveColumns(told))).columns.items():
        bag, sizes = told[name].bag, told[name].sizes
        protected = _bounded_values(bag, homogeneous.protected)
        share = float((bag.count / sizes[bag.class_of])[protected[bag.value]].max(initial=0.0))
        figures[name] = MinimalityFigures(
            bound=homogeneous.bound,
            largest_share=share,
            largest_posterior=share,
            beyond_bound=RowsBeyondBound(0, None),
            blind=homogeneous.blind,
            bag=homogeneous.right,
            attack=homogeneous.right,
            asked=name in columns,
        )
    return figures


def _bounded_values(bag: Histogram, values: Collection[str] | None) -> BoolArray:
    """Tell which values of a column a bound is about: all, where it names none."""
    return np.array([values is None or text in values for text in bag.domain.values], dtype=np.bool_)


# A release in files: made again from its original, to know whose rows are in which class


def check_sensitive_column(policy: Policy, column: str | None) -> None:
    """Refuse a column that is not sensitive."""
    sensitive = [each.name for each in policy.sensitive]
    if not sensitive:
        raise InputError("the policy names no sensitive column, so that there is nothing to betray")
    if column is not None and column not in sensitive:
        hint = did_you_mean(column, sensitive) or f"; it has {listing(sensitive)}"
        raise InputError(f"{quote(column)} is no sensitive column of the policy{hint}")


def policy_of_search(policy: Policy) -> Policy:
    """Turn a policy into what the search saw: with requirements on a join where they go with its algorithm."""
    if not policy.linkage:
        return policy
    try:
        return replace(policy, lenient=False)
    except PolicyError:
        return policy


def remake_release(
    release: Path, original: Table, policy: Policy, *, progress: Progress | None = None
) -> tuple[EncodedTable, Recoding]:
    """Encode and recode the original as for the release; a `DataError` where that does not give its classes.

    The files do not say whose rows are in which class. But the same table, policy and version give the same classes, so
    the release is made again, and compared with the files class by class.
    """
    released = read_release_lines(release)
    if released.manifest.extends:
        raise InputError(
            f"{release} has the labels of a release before it, which its rows had no part in choosing; try the attack "
            "on that one"
        )
    check_row_count(released.rows, original.rows)
    encoded = encode(original, policy)
    linked = None
    if policy.linkage:
        from sfumato.previous import link_releases  # noqa: PLC0415 - only where a requirement is about a join

        linked = link_releases(encoded, policy)
    recoding = recode(encoded, policy, progress, releases=linked)
    if policy.publish.form == "lossy-join":
        recoding = lossy_join(encoded, recoding)
    shown = view_recoding(encoded, recoding, policy)
    remade = shown.lines(shown.with_role("quasi"), shown.with_role("sensitive"))
    if _count_classes(released) != _count_classes(remade):
        raise DataError(_OTHER_CLASSES)
    return encoded, recoding


def _count_classes(released: ReleaseLines) -> Counter[tuple[object, ...]]:
    """Count classes by what they show: their lines, each as often as it occurs, and their bags."""
    contents: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
    names = sorted(released.quasi)
    rows = Counter(released.line_of.tolist())
    columns = [[released.quasi[name].texts[code] for code in released.quasi[name].codes.tolist()] for name in names]
    for line, (number, *labels) in enumerate(zip(released.class_of.tolist(), *columns, strict=True)):
        contents[number].append((*labels, rows[line]))
    for name, bag in released.bags.items():
        for number, value, count in zip(bag.class_of.tolist(), bag.value.tolist(), bag.count.tolist(), strict=True):
            contents[number].append((name, bag.domain.values[value], count))
    return Counter(tuple(sorted(lines, key=repr)) for lines in contents.values())


def minimality_of_buckets(release: Path, policy: Policy, *, seed: int, column: str | None = None) -> MinimalityResult:
    """Measure what the buckets of Anatomy tell: their shares, and no more.

    They are drawn anew each time, so that they cannot be made again; but quasi-identifiers did not decide who is in
    which bucket, and the files say all that the attack needs.
    """
    released = read_release_lines(release)
    told = select_sensitive_columns(released, None, column)
    coverage = MinimalityCoverage(released.rows, released.rows, len(released.sizes))
    return MinimalityResult("anatomy", "drawn", coverage, seed, _figures_from_shares(told, policy, told))
