"""The contract of an algorithm: whatever the table and the model, a release that passes, or a clear no."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from sfumato.checks.cells import check_cells, classes_of, kept, require
from sfumato.checks.exhaustive import classes
from sfumato.checks.losses import labelled
from sfumato.checks.naive import Row, links, passes
from sfumato.checks.tables import Case, random_case
from sfumato.checks.trying import tried
from sfumato.errors import Infeasible
from sfumato.release import Release, anonymize, prepare


def check_recoder(
    algorithm: str, model: str | None = None, *, cases: Iterable[Case] | None = None, seed: int = 0, tables: int = 20
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
    return tried(_random_cases(algorithm, model, seed, tables) if cases is None else cases, _checked)


def _checked(case: Case, folder: Path) -> str:
    """How a case ended, if it ended well."""
    policy = case.policy(folder)
    try:
        release = anonymize(case.arrow(), policy)
    except Infeasible:
        whole = passes(case.document["privacy"], case.rows, case.world)
        require(not whole, case, "says no where the whole table as one class would do")
        return "infeasible"
    check_release(case, release)
    turned = case.arrow().take(pa.array(_turned(len(case.rows))))
    again = prepare(turned, policy).tables["table"].arrow.to_pylist()
    same = _bag(case, again) == _bag(case, release.table.to_pylist())
    require(same, case, "makes something else of the same rows in another order")
    return "suppressing" if release.suppressed else "whole"


def check_release(case: Case, release: Release) -> None:
    """Hold a release of a case against the definitions, from its published table alone."""
    require(release.verdict.satisfied, case, "is not passed by the verifier")
    published: list[dict[str, Any]] = release.table.to_pylist()
    require(len(published) + release.suppressed == len(case.rows), case, "loses or invents rows")
    require(published, case, "publishes nothing")
    allowed = case.document["algorithm"]["suppression"] * len(case.rows)
    require(release.suppressed <= allowed + 1e-9, case, "suppresses more rows than it may")
    for members in classes_of(case, published):
        require(passes(case.document["privacy"], members, case.world), case, "publishes a class that fails")
    alike = links(case.document["privacy"], classes_of(case, published), case.world)
    require(alike, case, "lets pseudonyms link rows to a set of classes that too few share")
    check_cells(case, published)
    if release.levels is not None:
        _check_levels(case, published, tuple(release.levels[name] for name in case.quasi))


def _check_levels(case: Case, published: Sequence[Row], node: tuple[int, ...]) -> None:
    """A full-domain release is the table at its levels, without the classes that fail there."""
    expected = Counter(
        (*labelled(case, row, node), *kept(case, row))
        for members in classes(case, node).values()
        if passes(case.document["privacy"], members, case.world)
        for row in members
    )
    require(_bag(case, published) == expected, case, "publishes other cells than its levels say")


def _random_cases(algorithm: str, model: str | None, seed: int, tables: int) -> Iterator[Case]:
    random = Random(f"{algorithm} {model} {seed}")  # noqa: S311 - protects nobody, and a failure must come again
    for _ in range(tables):
        yield random_case(random, model, algorithm)


def _turned(rows: int) -> list[int]:
    """Another order of the rows."""
    order = list(range(rows))
    Random(rows).shuffle(order)  # noqa: S311 - same
    return order


def _bag(case: Case, published: Sequence[Row]) -> Counter[tuple[str | None, ...]]:
    """The published rows without their order and the persons' names."""
    return Counter((*(row[name] for name in case.quasi), *kept(case, row)) for row in published)
