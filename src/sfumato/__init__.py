"""Sfumato: tables about people, softened until nobody can say where one person ends.

>>> import sfumato as sf
>>> from sfumato.datasets import hospital, hospital_policy
>>> release = sf.anonymize(hospital(), hospital_policy())
>>> release.privacy[0]
{'model': 'k-anonymity', 'required': {'k': 10}, 'achieved': {'k': 10}, 'satisfied': True}
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato._version import __version__
from sfumato.callable_package import LibraryModule

if TYPE_CHECKING:
    from sfumato import collect, party, rules
    from sfumato.api import attacks as attack
    from sfumato.api.column_rules import identifier, individual, plain, quasi, sensitive, weight
    from sfumato.api.commands import compare, propose, query, risk, utility
    from sfumato.api.trees import Tree
    from sfumato.condense.condensation_stream import CondensationStream
    from sfumato.cross_tables import CrossTable, cross_table
    from sfumato.errors import (
        DataError,
        HierarchyError,
        Infeasible,
        InputError,
        NotVerified,
        OutputError,
        PolicyError,
        RunAborted,
        SfumatoError,
    )
    from sfumato.extend import apply
    from sfumato.labels.published_label import PublishedLabel, parse_label
    from sfumato.models import (
        AlphaDeassociation,
        AlphaKAnonymity,
        DistinctLDiversity,
        EntropyLDiversity,
        IdentityAlphaBeta,
        IdentityKAnonymity,
        IdentityKLDiversity,
        KAnonymity,
        RecursiveLDiversity,
        TCloseness,
        XYAnonymity,
        XYLinkability,
    )
    from sfumato.policy import Policy
    from sfumato.policy import load as load_policy
    from sfumato.queries import Answers
    from sfumato.release import Release, anonymize
    from sfumato.verifier import Verdict, verify

_HOMES = {
    "errors": (
        "DataError",
        "HierarchyError",
        "Infeasible",
        "InputError",
        "NotVerified",
        "OutputError",
        "PolicyError",
        "RunAborted",
        "SfumatoError",
    ),
    "labels.published_label": ("PublishedLabel", "parse_label"),
    "models": (
        "AlphaDeassociation",
        "AlphaKAnonymity",
        "DistinctLDiversity",
        "EntropyLDiversity",
        "IdentityAlphaBeta",
        "IdentityKAnonymity",
        "IdentityKLDiversity",
        "KAnonymity",
        "RecursiveLDiversity",
        "TCloseness",
        "XYAnonymity",
        "XYLinkability",
    ),
    "policy": ("Policy",),
    "api.column_rules": ("identifier", "individual", "plain", "quasi", "sensitive", "weight"),
    "api.commands": ("propose", "query"),
    "api.trees": ("Tree",),
    "cross_tables": ("CrossTable", "cross_table"),
    "condense.condensation_stream": ("CondensationStream",),
    "extend": ("apply",),
    "queries": ("Answers",),
    "release": ("Release", "anonymize"),
    "verifier": ("Verdict", "verify"),
}
"""Where each public name is, by module; it is imported when it is asked for."""
_PACKAGES = ("attack", "collect", "compare", "party", "risk", "rules", "utility")
"""Public names that are packages: they can be called, or have functions that can."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AlphaDeassociation",
    "AlphaKAnonymity",
    "Answers",
    "CondensationStream",
    "CrossTable",
    "DataError",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "HierarchyError",
    "IdentityAlphaBeta",
    "IdentityKAnonymity",
    "IdentityKLDiversity",
    "Infeasible",
    "InputError",
    "KAnonymity",
    "NotVerified",
    "OutputError",
    "Policy",
    "PolicyError",
    "PublishedLabel",
    "RecursiveLDiversity",
    "Release",
    "RunAborted",
    "SfumatoError",
    "TCloseness",
    "Tree",
    "Verdict",
    "XYAnonymity",
    "XYLinkability",
    "__version__",
    "anonymize",
    "apply",
    "attack",
    "collect",
    "compare",
    "cross_table",
    "identifier",
    "individual",
    "load_policy",
    "parse_label",
    "party",
    "plain",
    "propose",
    "quasi",
    "query",
    "risk",
    "rules",
    "sensitive",
    "utility",
    "verify",
    "weight",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for, so that importing sfumato costs nothing."""
    if name in _PACKAGES:
        return import_module(f"sfumato.{name}")
    if name == "load_policy":
        return import_module("sfumato.policy").load
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List every public name, imported or not, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


sys.modules[__name__].__class__ = LibraryModule  # so that sf.risk is a package, and can be called
