"""Sfumato: tables about people, softened until nobody can say where one person ends."""

from sfumato._version import __version__

__all__ = ["__version__"]
