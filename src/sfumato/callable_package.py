"""Packages that can be called: ``sf.risk`` is the package `sfumato.risk`, and ``sf.risk(frame)`` measures a risk.

A function of the library and the package behind it share a name, and Python sets ``sfumato.risk`` to the package as
soon as anything imports it. So the package itself can be called, and passes the call on to the function of
`sfumato.api`. Whatever is in the package is there under its name as ever.

This module imports nothing of the library: it is imported with it, and costs nothing.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature

FUNCTIONS = {
    "sfumato.risk": "commands.risk",
    "sfumato.utility": "commands.utility",
    "sfumato.compare": "commands.compare",
    "sfumato.attack.link": "attacks.link",
    "sfumato.attack.known": "attacks.known",
    "sfumato.attack.homogeneity": "attacks.homogeneity",
    "sfumato.attack.intersect": "attacks.intersect",
    "sfumato.attack.definetti": "attacks.definetti",
    "sfumato.attack.minimality": "attacks.minimality",
}
"""The packages and modules that can be called, and the function of `sfumato.api` that a call runs."""

ATTACKS = ("definetti", "homogeneity", "intersect", "known", "link", "minimality", "skewness")
"""The attacks, each a function of ``sf.attack``."""


class LibraryModule(ModuleType):
    """A package of the library, which makes those of its parts callable that can be called.

    Python sets a package's attribute for each part that is imported, and that is where they are met.
    """

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; a part that can be called becomes so."""
        if isinstance(value, ModuleType):
            if value.__name__ in FUNCTIONS:
                value.__class__ = CallableModule
            elif value.__name__ == "sfumato.attack":
                value.__class__ = AttackModule
        super().__setattr__(name, value)


class CallableModule(ModuleType):
    """A package or module that can be called, as its function of `sfumato.api`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function that the module is named after."""
        return find_function(FUNCTIONS[self.__name__])(*arguments, **options)

    @property
    def __signature__(self) -> "Signature":
        """How it is called, for `help` and completion."""
        from inspect import signature  # noqa: PLC0415 - takes longer to import than all else here

        return signature(find_function(FUNCTIONS[self.__name__]))


class AttackModule(LibraryModule):
    """The package of attacks: ``sf.attack.link`` and the others are there when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        """Import an attack when it is asked for."""
        if name not in ATTACKS:
            raise AttributeError(f"module 'sfumato.attack' has no attribute '{name}'")
        if f"sfumato.attack.{name}" in FUNCTIONS:
            return import_module(f"sfumato.attack.{name}")
        return find_function(f"attacks.{name}")

    def __dir__(self) -> list[str]:
        """List the attacks."""
        return sorted({*super().__dir__(), *ATTACKS})


def find_function(place: str) -> Any:
    """Import a function of `sfumato.api`, given its module and its name."""
    module, _, name = place.partition(".")
    return getattr(import_module(f"sfumato.api.{module}"), name)
