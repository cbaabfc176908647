"""Ledger: what an organization has published, release by release, so that the next one can take account of it.

A folder with a SQLite database and copies of the releases. Nothing in it is changed or removed; each line is chained to
the one before, so that a later change shows.
"""

from sfumato.ledger.asked import Earlier
from sfumato.ledger.check import Checked
from sfumato.ledger.entry import Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.publish import Publication, publication

__all__ = ["Checked", "Earlier", "Entry", "Ledger", "Publication", "publication"]
