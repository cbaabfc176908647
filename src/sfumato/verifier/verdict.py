"""Verdict: what the verifier found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class Verdict:
    """Whether a release keeps its promise, requirement by requirement, and everything that is wrong with it."""

    rows: int
    classes: int
    privacy: tuple[Finding, ...]
    problems: tuple[str, ...] = field(default=())

    @property
    def satisfied(self) -> bool:
        """All requirements hold and the files are as they were published."""
        return not self.problems and all(finding.satisfied for finding in self.privacy)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Everything that is wrong, one sentence each."""
        return self.problems + tuple(text for finding in self.privacy for text in finding.failures)

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato verify --json`` prints it, with what is wrong beside it."""
        return {
            "satisfied": self.satisfied,
            "rows": self.rows,
            "classes": self.classes,
            "privacy": [finding.as_json() for finding in self.privacy],
            "problems": list(self.complaints),
        }
