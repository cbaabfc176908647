"""Run a local algorithm: begin, group, settle, improve, gather, apply."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.hierarchy import Ranges, Sets
from sfumato.models import AlphaDeassociation
from sfumato.policy import Policy
from sfumato.recode.local.apply import applied
from sfumato.recode.local.axes import Axis, RangeAxis, SetAxis, Tree
from sfumato.recode.local.bottom_up import bottom_up
from sfumato.recode.local.bundles import bundled
from sfumato.recode.local.coarse import coarse
from sfumato.recode.local.gather import gathered
from sfumato.recode.local.improve import improved
from sfumato.recode.local.mondrian import mondrian, relaxed
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.price import Price
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive import progressive
from sfumato.recode.local.settle import settled
from sfumato.recode.local.start import begun, full_domain, searched
from sfumato.recode.local.top_down import top_down
from sfumato.recode.recoding import Progress, Recoding
from sfumato.recode.requirement import Requirement

Local = Callable[[Problem, Progress | None], Parts]

ALGORITHMS: dict[str, Local] = {
    "progressive": progressive,
    "top-down": top_down,
    "bottom-up": bottom_up,
    "mondrian": mondrian,
    "mondrian-relaxed": relaxed,
}
"""Each from a problem whose start is one group that passes, to groups that pass as far as its models are monotone."""


_TRIED = 300_000
"""Tables of more different tuples are not tried with every algorithm."""


def local(encoded: EncodedTable, policy: Policy, name: str, progress: Progress | None = None) -> Recoding | None:
    """The recoding that a local algorithm finds, or nothing where the requirements cannot be met."""
    problem = begun(posed(encoded, policy))
    if problem is None:
        return None
    names = candidates(problem) if name == "auto" else (name,)
    found = [_Found(each, _grouped(problem, each, progress)) for each in names]
    best = _cheapest(problem, found)
    if policy.search.improve:
        parts = improved(problem, best.parts, progress, patient=name == "auto")
        best = best if parts is best.parts else _Found(best.name, parts, improved=True)
    if problem.requirement.linked > 1:  # gathering may cost one of them more than another
        ways = [way for each in dict.fromkeys((best, *found)) if (way := each.gathered(problem))]
        if not ways:
            return None
        best = _cheapest(problem, ways)
    return replace(applied(problem, best.parts, best.name), improved=best.improved)


@dataclass(frozen=True, eq=False)
class _Found:
    """The classes that an algorithm has found, and whether they were improved on."""

    name: str
    parts: Parts
    improved: bool = False

    def gathered(self, problem: Problem) -> "_Found | None":
        """The same with persons gathered whose classes too few share; nothing where that cannot be had."""
        parts = gathered(problem, self.parts)
        return None if parts is None else replace(self, parts=parts)


def _cheapest(problem: Problem, found: list[_Found]) -> _Found:
    """The one that costs least, the first of equals; a single one need not be priced."""
    return found[0] if len(found) == 1 else min(found, key=lambda each: problem.cost(each.parts))


def candidates(problem: Problem) -> tuple[str, ...]:
    """The algorithms that ``auto`` tries, of which the cheapest result is taken: all that can and are worth the time.

    The full-domain optimum is one of them where its search is quick: where pruning is exact and the lattice small. It
    is a local recoding too, under the tightest labels of its classes; name it where a column is to have one level.
    """
    if not all(isinstance(axis, Tree) for axis in problem.axes):
        return "mondrian", "mondrian-relaxed"
    if len(problem.counts) > _TRIED:
        return ("bottom-up",) if problem.requirement.linked > 1 else ("progressive",)
    quick = problem.requirement.exact and searched(problem) and problem.start.groups == 1
    # relaxed cuts need a column without levels; orphans are too many where shares of values are bounded tightly
    requirement = problem.requirement
    shares = any(isinstance(model, AlphaDeassociation) for model in requirement.models) and requirement.linked <= 1
    persons = () if problem.encoded.individual is None or shares else ("bottom-up",)
    return ("progressive", "top-down", *persons, "mondrian", *(("optimal",) if quick else ()))


def _grouped(problem: Problem, name: str, progress: Progress | None = None) -> Parts:
    """The classes that an algorithm ends with."""
    if name == "optimal":
        return settled(problem, full_domain(problem) or problem.start)
    return settled(problem, problem.start if problem.start.groups > 1 else ALGORITHMS[name](problem, progress))


def posed(encoded: EncodedTable, policy: Policy) -> Problem:
    """What the policy asks of the table; ranges of a partition are searched by interval, not by value."""
    spans = _partitions(encoded, policy)
    encoded = coarse(encoded, {place: axis.place for place, axis in spans.items()})
    whole = encoded.individual is not None and policy.search.keep_together
    source, (encoded, bags) = encoded, bundled(encoded) if whole else (encoded, {})
    price = Price(encoded, policy.search.metric)
    axes = tuple(
        spans[place].by_place(price.share(place)) if place in spans else _axis(attribute, place, price, policy)
        for place, attribute in enumerate(encoded.quasi)
    )
    requirement = Requirement.from_share(policy.privacy, encoded.rows, policy.search.suppression)
    return Problem(encoded, requirement, axes, price, Parts.together(encoded.tuples.counts), source, bags, whole=whole)


def _partitions(encoded: EncodedTable, policy: Policy) -> dict[int, RangeAxis]:
    """The columns that are published as ranges of a partition, by their number."""
    if policy.publish.ranges != "partition":
        return {}
    least = max(model.least for model in policy.privacy)
    ranges = {i: attribute for i, attribute in enumerate(encoded.quasi) if isinstance(attribute.spec, Ranges)}
    return {i: RangeAxis(attribute, 1.0, shown="partition", least=least) for i, attribute in ranges.items()}


def _axis(attribute: QuasiIdentifier, place: int, price: Price, policy: Policy) -> Axis:
    if isinstance(attribute.spec, Ranges):
        return RangeAxis(attribute, price.share(place), shown=policy.publish.ranges)
    if isinstance(attribute.spec, Sets):
        return SetAxis(attribute, price.share(place))
    return Tree(attribute, price.cells(place))
