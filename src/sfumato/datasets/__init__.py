"""Small tables and generators, for examples, tests and benchmarks."""

from sfumato.datasets.hospital import hospital, hospital_policy

__all__ = ["hospital", "hospital_policy"]
