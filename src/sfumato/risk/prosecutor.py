"""Prosecutor risk: the adversary knows that a person is in the table, and that person's quasi-identifiers."""

from dataclasses import asdict, dataclass

from sfumato.core.classes import EquivalenceClasses


@dataclass(frozen=True)
class Risk:
    """Chances of picking the right row for a person in the table.

    `highest` is for the person in the smallest class, `average` over all rows; `uniques` are rows alone in
    their class, `unique_share` their share.
    """

    highest: float
    average: float
    uniques: int
    unique_share: float

    def as_json(self) -> dict[str, float]:
        """For ``--json`` and the audit."""
        return asdict(self)


def risk_of(classes: EquivalenceClasses) -> Risk:
    """The prosecutor risk of a table with these classes; by persons where rows name them.

    >>> risk_of(EquivalenceClasses(sizes=[1, 4]))
    Risk(highest=1.0, average=0.4, uniques=1, unique_share=0.2)
    """
    persons, rows = classes.persons, classes.rows
    alone = int(classes.sizes[persons == 1].sum())
    average = float((classes.sizes / persons).sum()) / rows
    return Risk(1.0 / int(persons.min()), average, alone, alone / rows)
