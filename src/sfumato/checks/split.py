"""The contract of two tables: nothing but the class ties their lines, and every class keeps the promise."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.checks.cells import check_together, require
from sfumato.checks.naive import Row, links, passes
from sfumato.checks.tables import Case
from sfumato.checks.trying import tried
from sfumato.errors import Infeasible
from sfumato.release import Release, anonymize

_CLASS = "class_id"


def split_case(case: Case, form: str, *, ss: str = "together") -> Case:
    """A case of one table as one of two: without what is said of labels and, for Anatomy, of a search."""
    search = dict(case.document["algorithm"])
    if form == "anatomy":
        search = {key: value for key, value in search.items() if key in {"suppression", "seed"}}
    return Case(case.columns, case.trees, case.document | {"algorithm": search, "publish": {"form": form, "ss": ss}})


def check_split(cases: Iterable[Case]) -> Counter[str]:
    """Publish each case as two tables, and hold them against the rows that they came from.

    Returns:
        How many cases were infeasible, how many released, and how many of those suppressed rows.

    Raises:
        AssertionError: A release breaks the contract; says how.
    """
    return tried(cases, _checked)


def _checked(case: Case, folder: Path) -> str:
    policy = case.policy(folder)
    try:
        release = anonymize(case.arrow(), policy)
    except Infeasible:
        whole = passes(case.document["privacy"], case.rows, case.world)
        lossy = case.document["publish"]["form"] == "lossy-join"
        require(not (whole and lossy), case, "says no where the whole table as one class would do")
        return "infeasible"
    classes = check_tables(case, release)
    if case.document["publish"]["form"] == "lossy-join":
        turned = case.arrow().take(pa.array(range(len(case.rows) - 1, -1, -1)))
        again = _classes(case, anonymize(turned, policy).nss.to_pylist())
        require(_parts(again) == _parts(classes), case, "makes other classes of the same rows in another order")
    return "suppressing" if release.suppressed else "whole"


def check_tables(case: Case, release: Release) -> Mapping[int, list[Row]]:
    """Hold two tables against the rows that they came from; the rows of each class."""
    require(release.verdict.satisfied, case, "is not passed by the verifier")
    nss = release.nss.to_pylist()
    require(len(nss) + release.suppressed == len(case.rows), case, "loses or invents rows")
    allowed = case.document["algorithm"]["suppression"] * len(case.rows)
    require(release.suppressed <= allowed + 1e-9, case, "suppresses more rows than it may")
    classes = _classes(case, nss)
    require(sorted(classes) == list(range(1, len(classes) + 1)), case, "does not number its classes from 1")
    for members in classes.values():
        require(passes(case.document["privacy"], members, case.world), case, "publishes a class that fails")
    alike = links(case.document["privacy"], classes.values(), case.world)
    require(alike, case, "lets pseudonyms link rows to a set of classes that too few share")
    if case.document["publish"]["form"] == "lossy-join":
        check_together(case, [(label, row) for label, members in classes.items() for row in members])
    _check_bags(case, release, classes)
    return classes


def _classes(case: Case, nss: list[Row]) -> dict[Any, list[Row]]:
    """The original rows of each class: ``visits`` tells which row a line of NSS is."""
    original = {row["visits"]: row for row in case.rows}
    found: dict[Any, list[Row]] = {}
    for line in nss:
        row = original[line["visits"]]
        same = all(line[name] == row[name] for name in case.quasi)
        require(
            same and not {"illness", "income"} & line.keys(), case, "does not publish quasi-identifiers as they were"
        )
        found.setdefault(line[_CLASS], []).append(row)
    return found


def _check_bags(case: Case, release: Release, classes: Mapping[Any, list[Row]]) -> None:
    """The sensitive values of each class are those of its rows: together, or column by column."""
    apart = case.document["publish"]["ss"] == "apart"
    tables = release.ss if apart else {("illness", "income"): release.ss}
    for columns, table in tables.items():
        names = [columns] if isinstance(columns, str) else list(columns)
        require(table.column_names == [_CLASS, *names], case, "has other columns in SS")
        found = Counter((row[_CLASS], *(row[name] for name in names)) for row in table.to_pylist())
        rows = Counter((key, *(row[name] for name in names)) for key, part in classes.items() for row in part)
        require(found == rows, case, "does not publish the sensitive values of each class")


def _parts(classes: Mapping[Any, list[Row]]) -> set[frozenset[Any]]:
    return {frozenset(row["visits"] for row in part) for part in classes.values()}
