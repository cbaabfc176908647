"""The bound that a policy sets to the share of a value in a bag."""

from collections.abc import Callable
from typing import Any

import pytest

from sfumato.attack.bound import bounds
from sfumato.policy import load

Makes = Callable[..., Any]


def _found(makes: Makes, *models: dict[str, Any], form: str = "lossy-join") -> Any:
    """The bound for a table with a class of three and one of four lines, and four values."""
    made = makes({"sex": list("fmfmfmf")}, {"illness": list("abcabcd")}, [0, 0, 0, 1, 1, 1, 1])
    columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}}
    policy = load({"columns": columns, "privacy": list(models), "publish": {"form": form}})
    return bounds(policy, made.tables).get("illness")


def _model(name: str, **keys: Any) -> dict[str, Any]:
    return {"model": name, "column": "illness", **keys}


@pytest.mark.parametrize(
    ("model", "share"),
    [
        (_model("alpha-deassociation", alpha=0.4), 0.4),
        (_model("alpha-k-anonymity", alpha=0.4, k=2), 0.4),
        (_model("alpha-deassociation", alpha=0.4, refined=True), 2 / 3),  # two of three lines
        (_model("entropy-l-diversity", l=2), 0.8107),  # the others at a third of the rest each
        (_model("entropy-l-diversity", l=4), 0.25),
        (_model("recursive-l-diversity", c=2, l=2), 2 / 3),
    ],
)
def test_models_that_bound_a_share(makes: Makes, model: dict[str, Any], share: float) -> None:
    """The largest share that the requirement lets pass, as far as it follows from the requirement alone."""
    found = _found(makes, model)
    assert found.share == pytest.approx(share, abs=1e-4)
    assert found.values is None


def test_distinct_values_bound_a_share_in_buckets_alone(makes: Makes) -> None:
    """A bucket of Anatomy has each value once, so that l values mean 1 in l; any other class may have one often."""
    model = _model("distinct-l-diversity", l=3)
    assert _found(makes, model, form="anatomy").share == pytest.approx(1 / 3)
    assert _found(makes, model) is None


def test_requirements_that_bound_no_share(makes: Makes) -> None:
    """A number of rows says nothing of shares, nor do values from the first on, which are all there are."""
    assert _found(makes, {"model": "k-anonymity", "k": 2}) is None
    assert _found(makes, _model("recursive-l-diversity", c=2, l=1)) is None


def test_the_strictest_bound_counts(makes: Makes) -> None:
    """Of several bounds the smallest is taken, with the values that it is about."""
    models = [_model("alpha-deassociation", alpha=0.6), _model("alpha-deassociation", alpha=0.3, values=["a"])]
    found = _found(makes, *models)
    assert (found.share, list(found.values)) == (0.3, ["a"])
