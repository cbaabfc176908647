"""Labels of one column beside its entry in the data dictionary, which says how they are read."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.hierarchy.base import ROOT, Label
from sfumato.hierarchy.set_labels import parse_set
from sfumato.queries.entry import Entry

VALUES, NUMBERS, DATES, MASK, MEANS = "values", "numbers", "dates", "mask", "means"


@dataclass(frozen=True, eq=False)
class Side:
    """Labels, and the entry that goes with them; one without content says that each is a value itself."""

    labels: Sequence[Label]
    entry: Entry

    @property
    def kind(self) -> str:
        """What labels are: ranges of numbers, units of the calendar, masked texts, means, or values and sets of them.

        >>> Side([], {"integers": True}).kind, Side([], {"covers": {}}).kind
        ('numbers', 'values')
        """
        if self.entry.get("form") == "means":
            return MEANS
        keys = {"integers": NUMBERS, "dates": DATES, "mask": MASK}
        return next((kind for key, kind in keys.items() if key in self.entry), VALUES)

    @property
    def coarse(self) -> bool:
        """Whether the values of a hierarchy file are listed no more exactly than it may be told.

        >>> Side([], {"least": 1}).coarse, Side([], {"least": 1, "dates": ["year"]}).coarse
        (True, False)
        """
        return self.kind == VALUES and bool(self.entry.get("least"))

    def leaves(self) -> list[Sequence[Label] | None]:
        """The values under each label, where they are listed; nothing where it may stand for any, or is not explained.

        >>> Side(["nurse", "service", "*", None], {"covers": {"service": ["cook", "porter"]}}).leaves()
        [['nurse'], ['cook', 'porter'], None, [None]]
        >>> Side(["{Bern, Thun}"], {"form": "sets"}).leaves(), Side(["x"], {"different_leaves": 20_000}).leaves()
        ([('Bern', 'Thun')], [None])
        """
        return [self._told(label) for label in self.labels]

    def _told(self, label: Label) -> Sequence[Label] | None:
        if label is None or label == ROOT:
            return None if label else [None]
        if self.entry.get("form") == "sets":
            return _members(label)
        covers = self.entry.get("covers", {})
        return covers.get(label) or (None if "different_leaves" in self.entry else [label])


def _members(label: str) -> Sequence[Label] | None:
    try:
        return parse_set(label)
    except ValueError:
        return None
