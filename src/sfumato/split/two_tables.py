"""Two tables as codes: the quasi-identifiers of each line of NSS, its class, and the bag of values of each class.

Publication by lossy join (Wong, Liu, Yin, Huang, Fu and Pei 2007, section 6): recode, number the classes, and project
the rows with their class number onto the quasi-identifiers (NSS) and onto the sensitive columns (SS). The labels of the
recoding are not published; they decide which rows are in a class, and that is all that is left of them.

`TwoTables` is what a query or an attack works on: it has what the two files have, and no way back to which line of one
belongs to which line of the other. Below are what two tables lose (`measure_ties`), what the classes of a person with
several rows have in common (`common_values`), and the comparison of a release with its original.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray, count_codes
from sfumato.core.classes import Histogram, count_values
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.encode import CodedColumn, EncodedTable, encode_column, value_totals
from sfumato.errors import DataError, listing, quote
from sfumato.policy import load
from sfumato.recode import Recoding
from sfumato.recode.recoding import labels_at
from sfumato.table import read_table
from sfumato.table.formula_guard import guard_formula, unguard_formula

NAME_THE_ORIGINAL = "name the table that this release was made from"

_MOST_PAIRS = 50_000_000
"""More pairs of a person's class and a value in it than this are not looked at."""


def lossy_join(encoded: EncodedTable, recoding: Recoding) -> Recoding:
    """Keep the classes of a recoding, and publish the values as they were with the class of each row."""
    values = {attribute.name: labels_at(attribute, 0) for attribute in encoded.divide(recoding.divided).quasi}
    return replace(recoding, labels=values, group=recoding.class_of)


@dataclass(frozen=True, eq=False)
class TwoTables:
    """NSS line by line, SS class by class.

    `quasi` are the quasi-identifiers, a code per line of NSS; `class_of` is the class of each line, `sizes` the lines
    of each class, and `bags` how often each sensitive value occurs in each class, by column. Of a table of counted
    lines, each line here stands for `counts` lines of NSS.
    """

    quasi: tuple[CodedColumn, ...]
    class_of: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]
    counts: IntArray | None = None

    @property
    def rows(self) -> int:
        """Lines of either table."""
        return len(self.class_of) if self.counts is None else int(self.counts.sum())


def tables_from_recoding(encoded: EncodedTable, recoding: Recoding) -> TwoTables:
    """Make the two tables of a grouping of rows, before any of it is shuffled."""
    assert recoding.group is not None  # noqa: S101 - two tables are made of groups; this tells the type checker
    rows = np.flatnonzero(recoding.group >= 0)
    class_of = recoding.group[rows]
    quasi = tuple(replace(attribute.column, codes=attribute.column.codes.take(rows)) for attribute in encoded.quasi)
    counts = None if recoding.counts is None else recoding.counts.take(rows)
    bags = {
        name: _bag(replace(column, codes=column.codes.take(rows)), class_of, counts)
        for name, column in encoded.sensitive.items()
    }
    sizes = count_codes(class_of, int(class_of.max(initial=-1)) + 1, counts)
    return TwoTables(quasi, class_of, sizes, bags, counts)


def _bag(column: CodedColumn, class_of: IntArray, counts: IntArray | None = None) -> Histogram:
    return count_values(class_of, column.codes, counts, value_totals(column, counts))


# Two tables from the files of a release.


def tables_from_files(public: Path, manifest: Mapping[str, Any]) -> TwoTables:
    """Read the two tables of a release from its files."""
    class_id, quasi = manifest["class_id"], column_names_of_role(manifest, "quasi")
    nss = read_published_columns(public / manifest["nss"], manifest, [class_id, *quasi])
    ids, class_of, sizes = np.unique(_class_numbers(nss[class_id]), return_inverse=True, return_counts=True)
    bags: dict[str, Histogram] = {}
    for file in manifest["ss"]:
        columns = [column for column in manifest["columns"] if column["role"] == "sensitive"]
        sensitive = [column["name"] for column in columns if column["table"] == file]
        ss = read_published_columns(public / file, manifest, [class_id, *sensitive])
        numbers = _class_numbers(ss[class_id])
        ss_ids, ss_sizes = np.unique(numbers, return_counts=True)
        if not (np.array_equal(ss_ids, ids) and np.array_equal(ss_sizes, sizes)):
            why = f"{file} does not have as many rows of each class as the first table of the release"
            raise DataError(f"{why}; it was changed after publication: see sfumato verify")
        bags |= {name: _bag(ss[name], np.searchsorted(ids, numbers)) for name in sensitive}
    return TwoTables(tuple(nss[name] for name in quasi), class_of, sizes, bags)


def column_names_of_role(manifest: Mapping[str, Any], role: str) -> list[str]:
    """List the names of the columns of a role, in the order of the manifest."""
    return [column["name"] for column in manifest["columns"] if column["role"] == role]


def read_published_columns(path: Path, manifest: Mapping[str, Any], names: list[str]) -> dict[str, CodedColumn]:
    """Read columns of a published file as codes, without the guard against formulas."""
    csv = "csv" in manifest
    written = {guard_formula(name) if csv else name: name for name in names}
    others = [column["name"] for column in manifest["columns"] if column.get("table", path.name) == path.name]
    quasi, identifier = {"role": "quasi", "hierarchy": "suppress"}, {"role": "identifier"}
    columns = {guard_formula(name) if csv else name: identifier for name in others} | dict.fromkeys(written, quasi)
    data = {"null": [manifest["csv"]["null"]], "separator": ","} if csv else {}
    rules = load({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    table = read_table(path, rules)
    published = {}
    for there, name in written.items():
        column = encode_column(table, there)
        texts = tuple(unguard_formula(text) if csv and text is not None else text for text in column.texts)
        published[name] = replace(column, name=name, texts=texts)
    return published


def _class_numbers(column: CodedColumn) -> IntArray:
    """Read the class number of each line."""
    try:
        numbers = np.array([int(text or "") for text in column.texts], dtype=np.int64)
    except (ValueError, OverflowError):
        raise DataError(
            f"column {quote(column.name)} of the release does not hold class numbers; it was changed"
        ) from None
    return numbers.take(column.codes)


# What two tables lose.


@dataclass(frozen=True)
class Tie:
    """How much of the tie between rows and the values of a sensitive column is left.

    Two tables lose no value, only which sensitive value belongs to which row. `kept` is the share of rows that get
    their own value back if values are dealt out at random within classes, on average; `chance` the same if they are
    dealt out over the whole table, which is where nothing is left.
    """

    kept: float
    chance: float


def measure_ties(bags: Mapping[str, Histogram]) -> dict[str, Tie]:
    """Measure the tie of each sensitive column, from the bags of the classes.

    A value that r of n rows of a class hold comes back to each of them with the chance r / n.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> measure_ties(EquivalenceClasses.of([1, 1, 2, 2], illness=["flu", "HIV", "flu", "flu"]).sensitive)
    {'illness': Tie(kept=0.75, chance=0.625)}
    """
    ties = {}
    for name, bag in bags.items():
        sizes = np.bincount(bag.class_of, weights=bag.count)
        totals = np.bincount(bag.value, weights=bag.count)
        rows = sizes.sum()
        kept = float((bag.count**2 / sizes[bag.class_of]).sum() / rows)
        ties[name] = Tie(kept, float((totals**2).sum() / rows**2))
    return ties


# Persons with rows in several classes.


@dataclass(frozen=True)
class CommonValues:
    """Persons with rows in several classes, and those for whom all the bags of these classes share one value alone.

    Where a value stays the same for a person, that single value is disclosed. `single_value` is ``None`` where there
    are too many pairs of classes and values to look at.
    """

    several_classes: int
    single_value: int | None


def common_values(encoded: EncodedTable, recoding: Recoding) -> dict[str, CommonValues]:
    """Find what the bags of a person's classes have in common, by sensitive column; nothing without persons."""
    if encoded.individual is None:
        return {}
    tables = tables_from_recoding(encoded, recoding)
    person = encoded.individual.codes.take(np.flatnonzero(recoding.class_of >= 0))
    width = len(tables.sizes)
    pairs = count_keys(pack_tuples([person, tables.class_of], [encoded.individual.width, width])).keys
    person, class_of = pairs // width, pairs % width  # each class of each person once
    classes = np.bincount(person, minlength=encoded.individual.width)
    several = classes[person] > 1
    return {
        name: CommonValues(
            int((classes > 1).sum()), _count_single_values(person[several], class_of[several], bag, classes)
        )
        for name, bag in tables.bags.items()
    }


def _count_single_values(person: IntArray, class_of: IntArray, bag: Histogram, classes: IntArray) -> int | None:
    """Count the persons with one value alone that is in the bags of all their classes.

    `person` and `class_of` (int[pairs]) are pairs of a person and a class of theirs; `classes` (int[persons]) is how
    many classes each person has.
    """
    first = np.searchsorted(bag.class_of, np.arange(int(bag.class_of.max(initial=-1)) + 2))
    begin, end = first[class_of], first[class_of + 1]  # the lines of the bag of each pair's class
    if (end - begin).sum() > _MOST_PAIRS:
        return None
    pair, line = expand_ranges(begin, end)
    values = len(bag.domain.values)
    counted = count_keys(pack_tuples([person[pair], bag.value[line]], [len(classes), values]))
    person_of_value = counted.keys // values
    in_all = counted.counts == classes[person_of_value]
    return int((np.bincount(person_of_value[in_all], minlength=len(classes)) == 1).sum())


# A release compared with the table that it is said to have been made from.


def check_row_count(lines: int, rows: int) -> None:
    """Object to a release with more lines than its original has rows.

    >>> check_row_count(3, 2)
    Traceback (most recent call last):
    sfumato.errors.DataError: the release has 3 lines and the original 2 rows; name the table that this release was
    made from
    """
    if lines > rows:
        raise DataError(f"the release has {lines:,} lines and the original {rows:,} rows; {NAME_THE_ORIGINAL}")


def codes_in_original(texts: Sequence[str | None], column: CodedColumn) -> IntArray:
    """Find the original's codes of values of a release, and object where the original does not have one.

    >>> column = CodedColumn("sex", np.array([0, 1]), ("f", "m"), None)
    >>> codes_in_original(["m", "f"], column).tolist()
    [1, 0]
    >>> codes_in_original(["x"], column)
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'sex' of the release holds values that the original does not have: 'x'; name the
    table that this release was made from
    """
    code_of = {text: code for code, text in enumerate(column.texts)}
    strange = sorted((text for text in texts if text not in code_of), key=str)
    if strange:
        why = f"column {quote(column.name)} of the release holds values that the original does not have"
        raise DataError(f"{why}: {listing(strange)}; {NAME_THE_ORIGINAL}")
    return np.array([code_of[text] for text in texts], dtype=np.int64)
