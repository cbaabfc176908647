"""The contract of a recoding algorithm: whatever the table and the model, a release that passes, or a clear no.

Published rows are held against the rows that they came from, one by one. Rows are published in no order, so each row of
a case has a plain cell of its own, `visits`, that tells where it came from.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from sfumato.errors import Infeasible
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.release import Release, anonymize, prepare
from sfumato.testing.exhaustive_search import Labels, classes_at, labels_at
from sfumato.testing.label_definitions import covers, is_aggregate_of, is_mean
from sfumato.testing.model_definitions import Row, class_passes, links_pass
from sfumato.testing.random_tables import TableCase, random_case


def check_recoder(
    algorithm: str,
    model: str | None = None,
    *,
    cases: Iterable[TableCase] | None = None,
    seed: int = 0,
    tables: int = 20,
) -> Counter[str]:
    """Run an algorithm, full-domain or local, on small tables, and hold each release against the definitions.

    Args:
        algorithm: Its name in a policy.
        model: The model of the first requirement; any when left out.
        cases: Tables and policies to try; random ones when left out.
        seed: For the random ones.
        tables: How many of these.

    Returns:
        How many cases were infeasible, how many released, and how many of those suppressed rows.

    Raises:
        AssertionError: A release breaks the contract; says how.
        NotVerified: The verifier does not pass a release.

    >>> check_recoder("optimal", "k-anonymity", cases=[random_case(Random(3), "k-anonymity")]).total()
    1
    """
    return count_endings(_random_cases(algorithm, model, seed, tables) if cases is None else cases, _check_case)


def count_endings(cases: Iterable[TableCase], check: Callable[[TableCase, Path], str]) -> Counter[str]:
    """Count how many cases end in which way; `check` gets a folder for what a policy needs, and says how a case ended.

    >>> count_endings([], lambda case, folder: "whole")
    Counter()
    """
    with tempfile.TemporaryDirectory() as folder:
        return Counter(check(case, Path(folder)) for case in cases)


def _random_cases(algorithm: str, model: str | None, seed: int, tables: int) -> Iterator[TableCase]:
    random = Random(f"{algorithm} {model} {seed}")  # noqa: S311 - protects nobody, and a failure must come again
    for _ in range(tables):
        yield random_case(random, model, algorithm)


def _check_case(case: TableCase, folder: Path) -> str:
    """Check a case, and say how it ended, if it ended well."""
    policy = case.policy(folder)
    try:
        release = anonymize(case.arrow(), policy)
    except Infeasible:
        whole = class_passes(case.document["privacy"], case.rows, case.context)
        require(not whole, case, "says no where the whole table as one class would do")
        return "infeasible"
    check_release(case, release)
    order = list(range(len(case.rows)))
    Random(len(case.rows)).shuffle(order)  # noqa: S311 - protects nobody, and a failure must come again
    again = prepare(case.arrow().take(pa.array(order)), policy).tables["table"].arrow.to_pylist()
    same = _bag(case, again) == _bag(case, release.table.to_pylist())
    require(same, case, "makes something else of the same rows in another order")
    return "suppressing" if release.suppressed else "whole"


def check_release(case: TableCase, release: Release) -> None:
    """Hold a release of a case against the definitions, from its published table alone."""
    require(release.verdict.satisfied, case, "is not passed by the verifier")
    published: list[dict[str, Any]] = release.table.to_pylist()
    require(len(published) + release.suppressed == len(case.rows), case, "loses or invents rows")
    require(published, case, "publishes nothing")
    allowed = case.document["algorithm"]["suppression"] * len(case.rows)
    require(release.suppressed <= allowed + 1e-9, case, "suppresses more rows than it may")
    rules, classes = case.document["privacy"], group_by_labels(case, published)
    for members in classes:
        require(class_passes(rules, members, case.context), case, "publishes a class that fails")
    alike = links_pass(rules, classes, case.context)
    require(alike, case, "lets pseudonyms link rows to a set of classes that too few share")
    check_cells(case, published)
    if release.levels is not None:  # a full-domain release is the table at its levels, without classes that fail there
        node = tuple(release.levels[name] for name in case.quasi)
        expected = Counter(
            (*labels_at(case, row, node), *_unchanged_cells(case, row))
            for members in classes_at(case, node).values()
            if class_passes(rules, members, case.context)
            for row in members
        )
        require(_bag(case, published) == expected, case, "publishes other cells than its levels say")


def _bag(case: TableCase, published: Sequence[Row]) -> Counter[Labels]:
    """Count the published rows, without their order and the persons' names."""
    return Counter((*(row[name] for name in case.quasi), *_unchanged_cells(case, row)) for row in published)


# Cells


def check_cells(case: TableCase, published: Sequence[Row]) -> None:
    """Check that each published row is one that came in, its labels cover its values, and no other cell has changed."""
    originals = {row["visits"]: row for row in case.rows}
    if len(originals) < len(case.rows):
        raise ValueError("each row of a case needs its own visits")
    once = len({row["visits"] for row in published}) == len(published)
    require(once and all(row["visits"] in originals for row in published), case, "publishes rows that did not come in")
    pairs = [(row, originals[row["visits"]]) for row in published]
    same = all(_unchanged_cells(case, row) == _unchanged_cells(case, original) for row, original in pairs)
    require(same, case, "changes cells that are published as they are")
    people = {(row.get("person"), original.get("person")) for row, original in pairs}
    bijective = len(people) == len({pseudonym for pseudonym, _ in people}) == len({person for _, person in people})
    require(bijective, case, "gives persons no pseudonym of their own")
    check_together(case, [(tuple(row[name] for name in case.quasi), original) for row, original in pairs])
    means: Any = case.document.get("publish", {}).get("ranges") == "means"
    policy_of: Any = case.document["columns"]
    for name in case.quasi:
        aggregate = _aggregate(case, name)
        if aggregate not in {None, "ancestor"}:
            for members in group_by_labels(case, published):
                values = [originals[row["visits"]][name] for row in members]
                good = is_aggregate_of(aggregate, members[0][name], values, case.columns[name])
                require(good, case, f"publishes cells of {name} that are no {aggregate} of their class")
        elif means and isinstance(policy_of[name]["hierarchy"], dict):
            # A mean covers no value: it is held against all values of its class.
            for members in group_by_labels(case, published):
                values = [originals[row["visits"]][name] for row in members]
                good = is_mean(members[0][name], values)
                require(good, case, f"publishes cells of {name} that are no means of their class")
        else:
            good = all(covers(case, name, row[name], original[name]) for row, original in pairs)
            require(good, case, f"publishes cells of {name} that do not cover those that came in")


def _aggregate(case: TableCase, name: str) -> str | None:
    """Say what microaggregation is to publish of a column; None for other algorithms, and two tables."""
    document = case.document
    if document["algorithm"].get("name") != MICROAGGREGATION or "form" in document.get("publish", {}):
        return None
    entry: Any = document["columns"][name]
    default = "ancestor" if name in case.trees else "mode" if entry["hierarchy"] == "sets" else "mean"
    return str(entry.get("aggregate", default))


def check_together(case: TableCase, placed: Sequence[tuple[object, Row]]) -> None:
    """Check that a person's rows with equal quasi-identifiers are published in one class, all of them or none.

    `placed` has the class of each published row, and the row as it came in.
    """
    if "person" not in case.columns or not case.document["algorithm"].get("keep_together", True):
        return

    def bundle(row: Row) -> Labels:
        return (row["person"], *(row[name] for name in case.quasi))

    classes: dict[Labels, set[object]] = {}
    for label, original in placed:
        classes.setdefault(bundle(original), set()).add(label)
    require(all(len(labels) == 1 for labels in classes.values()), case, "parts rows of a person that are alike")
    published = Counter(bundle(original) for _, original in placed)
    every = Counter(bundle(row) for row in case.rows)
    complete = all(every[rows] == number for rows, number in published.items())
    require(complete, case, "drops some of a person's equal rows")


def group_by_labels(case: TableCase, published: Sequence[Row]) -> list[list[Row]]:
    """Group published rows into classes, by their labels."""
    classes: dict[Labels, list[Row]] = {}
    for row in published:
        classes.setdefault(tuple(row[name] for name in case.quasi), []).append(row)
    return list(classes.values())


def _unchanged_cells(case: TableCase, row: Row) -> Labels:
    """Return the cells that are published as they are."""
    return tuple(row[name] for name in case.columns if name not in case.quasi and name != "person")


def require(claim: Any, case: TableCase, sentence: str) -> None:
    """Raise where an algorithm does not keep its contract."""
    if not claim:
        raise AssertionError(f"{case.document['algorithm'].get('name', 'auto')} {sentence}: {case!r}")
