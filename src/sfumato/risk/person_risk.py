"""Risk by person: how well a class hides its persons, where a person may have several rows."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.models import Model

DEFAULT_K = 5
"""The k that is measured with where nobody names one."""


@dataclass(frozen=True)
class PersonRisk:
    """A table's classes, or groups, counted in persons; shares are of all classes, and of all persons.

    `rpi` is rows per individual. `vulnerable` classes have at least `k` rows but fewer than `k` persons; `single`
    classes have rows of one person only, be they one or many. `linked` are the persons whose set of published
    quasi-identifier values (their set of classes) fewer than `k` persons share, they themselves among them;
    `linked_fewest` is the fewest persons who share theirs.
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
        """Return the figures for ``--json`` and the audit."""
        return asdict(self)


def measure_person_risk(classes: EquivalenceClasses, k: int) -> PersonRisk:
    """Measure a table with these classes by person; where rows name no person, each row is another's.

    Mike has both rows of the first class.

    >>> people = ["mike", "mike", "emily", "tim"]
    >>> risk = measure_person_risk(EquivalenceClasses.of([0, 0, 1, 1], individuals=people), k=2)
    >>> risk.vulnerable, risk.single, risk.linked, risk.rpi
    (1, 1, 1, 1.3333333333333333)
    """
    links, persons_in = linked_persons(classes), classes.persons
    persons, groups = len(links.persons), max(len(classes), 1)
    vulnerable = int(((classes.sizes >= k) & (persons_in < k)).sum())
    single, linked = int((persons_in == 1).sum()), links.count_below(k)
    return PersonRisk(
        rows=classes.rows,
        persons=persons,
        rpi=classes.rows / max(persons, 1),
        k=k,
        vulnerable=vulnerable,
        vulnerable_share=vulnerable / groups,
        single=single,
        single_share=single / groups,
        linked=linked,
        linked_share=linked / max(persons, 1),
        linked_fewest=links.fewest,
    )


def required_k(models: Iterable[Model]) -> int | None:
    """Find the largest k that some model requires; none where no model has one.

    >>> from sfumato.models import IdentityKAnonymity, KAnonymity
    >>> required_k([KAnonymity(2), IdentityKAnonymity(3)])
    3
    """
    return max((k for model in models if isinstance(k := model.required.get("k"), int)), default=None)
