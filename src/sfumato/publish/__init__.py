"""From a recoding to what is published: tables, their files, their manifest, and pseudonyms."""

from sfumato.publish.publication import Publication

__all__ = ["Publication"]
