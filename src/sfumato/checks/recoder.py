"""The contract of an algorithm: whatever the table and the model, a release that passes, or a clear no."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from sfumato.checks.exhaustive import outcome
from sfumato.checks.losses import labelled
from sfumato.checks.naive import passes
from sfumato.checks.tables import Case, random_case
from sfumato.errors import Infeasible
from sfumato.release import Release, anonymize


def check_recoder(
    algorithm: str, model: str | None = None, *, cases: Iterable[Case] | None = None, seed: int = 0
) -> Counter[str]:
    """Run an algorithm on small tables, and hold each release against the definitions.

    Args:
        algorithm: Its name in a policy.
        model: The model of the first requirement; any when left out.
        cases: Tables and policies to try; random ones when left out.
        seed: For the random ones.

    Returns:
        How many cases were infeasible, how many released, and how many of those suppressed rows.

    Raises:
        AssertionError: A release breaks the contract; says how.
        NotVerified: The verifier does not pass a release.

    >>> check_recoder("optimal", "k-anonymity", cases=[random_case(Random(3), "k-anonymity")]).total()
    1
    """
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for case in _random_cases(algorithm, model, seed) if cases is None else cases:
            try:
                release = anonymize(case.arrow(), case.policy(Path(name)))
            except Infeasible:
                seen["infeasible"] += 1
                continue
            check_release(case, release)
            seen["suppressing" if release.suppressed else "whole"] += 1
    return seen


def check_release(case: Case, release: Release) -> None:
    """Hold a full-domain release of a case against the definitions, from its published table alone."""
    _require(release.verdict.satisfied, case, "is not passed by the verifier")
    published = release.table.to_pylist()
    _require(len(published) + release.suppressed == len(case.rows), case, "loses or invents rows")
    _require(published, case, "publishes nothing")
    levels = release.levels
    if levels is None:
        raise AssertionError("the algorithm is not a full-domain one")
    node = tuple(levels[name] for name in case.quasi)
    allowed = case.document["algorithm"]["suppression"] * len(case.rows)
    _require(release.suppressed <= allowed + 1e-9, case, "suppresses more rows than it may")
    for members in _grouped(case, published):
        _require(passes(case.document["privacy"], members, case.world), case, "publishes a class that fails")
    expected = Counter(
        (*labelled(case, row, node), *_kept(case, row))
        for members in outcome(case, node).published.values()
        for row in members
    )
    found = Counter((*(row[name] for name in case.quasi), *_kept(case, row)) for row in published)
    _require(found == expected, case, "publishes cells that are no ancestors of those that came in")


def _random_cases(algorithm: str, model: str | None, seed: int) -> Iterator[Case]:
    random = Random(f"{algorithm} {model} {seed}")  # noqa: S311 - protects nobody, and a failure must come again
    for _ in range(20):
        yield random_case(random, model, algorithm)


def _grouped(case: Case, published: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in published:
        classes.setdefault(tuple(row[name] for name in case.quasi), []).append(row)
    return list(classes.values())


def _kept(case: Case, row: Any) -> tuple[Any, ...]:
    """The cells that are published as they are."""
    return tuple(row[name] for name in case.columns if name not in case.quasi and name != "person")


def _require(claim: Any, case: Case, sentence: str) -> None:
    if not claim:
        raise AssertionError(f"{case.document['algorithm']['name']} {sentence}: {case!r}")
