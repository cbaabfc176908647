"""Apply the recoding of a release to further rows: read, encode, find the classes that take them, publish.

The same way as `release.pipeline`, but nothing is searched: labels are those of the release. A row that holds a value
which a hierarchy does not know, that no published class covers, or whose class would break a requirement is dropped as
far as the policy allows it, and counted; where more would have to go, nothing is published.

Why the new rows have to keep the promise by themselves (``promise = "alone"``): the tables are apart, so that whoever
knows that a person is among the new rows looks at these alone. All rows together keep it besides, for somebody who does
not know in which table the person is. For k-anonymity, shares, distinct, entropy and recursive diversity the second
follows from the first; for the refined share and t-closeness it does not, and both are looked at.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import BoolArray, IntArray, narrow_codes
from sfumato.core.arrow import arrow_texts
from sfumato.core.randomness import Randomness
from sfumato.encode import EncodedTable, encode, encode_column
from sfumato.errors import DataError, HierarchyError, Infeasible, InputError, quote
from sfumato.extend.base_release import BaseRelease, open_base
from sfumato.extend.class_allocation import (
    Allocation,
    FurtherRows,
    allocate,
    count_published,
    find_fitting_classes,
)
from sfumato.extend.repeated_people import count_repeated_people
from sfumato.hierarchy import File, Spec
from sfumato.hierarchy.hierarchy import Label
from sfumato.labels.label_loss import find_losses, loss_arrays
from sfumato.masking import mask_table
from sfumato.models import LINKAGE
from sfumato.policy import Policy
from sfumato.publish.extension import Extension, LeftOut
from sfumato.publish.publication import Publication
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable, RandomDraws, publish_tables
from sfumato.recode import Labels, Recoding
from sfumato.recode.saved_recoding import SavedRecoding
from sfumato.release import Release
from sfumato.release.timing import timed
from sfumato.release.verification import promise_of, verify_publication
from sfumato.table import Table, find_repeated_identifiers
from sfumato.table.files import file_digest
from sfumato.table.table_source import read_original
from sfumato.verifier import verify_table


def apply(
    release: "str | Path | Release", data: Any, *, policy: "str | Path | Mapping[str, Any] | Policy | None" = None
) -> Release:
    """Publish further rows under the labels of a release: its folder, or what `anonymize` returned.

    `data` is a pandas or polars frame, an Arrow table, a DuckDB relation, a path or the URL of a database, with the
    columns that the table of the release had. The policy is that of the release; a `policy` besides says where its
    files are now, how the table is read and what [apply] asks for. Raises `Infeasible` where more rows would have
    to be dropped than it allows, an `InputError` where something is wrong; returns nothing that the verifier has
    not passed, with the rows before.
    """
    publication = publish_further(open_base(release, policy), data)
    return Release(publication, verify_publication(publication))


def publish_further(base: BaseRelease, data: Any) -> Publication:
    """Read and encode further rows, put them into the classes of a release, and work out what is published of them."""
    policy, seconds = base.policy, dict[str, float]()
    with timed(seconds, "read"), ThreadPoolExecutor(1) as pool:
        whole = read_original(data, policy)
        repeated = pool.submit(find_repeated_identifiers, whole, policy)
        source = data if whole.place is None else whole.place
        same_people = count_repeated_people(source, policy, base.originals)
        digest = file_digest(whole.path) if whole.path else None
        if digest is not None and digest in base.inputs:
            raise InputError(
                f"{whole.path and whole.path.name} is the table that {base.name} was made of, so that its rows are out "
                "already; give the rows that came after"
            )
        _check_types(whole, base)
        masked = mask_table(whole, policy, like=base.masking, part=len(base.releases))
        unknown = find_unknown_rows(masked.table, policy)
        if unknown:
            masked = masked.filter(_known_rows(whole, unknown))
        table = masked.table
        limit = _suppression_limit(policy, whole.rows)
        unknown_rows = {name: int(rows.sum()) for name, rows in unknown.items()}
        if not table.rows:
            raise _too_many(base, LeftOut(unknown_rows), whole.rows, limit)
        encoded = encode(table, policy)
    with timed(seconds, "search"):
        published = count_published(base.releases, base.recoding, list(encoded.domains))
        further = FurtherRows(encoded, policy, published, base.totals)
        alone = policy.apply.promise == "alone"
        fitting = find_fitting_classes(encoded, further.codes, base.recoding)
        found = allocate(further, fitting, len(base.recoding.classes), alone=alone)
        left_out = _count_left_out(further, found, unknown_rows)
        if left_out.rows > limit:
            raise _too_many(base, left_out, whole.rows, limit)
        failing = _rows_failing_alone(further, found) if not alone else 0
    with timed(seconds, "recode"):
        rules = policy if whole.place is None else policy.replace(source=str(whole.place))
        rules = replace(rules, search=replace(rules.search, suppression=_suppression_share(policy)))
        recoding = _recode_rows(encoded, further, found, base.recoding)
        draws = RandomDraws.for_tables(encoded, Randomness(rules.search.seed), 1)
        tables = publish_tables(table, encoded, recoding, rules, draws)
        tables = {name: _with_base_types(one, base.types) for name, one in tables.items()}
    extension = Extension(
        base.releases, policy.apply.promise, left_out, base.recoding, further.domains, failing, same_people
    )
    linked = None
    if rules.linkage:
        from sfumato.previous import link_releases  # noqa: PLC0415 - only where a requirement is about a join

        linked = link_releases(encoded, rules)
    publication = Publication(
        rules,
        masked.original,
        encoded,
        recoding,
        tables,
        digest,
        seconds,
        repeated.result(),
        linked,
        extension=extension,
        masked=masked,
    )
    if linked is not None:
        _check_join(publication)
    return publication


def _check_join(publication: Publication) -> None:
    """Raise where the further rows break a requirement on the join with earlier releases."""
    verdict = verify_table(publication.tables["table"].arrow, promise_of(publication))
    broken = [finding for finding in verdict.privacy if not finding.satisfied and finding.model in LINKAGE]
    if broken:
        raise Infeasible(
            f"the further rows break what is promised of the join: {broken[0].failures[0]}; make a release of them "
            "with sfumato anonymize, which takes the join into account"
        )


def _suppression_share(policy: Policy) -> Fraction:
    return policy.search.suppression if policy.apply.suppression is None else policy.apply.suppression


def _suppression_limit(policy: Policy, rows: int) -> int:
    """Give the number of further rows that may be dropped; one at least is published."""
    return min(int(_suppression_share(policy) * rows), rows - 1)


def _check_types(table: Table, base: BaseRelease) -> None:
    """Refuse a sensitive column of another type than it had: its values would not be compared with those before.

    Text and whole numbers are written alike, and may stand for each other.
    """
    for column in base.policy.sensitive:
        kind = table.type_of(column.name)
        here, there = str(getattr(kind, "value_type", kind)), base.types.get(column.name, "")
        if _type_family(here) != _type_family(there):
            raise DataError(
                f"column {quote(column.name)} holds {here} here and {there or 'nothing'} in {base.name}; give it the "
                "type that it had"
            )


def _type_family(kind: str) -> str:
    """Name what a type is compared as.

    >>> [_type_family(kind) for kind in ("string", "int64", "double", "timestamp[ns]", "bool")]
    ['text', 'text', 'floating', 'timestamp', 'bool']
    """
    name = kind.partition("[")[0].partition("(")[0]
    texts = {"string", "large_string", "string_view", "null"}
    if name in texts or name.startswith(("int", "uint")):
        return "text"
    return "floating" if name in {"float", "double"} else name


# Values that no hierarchy knows


def find_unknown_rows(table: Table, policy: Policy) -> dict[str, BoolArray]:
    """Find the rows with a value that the hierarchy of its column does not know, by column: bool[rows].

    A row stands under the first of its columns alone.
    """
    unknown: dict[str, BoolArray] = {}
    seen = np.zeros(table.rows, dtype=np.bool_)
    for column in policy.quasi:
        assert column.hierarchy is not None  # noqa: S101 - the policy has checked it; this tells the type checker
        coded = encode_column(table, column.name)
        strange = find_unknown_values(column.hierarchy, coded.texts, column.name, policy.source.null)
        if not strange:
            continue
        wrong = np.array([text in strange for text in coded.texts], dtype=np.bool_)
        rows = wrong[coded.codes] & ~seen
        seen |= rows
        if rows.any():
            unknown[column.name] = rows
    return unknown


def find_unknown_values(spec: Spec, values: Iterable[Label], column: str, nulls: tuple[str, ...]) -> set[Label]:
    """Find the values that a hierarchy cannot be bound to, by halves: where a half can be bound, all of it is known.

    >>> from sfumato.hierarchy import Intervals
    >>> find_unknown_values(Intervals(intervals=[5]), ["37", "old", "52", None], "age", ("",))
    {'old'}
    """
    unknown: set[Label] = set()
    if isinstance(spec, File):  # quicker than by halves, where a file has many lines
        held = list(values)
        leaves = {line[0] for line in spec.lines_of(held, nulls)}
        return {value for value in held if value is not None and value not in leaves}
    open_ = [list(values)]
    while open_:
        part = open_.pop()
        try:
            spec.bind(part, column=column, nulls=nulls)
        except HierarchyError:
            if len(part) == 1:
                unknown.add(part[0])
            else:
                open_ += [part[: len(part) // 2], part[len(part) // 2 :]]
    return unknown


def _known_rows(table: Table, unknown: Mapping[str, BoolArray]) -> BoolArray:
    known = np.ones(table.rows, dtype=np.bool_)
    for rows in unknown.values():
        known &= ~rows
    return known


# What is dropped, and why


def _count_left_out(further: FurtherRows, found: Allocation, unknown: Mapping[str, int]) -> LeftOut:
    breaking = Counter[str]()
    for place, why in found.breaking.items():
        breaking[why] += int(further.rows[place])
    return LeftOut(unknown, int(further.rows[found.uncovered].sum()), dict(breaking))


def _rows_failing_alone(further: FurtherRows, found: Allocation) -> int:
    """Count the rows that are in classes which do not keep the promise in the new table by itself."""
    failing, _ = further.find_failing(found.class_of, alone=True)
    return int(further.rows[np.isin(found.class_of, failing)].sum())


def _too_many(base: BaseRelease, left_out: LeftOut, rows: int, limit: int) -> Infeasible:
    """Say how many rows cannot be published under the labels of the release, why, and what would help."""
    ways = ["allow more with [apply] suppression (in a policy, given with --policy)"]
    if any(why.endswith("alone") for why in left_out.breaking):
        ways.append(
            'wait for more rows, or let old and new ones keep the promise together ([apply] promise = "together")'
        )
    if left_out.unknown:
        ways.append("add the values to the hierarchy")
    ways.append("make a release of all rows with sfumato anonymize")
    allowed = "none may be dropped" if not limit else f"{limit:,} may be dropped"
    return Infeasible(
        f"{left_out.rows:,} of {rows:,} rows cannot be published under the labels of {base.name}, and {allowed}: "
        f"{'; '.join(left_out.sentences())}; {', or '.join(ways)}"
    )


# The recoding of the further rows


def _recode_rows(encoded: EncodedTable, further: FurtherRows, found: Allocation, saved: SavedRecoding) -> Recoding:
    """Give every row the labels of its class.

    class_of: int[rows], -1 for a row that is dropped, which has the labels of some class in its place
    """
    class_of: IntArray = found.class_of[further.tuple_of]
    used = np.unique(class_of[class_of >= 0])
    published = None if (class_of >= 0).all() else class_of >= 0
    held = np.where(class_of >= 0, class_of, used[0])
    labels = {}
    for attribute in encoded.quasi:
        place, level = saved.place_of(attribute.name), saved.level_of(attribute.name)
        shown, number = np.unique(saved.classes[used, place], return_inverse=True)
        texts = tuple(saved.columns[place].labels[code] for code in shown.tolist())
        _, loss, climbed = loss_arrays(find_losses(attribute, texts, level))
        codes = narrow_codes(number, len(texts)).take(np.searchsorted(used, held))
        labels[attribute.name] = Labels(codes, texts, loss, climbed, level)
    classes = further.count(found.class_of, used, together=False)
    return Recoding(saved.algorithm, labels, published, classes, saved.levels, saved.improved, cut=saved.cut)


def _with_base_types(table: PublishedTable, types: Mapping[str, str]) -> PublishedTable:
    """Publish a quasi-identifier as text where it was text in the release, though no cell is generalized here."""
    columns, kinds, recoded = dict(table.columns), dict(table.types), set(table.recoded)
    for name, column in table.columns.items():
        typed = name not in recoded and isinstance(column, PublishedColumn) and types.get(name) == "string"
        value = getattr(kinds[name], "value_type", kinds[name])
        if typed and not pa.types.is_string(value):
            texts = column.values.cast(pa.string()).to_pylist()
            columns[name] = PublishedColumn(column.codes, arrow_texts(texts))
            kinds[name] = pa.string()
            recoded.add(name)
    return replace(table, columns=columns, types=kinds, recoded=frozenset(recoded))
