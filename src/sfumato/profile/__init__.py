"""Profile: what is in a table, what its columns probably are, and a policy to start from."""

from sfumato.profile.column_facts import ColumnFacts
from sfumato.profile.presets import PRESETS, Preset
from sfumato.profile.proposal import Proposal, propose
from sfumato.profile.table_profile import TableProfile, profile_table
from sfumato.profile.write_proposal import write

__all__ = ["PRESETS", "ColumnFacts", "Preset", "Proposal", "TableProfile", "profile_table", "propose", "write"]
