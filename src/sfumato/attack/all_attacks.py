"""All attacks on a release before it leaves, with little effort; `sfumato attack` takes more.

The intersection with earlier releases is tried on files, once they are written, and as far as the folders of the
earlier releases are at hand.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.attack.bound import bounds
from sfumato.attack.homogeneity import Homogeneity, Skewness, gain_bounds, homogeneity, skewness
from sfumato.attack.known import KnownValuesResult, known_in_memory
from sfumato.attack.link import LinkageResult, link_in_memory
from sfumato.attack.minimality import MinimalityResult, minimality
from sfumato.attack.result import AttackResult, display_results
from sfumato.attack.sensitive_columns import SensitiveColumns, sensitive_columns_from_recoding
from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers
from sfumato.encode import EncodedTable
from sfumato.errors import InputError
from sfumato.page.display import Display, Shown
from sfumato.publish.publication import Publication
from sfumato.reading.release_reader import MANIFEST
from sfumato.reading.release_view import view_recoding
from sfumato.split import tables_from_recoding
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.attack.definetti import DefinettiResult

INTERSECT_ASSUMES = (
    "The adversary has this release and earlier ones about the same people, and knows their quasi-identifiers."
)
NO_EARLIER_RELEASE = (
    "Not tried: no earlier release is named. Where there is one, sfumato attack intersect holds them together, and a "
    "ledger does so before each release appears."
)
NO_EARLIER_FOLDER = (
    "Not tried: of {names} there is a table, but no release folder that says what its labels stand for. The "
    "requirements on the join with it were checked."
)
NOT_WRITTEN = "Not tried yet: it is tried on the files, once they are written."

_PERSONS = 2_000
"""So many persons of the table are looked up for a report; `sfumato attack intersect` takes all."""


@dataclass(frozen=True, eq=False, repr=False)
class Attacks(Shown):
    """What each attack found; the learner's only where two tables are published.

    `intersect` has the lines of the intersection with earlier releases.
    """

    link: LinkageResult
    known: KnownValuesResult
    homogeneity: Homogeneity
    skewness: Skewness
    minimality: MinimalityResult
    definetti: "DefinettiResult | None"
    intersect: tuple[AttackResult, ...]

    @property
    def results(self) -> tuple[AttackResult, ...]:
        """All of them, a line each, and a line for each column where an attack is about columns."""
        return (
            *self.link.results(),
            *self.known.results(),
            *self.homogeneity.results(),
            *self.skewness.results(),
            *self.minimality.results(),
            *(() if self.definetti is None else self.definetti.results()),
            *self.intersect,
        )

    def display(self) -> Display:
        """Show a line for each result."""
        return replace(display_results(self.results), title="what adversaries can do, tried with little effort")

    def as_json(self) -> list[dict[str, Any]]:
        """For the audit."""
        return [result.as_json() for result in self.results]


def try_all_attacks(publication: Publication) -> Attacks:
    """Try every attack on a publication as it is in memory."""
    encoded, policy = publication.encoded, publication.policy
    whole = (encoded, publication.recoding, policy)
    told = sensitive_columns_from_recoding(*whole)
    promised = bounds(policy, SensitiveColumns(told))
    shown = view_recoding(*whole)
    learner = None
    if policy.publish.split:
        from sfumato.attack.definetti import QUICK, Original, definetti  # noqa: PLC0415 - only of two tables

        tables = tables_from_recoding(encoded, publication.recoding)
        learner = definetti(tables, Original.of_encoded(encoded), bounds(policy, tables), effort=QUICK)
    return Attacks(
        link_in_memory(encoded, publication.recoding, shown),
        known_in_memory(encoded, publication.recoding, shown),
        homogeneity(told, promised),
        skewness(told, promised=gain_bounds(policy)),
        minimality(*whole, applied=publication.extension is not None),
        learner,
        (_not_tried(NOT_WRITTEN if _has_earlier(publication) else NO_EARLIER_RELEASE),),
    )


def intersect_with_earlier(publication: Publication, written: Path) -> tuple[AttackResult, ...]:
    """What the written release and the earlier ones leave open together, or a line that says why that is not known."""
    linked = publication.linked_releases
    if linked is None or not linked.earlier:
        return (_not_tried(NO_EARLIER_RELEASE),)
    folders = {
        earlier.path.parent: earlier.name for earlier in linked.earlier if (earlier.path.parent / MANIFEST).exists()
    }
    if not folders:
        names = ", ".join(earlier.name for earlier in linked.earlier)
        return (_not_tried(NO_EARLIER_FOLDER.format(names=names)),)
    from sfumato.attack.intersect import intersect  # noqa: PLC0415 - only where there are earlier releases

    # persons are those of evenly spaced rows
    encoded = publication.encoded
    rows = publication.source.rows if encoded.counts is None else encoded.rows
    chosen = np.linspace(0, rows - 1, min(rows, _PERSONS)).astype(np.int64)
    persons = Table(publication.source.arrow.take(chosen)) if encoded.counts is None else _take_rows(encoded, chosen)
    try:
        result = intersect([written, *folders], persons, policy=publication.policy)
    except InputError as error:
        return (_not_tried(f"Not tried: {str(error).replace(str(written), 'this release')}."),)
    named = zip(result.releases, ["this release", *folders.values()], strict=True)
    return replace(result, releases=tuple(replace(release, release=name) for release, name in named)).results()


def _take_rows(encoded: EncodedTable, rows: IntArray) -> Table:
    """Take some rows of a table of counted lines, by their number if lines were written out one after the other."""
    assert encoded.counts is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    lines = np.searchsorted(np.cumsum(encoded.counts), rows, side="right")
    columns = [*(attribute.column for attribute in encoded.quasi), *encoded.sensitive.values()]
    return Table(pa.table({one.name: one.values.take(arrow_numbers(one.codes.take(lines))) for one in columns}))


def _has_earlier(publication: Publication) -> bool:
    return publication.linked_releases is not None and bool(publication.linked_releases.earlier)


def _not_tried(why: str) -> AttackResult:
    return AttackResult("intersect", INTERSECT_ASSUMES, "persons exposed", None, None, says=(why,))
