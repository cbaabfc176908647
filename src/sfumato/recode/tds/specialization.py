"""TDS4SA: top-down specialization for sequential anonymization, Algorithm 1 of Wang and Fung 2006.

Every column begins at its root (line 1). While there is a valid candidate, the node of the highest score is specialized
(lines 2 to 4): Score = InfoGain / (PrivLoss + 1), equation (1). A candidate is looked at only when its gain could make
it the best, and again only when a specialization has changed the groups it is in (line 5). One that fails is given up
for good where its requirement can only get worse; where that is not so, it gets another chance.

Of a range the paper knows one candidate, its best cut. With `next_cut` the next best one takes its place when it fails,
and so on. With `beneficial` a candidate that gains nothing is none, as in top-down specialization of one table (Fung,
Wang, Yu 2005): the paper specializes such a node, too.
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.deadline import Deadline, is_over
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.errors import Infeasible, PolicyError
from sfumato.hierarchy import Ranges
from sfumato.models import XYAnonymity
from sfumato.policy import Policy
from sfumato.policy.options import AlgorithmOptions
from sfumato.previous import LinkedReleases, bind_requirement, join_history
from sfumato.recode.local.partition import Partition, allocate_rows
from sfumato.recode.local.range_axis import RangeAxis
from sfumato.recode.recoding import Labels, Progress, Recoding, number_texts
from sfumato.recode.requirement import Requirement
from sfumato.recode.tds.cuts import ColumnNodes, RangeNodes, TaxonomyNodes
from sfumato.recode.tds.refinement import Specialization
from sfumato.recode.tds.scores import Score, TableGains
from sfumato.recode.tds.views import ClassView, Effect, GroupMatching, LinkView, View

_PATIENCE = 4
"""Steps in vain after which a search for a way down ends."""

_NO_GAIN = 1e-12
"""A gain that is no more than this is rounding."""

CandidateKey = tuple[int, int, int]
"""A column by its number, a node of it, and which of its cuts it is: 0 is the best one."""


def specialize_top_down(
    encoded: EncodedTable, policy: Policy, linked: LinkedReleases | None = None, progress: Progress | None = None
) -> Recoding | None:
    """Recode by top-down specialization, or return nothing where models of classes cannot be met at all.

    Where a requirement on the join cannot be met, it is said which, and what would help: if it can only get worse by
    specializing, the most general table decides (Corollary 4.2); if not, a way down is looked for first.
    """
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    score = Score(policy.search.score)
    if policy.search.class_column is not None:
        column = encoded.coded(policy.search.class_column)
        score = Score(policy.search.score, column.codes.astype(np.int64), column.width, encoded.counts)
    columns = [_column_nodes(attribute, score, policy) for attribute in encoded.quasi]
    classes = ClassView(encoded, requirement)
    links = [] if linked is None else _link_views(policy, linked, columns)
    views: list[View] = [*([classes] if policy.privacy else []), *links]
    gains = TableGains(encoded, score) if score.kind in {"discernibility", "conditional"} else None
    search = SpecializationSearch(columns, views, limit=requirement.limit, gains=gains, options=policy.search)
    failing = [view for view in views if view.failing > requirement.limit]
    # What would help is said of the most general table, so before a way down is looked for.
    reasons = [_why_not(view) for view in failing if isinstance(view, LinkView)]
    if failing and (any(view.monotone for view in failing) or not search.descend(progress)):
        if reasons and not (isinstance(progress, Deadline) and progress.early):
            raise Infeasible("; ".join(reasons))
        return None
    search.specialize_all(progress)

    labels = {column.name: _labels_at_cut(column, search.cuts[number]) for number, column in enumerate(columns)}
    if classes not in views:
        classes.regroup(search.cuts)
    group, published = classes.published
    in_release = None
    if (group < 0).any():  # rows of the classes that fail
        whole = Partition.from_tuples(encoded.tuples.counts, group, len(published))  # so that nothing is divided
        in_release = allocate_rows(encoded, whole)[0] >= 0
    unmatched = max((matching.unmatched_rows for matching in search.matchings), default=0)
    return Recoding("tds", labels, in_release, published, cut=True, unmatched=unmatched, counts=encoded.counts)


def _column_nodes(attribute: QuasiIdentifier, score: Score, policy: Policy) -> ColumnNodes:
    if not isinstance(attribute.spec, Ranges):
        return TaxonomyNodes(attribute, score)
    least = max((model.least for model in policy.privacy), default=2)
    return RangeNodes(attribute, score, RangeAxis(attribute, 1.0, form=policy.publish.ranges, least=least))


def _link_views(policy: Policy, linked: LinkedReleases, columns: Sequence[ColumnNodes]) -> list[LinkView]:
    """Make a view for each requirement on a join; those on the same join share what matches."""
    nodes = {number: column for number, column in enumerate(columns) if isinstance(column, TaxonomyNodes)}
    matchings: dict[tuple[str, ...], GroupMatching] = {}
    views = []
    for entry in policy.linkage:
        releases = linked.select(entry.releases)
        names = tuple(releases.names)
        if names not in matchings:
            matchings[names] = GroupMatching(join_history(releases), nodes)
        try:
            requirement = bind_requirement(matchings[names].history, entry)
        except PolicyError as error:
            place = policy.stated.index(entry)
            raise PolicyError(error.message, key=f"privacy[{place}].{error.key}") from None
        views.append(LinkView(requirement, matchings[names]))
    return views


def _labels_at_cut(column: ColumnNodes, cut: IntArray) -> Labels:
    """Label every row of a column at its cut, int[leaves]; nodes that read the same are one label."""
    nodes, place = np.unique(cut, return_inverse=True)
    labels = [column.label(node) for node in nodes.tolist()]
    number, first = number_texts([label.text for label in labels])
    shown = [labels[node] for node in first.tolist()]
    code_of_leaf = narrow_codes(number[place], len(shown))
    loss, climbed = (np.array([getattr(label, name) for label in shown]) for name in ("loss", "climbed"))
    return Labels(
        code_of_leaf.take(column.attribute.column.codes), tuple(each.text for each in shown), loss, climbed, None
    )


@dataclass(eq=False, repr=False)
class CandidateNode:
    """A node of a cut that can be specialized, and what was found of it when it was last looked at.

    `fresh` and `weighed` say that its effects and its gain are still true.
    """

    number: int
    node: int
    rank: int
    specialization: Specialization
    gain: float
    fresh: bool = False
    weighed: bool = False
    effects: list[tuple[View, Effect]] = field(default_factory=list)

    @property
    def key(self) -> CandidateKey:
        """Its column by number, its node, and which of its cuts it is."""
        return self.number, self.node, self.rank

    def failing(self, limit: int) -> list[View]:
        """List the views in which too many rows would fail."""
        return [view for view, effect in self.effects if view.failing + effect.change > limit]

    @property
    def score(self) -> float:
        """InfoGain / (PrivLoss + 1)."""
        return self.gain / (sum(view.privacy_loss(effect.figures) for view, effect in self.effects) + 1)


class SpecializationSearch:
    """The cuts of all columns, the candidates, and the views that judge them.

    `cuts` has the node of each leaf, int[leaves], by the number of the column. `order` has the candidates with the
    largest gain first. `ranks` has which cuts of a node are candidates, by the number of the column and
    the node, and `last_rank` the last one that has been.
    """

    def __init__(
        self,
        columns: Sequence[ColumnNodes],
        views: list[View],
        *,
        limit: int,
        gains: TableGains | None,
        options: AlgorithmOptions,
    ) -> None:
        self.columns, self.views, self.limit, self.gains, self.options = columns, views, limit, gains, options
        self.matchings = list(dict.fromkeys(view.matching for view in views if isinstance(view, LinkView)))
        self.cuts = {number: np.zeros(column.leaves, dtype=np.int64) for number, column in enumerate(columns)}
        self.candidates: dict[CandidateKey, CandidateNode] = {}
        self.order: list[tuple[float, CandidateKey]] = []
        self.ranks: dict[tuple[int, int], list[int]] = {}
        self.last_rank: dict[tuple[int, int], int] = {}
        for number in range(len(columns)):
            self._add(number, 0)

    def specialize_all(self, progress: Progress | None = None) -> None:
        """Specialize as long as a candidate is valid (lines 2 to 6), and there is time."""
        done = 0
        while not is_over(progress) and (best := self._best(progress)) is not None:
            self._specialize(best)
            done += 1
            if progress is not None:
                progress(done, done + len(self.candidates))

    def descend(self, progress: Progress | None = None) -> bool:
        """Specialize whatever leaves the fewest rows failing, until the requirements are met; whether they ever are.

        For requirements that a specialization may mend. It gives up when some steps in a row were of no use, so that it
        is no proof that there is no way where it finds none; and when the time is over.
        """

        def order(candidate: CandidateNode) -> tuple[int, float, int, int, int]:
            return sum(effect.change for _, effect in candidate.effects), -candidate.gain, *candidate.key

        least, vain = np.inf, 0
        while any(view.failing > self.limit for view in self.views):
            failing = sum(view.failing for view in self.views)
            least, vain = (failing, 0) if failing < least else (least, vain + 1)
            if not self.candidates or vain >= _PATIENCE:
                return False
            for candidate in self.candidates.values():
                if is_over(progress):
                    return False
                self._look(candidate)
            self._specialize(min(self.candidates.values(), key=order))
        return True

    def _best(self, progress: Progress | None = None) -> CandidateNode | None:
        """Find the valid candidate of the best score (line 3); of equals the one of more gain, then the first.

        None when the time is over amid the candidates: the best of some of them says nothing.
        """
        if self.gains is not None:  # gains that depend on the classes, of all candidates whose classes have changed
            for candidate in self.candidates.values():
                self._weigh(candidate)
            self.order = sorted((-candidate.gain, key) for key, candidate in self.candidates.items())
        best, score = None, -1.0
        queue = list(self.order)  # ascending, so a heap
        while queue:
            candidate = self.candidates[heapq.heappop(queue)[1]]
            if best is not None and candidate.gain <= score:
                break  # its score is at most its gain, and that of all behind it
            if is_over(progress):
                return None
            if self.options.beneficial and candidate.gain <= _NO_GAIN:
                break
            self._look(candidate)
            failing = candidate.failing(self.limit)
            if not failing:
                if (its_score := candidate.score) > score:
                    best, score = candidate, its_score
                continue
            if self.options.next_cut and (another := self._add_next(candidate)) is not None:
                heapq.heappush(queue, (-another.gain, another.key))
            if any(view.monotone for view in failing):
                self._drop(candidate)
        return best

    def _weigh(self, candidate: CandidateNode) -> None:
        """Find the gain of a candidate where it depends on the classes, unless nothing has changed."""
        if self.gains is not None and not candidate.weighed:
            weight = self.columns[candidate.number].weight
            candidate.gain = weight * self.gains.gain(candidate.number, candidate.specialization)
            candidate.weighed = True

    def _look(self, candidate: CandidateNode) -> None:
        """Find the effects of a candidate, unless nothing has changed since the last time."""
        if candidate.fresh:
            return
        number, specialization = candidate.number, candidate.specialization
        rematched = {matching: matching.effect(number, specialization) for matching in self.matchings}
        candidate.effects = []
        for view in self.views:
            if isinstance(view, LinkView):
                effect = view.effect(number, specialization, rematched[view.matching])
            else:
                effect = view.effect(number, specialization)
            if effect is not None:
                candidate.effects.append((view, effect))
        candidate.fresh = True

    def _specialize(self, chosen: CandidateNode) -> None:
        """Divide what the candidate divides, and mark all that has changed by it (lines 4 and 5)."""
        number, specialization = chosen.number, chosen.specialization
        for rank in list(self.ranks[number, chosen.node]):
            self._drop(self.candidates[number, chosen.node, rank])
        self.cuts[number][specialization.leaves] = np.array(specialization.children)[specialization.child]
        for child in specialization.children:
            self._add(number, child)
        for view, effect in chosen.effects:
            view.apply(effect)
        for matching in self.matchings:
            if (rematched := matching.effect(number, specialization)) is not None:
                matching.apply(rematched)
        for view, effect in chosen.effects:
            for candidate in self._among(view.touched(effect, self.cuts) if view.independent else self.cuts):
                candidate.fresh = False
        if self.gains is not None:
            for candidate in self._among(self.gains.apply(number, specialization, self.cuts)):
                candidate.weighed = False

    def _add(self, number: int, node: int) -> None:
        specialization = self.columns[number].specialize(node)
        if specialization is not None:
            self._insert(CandidateNode(number, node, 0, specialization, specialization.gain))

    def _add_next(self, failed: CandidateNode) -> CandidateNode | None:
        """Make the next best cut of a node a candidate beside those that fail, unless one behind them is already."""
        if failed.rank < self.last_rank[failed.number, failed.node]:
            return None
        specialization = self.columns[failed.number].next_cut(failed.node)
        if specialization is None:
            return None
        another = CandidateNode(failed.number, failed.node, failed.rank + 1, specialization, specialization.gain)
        self._weigh(another)
        self._insert(another)
        return another

    def _insert(self, candidate: CandidateNode) -> None:
        place = candidate.number, candidate.node
        self.candidates[candidate.key] = candidate
        self.ranks.setdefault(place, []).append(candidate.rank)
        self.last_rank[place] = candidate.rank
        insort(self.order, (-candidate.gain, candidate.key))

    def _drop(self, candidate: CandidateNode) -> None:
        del self.candidates[candidate.key]
        self.ranks[candidate.number, candidate.node].remove(candidate.rank)
        entry = -candidate.gain, candidate.key
        at = bisect_left(self.order, entry)
        if self.order[at : at + 1] == [entry]:
            del self.order[at]

    def _among(self, nodes: Mapping[int, IntArray]) -> Iterable[CandidateNode]:
        """List the candidates that are among some nodes of each column."""
        places = [(number, node) for number, each in nodes.items() for node in set(each.tolist())]
        return [self.candidates[*place, rank] for place in places for rank in self.ranks.get(place, ())]


def _why_not(view: LinkView) -> str:
    """Say why the most general table fails a requirement on the join, and the nearest requirement that it meets."""
    entry, figure, names = view.requirement.entry, view.figures["y"], ", ".join(view.matching.linked.names)
    joined = f"joined with {names}" if names else "the table itself"
    x, y = ", ".join(entry.x), ", ".join(entry.y)
    # The columns of x that generalizing does not reach, where leaving them out would help: those of the current table
    # that are not quasi-identifiers; those of earlier releases, unless y is of the current table alone: then they
    # neither help nor hurt.
    quasi = {attribute.name for attribute in view.matching.linked.encoded.quasi}
    own = [name for name in view.requirement.x if name not in quasi]
    earlier = [] if view.judge.antimonotone else [name for name in entry.x if name not in {*quasi, *own}]
    or_leave = f", or leave {', '.join([*own, *earlier])} out of x" if own or earlier else ""
    if isinstance(entry, XYAnonymity):
        return (
            f"xy-anonymity (x = {x}; y = {y}; k = {entry.k}) cannot be met: with every quasi-identifier fully "
            f"generalized, {joined}, some value on x is linked to {figure:,.0f} different values on y; lower k to "
            f"that{or_leave}"
        )
    bound = np.ceil(figure * 1e4) / 1e4
    return (
        f"xy-linkability (x = {x}; y = {y}) cannot be met: with every quasi-identifier fully generalized, {joined}, "
        f"some value on x implies a protected value on y with a confidence of {figure:.4f}; raise k to {bound:.4f}, "
        f"or leave that value out of values{or_leave}"
    )
