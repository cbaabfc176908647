"""Rules in baskets: mined, and hidden before the baskets are shared.

`mine` finds frequent itemsets and association rules. `hide` takes items out of baskets, as few and as harmless as it
can, until no sensitive rule is found at the thresholds, and says what that cost.

>>> from sfumato import rules
>>> receipts = [["beer", "nappies"]] * 5 + [["beer"]] * 3 + [["nappies", "tea"]] * 4
>>> result = rules.hide(receipts, [{"items": ["beer", "nappies"]}], min_support=4, min_confidence=0.5)
>>> result.effect.items_changed, result.effect.lost
(2, 0)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.rules.association_rules import MinedItemset, MinedRule, MinedRules
    from sfumato.rules.baskets import Baskets
    from sfumato.rules.hiding_effect import HidingEffect
    from sfumato.rules.rule_hiding import HidingResult, hide, mine
    from sfumato.rules.sensitive_rules import SensitiveRule

_HOMES = {
    "association_rules": ("MinedItemset", "MinedRule", "MinedRules"),
    "baskets": ("Baskets",),
    "hiding_effect": ("HidingEffect",),
    "rule_hiding": ("HidingResult", "hide", "mine"),
    "sensitive_rules": ("SensitiveRule",),
}
"""Where each public name is, by module; it is imported when it is asked for."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Baskets",
    "HidingEffect",
    "HidingResult",
    "MinedItemset",
    "MinedRule",
    "MinedRules",
    "SensitiveRule",
    "hide",
    "mine",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato.rules' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.rules.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List every public name, imported or not, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
