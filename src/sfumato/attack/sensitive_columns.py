"""What a release shows of a column that somebody wants to learn: the values of each class, and whose rows are in it.

Those are the sensitive columns, unless somebody names another one. Of a plain column the classes are the same; of a
quasi-identifier they are formed by the others, since nobody knows it who wants to learn it.

The attacks that look at single classes (`homogeneity`, `minimality`) start from here, with a release in memory or with
its public files. What the whole table is taken to be, and so what somebody knows without the release, is the domain of
the histogram: the input for a release in memory, the published rows for files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sfumato.core.arrays import IntArray, count_codes
from sfumato.core.classes import Histogram, SensitiveDomain, count_published_values, count_values
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import EncodedTable, sensitive_domain, value_totals
from sfumato.errors import InputError, did_you_mean, listing, quote
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.labels.covered_values import find_covered_values
from sfumato.labels.data_dictionary import Entry
from sfumato.policy import Policy
from sfumato.reading.release_reader import read_manifest
from sfumato.reading.release_view import PUBLISHED_ROLES, ReleaseLines, ReleaseView, view_folder
from sfumato.recode import Recoding


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """One sensitive column over the classes of a release.

    `bag` counts rows per class and value, `sizes` rows per class; `persons` counts rows per class and person, where
    rows are of individuals. `covers` is there for a quasi-identifier, whose values are labels: how many values each may
    stand for, 0 where it may be any.
    """

    bag: Histogram
    sizes: IntArray
    persons: Histogram | None = None
    covers: IntArray | None = None


@dataclass(frozen=True, eq=False)
class SensitiveColumns:
    """All sensitive columns of a release together, in the form that `attack.bound.bounds` looks at."""

    columns: Mapping[str, SensitiveColumn]

    @property
    def bags(self) -> Mapping[str, Histogram]:
        """Rows per class and value, by column."""
        return {name: column.bag for name, column in self.columns.items()}

    @property
    def sizes(self) -> IntArray:
        """Rows per class, as the first column numbers the classes; other columns may number them in another order."""
        return next((column.sizes for column in self.columns.values()), np.zeros(0, dtype=np.int64))


def sensitive_columns_from_recoding(
    encoded: EncodedTable, recoding: Recoding, policy: Policy
) -> dict[str, SensitiveColumn]:
    """Take every sensitive column from a release in memory.

    The recoding has counted those that a requirement looks at. The others are counted here, from the published rows.
    """
    classes = recoding.classes
    columns = {
        name: SensitiveColumn(bag, classes.sizes, classes.individuals) for name, bag in classes.sensitive.items()
    }
    uncounted = [name for name in encoded.sensitive if name not in columns]
    if uncounted and recoding.counts is not None:
        columns |= _count_columns_of_lines(encoded, recoding, policy, uncounted)
    elif uncounted:
        rows = slice(None) if recoding.published is None else recoding.published
        class_of, person = recoding.class_of[rows], encoded.individual
        sizes = np.bincount(class_of)
        persons = None if person is None else count_values(class_of, person.codes[rows], None, value_totals(person))
        for name in uncounted:
            column = encoded.sensitive[name]
            domain = _ordered_if_it_fits(value_totals(column), policy, name)
            bag = count_values(class_of, column.codes[rows], None, domain)
            columns[name] = SensitiveColumn(bag, sizes, persons)
    return {name: columns[name] for name in encoded.sensitive}


def _count_columns_of_lines(
    encoded: EncodedTable, recoding: Recoding, policy: Policy, names: Sequence[str]
) -> dict[str, SensitiveColumn]:
    """Count sensitive columns in the classes of counted lines, of which there may be very many."""
    assert recoding.counts is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    class_of, person, persons = recoding.class_of, encoded.individual, None
    if person is not None:
        totals = value_totals(person, encoded.counts)
        persons = count_published_values(class_of, person.codes, recoding.counts, totals)
    columns = {}
    for name in names:
        column = encoded.sensitive[name]
        domain = _ordered_if_it_fits(value_totals(column, encoded.counts), policy, name)
        bag = count_published_values(class_of, column.codes, recoding.counts, domain)
        columns[name] = SensitiveColumn(bag, count_codes(bag.class_of, len(recoding.classes), bag.count), persons)
    return columns


def sensitive_columns_from_release(released: ReleaseLines, policy: Policy | None = None) -> dict[str, SensitiveColumn]:
    """Take every sensitive column from the public files of a release.

    A policy adds the order of values and their hierarchy.
    """
    policy = policy and policy.for_table([entry["name"] for entry in released.manifest.columns], whole=False)
    persons = None if released.persons is None else _count_persons(released)
    columns = {}
    for name, bag in released.bags.items():
        if policy is not None and name in policy.columns:
            domain = sensitive_domain(bag.domain, policy.columns[name], policy.source.null)
            columns[name] = SensitiveColumn(replace(bag, domain=domain), released.sizes, persons)
        else:
            columns[name] = SensitiveColumn(bag, released.sizes, persons)
    return columns


def select_sensitive_columns(
    released: ReleaseLines, policy: Policy | None, column: str | None
) -> dict[str, SensitiveColumn]:
    """Take one sensitive column of a release by its name, or all.

    An `InputError` says that there is none of that name, or none at all.
    """
    columns = sensitive_columns_from_release(released, policy)
    if not columns:
        raise InputError(f"{released.name} has no sensitive column, so that classes tell nothing of one")
    if column is not None and column not in columns:
        hint = did_you_mean(column, columns) or f"; it has {listing(columns)}"
        raise InputError(f"{quote(column)} is no sensitive column of {released.name}{hint}")
    return {name: columns[name] for name in columns if column in {None, name}}


@dataclass(frozen=True, eq=False)
class AttackedColumns:
    """Columns that are to be learnt, and the lines of the release whose classes they are counted in."""

    columns: Mapping[str, SensitiveColumn]
    lines: ReleaseLines


def read_attacked_columns(release: Path | ReleaseView, policy: Policy | None, column: str | None) -> AttackedColumns:
    """Read what a release shows of one published column by its name, whatever its role, or of all sensitive columns.

    `release` is the folder, its public part, or a view of a release in memory. An `InputError` says that there is no
    such column, or that it holds pseudonyms.
    """
    if isinstance(release, ReleaseView):
        view = release
    else:
        plain = [entry["name"] for entry in read_manifest(release).columns if entry.get("role") in {"plain", "weight"}]
        view = view_folder(release, [name for name in plain if name == column])
    quasi, sensitive = view.with_role("quasi"), view.with_role("sensitive")
    if column is None or column in sensitive:
        lines = view.lines(quasi, sensitive)
        return AttackedColumns(select_sensitive_columns(lines, policy, column), lines)
    if column in view.with_role("individual"):
        raise InputError(
            f"{quote(column)} of {view.name} holds pseudonyms, which tell nothing of anybody; name another"
        )
    if column not in view.columns:
        names = view.with_role(*PUBLISHED_ROLES, "weight")
        hint = did_you_mean(column, names) or f"; it has {listing(names)}"
        raise InputError(f"{quote(column)} is no published column of {view.name}{hint}")
    # where the quasi-identifiers stand in a table of their own, so does the column, and rows are told apart by it alone
    known = [name for name in quasi if name != column]
    if not known:
        raise InputError(
            f"{quote(column)} is the only quasi-identifier of {view.name}, so that nobody finds a class who does not "
            "know it; name another column"
        )
    lines = replace(view, class_of=None, bags={}, label_class=None).lines(known, [column])
    persons = None if lines.persons is None else _count_persons(lines)
    bag, entry = lines.bags[column], lines.entry(column)
    covers = None
    if column in quasi:
        covers = count_covered_values(entry, bag.domain.values)
    elif policy is not None and column in policy.columns:
        bag = replace(bag, domain=_ordered_if_it_fits(bag.domain, policy, column))
    return AttackedColumns({column: SensitiveColumn(bag, lines.sizes, persons, covers)}, lines)


def count_covered_values(entry: Entry, labels: Sequence[str | None]) -> IntArray:
    """Count the values that each label may stand for by the data dictionary; 0 is for ``*``, which tells nothing.

    A label of which nothing says what it covers stands for two, since it may be more than one.

    >>> count_covered_values({"integers": True, "domain": [0, 99]}, ["37", "30-39", "*", None]).tolist()
    [1, 10, 0, 1]
    """
    telling = [label for label in labels if label != ROOT]
    covered = find_covered_values(entry, telling)
    if covered.unclear is None:
        sizes = np.bincount(covered.label_of, minlength=len(telling)).tolist()
    else:
        each = [find_covered_values(entry, [label]) for label in telling]
        sizes = [2 if one.unclear is not None else len(one.label_of) for one in each]
    left = iter(sizes)
    return np.array([0 if label == ROOT else next(left) for label in labels], dtype=np.int64)


def _count(class_of: IntArray, codes: IntArray, domain: SensitiveDomain) -> Histogram:
    """Count the rows per class and code. Both arrays are ``int[rows]``."""
    width = len(domain.values)
    pairs = count_keys(pack_tuples([class_of, codes], [int(class_of.max(initial=0)) + 1, width]))
    return Histogram(pairs.keys // width, pairs.keys % width, pairs.counts, domain)


def _count_persons(released: ReleaseLines) -> Histogram:
    """Count the rows per class and person, where rows carry pseudonyms."""
    assert released.persons is not None  # noqa: S101 - whoever calls has looked; this tells the type checker
    totals = np.bincount(released.persons)
    numbered = SensitiveDomain(("",) * len(totals), totals)
    return _count(released.class_of[released.line_of], released.persons, numbered)


def _ordered_if_it_fits(totals: SensitiveDomain, policy: Policy, name: str) -> SensitiveDomain:
    """Add order and ancestors to the values; leave them out where the hierarchy does not fit, as no model uses it."""
    try:
        return sensitive_domain(totals, policy.columns[name], policy.source.null)
    except InputError:
        return totals
