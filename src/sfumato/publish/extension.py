"""Extension: that a publication adds rows to releases which are out already, under their labels.

The manifest names these releases by their hashes, and says what has to keep the promise: the further rows by themselves
and all rows together (``alone``), or all rows together only (``together``). The audit says where the releases are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.core.classes import SensitiveDomain
from sfumato.publish.written_table import stated_digest
from sfumato.recode.saved_recoding import SavedRecoding

ALONE = (
    " These rows were added to those of the releases under 'extends', under the same labels: each class meets every "
    "requirement in this table by itself, and together with those tables. The rows are taken to be about other people "
    "than theirs: somebody who is in several of the tables is not protected against who compares them."
)
"""What is added to what a release protects, where further rows keep the promise by themselves."""

TOGETHER = (
    " These rows were added to those of the releases under 'extends', under the same labels: each class meets every "
    "requirement that is about classes in all these tables together, and not in this one by itself. The adversary is "
    "assumed not to know in which of the tables a person is: whoever knows that somebody is in this one may learn "
    "more. The rows are taken to be about other people than those of the other tables."
)
"""The same where only all rows together keep it."""


@dataclass(frozen=True, eq=False, repr=False)
class ExtendedRelease:
    """A release that rows are added to: its manifest with the hash of it, and its public folder.

    Where it has not been written, there is neither, and `table` is its table in memory.
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""
    public: Path | None = None
    table: Any = None

    def entry(self) -> dict[str, Any]:
        """Name it as a manifest does, by its hashes."""
        name = self.manifest["table"]
        digest = stated_digest(self.manifest["files"], name)
        content = {"manifest_sha256": self.sha256, "table": name, "sha256": digest}
        return content | {"rows": self.manifest["rows"]}


@dataclass(frozen=True)
class LeftOut:
    """Further rows that were not published, and why; they are counted, and nothing of them is told.

    `unknown` hold a value that a hierarchy does not know, by column; a row is counted for the first of its columns.
    `uncovered` are covered by no class that is published. `breaking` would have made a class break a requirement, by
    the words for it.
    """

    unknown: Mapping[str, int] = field(default_factory=dict)
    uncovered: int = 0
    breaking: Mapping[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """All of them."""
        return sum(self.unknown.values()) + self.uncovered + sum(self.breaking.values())

    def sentences(self) -> list[str]:
        """Say how many there are for each reason.

        >>> LeftOut({"job": 2}, 1).sentences()
        ["2 hold a value of 'job' that its hierarchy does not know", '1 is in no class that is published']
        """
        parts = [
            f"{rows:,} {'holds' if rows == 1 else 'hold'} a value of '{name}' that its hierarchy does not know"
            for name, rows in self.unknown.items()
        ]
        if self.uncovered:
            parts.append(f"{self.uncovered:,} {'is' if self.uncovered == 1 else 'are'} in no class that is published")
        return parts + [f"{rows:,} would break {why}" for why, rows in self.breaking.items()]

    def as_json(self) -> dict[str, Any]:
        """For the audit and ``--json``."""
        return {"unknown": dict(self.unknown), "uncovered": self.uncovered, "breaking": dict(self.breaking)}


@dataclass(frozen=True, eq=False, repr=False)
class Extension:
    """The releases that rows are added to, in the order in which they were published, and what is promised.

    `promise` is ``alone`` or ``together``. `left_out` are the further rows that are not published. `recoding` is that
    of the first of the releases. `domains` are the sensitive columns over all rows, those before and those that came in
    now. `failing_alone` counts the rows of classes that do not keep the promise in the new table by itself.
    `same_people` are, by identifier, the further rows whose value is in a table before; ``None`` where nobody could
    compare.
    """

    releases: tuple[ExtendedRelease, ...]
    promise: str
    left_out: LeftOut
    recoding: SavedRecoding
    domains: Mapping[str, SensitiveDomain] = field(default_factory=dict)
    failing_alone: int = 0
    same_people: Mapping[str, int] | None = None

    @property
    def set_aside(self) -> int:
        """Rows that hold a value which a hierarchy does not know."""
        return sum(self.left_out.unknown.values())

    def stated(self) -> dict[str, Any]:
        """Say in the manifest what is extended, and what keeps the promise."""
        return {"promise": self.promise, "releases": [release.entry() for release in self.releases]}
