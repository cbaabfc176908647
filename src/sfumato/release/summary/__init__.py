"""The page that goes with a release: made of the manifest and the published tables, and of nothing else."""

from sfumato.release.summary.page import summary

__all__ = ["summary"]
