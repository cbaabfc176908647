"""The contract of a privacy model.

A search believes what a model says of itself: that a class passes or fails by itself, that passing
classes unite to passing ones, that a doomed share is lost in any split. A model that errs there makes
the search wrong, not only itself. So these claims are tried on random classes.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sfumato.checks.generate import examples_for, subset
from sfumato.core.classes import EquivalenceClasses
from sfumato.models import Model

Meeting = Callable[[Model, dict[str, float | int]], Model | None]


def meeting(model: Model, achieved: dict[str, float | int]) -> Model | None:
    """The model with what was achieved as its requirement, or None where that says nothing.

    An achieved alpha of 0 is no requirement one may set. A recursive diversity asks for a c strictly
    above the one achieved, and for another l where no c is.

    >>> from sfumato.models import KAnonymity
    >>> meeting(KAnonymity(3), {"k": 2})
    KAnonymity(k=2)
    """
    asked: Any = model
    known = {item.name for item in dataclasses.fields(asked)} if dataclasses.is_dataclass(asked) else set()
    if not achieved or not achieved.keys() <= known:
        return None
    if achieved.get("alpha") == 0 or ("c" in known and "c" not in achieved):
        return None
    above = {"c": achieved["c"] * (1 + 1e-6)} if "c" in achieved else {}
    met: Model = dataclasses.replace(asked, **achieved | above)
    return met


def check_model(
    model: Model,
    examples: Iterable[EquivalenceClasses] | None = None,
    *,
    seed: int = 0,
    meet: Meeting = meeting,
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
    for classes in examples_for(model, rng) if examples is None else examples:
        _check_shape(model, classes)
        _check_alone(model, classes, rng)
        _check_achieved(model, classes, meet)
        for _ in range(4):
            into = rng.integers(0, rng.integers(1, len(classes) + 1), size=len(classes))
            _check_union(model, classes, np.unique(into, return_inverse=True)[1])


def _require(claim: Any, model: Model, sentence: str) -> None:
    if not claim:
        raise AssertionError(f"{model.name} {sentence}: {model!r}")


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _check_shape(model: Model, classes: EquivalenceClasses) -> None:
    holds, doomed = model.holds(classes), model.doomed(classes)
    _require(holds.shape == (len(classes),) and holds.dtype == np.bool_, model, "must give a bool per class")
    _require(doomed.shape == (len(classes),), model, "must give a doomed share per class")
    _require(((doomed >= 0) & (doomed <= 1)).all(), model, "has a doomed share outside of 0 to 1")
    _require((classes.sizes[holds] >= model.least).all(), model, "passes a class smaller than its least")
    _require(not doomed[holds].any(), model, "dooms a class that passes as it is")
    _require(not model.monotone or doomed[~holds].all(), model, "is monotone but gives a failing class hope")
    lost = (doomed[~holds] == 1).all()
    _require(not model.hereditary or lost, model, "is hereditary but gives a failing class hope")


def _check_alone(model: Model, classes: EquivalenceClasses, rng: np.random.Generator) -> None:
    keep = rng.random(len(classes)) < 0.5
    same = np.array_equal(model.holds(subset(classes, keep)), model.holds(classes)[keep])
    _require(same, model, "judges a class by other classes")


def _check_achieved(model: Model, classes: EquivalenceClasses, meet: Meeting) -> None:
    achieved = model.achieved(classes)
    _require(_is_json(achieved), model, f"achieves {achieved}, which is not JSON")
    met = meet(model, achieved)
    _require(met is None or met.holds(classes).all(), model, f"does not meet the {achieved} it achieves")


def _check_union(model: Model, parts: EquivalenceClasses, into: np.typing.NDArray[np.int64]) -> None:
    """Parts first, then their union: so every split that is tried is one that can occur."""
    whole, passing = parts.merge(into), model.holds(parts)
    united = model.holds(whole)
    all_pass = np.bincount(into, ~passing, len(whole)) == 0
    _require(not model.monotone or united[all_pass].all(), model, "is not monotone but says it is")
    some_pass = np.bincount(into, passing, len(whole)) > 0
    _require(not model.hereditary or united[some_pass].all(), model, "is not hereditary but says it is")
    lost = np.bincount(into, np.where(passing, 0, parts.sizes), len(whole))
    bound = model.doomed(whole) * whole.sizes
    _require((lost >= bound).all(), model, "dooms more rows than a split loses")
