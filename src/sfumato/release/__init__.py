"""Release: the published table, its manifest and audit, and the folder that appears whole or not at all."""

from sfumato.release.release import Release, anonymize, prepare

__all__ = ["Release", "anonymize", "prepare"]
