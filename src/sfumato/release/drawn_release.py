"""A release of drawn rows: read, mix, condense, publish; then write, verify, appear.

It goes beside `pipeline` and `Release`, in the same steps and with the same manners. What a row of a recoded table
tells of a person is measured by classes, what a drawn row tells by distances: so the figures are others.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.condense.condensation import Condensed, condense
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.core.arrays import narrow_codes
from sfumato.core.arrow import arrow_indices, arrow_numbers
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError
from sfumato.masking import MaskedTable, MaskingFigures
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import keys, plural
from sfumato.policy import Policy
from sfumato.publish.drawn_publication import DrawnPublication, describe_drawn_column, drawn_k
from sfumato.publish.promise import state_requirements
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.signing_key import SigningKey, choose_signing_key
from sfumato.release.folder import Stage
from sfumato.release.timing import timed
from sfumato.release.verification import require_passed
from sfumato.release.write_drawn import write_drawn_release
from sfumato.report.drawn_assessment import DrawnAssessment
from sfumato.table import Table, find_repeated_identifiers
from sfumato.table.files import file_digest
from sfumato.verifier import Verdict
from sfumato.verifier.drawn_rows import DrawnStatement, OriginalRows, verify_drawn_tables

if TYPE_CHECKING:
    from sfumato.risk.closest_rows import ClosestRows
    from sfumato.utility.likeness import Likeness

Progress = Callable[[int, int], None]


def draw_release(
    masked: MaskedTable, policy: Policy, seconds: dict[str, float], progress: Progress | None = None
) -> "DrawnRelease":
    """Draw what is published of a table that was read and masked; nobody has verified it yet.

    Raises `Infeasible` where the table, or a stratum of it, has too few rows or people.
    """
    k, table = drawn_k(policy), masked.table
    randomness = Randomness(policy.search.seed, "condensation")
    with ThreadPoolExecutor(2) as pool:  # hashing and counting need no lock of Python's
        digest = pool.submit(file_digest, table.path) if table.path else None
        repeated = pool.submit(find_repeated_identifiers, masked.original, policy)
        with timed(seconds, "read"):
            mixed = mix_columns(table, policy, k)
        with timed(seconds, "search"):
            condensed = condense(mixed, k, policy.search, randomness, progress)
        with timed(seconds, "recode"):
            published = _publish(table, mixed, condensed)
        found = digest.result() if digest else None
        publication = DrawnPublication(
            policy, table, mixed, condensed, published, found, seconds, repeated.result(), masked
        )
    return DrawnRelease(publication)


def _publish(source: Table, mixed: MixedTable, condensed: Condensed) -> PublishedTable:
    """The table of drawn rows, every column in the type it came in, unless a label of a hierarchy made it text."""
    columns: dict[str, Any] = {}
    types: dict[str, Any] = {}
    changed = set()
    for column, part in zip(mixed.columns, condensed.columns, strict=True):
        name, kind = column.name, source.type_of(column.name)
        if column.numbers is None and not column.generalized:
            used, codes = np.unique(part.codes, return_inverse=True)
            labels = column.labels.take(arrow_indices(used.tolist()))
            columns[name], types[name] = PublishedColumn(narrow_codes(codes, len(used)), labels), kind
            continue
        columns[name] = column.publish(part.codes, part.numbers)
        types[name] = columns[name].type
        if types[name] != kind:
            changed.add(name)
    return PublishedTable(source, np.arange(condensed.rows), columns, types, frozenset(changed))


class DrawnRelease(Shown):
    """Rows that were drawn, and the account of them.

    `synthetic` is of the kind that came in. Nobody gets to see it before the verifier has passed it: in memory when it
    is first asked for, unless it has spoken already, and the files when a release is saved. `mishaps` are what went
    wrong after its folder had appeared, a sentence each. `folder` is where it was saved last.
    """

    def __init__(self, publication: DrawnPublication, verdict: Verdict | None = None) -> None:
        self.publication = publication
        self.assessment = DrawnAssessment(publication)
        self.seconds = dict(publication.seconds)
        self.mishaps: list[str] = []
        self.folder: Path | None = None
        self._stages: list[Stage] = []
        self._verdict = verdict

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<DrawnRelease of {self.rows:,} rows from {self.publication.groups_made:,} groups>"

    def display(self) -> Display:
        """Show what was promised, what holds and how like the original it is: figures, and no row."""
        findings = [
            (one["model"], keys(one["required"]), keys(one["achieved"]), "yes" if one["satisfied"] else "no")
            for one in self.privacy
        ]
        title = f"{plural(self.rows, 'drawn row')} from {plural(self.publication.groups_made, 'group')}"
        likeness = FigureTable(("likeness", ""), self.assessment.likeness_lines())
        return Display(title, [FigureTable(("promise", "asked", "holds", "met"), findings), likeness], self.warnings)

    @cached_property
    def synthetic(self) -> Any:
        """The drawn rows, as the kind of table that came in."""
        self.verify()
        return self.publication.table.native()

    def __getattr__(self, name: str) -> Any:
        """Say what there is in place of the tables of other forms."""
        if name in {"table", "nss", "ss", "recoding"}:
            form = self.publication.policy.publish.form
            raise InputError(f"a release of the form {form} has no {name}; it has synthetic")
        raise AttributeError(f"'DrawnRelease' object has no attribute '{name}'")

    @property
    def verdict(self) -> Verdict:
        """What the verifier found in the drawn rows."""
        return self.verify()

    def verify(self) -> Verdict:
        """Let the verifier look at rows and groups, unless it has spoken; raise where it does not pass them."""
        if self._verdict is None:
            self._verdict = verify_drawn(self.publication)
        return self._verdict

    @property
    def privacy(self) -> list[dict[str, Any]]:
        """Each requirement with what holds, as the verifier found it."""
        return [finding.as_json() for finding in self.verdict.privacy]

    @property
    def utility(self) -> "Likeness":
        """How like the original the drawn rows are."""
        return self.assessment.likeness

    @property
    def risk(self) -> "ClosestRows | None":
        """How near drawn rows are to those they come from; none where there are too few rows to tell."""
        return self.assessment.closest

    @property
    def masked(self) -> MaskingFigures:
        """What masking changed in each masked column before rows were drawn; false where none is masked."""
        return self.assessment.masking

    @property
    def warnings(self) -> list[str]:
        """What the data holder should know before it leaves the house, a sentence each."""
        return self.assessment.warnings

    @property
    def is_out(self) -> bool:
        """Whether its folder has appeared, however `save` ended; only what certainly did not appear is not out."""
        return any(stage.is_out for stage in self._stages)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.publication.rows

    @property
    def policy(self) -> Policy:
        """The policy that it was made under."""
        return self.publication.policy

    @property
    def source(self) -> Table:
        """The table that came in."""
        return self.publication.original

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The published table by the name of its file."""
        return self.publication.tables

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
        self._verdict = write_drawn_release(self.assessment, target, self.seconds, force=force, before=look_at, key=key)
        self.mishaps += [f"the release is out, but {mishap}" for stage in self._stages for mishap in stage.mishaps]
        self.folder = target
        return target


def verify_drawn(publication: DrawnPublication) -> Verdict:
    """Let the verifier look at drawn rows in memory, and at the groups beside the rows that came in.

    Raises:
        NotVerified: it does not pass them.
    """
    mixed, search = publication.mixed, publication.policy.search
    entries = [describe_drawn_column(column, publication) for column in mixed.columns]
    stated = {"columns": entries, "multiple": search.multiple, "strata": list(search.strata)}
    statement = DrawnStatement.from_manifest(stated, state_requirements(publication.policy))
    persons = None if mixed.persons is None else arrow_numbers(mixed.persons)
    came = publication.source.arrow.select([column.name for column in mixed.columns])
    climbed = {column.name: column.climbed for column in mixed.columns if column.climbed}
    original = OriginalRows(came, arrow_numbers(publication.condensed.members), persons, climbed)
    table, groups, statistics = publication.table.arrow, publication.groups, publication.statistics
    return require_passed(verify_drawn_tables(table, groups, statistics, statement, original))
