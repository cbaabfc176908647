"""The contract of a release in two tables: only the class ties their lines, and every class keeps the promise."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import Infeasible
from sfumato.release import Release, anonymize
from sfumato.testing.model_definitions import Row, class_passes, links_pass
from sfumato.testing.random_tables import TableCase
from sfumato.testing.recoder_contract import check_together, count_endings, require

_CLASS = "class_id"


def split_case(case: TableCase, form: str, *, ss: str = "together") -> TableCase:
    """Turn a case of one table into one of two: without what is said of labels and, for Anatomy, of a search."""
    search = dict(case.document["algorithm"])
    if form == "anatomy":
        search = {key: value for key, value in search.items() if key in {"suppression", "seed"}}
    columns = {
        name: {key: value for key, value in entry.items() if key != "aggregate"}
        for name, entry in case.document["columns"].items()
    }
    document = case.document | {"columns": columns, "algorithm": search, "publish": {"form": form, "ss": ss}}
    return TableCase(case.columns, case.trees, document)


def check_split(cases: Iterable[TableCase]) -> Counter[str]:
    """Publish each case as two tables, and hold them against the rows that they came from.

    Returns:
        How many cases were infeasible, how many released, and how many of those suppressed rows.

    Raises:
        AssertionError: A release breaks the contract; says how.
    """
    return count_endings(cases, _check_case)


def _check_case(case: TableCase, folder: Path) -> str:
    """Check a case, and say how it ended, if it ended well."""
    policy, lossy = case.policy(folder), case.document["publish"]["form"] == "lossy-join"
    try:
        release = anonymize(case.arrow(), policy)
    except Infeasible:
        whole = class_passes(case.document["privacy"], case.rows, case.context)
        require(not (whole and lossy), case, "says no where the whole table as one class would do")
        return "infeasible"
    classes = check_tables(case, release)
    if lossy:
        turned = case.arrow().take(pa.array(range(len(case.rows) - 1, -1, -1)))
        again = _original_classes(case, anonymize(turned, policy).nss.to_pylist())
        require(_parts(again) == _parts(classes), case, "makes other classes of the same rows in another order")
    return "suppressing" if release.suppressed else "whole"


def check_tables(case: TableCase, release: Release) -> Mapping[int, list[Row]]:
    """Hold two tables against the rows that they came from; returns the rows of each class."""
    require(release.verdict.satisfied, case, "is not passed by the verifier")
    nss = release.nss.to_pylist()
    require(len(nss) + release.suppressed == len(case.rows), case, "loses or invents rows")
    allowed = case.document["algorithm"]["suppression"] * len(case.rows)
    require(release.suppressed <= allowed + 1e-9, case, "suppresses more rows than it may")
    classes = _original_classes(case, nss)
    require(sorted(classes) == list(range(1, len(classes) + 1)), case, "does not number its classes from 1")
    for members in classes.values():
        require(class_passes(case.document["privacy"], members, case.context), case, "publishes a class that fails")
    alike = links_pass(case.document["privacy"], classes.values(), case.context)
    require(alike, case, "lets pseudonyms link rows to a set of classes that too few share")
    if case.document["publish"]["form"] == "lossy-join":
        check_together(case, [(label, row) for label, members in classes.items() for row in members])
    # The sensitive values of each class are those of its rows: together, or column by column.
    apart = case.document["publish"]["ss"] == "apart"
    tables = release.ss if apart else {("illness", "income"): release.ss}
    for columns, table in tables.items():
        names = [columns] if isinstance(columns, str) else list(columns)
        require(table.column_names == [_CLASS, *names], case, "has other columns in SS")
        published = Counter((row[_CLASS], *(row[name] for name in names)) for row in table.to_pylist())
        rows = Counter((key, *(row[name] for name in names)) for key, part in classes.items() for row in part)
        require(published == rows, case, "does not publish the sensitive values of each class")
    return classes


def _original_classes(case: TableCase, nss: list[Row]) -> dict[Any, list[Row]]:
    """Find the original rows of each class: ``visits`` tells which row a line of NSS is."""
    originals = {row["visits"]: row for row in case.rows}
    classes: dict[Any, list[Row]] = {}
    for line in nss:
        row = originals[line["visits"]]
        same = all(line[name] == row[name] for name in case.quasi) and not {"illness", "income"} & line.keys()
        require(same, case, "does not publish quasi-identifiers as they were")
        classes.setdefault(line[_CLASS], []).append(row)
    return classes


def _parts(classes: Mapping[Any, list[Row]]) -> set[frozenset[Any]]:
    return {frozenset(row["visits"] for row in part) for part in classes.values()}
