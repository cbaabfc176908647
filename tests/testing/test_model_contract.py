"""Every model keeps the contract, and models that do not are caught."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.models import (
    MODELS,
    AlphaDeassociation,
    AlphaKAnonymity,
    Costs,
    DistinctLDiversity,
    EntropyLDiversity,
    IdentityAlphaBeta,
    IdentityKAnonymity,
    IdentityKLDiversity,
    KAnonymity,
    Model,
    RecursiveLDiversity,
    TCloseness,
)
from sfumato.models.distances import DISTANCES
from sfumato.testing import check_model, random_classes, select_classes
from sfumato.testing.model_contract import VALUES

TWO_WAY = Costs(
    {
        (one or "", other or ""): 1.0 + (3 * i + 5 * j) % 7
        for (i, one), (j, other) in itertools.permutations(enumerate(VALUES), 2)
    },
    "costs.csv",
)
OURS: list[Model] = [
    *(KAnonymity(k) for k in (1, 2, 5, 12)),
    *(AlphaDeassociation(alpha, "s") for alpha in (0.1, 1 / 3, 0.5, 0.8, 1)),
    AlphaDeassociation(0.3, "s", values=("a", "HIV")),
    AlphaDeassociation(0.5, columns=("s", "t")),
    *(AlphaDeassociation(alpha, "s", refined=True) for alpha in (0.1, 0.5)),
    AlphaKAnonymity(alpha=0.6, column="s", k=3),
    AlphaKAnonymity(alpha=0.4, columns=("s", "t"), values=("a",), refined=True, k=3),
    *(DistinctLDiversity("s", l=l) for l in (1, 2, 3, 9)),  # noqa: E741  the field's own name
    *(EntropyLDiversity("s", l=l) for l in (1, 1.2, 2, 2.7, 6)),  # noqa: E741  the field's own name
    *(RecursiveLDiversity("s", c=c, l=l) for c in (0.5, 1, 1.7, 4) for l in (1, 2, 3)),  # noqa: E741  its name
    *(TCloseness("s", t=t, distance=d) for t in (0, 0.15, 0.3, 0.6) for d in DISTANCES if d != "emd"),
    *(TCloseness("s", t=t, distance="emd", costs=TWO_WAY) for t in (0, 0.5, 1.5)),
    *(IdentityKAnonymity(k) for k in (1, 2, 5)),
    IdentityKAnonymity(2, linked_k=4),
    *(IdentityKLDiversity("s", k=k, l=l) for k, l in ((1, 2), (3, 2), (2, 4))),  # noqa: E741  the field's own name
    *(IdentityAlphaBeta("s", alpha=alpha, beta=beta) for alpha in (0.2, 0.5, 1) for beta in (1 / 3, 0.5, 0.9)),
    IdentityAlphaBeta("s", alpha=0.5, beta=0.7, linked_k=3),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", OURS, ids=repr)
def test_our_models_keep_it(model: Model) -> None:
    """Each class by itself, monotone, doomed and achieved as claimed."""
    check_model(model)


def splits(rows: int) -> Iterator[list[int]]:
    """Every way to split rows into parts, as a part per row."""
    if rows == 0:
        yield []
    for rest in splits(rows - 1) if rows else ():
        for part in range(max(rest, default=-1) + 2):
            yield [*rest, part]


def parts_of(codes: IntArray, labels: IntArray, domain: SensitiveDomain) -> EquivalenceClasses:
    """Classes of rows that have the same value in both columns."""
    lines = count_values(labels, codes, np.ones_like(codes), domain)
    return EquivalenceClasses(np.bincount(labels), {"s": lines, "t": lines})


ALL_SPLITS = np.array(list(splits(6)))


@pytest.mark.parametrize("model", OURS, ids=repr)
def test_no_split_loses_less_than_is_doomed(model: Model) -> None:
    """Of all 203 splits of six rows, none leaves fewer rows in failing parts than the bound says."""
    rng = np.random.default_rng(7)
    for _ in range(12):
        domain = random_classes(rng, ["s"]).sensitive["s"].domain
        codes = rng.choice(len(domain.values), size=6, p=rng.dirichlet(np.full(len(domain.values), 0.7)))
        labels = ALL_SPLITS + 6 * np.arange(len(ALL_SPLITS))[:, None]
        used, class_of = np.unique(labels, return_inverse=True)
        parts = parts_of(np.tile(codes, len(ALL_SPLITS)), class_of.ravel(), domain)
        lost = np.bincount(used // 6, np.where(model.holds(parts), 0, parts.sizes))
        whole = parts_of(codes, np.zeros_like(codes), domain)
        assert model.doomed(whole)[0] * 6 <= lost.min()


def test_every_registered_model_is_tried() -> None:
    """A new model does not escape the contract."""
    assert {type(model) for model in OURS} == set(MODELS.values())


def no_two_alike(classes: EquivalenceClasses) -> BoolArray:
    """Class sizes that occur once: judges a class by the others."""
    same: BoolArray = (classes.sizes[:, None] == classes.sizes).sum(axis=1) == 1
    return same


def exactly_two(classes: EquivalenceClasses) -> BoolArray:
    """Class sizes of 2: not monotone."""
    two: BoolArray = classes.sizes == 2
    return two


def larger_than_two(classes: EquivalenceClasses) -> BoolArray:
    """Class sizes of 3 and more: as it should be."""
    large: BoolArray = classes.sizes > 2
    return large


@dataclasses.dataclass(frozen=True)
class Toy:
    """A model made of parts, some of them wrong."""

    name: ClassVar[str] = "toy"
    threat: ClassVar[str] = "Nobody."
    looks_at: ClassVar[tuple[str, ...]] = ()
    identity: ClassVar[bool] = False
    linked: ClassVar[int] = 1

    rule: Callable[[EquivalenceClasses], BoolArray] = larger_than_two
    monotone: bool = True
    hereditary: bool = False
    least: int = 1
    lost: float = 1.0
    required: dict[str, object] = dataclasses.field(default_factory=dict)
    reached: dict[str, float | int] = dataclasses.field(default_factory=dict)

    def holds(self, classes: EquivalenceClasses) -> BoolArray:
        return self.rule(classes)

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        return self.reached

    def doomed(self, classes: EquivalenceClasses) -> FloatArray:
        return np.where(self.holds(classes), 0.0, self.lost)

    def hint(self, whole: EquivalenceClasses) -> str:
        return ""

    def check(self, whole: EquivalenceClasses) -> None:
        self.holds(whole)


@dataclasses.dataclass(frozen=True)
class Boastful(KAnonymity):
    """Says that it achieves one more than it does."""

    def achieved(self, classes: EquivalenceClasses) -> dict[str, float | int]:
        return {"k": int(classes.sizes.min()) + 1}


def test_a_good_toy_passes() -> None:
    """The contract is about what a model does, not who wrote it."""
    check_model(Toy())
    check_model(Toy(hereditary=True))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Toy(no_two_alike, monotone=False, lost=0), "judges a class by other classes"),
        (Toy(exactly_two, lost=0.01), "is not monotone but says it is"),
        (Toy(exactly_two, monotone=False), "dooms more rows than a split loses"),
        (Toy(exactly_two, monotone=False, hereditary=True), "is not hereditary but says it is"),
        (Toy(least=4), "passes a class smaller than its least"),
        (Toy(hereditary=True, lost=0.5), "is hereditary but gives a failing class hope"),
        (Toy(lost=0), "gives a failing class hope"),
        (Toy(lost=1.5), "outside of 0 to 1"),
        (Toy(lambda classes: classes.sizes), "must give a bool per class"),  # type: ignore[arg-type, return-value]  # wrong on purpose
        (Toy(required={"k": object()}), "not JSON"),
        (Toy(reached={"k": float("inf")}), "not JSON"),
        (Boastful(2), "does not meet"),
    ],
)
def test_a_bad_toy_is_caught(model: Model, sentence: str) -> None:
    """A model that claims what does not hold is named with the claim."""
    with pytest.raises(AssertionError, match=sentence):
        check_model(model)


def test_own_examples_and_own_meeting() -> None:
    """Other people's models come with their own classes and their own reading of achieved."""
    check_model(KAnonymity(2), [EquivalenceClasses(sizes=np.array([1, 2, 3]))], meet=lambda model, achieved: None)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_classes_are_classes(seed: int, individuals: bool) -> None:
    """Counts add up to sizes, lines are sorted, and the table has every row of the classes."""
    classes = random_classes(np.random.default_rng(seed), ["s", "t"], individuals=individuals)
    for lines in classes.sensitive.values():
        assert np.bincount(lines.class_of, lines.count, len(classes)).tolist() == classes.sizes.tolist()
        assert (np.diff(lines.class_of * 100 + lines.value) > 0).all()
        assert (np.bincount(lines.value, lines.count, len(lines.domain.values)) <= lines.domain.totals).all()
    assert (classes.individuals is not None) == individuals
    assert (classes.persons <= classes.sizes).all()


def test_the_same_seed_gives_the_same_classes() -> None:
    """A broken contract breaks again."""
    one, other = (random_classes(np.random.default_rng(5)) for _ in range(2))
    assert one.sizes.tolist() == other.sizes.tolist()
    assert select_classes(one, np.ones(len(one), dtype=np.bool_)).sizes.tolist() == one.sizes.tolist()


def test_former_names_are_still_there() -> None:
    """What was documented as `sfumato.testing` is what `sfumato.testing` has now."""
    former = import_module(".checks", "sfumato")
    assert former.check_model is check_model
    assert former.subset is select_classes
    assert all(hasattr(former, name) for name in former.__all__)
