"""Several holders of data, one result: protocols in which nobody shows their rows (chapter, 20.5).

`run` is one party's part of a task, while the others run theirs on other machines. `simulate` runs all of them as
processes on this one.

The guide "Parties" tells the story of three hospitals, from keys to results.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.party.party_run import PartyResult, run
    from sfumato.party.simulated_parties import Simulation, simulate

_HOMES = {
    "party_run": ("PartyResult", "run"),
    "simulated_parties": ("Simulation", "simulate"),
}
"""Where each public name is, by module; it is imported when it is asked for."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PartyResult",
    "Simulation",
    "run",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sfumato.party' has no attribute '{name}'")
    return getattr(import_module(f"sfumato.party.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """List every public name, imported or not, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
