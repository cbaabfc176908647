"""Risk: how easily a row of a table can be tied to the person it is about."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.risk.adversaries import (
        THRESHOLD,
        Adversaries,
        Chances,
        ProsecutorRisk,
        adversaries_of,
        measure_prosecutor_risk,
    )
    from sfumato.risk.column_sets import ColumnSet, ColumnSets, sets_of
    from sfumato.risk.drawn_risk import AttackOptions, DrawnRisk
    from sfumato.risk.k_map import KMap
    from sfumato.risk.lookalikes import Coincidence, chance_of_lookalike, coincidence, known_needed
    from sfumato.risk.measured_table import DistinctRows
    from sfumato.risk.measured_table import DistinctRows as Lines
    from sfumato.risk.missing_values import MissingValueRisk, NullRisk, nulls_of
    from sfumato.risk.person_risk import DEFAULT_K, PersonRisk, measure_person_risk, required_k
    from sfumato.risk.population_uniqueness import Uniqueness, UniquenessEstimate, uniqueness
    from sfumato.risk.table_risk import (
        RiskOptions,
        TableRisk,
        WeightedSample,
        risk_by_columns,
        risk_by_policy,
        risk_by_release,
    )
    from sfumato.risk.table_risk import RiskOptions as Asked

_EXPORTS = {
    "adversaries": (
        "THRESHOLD",
        "Adversaries",
        "Chances",
        "ProsecutorRisk",
        "adversaries_of",
        "measure_prosecutor_risk",
    ),
    "column_sets": ("ColumnSet", "ColumnSets", "sets_of"),
    "drawn_risk": ("AttackOptions", "DrawnRisk"),
    "k_map": ("KMap",),
    "lookalikes": ("Coincidence", "chance_of_lookalike", "coincidence", "known_needed"),
    "measured_table": ("DistinctRows",),
    "missing_values": ("MissingValueRisk", "NullRisk", "nulls_of"),
    "person_risk": ("DEFAULT_K", "PersonRisk", "measure_person_risk", "required_k"),
    "population_uniqueness": ("Uniqueness", "UniquenessEstimate", "uniqueness"),
    "table_risk": (
        "RiskOptions",
        "TableRisk",
        "WeightedSample",
        "risk_by_columns",
        "risk_by_policy",
        "risk_by_release",
    ),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}
_FORMER_NAMES = {"Asked": "RiskOptions", "Lines": "DistinctRows"}
"""Names that were documented once, and what they are called now."""

__all__ = [
    "DEFAULT_K",
    "THRESHOLD",
    "Adversaries",
    "Asked",
    "AttackOptions",
    "Chances",
    "Coincidence",
    "ColumnSet",
    "ColumnSets",
    "DistinctRows",
    "DrawnRisk",
    "KMap",
    "Lines",
    "MissingValueRisk",
    "NullRisk",
    "PersonRisk",
    "ProsecutorRisk",
    "RiskOptions",
    "TableRisk",
    "Uniqueness",
    "UniquenessEstimate",
    "WeightedSample",
    "adversaries_of",
    "chance_of_lookalike",
    "coincidence",
    "known_needed",
    "measure_person_risk",
    "measure_prosecutor_risk",
    "nulls_of",
    "required_k",
    "risk_by_columns",
    "risk_by_policy",
    "risk_by_release",
    "sets_of",
    "uniqueness",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for, so that a release does not load estimators it does not need."""
    current = _FORMER_NAMES.get(name, name)
    if current not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato.risk' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.risk.{_MODULE_OF[current]}"), current)
