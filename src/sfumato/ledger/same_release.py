"""The same release once more: whether a release publishes what one that is out already has published.

Why that tells nothing new, whatever else is out: let A be the table that is out, and B the one to be published. If B
has the same rows as A, then B is A with its rows shuffled anew and, where rows carry pseudonyms, with these drawn anew.
So B is made of A and of fresh randomness, and of nothing else: given A, it is independent of the people. Whoever has A
could have made B, and whatever B tells of somebody together with other releases, A tells together with these. That is
the data processing inequality; it needs no assumption on what the adversary knows or does.

So no join has to be looked at. What has to be shown is that the rows are the same, and that is compared here, cell by
cell, with the stored copy: neither the policy nor the version that made A is relied on.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import CodedColumn, encode_column
from sfumato.ledger.entries import Entry
from sfumato.ledger.stored_copies import file_sha256
from sfumato.reading.release_view import view_folder
from sfumato.release import Release
from sfumato.table import Table


def publishes_the_same(release: Release, entry: Entry) -> bool:
    """Tell whether a release of one table has the same columns and rows as a recorded one, in whatever order.

    Pseudonyms are not compared, but which rows have the same one.
    """
    if release.policy.publish.split or release.rows != entry.rows:
        return False
    table = release.tables["table"]
    roles = {name: str(release.policy.columns[name].role) for name in table.columns}
    if roles != _roles(entry):
        return False
    theirs = _read_columns(entry)
    mine = {name: encode_column(Table(table.arrow), name) for name in table.columns}
    return theirs is not None and have_the_same_rows(mine, theirs, _person(roles))


def entries_publish_the_same(first: Entry, second: Entry) -> bool:
    """Tell the same of two recorded releases."""
    roles = _roles(first)
    if first.rows != second.rows or roles != _roles(second):
        return False
    tables = _read_columns(first), _read_columns(second)
    return tables[0] is not None and tables[1] is not None and have_the_same_rows(tables[0], tables[1], _person(roles))


def _roles(entry: Entry) -> dict[str, str] | None:
    """Give the role of each column of a recorded table; nothing for two tables, which are drawn anew each time."""
    return {column["name"]: column["role"] for column in entry.manifest["columns"]} if entry.one_table else None


def _person(roles: Mapping[str, str] | None) -> str | None:
    return next((name for name, role in (roles or {}).items() if role == "individual"), None)


def _read_columns(entry: Entry) -> dict[str, CodedColumn] | None:
    """Read the stored copy of a table; nothing where it is damaged, since that is like no release."""
    (path,), (digest,) = entry.paths, entry.tables.values()
    if file_sha256(path) != digest:
        return None
    roles = _roles(entry) or {}
    view, person = view_folder(entry.folder, [name for name, role in roles.items() if role == "plain"]), _person(roles)
    return dict(view.columns) | ({} if person is None or view.individual is None else {person: view.individual})


def have_the_same_rows(
    first: Mapping[str, CodedColumn], second: Mapping[str, CodedColumn], person: str | None = None
) -> bool:
    """Tell whether two tables of equal columns have the same rows as often, but for the names in the column `person`.

    Rows of both are numbered together, so that equal rows have one number. Where there are persons, each is the rows
    that they have, and the tables are the same where they have the same persons in this sense.

    >>> tables = [{"sex": CodedColumn("sex", np.array(codes), ("f", "m"), None)} for codes in ([0, 1, 1], [1, 0, 1])]
    >>> have_the_same_rows(*tables)
    True
    """
    names = [name for name in first if name != person]
    codes, widths = [], []
    for name in names:
        number = {text: code for code, text in enumerate(dict.fromkeys([*first[name].texts, *second[name].texts]))}
        sides = [np.array([number[text] for text in one.texts])[one.codes] for one in (first[name], second[name])]
        codes.append(np.concatenate(sides))
        widths.append(len(number))
    rows, _ = number_tuples(pack_tuples(codes, widths))
    mine, theirs = np.split(rows, [len(first[names[0]].codes)])
    if person is None:
        return np.array_equal(np.sort(mine), np.sort(theirs))
    return _count_persons(mine, first[person].codes) == _count_persons(theirs, second[person].codes)


def _count_persons(rows: IntArray, person: IntArray) -> Counter[bytes]:
    """Count persons by the rows that they have: rows int[n] is the number of each row, person int[n] whose it is."""
    order = np.lexsort((rows, person))
    ends = run_starts(person[order])[1:]
    return Counter(part.tobytes() for part in np.split(rows[order], ends))
