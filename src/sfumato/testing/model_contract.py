"""The contract of a privacy model.

A search believes what a model says of itself: that a class passes or fails by itself, that passing
classes unite to passing ones, that a doomed share is lost in any split. A model that errs there makes
the search wrong, not only itself. So these claims are tried on random classes.

The randomness protects nobody; it is seeded, so that a broken contract breaks again.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.models import Model

VALUES = ("a", "b", "c", "d", None)
"""The sensitive values of random classes."""

Meeting = Callable[[Model, dict[str, float | int]], Model | None]


def require_achieved(model: Model, achieved: dict[str, float | int]) -> Model | None:
    """Make the model that requires what was achieved, or None where that says nothing.

    An achieved alpha of 0 is no requirement one may set. A recursive diversity asks for a c strictly
    above the one achieved, and for another l where no c is.

    >>> from sfumato.models import KAnonymity
    >>> require_achieved(KAnonymity(3), {"k": 2})
    KAnonymity(k=2)
    """
    untyped: Any = model
    known = {item.name for item in dataclasses.fields(untyped)} if dataclasses.is_dataclass(untyped) else set()
    if not achieved or not achieved.keys() <= known:
        return None
    if achieved.get("alpha") == 0 or ("c" in known and "c" not in achieved):
        return None
    above = {"c": achieved["c"] * (1 + 1e-6)} if "c" in achieved else {}
    met: Model = dataclasses.replace(untyped, **achieved | above)
    return met


def check_model(
    model: Model,
    examples: Iterable[EquivalenceClasses] | None = None,
    *,
    seed: int = 0,
    meet: Meeting = require_achieved,
) -> None:
    """Try a model's claims on classes.

    Args:
        model: The model, ours or yours.
        examples: Classes to try them on; random ones, with the model's columns, when left out.
        seed: For the random classes, merges and splits.
        meet: Makes the model that requires what was achieved, or None where that says nothing.

    Raises:
        AssertionError: A claim does not hold; says which.
    """
    rng = np.random.default_rng(seed)
    _require(_is_json(model.required), model, "has a `required` that is not JSON")
    for classes in random_examples(model, rng) if examples is None else examples:
        _check_figures(model, classes)
        keep = rng.random(len(classes)) < 0.5
        same = np.array_equal(model.holds(select_classes(classes, keep)), model.holds(classes)[keep])
        _require(same, model, "judges a class by other classes")
        achieved = model.achieved(classes)
        _require(_is_json(achieved), model, f"achieves {achieved}, which is not JSON")
        met = meet(model, achieved)
        _require(met is None or met.holds(classes).all(), model, f"does not meet the {achieved} it achieves")
        for _ in range(4):
            into = rng.integers(0, rng.integers(1, len(classes) + 1), size=len(classes))
            _check_union(model, classes, np.unique(into, return_inverse=True)[1])


def _check_figures(model: Model, classes: EquivalenceClasses) -> None:
    """Check that `holds` and `doomed` have the right shapes, and agree with what the model says of itself."""
    holds, doomed = model.holds(classes), model.doomed(classes)
    _require(holds.shape == (len(classes),) and holds.dtype == np.bool_, model, "must give a bool per class")
    _require(doomed.shape == (len(classes),), model, "must give a doomed share per class")
    _require(((doomed >= 0) & (doomed <= 1)).all(), model, "has a doomed share outside of 0 to 1")
    _require((classes.sizes[holds] >= model.least).all(), model, "passes a class smaller than its least")
    _require(not doomed[holds].any(), model, "dooms a class that passes as it is")
    _require(not model.monotone or doomed[~holds].all(), model, "is monotone but gives a failing class hope")
    lost = (doomed[~holds] == 1).all()
    _require(not model.hereditary or lost, model, "is hereditary but gives a failing class hope")


def _check_union(model: Model, parts: EquivalenceClasses, into: IntArray) -> None:
    """Check parts and their unions, with part i in union into[i]; so every split that is tried is one that can occur.

    into: int[parts], dense; united, all_pass, some_pass, lost, bound have a value per union.
    """
    whole, passing = parts.merge(into), model.holds(parts)
    united = model.holds(whole)
    all_pass = np.bincount(into, ~passing, len(whole)) == 0
    _require(not model.monotone or united[all_pass].all(), model, "is not monotone but says it is")
    some_pass = np.bincount(into, passing, len(whole)) > 0
    _require(not model.hereditary or united[some_pass].all(), model, "is not hereditary but says it is")
    lost = np.bincount(into, np.where(passing, 0, parts.sizes), len(whole))
    bound = model.doomed(whole) * whole.sizes
    _require((lost >= bound).all(), model, "dooms more rows than a split loses")


def _require(claim: Any, model: Model, sentence: str) -> None:
    if not claim:
        raise AssertionError(f"{model.name} {sentence}: {model!r}")


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


# Random classes


def random_classes(
    rng: np.random.Generator,
    columns: Sequence[str] = ("illness",),
    *,
    values: Sequence[str | None] = VALUES,
    most: int = 8,
    individuals: bool = False,
) -> EquivalenceClasses:
    """Draw a few small classes with skewed sensitive values, over a table that has more rows than they.

    Every column has an order and a hierarchy, so that every distance can be measured.

    >>> classes = random_classes(np.random.default_rng(1), ["illness"])
    >>> len(classes) == len(classes.sizes), sorted(classes.sensitive)
    (True, ['illness'])
    """
    sizes = rng.integers(1, most, size=rng.integers(1, 13), endpoint=True)
    class_of = np.repeat(np.arange(len(sizes)), sizes)
    sensitive = {column: _random_histogram(rng, class_of, values) for column in columns}
    people = None
    if individuals:
        person = rng.integers(0, max(len(class_of) // 2, 1), size=len(class_of))
        number = int(person.max()) + 1
        names = tuple(str(i) for i in range(number))
        domain = SensitiveDomain(names, np.bincount(person, minlength=number))
        people = count_values(class_of, person, np.ones_like(person), domain)
    return EquivalenceClasses(sizes, sensitive, people)


def random_examples(model: Model, rng: np.random.Generator, number: int = 30) -> Iterator[EquivalenceClasses]:
    """Draw classes with the columns that a model looks at, and the values it protects."""
    protected = tuple(getattr(model, "values", None) or ())
    values = VALUES + tuple(value for value in protected if value not in VALUES)
    for i in range(number):
        persons = i % 5 == 4 or model.identity
        yield random_classes(rng, model.looks_at, values=values, most=(3, 8, 30)[i % 3], individuals=persons)


def _random_histogram(rng: np.random.Generator, class_of: IntArray, values: Sequence[str | None]) -> Histogram:
    """Draw a sensitive value for each row.

    Its domain has gaps in the order, and a hierarchy of three levels that need not follow the order.
    """
    number = len(values)
    skew = rng.dirichlet(np.full(number, rng.choice([0.3, 1.0, 5.0])))
    codes = rng.choice(number, size=len(class_of), p=skew)
    # Rows that got suppressed count in the table, and give every value a row.
    totals = np.bincount(codes, minlength=number) + rng.integers(1, 4, size=number)
    ranks = rng.permutation(number + 2)[:number]
    middle = rng.integers(0, 3, size=number)
    ancestors = np.stack([np.arange(number), middle, np.zeros_like(middle)], axis=1)
    domain = SensitiveDomain(tuple(values), totals, ranks=ranks, places=number + 2, ancestors=ancestors)
    return count_values(class_of, codes, np.ones_like(codes), domain)


def select_classes(classes: EquivalenceClasses, keep: BoolArray) -> EquivalenceClasses:
    """Select some of the classes, over the same domains.

    >>> select_classes(EquivalenceClasses(sizes=[5, 2, 3]), np.array([True, False, True])).sizes
    array([5, 3])
    """
    number = np.cumsum(keep) - 1

    def select(lines: Histogram) -> Histogram:
        stays = keep[lines.class_of]
        return Histogram(number[lines.class_of[stays]], lines.value[stays], lines.count[stays], lines.domain)

    sensitive = {column: select(lines) for column, lines in classes.sensitive.items()}
    return EquivalenceClasses(classes.sizes[keep], sensitive, classes.individuals and select(classes.individuals))
