"""Tables to be measured: a file by a policy or by the names of its columns, or a release by its folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.encode import encode_column
from sfumato.errors import DataError, InputError
from sfumato.policy import Policy
from sfumato.reading.outside_table import ReadOptions, check_column_names, outside_column_names, read_outside_table
from sfumato.reading.release_view import ReleaseLines, view_file, view_folder
from sfumato.risk.persons import asked_k
from sfumato.risk.subject import Subject


@dataclass(frozen=True, eq=False)
class Reading:
    """A table as it is measured: the column that names persons, the k that was promised, how a population is read.

    `released` is the table as one looks people up in it.
    """

    subject: Subject
    individual: str | None
    k: int | None
    options: ReadOptions
    released: Callable[[], ReleaseLines]


def by_policy(path: Path, policy: Policy) -> Reading:
    """A file over a policy's quasi-identifiers; the individual column may be missing, where somebody left it out."""
    data = policy.document.get("data")
    options = {key: one for key, one in data.items() if key != "source"} if isinstance(data, dict) else {}
    quasi = tuple(column.name for column in policy.quasi)
    name = policy.individual.name if policy.individual else None
    subject = _subject(path, quasi, name, options)
    nulls = {"null": list(policy.source.null)}  # of the population only these are the policy's
    return Reading(
        subject, name, asked_k(policy.privacy), nulls, lambda: view_file(path, quasi, policy, options).lines(quasi)
    )


def by_columns(path: Path, quasi: Sequence[str], individual: str | None) -> Reading:
    """A file over the named columns."""
    names = tuple(dict.fromkeys(quasi))
    if not names:
        raise InputError("name at least one quasi-identifier, as in --quasi age,sex")
    if individual in names:
        raise DataError(
            f"column '{individual}' cannot both name persons and be a quasi-identifier; leave it out of one of the two"
        )
    subject = _subject(path, names, individual, {}, needed=individual)
    return Reading(subject, individual, None, {}, lambda: view_file(path, names, None, {}).lines(names))


def by_release(folder: Path) -> Reading:
    """A release over the quasi-identifiers of its manifest; its groups are the classes where it is in two tables."""
    shown = view_folder(folder)
    quasi = shown.with_role("quasi")
    columns = tuple(shown.columns[name] for name in quasi)
    person = None if shown.individual is None else shown.individual.codes.astype(np.int64)
    name = None if shown.individual is None else shown.individual.name
    return Reading(Subject(columns, person, shown.class_of), name, shown.k, {}, lambda: shown.lines(quasi))


def _subject(
    path: Path, quasi: Sequence[str], individual: str | None, options: ReadOptions, *, needed: str | None = None
) -> Subject:
    names = outside_column_names(path, options)
    check_column_names([*quasi, *([] if needed is None else [needed])], names, path.name)
    whose = individual if individual in names else None
    table = read_outside_table(path, [*quasi, *([whose] if whose else [])], options)
    columns = tuple(encode_column(table, name) for name in quasi)
    person = encode_column(table, whose).codes.astype(np.int64) if whose else None
    return Subject(columns, person)
