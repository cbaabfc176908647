"""Randomized collection: answers are perturbed before they leave a person, and only distributions are recovered.

`Noise` is the published noise of a collection. `perturb` adds it, on the person's side; `reconstruct` recovers a
column's distribution from many perturbed answers, on the collector's side. Nobody needs to be trusted with an answer.

>>> from sfumato import collect
>>> noise = collect.Noise.read({"format": "sfumato-noise/1", "columns": {
...     "vote": {"kind": "response", "values": ["a", "b"], "keep": 0.5}}})
>>> round(noise.epsilon, 4)  # ln 3
1.0986
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.collect.decision_tree import NoisyDecisionTree
    from sfumato.collect.gaussian_mixture import NoisyGaussianMixture
    from sfumato.collect.itemsets import AssociationRule, FrequentItemset, association_rules, frequent_itemsets
    from sfumato.collect.naive_bayes import NoisyNaiveBayes
    from sfumato.collect.noise import Noise
    from sfumato.collect.outlier_detection import detect_outliers
    from sfumato.collect.rating_prediction import RatingPredictor

_HOMES = {
    "decision_tree": ("NoisyDecisionTree",),
    "gaussian_mixture": ("NoisyGaussianMixture",),
    "itemsets": ("AssociationRule", "FrequentItemset", "association_rules", "frequent_itemsets"),
    "naive_bayes": ("NoisyNaiveBayes",),
    "noise": ("Noise",),
    "outlier_detection": ("detect_outliers",),
    "rating_prediction": ("RatingPredictor",),
}
"""Where each public name is, by module; it is imported when it is asked for."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AssociationRule",
    "FrequentItemset",
    "Noise",
    "NoisyDecisionTree",
    "NoisyGaussianMixture",
    "NoisyNaiveBayes",
    "RatingPredictor",
    "association_rules",
    "detect_outliers",
    "frequent_itemsets",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato.collect' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.collect.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List every public name, imported or not, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
