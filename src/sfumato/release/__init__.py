"""Releases: the way from a table to a verified folder, which appears whole or not at all."""

from sfumato.release.pipeline import anonymize, prepare
from sfumato.release.release import Release

__all__ = ["Release", "anonymize", "prepare"]
