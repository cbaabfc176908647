"""Cross-tables with marginals, in which no suppressed cell can be worked out: cell suppression."""

from sfumato.cross_tables.suppressed_table import CrossTable, cross_table

__all__ = ["CrossTable", "cross_table"]
