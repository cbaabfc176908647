"""Risk by person: what is left of classes, and of hiding in one, where a person may have several rows."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.models import Model

DEFAULT_K = 5
"""The k that is measured with where nobody names one."""


@dataclass(frozen=True)
class Persons:
    """A table's groups, or classes, counted in persons; shares are of all groups, and of all persons.

    `rpi` is rows per individual. `vulnerable` groups have at least `k` rows but fewer than `k` persons; `single` groups
    have rows of one person only, be they one or many. `linked` are the persons whose set of published quasi-identifier
    values (their set of groups) fewer than `k` persons share, they themselves among them; `linked_fewest` is the
    fewest persons who share theirs.
    """

    rows: int
    persons: int
    rpi: float
    k: int
    vulnerable: int
    vulnerable_share: float
    single: int
    single_share: float
    linked: int
    linked_share: float
    linked_fewest: int

    def as_json(self) -> dict[str, float]:
        """For ``--json`` and the audit."""
        return asdict(self)


def persons_of(classes: EquivalenceClasses, k: int) -> Persons:
    """The figures of a table with these classes; where rows name no person, each row is another's.

    Mike has both rows of the first class.

    >>> found = persons_of(EquivalenceClasses.of([0, 0, 1, 1], individuals=["mike", "mike", "emily", "tim"]), k=2)
    >>> found.vulnerable, found.single, found.linked, found.rpi
    (1, 1, 1, 1.3333333333333333)
    """
    ties, people = linked_persons(classes), classes.persons
    persons, groups = len(ties.persons), max(len(classes), 1)
    vulnerable = int(((classes.sizes >= k) & (people < k)).sum())
    single, below = int((people == 1).sum()), ties.count_below(k)
    return Persons(
        rows=classes.rows,
        persons=persons,
        rpi=classes.rows / max(persons, 1),
        k=k,
        vulnerable=vulnerable,
        vulnerable_share=vulnerable / groups,
        single=single,
        single_share=single / groups,
        linked=below,
        linked_share=below / max(persons, 1),
        linked_fewest=ties.fewest,
    )


def asked_k(models: Iterable[Model]) -> int | None:
    """The largest k that some requirement asks for.

    >>> from sfumato.models import IdentityKAnonymity, KAnonymity
    >>> asked_k([KAnonymity(2), IdentityKAnonymity(3)])
    3
    """
    asked = [k for model in models if isinstance(k := model.required.get("k"), int)]
    return max(asked, default=None)
