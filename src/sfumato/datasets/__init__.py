"""Small tables and generators, for examples, tests and benchmarks; they import nothing else of the package."""

from sfumato.datasets.adult import (
    adult_arx_folder,
    adult_arx_policy,
    adult_folder,
    adult_policy,
    synthetic_adult,
    synthetic_adult_policy,
)
from sfumato.datasets.classification_functions import CLASSIFICATION_DOMAINS, classification_functions
from sfumato.datasets.enlarge import enlarge
from sfumato.datasets.hospital import hospital, hospital_policy, visits, visits_policy
from sfumato.datasets.quest_baskets import quest_baskets
from sfumato.datasets.repeated import repeated

__all__ = [
    "CLASSIFICATION_DOMAINS",
    "adult_arx_folder",
    "adult_arx_policy",
    "adult_folder",
    "adult_policy",
    "classification_functions",
    "enlarge",
    "hospital",
    "hospital_policy",
    "quest_baskets",
    "repeated",
    "synthetic_adult",
    "synthetic_adult_policy",
    "visits",
    "visits_policy",
]
