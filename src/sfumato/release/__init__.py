"""Release: the published table, its manifest and audit, and the folder that appears whole or not at all."""

from sfumato.release.making import anonymize, prepare
from sfumato.release.release import Release

__all__ = ["Release", "anonymize", "prepare"]
