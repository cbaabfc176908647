"""A release of drawn rows: read, mix, condense, publish; then write, verify, appear.

It goes beside `pipeline` and `Release`, in the same steps and with the same manners. What a row of a recoded table
tells of a person is measured by classes, what a drawn row tells by distances: so the figures are others.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.condense.condensation import Condensed, condense
from sfumato.condense.mixed_columns import MixedTable, mix_columns
from sfumato.core.arrays import narrow_codes
from sfumato.core.arrow import arrow_indices, arrow_numbers
from sfumato.core.randomness import Randomness
from sfumato.masking import MaskedTable
from sfumato.page.display import Display, FigureTable
from sfumato.page.wording import keys, plural
from sfumato.policy import Policy
from sfumato.publish.drawn_publication import DrawnPublication, describe_drawn_column, drawn_k
from sfumato.publish.promise import state_requirements
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.release.assessed_release import AssessedRelease
from sfumato.release.timing import timed
from sfumato.release.verification import require_passed
from sfumato.release.write_drawn import DRAWN_ACCOUNTS
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


class DrawnRelease(AssessedRelease):
    """Rows that were drawn, and the account of them: `synthetic` is of the kind that came in."""

    accounts = DRAWN_ACCOUNTS

    def __init__(self, publication: DrawnPublication, verdict: Verdict | None = None) -> None:
        super().__init__(publication, DrawnAssessment(publication), verdict)

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
        return self.native()

    def _look(self) -> Verdict:
        return verify_drawn(self.publication)

    @property
    def utility(self) -> "Likeness":
        """How like the original the drawn rows are."""
        found: Likeness = self.assessment.likeness
        return found

    @property
    def risk(self) -> "ClosestRows | None":
        """How near drawn rows are to those they come from; none where there are too few rows to tell."""
        found: ClosestRows | None = self.assessment.closest
        return found


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
