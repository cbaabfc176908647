"""Verify: re-check a release from its written files, by code that shares nothing with what made it.

Everything is counted again in SQL by DuckDB, from the files alone. Nothing here imports a privacy model, an
algorithm or a class count of the library: two implementations of each definition have to agree before
anything leaves the house.
"""

from sfumato.verifier.accounts import read_promise
from sfumato.verifier.extension_checks import StatedExtension
from sfumato.verifier.manifest_signature import TrustedKey
from sfumato.verifier.mask_checks import StatedMasks
from sfumato.verifier.stated_promise import InputDistribution, PriorRelease, Promise, RequestedPromise, StatedBound
from sfumato.verifier.verdict import Finding, FoundSignature, Verdict
from sfumato.verifier.verify import verify, verify_accounts, verify_extension, verify_table, verify_tables

# The names that these had before, for those who import them.
Asked = RequestedPromise
Earlier = PriorRelease
Needs = InputDistribution
promised = read_promise

__all__ = [
    "Asked",
    "Earlier",
    "Finding",
    "FoundSignature",
    "InputDistribution",
    "Needs",
    "PriorRelease",
    "Promise",
    "RequestedPromise",
    "StatedBound",
    "StatedExtension",
    "StatedMasks",
    "TrustedKey",
    "Verdict",
    "promised",
    "read_promise",
    "verify",
    "verify_accounts",
    "verify_extension",
    "verify_table",
    "verify_tables",
]
