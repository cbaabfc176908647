"""The command line: one file per command, and one way of saying no.

Commands import what they need when they run, so that ``sfumato --help`` answers at once.
"""

from sfumato.cli.main import main

__all__ = ["main"]
