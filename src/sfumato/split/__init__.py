"""Two tables in place of one: quasi-identifiers as they were in NSS, sensitive values in SS, tied by class alone.

`lossy` makes them of any recoding, `anatomy` of buckets of its own; `TwoTables` is what they are to a reader.
"""

from sfumato.split.anatomy import anatomy
from sfumato.split.lossy import lossy
from sfumato.split.persons import Common, common
from sfumato.split.tables import TwoTables, of_files, of_recoding
from sfumato.split.ties import Tie, ties

__all__ = ["Common", "Tie", "TwoTables", "anatomy", "common", "lossy", "of_files", "of_recoding", "ties"]
