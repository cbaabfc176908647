"""Verdict: what the verifier found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One requirement: what was asked, what holds, and the classes that fail it, in words."""

    model: str
    required: Mapping[str, Any]
    achieved: Mapping[str, Any]
    satisfied: bool
    failures: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato verify --json`` prints it."""
        return {
            "model": self.model,
            "required": dict(self.required),
            "achieved": dict(self.achieved),
            "satisfied": self.satisfied,
        }


@dataclass(frozen=True)
class FoundSignature:
    """A signature that fits its manifest: the fingerprint of its key, and whether the reader has said to trust it."""

    fingerprint: str
    trusted: bool


@dataclass(frozen=True)
class Verdict:
    """Whether a release keeps its promise, requirement by requirement, and everything that is wrong with it.

    `signature` is that of its manifest, where it has one that fits. `together` is what was found of its table and those
    that it extends, taken as one, where it extends any. `notes` say what could not be checked.
    """

    rows: int
    classes: int
    privacy: tuple[Finding, ...]
    problems: tuple[str, ...] = field(default=())
    signature: FoundSignature | None = None
    together: "Verdict | None" = None
    notes: tuple[str, ...] = ()

    @property
    def satisfied(self) -> bool:
        """All requirements hold and the files are as they were published."""
        return not self.problems and all(finding.satisfied for finding in self.privacy)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Everything that is wrong, one sentence each."""
        return self.problems + tuple(text for finding in self.privacy for text in finding.failures)

    @property
    def signed_by(self) -> str | None:
        """The fingerprint of the key that signed it, if that was held against a key that the reader trusts."""
        return self.signature.fingerprint if self.signature is not None and self.signature.trusted else None

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato verify --json`` prints it, with what is wrong beside it."""
        content: dict[str, Any] = {
            "satisfied": self.satisfied,
            "rows": self.rows,
            "classes": self.classes,
            "privacy": [finding.as_json() for finding in self.privacy],
            "problems": list(self.complaints),
        }
        if self.together is not None:
            united = {"rows": self.together.rows, "classes": self.together.classes}
            content["together"] = united | {"privacy": [finding.as_json() for finding in self.together.privacy]}
        if self.notes:
            content["notes"] = list(self.notes)
        if self.signature is None:
            return content
        return content | {"signed_by": self.signed_by, "signature": asdict(self.signature)}
