"""The models of classes on the classes of the table."""

from collections.abc import Mapping

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.recode.requirement import Requirement
from sfumato.recode.tds.axes import Split
from sfumato.recode.tds.groups import Groups, Parted, renewed
from sfumato.recode.tds.view import Tried, View

_LESS_IS_WORSE = {"k", "l", "linked_k"}


class ClassView(View):
    """Every different tuple, in classes by all quasi-identifiers."""

    def __init__(self, encoded: EncodedTable, requirement: Requirement) -> None:
        self.encoded, self.requirement = encoded, requirement
        self.counts = encoded.tuples.counts
        self.leaves = dict(enumerate(encoded.tuples.quasi))
        self.groups = Groups(np.zeros(len(self.counts), dtype=np.int64), 1)
        everything = np.arange(len(self.counts))
        classes = self._classes(self.groups.parted(everything, np.zeros_like(everything), 1))
        self.lost_rows = self._lost(classes)
        self.failing = int(self.lost_rows.sum())
        self.figures = self._figures(classes)

    @property
    def falls(self) -> bool:
        """Where models are monotone, or hereditary if rows may go."""
        return self.requirement.exact

    @property
    def local(self) -> bool:
        """Not where persons have to share their classes: those may be anywhere."""
        return self.requirement.linked <= 1

    def tried(self, place: int, split: Split) -> Tried:
        """The classes that would be parted, judged."""
        child = split.which[self.leaves[place]]
        tuples = np.flatnonzero(child >= 0)
        parted = self.groups.parted(tuples, child[tuples], len(split.children))
        classes = self._classes(parted)
        lost = self._lost(classes)
        old = np.unique(parted.old)
        change = int(lost.sum()) - int(self.lost_rows[old].sum())
        if self.failing + change <= self.requirement.limit and not self._links(parted):
            change = self.encoded.rows - self.failing  # as if all did: nobody would be published
        return Tried(change, self._figures(classes), parted, (lost,))

    def commit(self, tried: Tried) -> None:
        """Part the classes."""
        numbers = self.groups.commit(tried.parted)
        (lost,) = tried.more
        assert isinstance(lost, np.ndarray)  # noqa: S101 - as `tried` has put it there
        self.lost_rows = renewed(self.lost_rows, numbers, lost, self.groups.count)
        self.failing += tried.change
        self.figures = self._worst(tried.figures)

    def lost(self, figures: Mapping[str, float]) -> float:
        """By how much the worst class is worse, over all keys of all models."""
        worst = self._worst(figures)
        return sum(abs(worst[key] - now) for key, now in self.figures.items() if key in worst)

    def regroup(self, cuts: Mapping[int, IntArray]) -> None:
        """The classes of other cuts, where nobody has kept them up to date."""
        nodes = [cuts[place][codes] for place, codes in self.leaves.items()]
        of, count = number_tuples(pack_tuples(nodes, [int(each.max(initial=0)) + 1 for each in nodes]))
        self.groups = Groups(of, count)

    @property
    def published(self) -> tuple[IntArray, EquivalenceClasses]:
        """The class of each tuple, -1 where it fails; and the classes that do not."""
        everything = np.arange(len(self.counts))
        classes = self._classes(Parted(everything, self.groups.of, np.arange(self.groups.count)))
        passing = self.requirement.holds(classes)
        place = np.where(passing, np.cumsum(passing) - 1, -1)
        return place[self.groups.of], classes.select(passing)

    def _classes(self, parted: Parted) -> EquivalenceClasses:
        rows, size = self.counts[parted.tuples], len(parted.old)
        histograms = {
            name: count_values(
                parted.part, self.encoded.tuples.others[name][parted.tuples].astype(np.int64), rows, domain
            )
            for name, domain in self.encoded.domains.items()
        }
        person = self.encoded.individual
        people = histograms.pop(person.name) if person else None
        return EquivalenceClasses(np.bincount(parted.part, rows, size).astype(np.int64), histograms, people)

    def _lost(self, classes: EquivalenceClasses) -> IntArray:
        """Rows of each class that fails."""
        return np.where(self.requirement.holds(classes), 0, classes.sizes)

    def _figures(self, classes: EquivalenceClasses) -> dict[str, float]:
        """What the classes that pass reach, by place of the model and key."""
        passing = classes.select(self.requirement.holds(classes))
        if not len(passing):
            return {}
        found: dict[str, float] = {}
        for place, model in enumerate(self.requirement.models):
            found |= {f"{place} {key}": float(value) for key, value in model.achieved(passing).items()}
        return found

    def _worst(self, figures: Mapping[str, float]) -> dict[str, float]:
        """The worse of the present figures and others, key by key."""
        worse = {key: min if key.partition(" ")[2] in _LESS_IS_WORSE else max for key in {*self.figures, *figures}}
        pairs = {key: [each[key] for each in (self.figures, figures) if key in each] for key in sorted(worse)}
        return {key: worse[key](values) for key, values in pairs.items()}

    def _links(self, parted: Parted) -> bool:
        """Whether enough persons share their classes, where that is asked for."""
        if self.requirement.linked <= 1:
            return True
        groups = Groups(self.groups.of, self.groups.count)
        groups.commit(parted)
        everything = np.arange(len(self.counts))
        classes = self._classes(Parted(everything, groups.of, np.arange(groups.count)))
        return self.requirement.holds_linked(classes.select(self.requirement.holds(classes)))
