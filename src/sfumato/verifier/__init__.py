"""Verify: re-check a release from its written files, by code that shares nothing with what made it.

Everything is counted again in SQL by DuckDB, from the files alone. Nothing here imports a privacy model, an
algorithm or a class count of the library: two implementations of each definition have to agree before
anything leaves the house.
"""

from sfumato.verifier.accounts import promised
from sfumato.verifier.folder import verify, verify_accounts, verify_table, verify_tables
from sfumato.verifier.linkage.earlier import Earlier
from sfumato.verifier.promise import Asked, Needs, Promise
from sfumato.verifier.verdict import Finding, Verdict

__all__ = [
    "Asked",
    "Earlier",
    "Finding",
    "Needs",
    "Promise",
    "Verdict",
    "promised",
    "verify",
    "verify_accounts",
    "verify_table",
    "verify_tables",
]
