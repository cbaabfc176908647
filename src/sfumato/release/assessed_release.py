"""What releases of drawn rows and of densities share: they are measured, verified and saved in the same steps."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from sfumato.errors import InputError
from sfumato.masking import MaskingFigures
from sfumato.page.display import Shown
from sfumato.policy import Policy
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.signing_key import SigningKey, choose_signing_key
from sfumato.release.folder import Stage
from sfumato.release.timing import timed
from sfumato.release.write_drawn import Accounts, write_drawn_release
from sfumato.table import Table
from sfumato.verifier import Verdict


class AssessedRelease(Shown, ABC):
    """A publication without classes, and the account of it.

    Nobody gets to see it before the verifier has passed it: in memory when it is first asked for, unless it has spoken
    already, and the files when a release is saved. `mishaps` are what went wrong after its folder had appeared, a
    sentence each. `folder` is where it was saved last.
    """

    accounts: ClassVar[Accounts]
    """How its manifest, its audit and its report are written."""

    def __init__(self, publication: Any, assessment: Any, verdict: Verdict | None = None) -> None:
        self.publication = publication
        self.assessment = assessment
        self.seconds = dict(publication.seconds)
        self.mishaps: list[str] = []
        self.folder: Path | None = None
        self._stages: list[Stage] = []
        self._verdict = verdict

    @abstractmethod
    def _look(self) -> Verdict:
        """Let the verifier look at what is published, beside what came in."""

    def __getattr__(self, name: str) -> Any:
        """Say what there is in place of the tables of other forms."""
        if name in {"table", "nss", "ss", "recoding", "synthetic", "uncertain"}:
            form = self.publication.policy.publish.form
            raise InputError(f"a release of the form {form} has no {name}; it has {form}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def native(self) -> Any:
        """What is published, as the kind of table that came in, once the verifier has passed it."""
        self.verify()
        return self.publication.table.native()

    @property
    def verdict(self) -> Verdict:
        """What the verifier found."""
        return self.verify()

    def verify(self) -> Verdict:
        """Let the verifier look at it, unless it has spoken; raise where it does not pass it."""
        if self._verdict is None:
            self._verdict = self._look()
        return self._verdict

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Each requirement with what holds, as the verifier found it."""
        return [finding.as_json() for finding in self.verdict.privacy]

    @property
    def masked(self) -> MaskingFigures:
        """What masking changed in each masked column before anything else; false where none is masked."""
        found: MaskingFigures = self.assessment.masking
        return found

    @property
    def warnings(self) -> list[str]:
        """What the data holder should know before it leaves the house, a sentence each."""
        found: list[str] = self.assessment.warnings
        return found

    @property
    def is_out(self) -> bool:
        """Whether its folder has appeared, however `save` ended; only what certainly did not appear is not out."""
        return any(stage.is_out for stage in self._stages)

    @property
    def rows(self) -> int:
        """Published rows."""
        return int(self.publication.rows)

    @property
    def policy(self) -> Policy:
        """The policy that it was made under."""
        found: Policy = self.publication.policy
        return found

    @property
    def source(self) -> Table:
        """The table that came in."""
        found: Table = self.publication.original
        return found

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The published table by the name of its file."""
        found: Mapping[str, PublishedTable] = self.publication.tables
        return found

    @property
    def signed_by(self) -> str | None:
        """The fingerprint of the key that it was signed with when it was saved; ``None`` where it was not."""
        return None if self._verdict is None else self._verdict.signed_by

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        before: Callable[[Path], object] | None = None,
        sign: str | Path | SigningKey | None = None,
    ) -> Path:
        """Write the release folder: whole and verified, or not at all.

        `before` is called with the complete folder before it appears under its name, and may still refuse it. What goes
        wrong once it has appeared is not raised: it is added to `mishaps`. `sign` is a private key, or its file, to
        sign it with, in place of the policy's ``[publish] sign``.
        """
        target, key = Path(folder), choose_signing_key(self.policy, sign)
        self._stages = []

        def look_at(stage: Stage) -> None:
            if before is not None:
                before(stage.path)
            self._stages.append(stage)

        with timed(self.seconds, "verify"):
            self.verify()  # against the original, which the files do not have
        self._verdict = write_drawn_release(
            self.assessment, self.accounts, target, self.seconds, force=force, before=look_at, key=key
        )
        self.mishaps += [f"the release is out, but {mishap}" for stage in self._stages for mishap in stage.mishaps]
        self.folder = target
        return target
