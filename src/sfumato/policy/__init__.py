"""The policy file as a frozen, checked value."""

from sfumato.policy.columns import Column, Role
from sfumato.policy.options import AlgorithmOptions, DataSource, PublishOptions
from sfumato.policy.policy import Policy, load
from sfumato.policy.policy_schema import schema
from sfumato.policy.previous_releases import ColumnReference, PreviousRelease, ValueCondition, read_reference

__all__ = [
    "AlgorithmOptions",
    "Column",
    "ColumnReference",
    "DataSource",
    "Policy",
    "PreviousRelease",
    "PublishOptions",
    "Role",
    "ValueCondition",
    "load",
    "read_reference",
    "schema",
]
