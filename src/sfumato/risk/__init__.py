"""Risk: how easily a row can be tied to a person."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.risk.adversaries import THRESHOLD, Adversaries, Chances, adversaries_of
    from sfumato.risk.asked import Asked
    from sfumato.risk.k_map import KMap
    from sfumato.risk.lookalikes import Coincidence, chance_of_lookalike, coincidence, known_needed
    from sfumato.risk.nulls import Missing, Nulls, nulls_of
    from sfumato.risk.persons import DEFAULT_K, Persons, asked_k, persons_of
    from sfumato.risk.population import Estimate, Uniqueness, uniqueness
    from sfumato.risk.prosecutor import Risk, risk_of
    from sfumato.risk.sets import ColumnSet, Sets, sets_of
    from sfumato.risk.table import TableRisk, risk_by_columns, risk_by_policy, risk_by_release

_HOMES = {
    "adversaries": ("THRESHOLD", "Adversaries", "Chances", "adversaries_of"),
    "asked": ("Asked",),
    "lookalikes": ("Coincidence", "chance_of_lookalike", "coincidence", "known_needed"),
    "k_map": ("KMap",),
    "nulls": ("Missing", "Nulls", "nulls_of"),
    "persons": ("DEFAULT_K", "Persons", "asked_k", "persons_of"),
    "population": ("Estimate", "Uniqueness", "uniqueness"),
    "prosecutor": ("Risk", "risk_of"),
    "sets": ("ColumnSet", "Sets", "sets_of"),
    "table": ("TableRisk", "risk_by_columns", "risk_by_policy", "risk_by_release"),
}

__all__ = [
    "DEFAULT_K",
    "THRESHOLD",
    "Adversaries",
    "Asked",
    "Chances",
    "Coincidence",
    "ColumnSet",
    "Estimate",
    "KMap",
    "Missing",
    "Nulls",
    "Persons",
    "Risk",
    "Sets",
    "TableRisk",
    "Uniqueness",
    "adversaries_of",
    "asked_k",
    "chance_of_lookalike",
    "coincidence",
    "known_needed",
    "nulls_of",
    "persons_of",
    "risk_by_columns",
    "risk_by_policy",
    "risk_by_release",
    "risk_of",
    "sets_of",
    "uniqueness",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: a release pays for no estimate of its population."""
    home = next((room for room, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'sfumato.risk' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.risk.{home}"), name)
