"""All figures of a report that take time, together: they can be worked out while something else is waited for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.release.seen.association import Association, association
from sfumato.release.seen.column import Seen, seen
from sfumato.release.seen.queried import queried, unasked
from sfumato.utility.query_error import QueryErrors

if TYPE_CHECKING:
    from sfumato.release.release import Release


@dataclass(frozen=True, eq=False)
class Figures:
    """Columns before and after, how pairs of them go together, and how far counts are off, by sensitive column.

    There is no association where there is no pair of columns, and no error where no query can be asked.
    """

    columns: list[Seen]
    together: Association | None
    errors: dict[str, QueryErrors]


def figures_of(release: "Release") -> Figures:
    """The figures of a release as it stands in memory."""
    columns = seen(release)
    together = association(release, columns) if len(columns) > 1 else None
    return Figures(columns, together, queried(release) if unasked(release) is None else {})
