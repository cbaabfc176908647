"""The models of the identity-reserved paper, for tables in which a person may have several rows.

Identity-reserved k-anonymity (Definitions 1 and 2), (k, l)-diversity (Definition 3) and (alpha, beta)-anonymity
(Definition 4). All count persons by a column of individuals, and may bound how far pseudonyms link a person's rows
(`linked_k`, which goes beyond the paper).
"""

from abc import ABC
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.linked_persons import linked_persons
from sfumato.core.numbers import exact_fraction, floor_times
from sfumato.core.segments import max_by_group
from sfumato.models.model import (
    ClassModel,
    MinimumCountModel,
    SensitiveColumnModel,
    count_distinct_values,
    doomed_share,
    round_up,
    sensitive_histogram,
)
from sfumato.models.policy_keys import SHARE, WHOLE_NUMBER


@dataclass(frozen=True)
class IdentityModel(ClassModel, ABC):
    """A model that needs a column of individuals.

    `linked_k` is about the table and not about a class: rows of a person in several classes are tied together by the
    pseudonym, and as many persons must have rows in exactly the same classes. `recode.requirement` asks for that. What
    follows from it for each class, that it has as many persons, is asked for here.
    """

    identity: ClassVar[bool] = True

    _: KW_ONLY
    linked_k: Annotated[int | None, WHOLE_NUMBER, "the fewest persons who have to share a person's set of classes"] = (
        None
    )

    @property
    def linked(self) -> int:
        """How many persons have to share each person's set of classes."""
        return self.linked_k or 1

    def _has_persons(self, classes: EquivalenceClasses, persons: int = 1) -> BoolArray:
        """Tell of each class whether it has so many persons, and `linked_k`: who shares a person's classes is in each.

        So a class with fewer fails, and so do all of its parts.
        """
        enough: BoolArray = classes.persons >= max(persons, self.linked)
        return enough

    def _achieved_link(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Count the fewest persons who share their classes, where `linked_k` asks for it."""
        return {} if self.linked_k is None else {"linked_k": linked_persons(classes).fewest}

    def _link_hint(self, whole: EquivalenceClasses) -> str:
        """Say what could be met of `linked_k`, as an addition to a hint; nothing where it can be met."""
        people = int(whole.persons.sum())
        return "" if self.linked <= people else f", and linked_k at most {people}"


@dataclass(frozen=True)
class IdentityKAnonymity(MinimumCountModel, IdentityModel):
    """Every class has rows of at least `k` different individuals.

    Guards against singling out where a person may have several rows: k rows of one person hide nobody. It does not
    bound how many of a class's rows are one person's; `identity-alpha-beta` does.

    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=["mike", "mike", "emily", "tim"])
    >>> IdentityKAnonymity(2).holds(classes)
    array([False,  True])
    >>> IdentityKAnonymity(2).achieved(classes)
    {'k': 1}
    """

    name: ClassVar[str] = "identity-k-anonymity"
    threat: ClassVar[str] = "Someone who knows a person's quasi-identifiers finds a class in which all rows are theirs."

    k: Annotated[int, WHOLE_NUMBER, "the fewest individuals of a class"]

    @property
    def least(self) -> int:
        """As many individuals have at least as many rows."""
        return max(self.k, self.linked)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has k individuals."""
        return self._has_persons(classes, self.k)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Count the individuals of the class with the fewest."""
        return {"k": int(classes.persons.min()) if len(classes) else 0, **self._achieved_link(classes)}

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say how many individuals the table has: no class has more."""
        return f"the table has {int(whole.persons.sum())} individuals, so k can be at most that{self._link_hint(whole)}"


@dataclass(frozen=True)
class IdentityKLDiversity(MinimumCountModel, IdentityModel, SensitiveColumnModel):
    """Every class has rows of at least `k` individuals, and at least `l` different sensitive values.

    Guards against singling out and against a class that shares one value. Values are those of the class's own rows:
    what its people have in other classes does not count. It bounds no share, neither of a person nor of a value.

    >>> people, illness = ["mike", "mike", "emily", "tim"], ["flu", "HIV", "flu", "flu"]
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=people, illness=illness)
    >>> IdentityKLDiversity(column="illness", k=2, l=1).holds(classes)
    array([False,  True])
    >>> IdentityKLDiversity(column="illness", k=1, l=2).holds(classes)
    array([ True, False])
    """

    name: ClassVar[str] = "identity-kl-diversity"
    threat: ClassVar[str] = "Someone finds a class in which all rows are a person's, or all hold one sensitive value."

    k: Annotated[int, WHOLE_NUMBER, "the fewest individuals of a class"]
    l: Annotated[int, WHOLE_NUMBER, "the fewest different values of a class"]  # noqa: E741  the field's own name

    @property
    def least(self) -> int:
        """Different individuals are in different rows, and so are different values."""
        return max(self.k, self.l, self.linked)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has k individuals and l values."""
        passing: BoolArray = self._has_persons(classes, self.k) & (self._diversity(classes) >= self.l)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Count the individuals of the class with the fewest, and the values of that with the fewest."""
        if not len(classes):
            return {"k": 0, "l": 0, **self._achieved_link(classes)}
        persons, values = int(classes.persons.min()), int(self._diversity(classes).min())
        return {"k": persons, "l": values, **self._achieved_link(classes)}

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say how many individuals and values the table has: no class has more."""
        people, values = int(whole.persons.sum()), int(self._diversity(whole).sum())
        return f"k can be at most {people} and l at most {values} (the values of {self.column}){self._link_hint(whole)}"

    def _diversity(self, classes: EquivalenceClasses) -> IntArray:
        return count_distinct_values(sensitive_histogram(classes, self.column), len(classes))


@dataclass(frozen=True)
class IdentityAlphaBeta(IdentityModel, SensitiveColumnModel):
    """In no class has one individual more than a share `alpha` of the rows, or one value more than a share `beta`.

    Guards against classes that are mostly one person's, and against learning a sensitive value: seen by rows, nobody
    can be surer than `alpha` whose a row is, and nobody surer than `beta` what it holds. Shares are compared exactly.
    Every value is limited, NULL among them.

    >>> people, illness = ["mike", "mike", "emily", "tim"], ["flu", "HIV", "flu", "HIV"]
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], individuals=people, illness=illness)
    >>> IdentityAlphaBeta(column="illness", alpha=0.5, beta=0.5).holds(classes)
    array([False,  True])
    >>> IdentityAlphaBeta(column="illness", alpha=0.5, beta=0.5).achieved(classes)
    {'alpha': 1.0, 'beta': 0.5}
    """

    name: ClassVar[str] = "identity-alpha-beta"
    threat: ClassVar[str] = "Someone finds a class that is mostly one person's, or is nearly sure of a sensitive value."

    alpha: Annotated[float, SHARE, "the largest share of a class that one individual may have"]
    beta: Annotated[float, SHARE, "the largest share of a class that one value may hold"]

    @property
    def monotone(self) -> bool:
        """The share of an individual or a value in a union is no larger than the largest in its parts."""
        return True

    @property
    def least(self) -> int:
        """Somebody has a row, and it may be no more than alpha of the class; the same for its value."""
        shares = (exact_fraction(share) for share in (self.alpha, self.beta))
        return max([self.linked, *(-int(-1 // share) for share in shares if share)])

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        """Tell of each class whether it has few enough rows of every individual and of every value."""
        passing = self._has_persons(classes)
        for rows, share in self._most_rows(classes):
            passing &= rows <= floor_times(share, classes.sizes)
        return passing

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        """Compute the largest share of an individual in a class, and that of a value."""
        sizes = np.maximum(classes.sizes, 1)
        alpha, beta = (float((rows / sizes).max(initial=0.0)) for rows, _ in self._most_rows(classes))
        return {"alpha": alpha, "beta": beta, **self._achieved_link(classes)}

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        """By averaging, as for alpha-deassociation.

        Of an individual or a value with m rows of n, with F rows in parts that fail: m <= share (n - F) + F. Where
        there are too few persons, all parts have too few.
        """
        lost = (~self._has_persons(classes)).astype(np.float64)
        for rows, share in self._most_rows(classes):
            a, b = exact_fraction(share).as_integer_ratio()
            surplus = rows * b - a * classes.sizes
            lost = np.maximum(lost, doomed_share(surplus > 0, -(-surplus // max(b - a, 1)), classes.sizes))
        return lost

    def hint(self, whole: EquivalenceClasses) -> str:
        """Say the shares in the table: some class has at least these."""
        alpha, beta = (round_up(float(rows.max(initial=0)) / max(whole.rows, 1)) for rows, _ in self._most_rows(whole))
        return (
            f"alpha must be at least {alpha} (the largest share of an individual in the table) and beta at least {beta}"
            f" (that of a value of {self.column}){self._link_hint(whole)}"
        )

    def _most_rows(self, classes: EquivalenceClasses) -> tuple[tuple[IntArray, float], tuple[IntArray, float]]:
        """Count the most rows of one individual and of one value in each class, each with the share it may have."""
        people, values = classes.individuals, sensitive_histogram(classes, self.column)
        rows = (
            np.minimum(classes.sizes, 1)
            if people is None
            else max_by_group(people.class_of, people.count, len(classes))
        )
        return (rows, self.alpha), (max_by_group(values.class_of, values.count, len(classes)), self.beta)
