"""The policy file as a frozen, checked value."""

from sfumato.policy.columns import Column, Role
from sfumato.policy.files import load
from sfumato.policy.previous import Condition, Previous, Reference, reference
from sfumato.policy.search import Publish, Search
from sfumato.policy.shape import schema
from sfumato.policy.source import Source
from sfumato.policy.value import Policy

__all__ = [
    "Column",
    "Condition",
    "Policy",
    "Previous",
    "Publish",
    "Reference",
    "Role",
    "Search",
    "Source",
    "load",
    "reference",
    "schema",
]
