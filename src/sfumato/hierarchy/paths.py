"""From a label as it was published up to the root: what the kinds of hierarchy share."""

from collections.abc import Callable, Iterable, Sequence

from sfumato.hierarchy.base import ROOT, Branch, Label

Paths = dict[str, Branch]


def climb(labels: Sequence[Label], path: Callable[[str], Branch | None], *, null: Branch) -> list[Branch | None]:
    """The path of each label, by `path` for texts; NULL has the path `null`, and ``*`` is its own.

    >>> climb(["a", "*", None, "b"], {"a": ("a", "*")}.get, null=(None, "*"))
    [('a', '*'), ('*',), (None, '*'), None]
    """
    return [null if label is None else (ROOT,) if label == ROOT else path(label) for label in labels]


class Unlevelled:
    """The part of a Spec that all kinds without fixed levels share: they have no taxonomy, and join no tables."""

    def paths(
        self,
        labels: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> list[Branch | None]:
        """Only ``*`` and NULL are known: ranges and sets overlap, so that no other label has a path.

        >>> Unlevelled().paths(["Bern", "{Bern, Thun}", "*", None], column="town")
        [None, None, ('*',), (None, '*')]
        """
        return climb(labels, lambda _: None, null=(None, ROOT))


def upward(label: Label, line: Sequence[Label]) -> Branch | None:
    """The part of a line, from a value to the root, from the first place on where a label stands.

    >>> upward("A", ("a", "A", "A", "*")), upward("B", ("a", "A", "*"))
    (('A', 'A', '*'), None)
    """
    return tuple(line[line.index(label) :]) if label in line else None


def nodes(lines: Iterable[Branch]) -> tuple[Paths, set[str]]:
    """The path of every text in lines of equal length, and the texts that stand in two branches.

    At one level a label has one parent, or the lines were refused before. On several levels of one branch a text
    counts at the lowest. It stands in two branches where the upper place is not above the lower one: such a text does
    not tell what it means.

    >>> nodes([("a", "A", "*"), ("A", "A", "*")])
    ({'a': ('a', 'A', '*'), 'A': ('A', 'A', '*')}, set())
    >>> nodes([("a", "A", "*"), ("b", "a", "*")])[1]
    {'a'}
    """
    known: Paths = {}
    torn = set()
    for level, places in enumerate(_places(lines)):
        for text, line in places.items():
            path = known.setdefault(text, line[level:])
            if path[-len(line[level:]) :] != line[level:]:
                torn.add(text)
    return known, torn


def _places(lines: Iterable[Branch]) -> list[dict[str, Branch]]:
    """For each level below the root its texts, each with a line that it stands in; ``*`` is the root wherever."""
    places: list[dict[str, Branch]] = []
    for line in lines:
        places = places or [{} for _ in line[:-1]]
        for level, label in zip(places, line, strict=False):
            if label is not None and label != ROOT:
                level.setdefault(label, line)
    return places
