"""An attack in one line: what it assumes, what it gets right, and what one would get right without the release."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Tried:
    """What reports and pages say of an attack.

    `assumes` is what the adversary is taken to know, in a sentence; `counts` says what `success` and `baseline` are
    shares of. `baseline` is the same share for somebody without the release. `bound` is what the policy promises of
    that share, where it promises anything. `says` are sentences on what was found. An attack that was not tried has no
    success, and `says` why.

    >>> Tried("link", "The adversary has a voter roll.", "persons tied to one row", 0.02, 0.0).as_json()["success"]
    0.02
    """

    attack: str
    assumes: str
    counts: str
    success: float | None
    baseline: float | None
    bound: float | None = None
    says: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit."""
        return asdict(self)
