"""Published rows held against the rows that they came from, one by one.

Rows are published in no order, so each row of a case has a plain cell of its own, `visits`, that tells where it came
from.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sfumato.checks.covering import covers, is_mean
from sfumato.checks.naive import Row
from sfumato.checks.tables import Case

Pair = tuple[Row, Row]


def check_cells(case: Case, published: Sequence[Row]) -> None:
    """Every published row is one that came in, no other cell changed, its labels covering what stood there."""
    pairs = _paired(case, published)
    same = all(kept(case, row) == kept(case, original) for row, original in pairs)
    require(same, case, "changes cells that are published as they are")
    people = {(row.get("person"), original.get("person")) for row, original in pairs}
    bijective = len(people) == len({one for one, _ in people}) == len({other for _, other in people})
    require(bijective, case, "gives persons no pseudonym of their own")
    check_together(case, [(tuple(row[name] for name in case.quasi), original) for row, original in pairs])
    for name in case.quasi:
        check = _check_means if _is_mean(case, name) else _check_labels
        check(case, name, pairs)


def _paired(case: Case, published: Sequence[Row]) -> list[Pair]:
    originals = {row["visits"]: row for row in case.rows}
    if len(originals) < len(case.rows):
        raise ValueError("each row of a case needs its own visits")
    once = len({row["visits"] for row in published}) == len(published)
    require(once and all(row["visits"] in originals for row in published), case, "publishes rows that did not come in")
    return [(row, originals[row["visits"]]) for row in published]


def check_together(case: Case, placed: Sequence[tuple[object, Row]]) -> None:
    """A person's rows with equal quasi-identifiers are published in one class, all of them or none."""
    if "person" not in case.columns or not case.document["algorithm"].get("keep_together", True):
        return
    bundles: dict[tuple[str | None, ...], set[object]] = {}
    for label, original in placed:
        bundles.setdefault(_bundle(case, original), set()).add(label)
    require(all(len(labels) == 1 for labels in bundles.values()), case, "parts rows of a person that are alike")
    published = Counter(_bundle(case, original) for _, original in placed)
    every = Counter(_bundle(case, row) for row in case.rows)
    require(all(every[one] == rows for one, rows in published.items()), case, "drops some of a person's equal rows")


def _bundle(case: Case, row: Row) -> tuple[str | None, ...]:
    return (row["person"], *(row[name] for name in case.quasi))


def _check_labels(case: Case, name: str, pairs: Sequence[Pair]) -> None:
    good = all(covers(case, name, row[name], original[name]) for row, original in pairs)
    require(good, case, f"publishes cells of {name} that do not cover those that came in")


def _check_means(case: Case, name: str, pairs: Sequence[Pair]) -> None:
    """A mean covers nothing: it is held against all values of its class."""
    values = {row["visits"]: original[name] for row, original in pairs}
    for members in classes_of(case, [row for row, _ in pairs]):
        good = is_mean(members[0][name], [values[row["visits"]] for row in members])
        require(good, case, f"publishes cells of {name} that are no means of their class")


def _is_mean(case: Case, column: str) -> bool:
    ranges: Any = case.document.get("publish", {}).get("ranges")
    return ranges == "means" and isinstance(case.document["columns"][column]["hierarchy"], dict)


def classes_of(case: Case, published: Sequence[Row]) -> list[list[Row]]:
    """Rows by their labels."""
    classes: dict[tuple[str | None, ...], list[Row]] = {}
    for row in published:
        classes.setdefault(tuple(row[name] for name in case.quasi), []).append(row)
    return list(classes.values())


def kept(case: Case, row: Row) -> tuple[str | None, ...]:
    """The cells that are published as they are."""
    return tuple(row[name] for name in case.columns if name not in case.quasi and name != "person")


def require(claim: Any, case: Case, sentence: str) -> None:
    """Raise where an algorithm does not keep its contract."""
    if not claim:
        raise AssertionError(f"{case.document['algorithm'].get('name', 'auto')} {sentence}: {case!r}")
