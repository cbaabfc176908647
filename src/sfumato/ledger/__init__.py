"""Ledger: what an organization has published, release by release, so that the next one can take account of it.

A folder with a SQLite database and copies of the releases. Nothing in it is changed or removed; each line is chained to
the one before, so that a later change shows.
"""

from sfumato.ledger.entries import Entry, PopulationSnapshot
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.ledger_check import LedgerCheck
from sfumato.ledger.recorded_release import RecordedRelease, make_recorded_extension, make_recorded_release

__all__ = [
    "Entry",
    "Ledger",
    "LedgerCheck",
    "PopulationSnapshot",
    "RecordedRelease",
    "make_recorded_extension",
    "make_recorded_release",
]
