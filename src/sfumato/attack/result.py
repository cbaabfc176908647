"""The result of an attack, in the form that the report, the audit and ``--json`` share.

Every attack has figures of its own (`link.LinkageResult`, `homogeneity.Homogeneity`, ...). Their method ``results()``
reduces them to lines of this form, so that attacks can be listed side by side: what is assumed, how often the adversary
is right, and how often somebody without the release would be. Sentences are written here and by the attacks, once, for
the terminal and the report alike; they say what an adversary can do, and never that somebody is safe.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class AttackResult:
    """One line on an attack: its assumptions, its success, and the baseline without the release.

    `assumes` says in a sentence what the adversary is taken to know. `counts` says what `success` and `baseline` are
    shares of; `baseline` is the share that somebody gets right without the release. `bound` is the largest share that
    the policy allows, or ``None`` where it promises nothing about it. `says` are sentences on the findings. For an
    attack that was not run, `success` is ``None`` and `says` gives the reason: unknown is not safe.

    >>> result = AttackResult("link", "The adversary has a voter roll.", "persons tied to one row", 0.02, 0.0)
    >>> result.as_json()["success"]
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
        """Convert to the object that ``--json`` prints and the audit keeps."""
        return asdict(self)
