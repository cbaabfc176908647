"""The account that stays: what knows of rows that were not published, of the seed and of the input file."""

from datetime import UTC, datetime
from typing import Any

from sfumato._version import __version__
from sfumato.encode import EncodedTable
from sfumato.policy import Policy
from sfumato.recode import Recoding
from sfumato.release.promised import promise
from sfumato.utility import Utility


def audit(
    encoded: EncodedTable,
    recoding: Recoding,
    policy: Policy,
    *,
    utility: Utility,
    input_digest: str | None,
) -> dict[str, Any]:
    """The private account, before the verifier has spoken and the clock has stopped."""
    known = promise(encoded, policy, recoding)
    return {
        "sfumato": __version__,
        "written": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "policy": policy.document,
        "folder": str(policy.folder.resolve()),
        "input": {"sha256": input_digest, "rows": encoded.rows},
        "seed": policy.search.seed,
        "randomness": "operating system" if policy.search.seed is None else "seed: for tests and papers only",
        "suppressed": {
            "rows": recoding.suppressed,
            "reason": why_suppressed(recoding),
        },
        "algorithm": recoding.algorithm,
        **how_found(recoding),
        "utility": utility.as_json(),
        "needs": {name: needs.as_json() for name, needs in known.distributions.items()},
        "costs": {name: [[a, b, cost] for (a, b), cost in pairs.items()] for name, pairs in known.costs.items()},
    }


def how_found(recoding: Recoding, *, levels: bool = True) -> dict[str, Any]:
    """What there is to say of how an algorithm ended: its levels, or whether its classes were improved on."""
    if recoding.levels is not None:
        return {"levels": dict(recoding.levels)} if levels else {}
    return {"improved": recoding.improved} if recoding.local and recoding.algorithm != "anatomy" else {}


def why_suppressed(recoding: Recoding) -> str | None:
    """Why rows are not published, in words; nothing where all are."""
    if not recoding.suppressed:
        return None
    if recoding.algorithm == "anatomy":
        return "rows of sensitive values that are more frequent than the buckets allow"
    if recoding.local:
        return "rows that kept the others from a requirement, or cost them more than they tell"
    return "rows of classes that did not meet every requirement"
