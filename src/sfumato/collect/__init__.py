"""Randomized collection: answers are perturbed before they leave a person, and only distributions are recovered.

`Noise` is the published noise of a collection. `perturb` adds it, on the person's side; `reconstruct` recovers a
column's distribution from many perturbed answers, on the collector's side. Nobody needs to be trusted with an answer.
`plan` says beforehand how private that is and how exact it will be.

>>> from sfumato import collect
>>> noise = collect.Noise.read({"format": "sfumato-noise/1", "columns": {
...     "vote": {"kind": "response", "values": ["a", "b"], "keep": 0.5}}})
>>> round(noise.epsilon, 4)  # ln 3
1.0986
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.collect.collection_form import CollectionForm
    from sfumato.collect.collection_plan import CollectionPlan, plan
    from sfumato.collect.collector_client import CollectorClient
    from sfumato.collect.correlated_noise import correlated_deviations, shape_noise
    from sfumato.collect.decision_tree import NoisyDecisionTree
    from sfumato.collect.gaussian_mixture import NoisyGaussianMixture
    from sfumato.collect.itemsets import AssociationRule, FrequentItemset, association_rules, frequent_itemsets
    from sfumato.collect.naive_bayes import NoisyNaiveBayes
    from sfumato.collect.noise import Noise
    from sfumato.collect.noise_filter import SpectralFilter, spectral_filter
    from sfumato.collect.outlier_detection import detect_outliers
    from sfumato.collect.permanent_response import PermanentResponses
    from sfumato.collect.perturbation import perturb
    from sfumato.collect.privacy_measures import ColumnPrivacy, measure_privacy
    from sfumato.collect.proposed_noise import propose_noise
    from sfumato.collect.rating_prediction import RatingPredictor
    from sfumato.collect.reconstruction import Reconstruction, reconstruct
    from sfumato.collect.rotation_perturbation import RotatedTable, rotate

_HOMES = {
    "collection_form": ("CollectionForm",),
    "collection_plan": ("CollectionPlan", "plan"),
    "collector_client": ("CollectorClient",),
    "correlated_noise": ("correlated_deviations", "shape_noise"),
    "decision_tree": ("NoisyDecisionTree",),
    "gaussian_mixture": ("NoisyGaussianMixture",),
    "itemsets": ("AssociationRule", "FrequentItemset", "association_rules", "frequent_itemsets"),
    "naive_bayes": ("NoisyNaiveBayes",),
    "noise": ("Noise",),
    "noise_filter": ("SpectralFilter", "spectral_filter"),
    "outlier_detection": ("detect_outliers",),
    "permanent_response": ("PermanentResponses",),
    "perturbation": ("perturb",),
    "privacy_measures": ("ColumnPrivacy", "measure_privacy"),
    "proposed_noise": ("propose_noise",),
    "rating_prediction": ("RatingPredictor",),
    "reconstruction": ("Reconstruction", "reconstruct"),
    "rotation_perturbation": ("RotatedTable", "rotate"),
}
"""Where each public name is, by module; it is imported when it is asked for."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AssociationRule",
    "CollectionForm",
    "CollectionPlan",
    "CollectorClient",
    "ColumnPrivacy",
    "FrequentItemset",
    "Noise",
    "NoisyDecisionTree",
    "NoisyGaussianMixture",
    "NoisyNaiveBayes",
    "PermanentResponses",
    "RatingPredictor",
    "Reconstruction",
    "RotatedTable",
    "SpectralFilter",
    "association_rules",
    "correlated_deviations",
    "detect_outliers",
    "frequent_itemsets",
    "measure_privacy",
    "perturb",
    "plan",
    "propose_noise",
    "reconstruct",
    "rotate",
    "shape_noise",
    "spectral_filter",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato.collect' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.collect.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List every public name, imported or not, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
