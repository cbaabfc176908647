"""From the files of a release to its counts: one kind for each kind of release."""

from collections.abc import Sequence

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.counts import Counts
from sfumato.verifier.layout import Layout
from sfumato.verifier.one_table import OneTable
from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published
from sfumato.verifier.two_tables import TwoTables


def counted(files: Sequence[Published], promise: Promise, layout: Layout) -> Counts:
    """The classes of a release and their values; raises where a column that matters is not there once."""
    _check_roles(promise, layout)
    _check_asked(promise, layout)
    for file, name in zip(files, layout.files, strict=True):
        _check_there(file, promise, layout, name)
    if layout.class_id is None:
        return OneTable(files[0], promise)
    if promise.named:
        raise InputError("xy-anonymity and xy-linkability are checked of a single generalized table, not of two")
    return TwoTables(files, promise, layout.class_id)


def _check_roles(promise: Promise, layout: Layout) -> None:
    """Where there are several files, sensitive columns stand in the others than the first, and nothing else does."""
    sensitive = set(promise.sensitive)
    strange = sorted((layout.beside & sensitive) | (layout.apart - sensitive))
    if strange:
        raise NotVerified(f"these columns stand in a table where they do not belong: {listing(strange)}")


def _check_asked(promise: Promise, layout: Layout) -> None:
    """Refuse requirements about columns that are not published, or that no class hides."""
    asked = [column for column in promise.needed if column not in layout.published]
    if asked:
        raise InputError(f"a requirement is about columns that the release does not have: {listing(asked)}")
    beside = [column for column in promise.looked_at if column in layout.beside]
    if beside:
        raise InputError(
            f"a requirement is about columns that stand beside the quasi-identifiers, where no class hides them: "
            f"{listing(beside)}"
        )


def _check_there(file: Published, promise: Promise, layout: Layout, name: str) -> None:
    """Refuse a file in which a column that matters is not there once."""
    expected = [column for column in (*promise.needed, *sorted(promise.named)) if column in layout.files[name]]
    links = [] if layout.class_id is None else [layout.class_id]
    strange = [column for column in [*expected, *links] if file.columns.count(column) != 1]
    if strange:
        raise NotVerified(
            f"{layout.called(name)} does not have each of these columns once: {listing(strange)}; it was changed"
        )
