"""Profile: what is in a table, what its columns probably are, and a policy to start from."""

from sfumato.profile.facts import Facts, Profile, profile
from sfumato.profile.presets import PRESETS, Preset
from sfumato.profile.propose import Proposal, propose
from sfumato.profile.write import write

__all__ = ["PRESETS", "Facts", "Preset", "Profile", "Proposal", "profile", "propose", "write"]
