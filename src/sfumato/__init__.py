"""Sfumato: tables about people, softened until nobody can say where one person ends.

>>> import sfumato as sf
>>> from sfumato.datasets import hospital, hospital_policy
>>> release = sf.anonymize(hospital(), hospital_policy())
>>> release.privacy[0]
{'model': 'k-anonymity', 'required': {'k': 10}, 'achieved': {'k': 10}, 'satisfied': True}
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato._version import __version__

if TYPE_CHECKING:
    from sfumato.errors import (
        DataError,
        HierarchyError,
        Infeasible,
        InputError,
        NotVerified,
        OutputError,
        PolicyError,
        SfumatoError,
    )
    from sfumato.extend import apply
    from sfumato.policy import Policy
    from sfumato.policy import load as load_policy
    from sfumato.queries import Answers, query
    from sfumato.release import Release, anonymize
    from sfumato.verifier import Verdict, verify

_HOMES = {
    "DataError": "errors",
    "HierarchyError": "errors",
    "Infeasible": "errors",
    "InputError": "errors",
    "NotVerified": "errors",
    "OutputError": "errors",
    "PolicyError": "errors",
    "SfumatoError": "errors",
    "apply": "extend",
    "Policy": "policy",
    "load_policy": "policy.load",
    "Answers": "queries",
    "query": "queries",
    "Release": "release",
    "anonymize": "release",
    "Verdict": "verifier",
    "verify": "verifier",
}

__all__ = [
    "Answers",
    "DataError",
    "HierarchyError",
    "Infeasible",
    "InputError",
    "NotVerified",
    "OutputError",
    "Policy",
    "PolicyError",
    "Release",
    "SfumatoError",
    "Verdict",
    "__version__",
    "anonymize",
    "apply",
    "load_policy",
    "query",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for, so that importing sfumato costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    home, _, original = _HOMES[name].partition(".")
    return getattr(import_module(f"sfumato.{home}"), original or name)
