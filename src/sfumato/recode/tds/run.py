"""Run top-down specialization: begin at the roots, specialize, and apply the cuts."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.errors import Infeasible, PolicyError
from sfumato.hierarchy import Ranges
from sfumato.models import Linkage
from sfumato.policy import Policy
from sfumato.previous import JoinRequirement, LinkedReleases, bind_requirement, join_history
from sfumato.recode.local.apply import groups_of_rows
from sfumato.recode.local.axes import RangeAxis
from sfumato.recode.local.parts import Parts
from sfumato.recode.recoding import Labels, Progress, Recoding
from sfumato.recode.requirement import Requirement
from sfumato.recode.tds.axes import Axis, RangesAxis, TreeAxis
from sfumato.recode.tds.class_view import ClassView
from sfumato.recode.tds.gains import Gains
from sfumato.recode.tds.link_view import LinkView
from sfumato.recode.tds.matching import Matching
from sfumato.recode.tds.score import Score
from sfumato.recode.tds.search import Search
from sfumato.recode.tds.view import View
from sfumato.recode.tds.why import unreachable


@dataclass(frozen=True, eq=False, repr=False)
class _Begun:
    """A search at its beginning, with the views that it judges by."""

    axes: list[Axis]
    classes: ClassView
    search: Search


def specialized(
    encoded: EncodedTable, policy: Policy, star: LinkedReleases | None = None, progress: Progress | None = None
) -> Recoding | None:
    """The recoding that top-down specialization finds, or nothing where models of classes cannot be met at all.

    Where a requirement on the join cannot be met, it is said which, and what would help: if it can only get worse by
    specializing, the most general table decides (Corollary 4.2); if not, a way down is looked for first.
    """
    begun = _begun(encoded, policy, star)
    search = begun.search
    failing = [view for view in search.views if view.failing > search.limit]
    why = unreachable([view for view in failing if isinstance(view, LinkView)])
    if failing and (any(view.falls for view in failing) or not search.descend()):
        if why:
            raise Infeasible(why)
        return None
    search.run(progress)
    return _applied(encoded, begun)


def _begun(encoded: EncodedTable, policy: Policy, star: LinkedReleases | None) -> _Begun:
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    score = _score(encoded, policy)
    axes = [_axis(attribute, score, policy) for attribute in encoded.quasi]
    classes = ClassView(encoded, requirement)
    links = [] if star is None else _links(policy, star, axes)
    views: list[View] = [*([classes] if policy.privacy else []), *links]
    gains = Gains(encoded, score) if score.kind in {"discernibility", "conditional"} else None
    search = Search(axes, views, limit=requirement.limit, gains=gains)
    return _Begun(axes, classes, search)


def _links(policy: Policy, star: LinkedReleases, axes: list[Axis]) -> list[LinkView]:
    """A view for each requirement on a join; those on the same join share what matches."""
    trees = {place: axis for place, axis in enumerate(axes) if isinstance(axis, TreeAxis)}
    matchings: dict[tuple[str, ...], Matching] = {}
    views = []
    for entry in policy.linkage:
        joined = star.select(entry.releases)
        if tuple(joined.names) not in matchings:
            matchings[tuple(joined.names)] = Matching(join_history(joined), trees)
        matching = matchings[tuple(joined.names)]
        views.append(LinkView(_asked(matching, entry, policy.requirements.index(entry)), matching))
    return views


def _asked(matching: Matching, entry: Linkage, place: int) -> JoinRequirement:
    try:
        return bind_requirement(matching.history, entry)
    except PolicyError as error:
        raise PolicyError(error.message, key=f"privacy[{place}].{error.key}") from None


def _score(encoded: EncodedTable, policy: Policy) -> Score:
    name = policy.search.class_column
    if name is None:
        return Score(policy.search.score)
    column = encoded.coded(name)
    return Score(policy.search.score, column.codes.astype(np.int64), column.width)


def _axis(attribute: QuasiIdentifier, score: Score, policy: Policy) -> Axis:
    if not isinstance(attribute.spec, Ranges):
        return TreeAxis(attribute, score)
    least = max((model.least for model in policy.privacy), default=2)
    return RangesAxis(attribute, score, RangeAxis(attribute, 1.0, shown=policy.publish.ranges, least=least))


def _applied(encoded: EncodedTable, begun: _Begun) -> Recoding:
    """The cuts as labels of rows; where rows may go, those of the classes that fail do."""
    labels = {axis.name: _labels(axis, begun.search.cuts[place]) for place, axis in enumerate(begun.axes)}
    view = begun.classes
    if view not in begun.search.views:
        view.regroup(begun.search.cuts)
    group, classes = view.published
    kept = None
    if (group < 0).any():
        kept = groups_of_rows(encoded, Parts.grouped(encoded.tuples.counts, group, len(classes))) >= 0
    unmatched = max((matching.unmatched_rows for matching in begun.search.matchings), default=0)
    return Recoding("tds", labels, kept, classes, cut=True, unmatched=unmatched)


def _labels(axis: Axis, cut: IntArray) -> Labels:
    """A column at its cut; nodes that read the same are one label."""
    nodes, place = np.unique(cut, return_inverse=True)
    shown = [axis.shown(node) for node in nodes.tolist()]
    first = {one.text: one for one in reversed(shown)}
    number = {text: code for code, text in enumerate(first)}
    lift = narrow_codes(np.array([number[one.text] for one in shown])[place], len(first))
    codes = lift.take(axis.attribute.column.codes)
    loss, climbed = (np.array([getattr(one, key) for one in first.values()]) for key in ("loss", "climbed"))
    return Labels(codes, tuple(first), loss, climbed, None)
