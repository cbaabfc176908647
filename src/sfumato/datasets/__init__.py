"""Small tables and generators, for examples, tests and benchmarks."""

from sfumato.datasets.adult import adult_arx_folder, adult_folder
from sfumato.datasets.adult_policies import adult_arx_policy, adult_policy, synthetic_adult_policy
from sfumato.datasets.enlarge import enlarge
from sfumato.datasets.hospital import hospital, hospital_policy
from sfumato.datasets.repeated import repeated
from sfumato.datasets.synthetic_adult import synthetic_adult
from sfumato.datasets.visits import visits, visits_policy

__all__ = [
    "adult_arx_folder",
    "adult_arx_policy",
    "adult_folder",
    "adult_policy",
    "enlarge",
    "hospital",
    "hospital_policy",
    "repeated",
    "synthetic_adult",
    "synthetic_adult_policy",
    "visits",
    "visits_policy",
]
