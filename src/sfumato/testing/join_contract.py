"""The contract of an algorithm that looks at earlier releases: a release that passes and tells all it can, or a no."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from sfumato.errors import Infeasible
from sfumato.release import Release, prepare
from sfumato.testing.join_cases import XY, JoinCase
from sfumato.testing.join_definition import Label, Row, achieved
from sfumato.testing.label_definitions import in_range

Cut = Mapping[Label, Label]
"""The label of each value of a column."""


def check_join_cases(cases: Iterable[JoinCase], *, verified: bool = True) -> Counter[str]:
    """Publish each case, and hold what comes out against the definitions, and against the verifier unless told not to.

    Returns:
        How many cases were infeasible, released, and released as they came in.

    Raises:
        AssertionError: A release breaks the contract; says how.
        NotVerified: The verifier does not pass a release.

    >>> check_join_cases([])
    Counter()
    """
    with TemporaryDirectory() as folder:
        return Counter(_check_case(case, Path(folder), verified=verified) for case in cases)


def _check_case(case: JoinCase, folder: Path, *, verified: bool) -> str:
    """Check a case, and say how it ended, if it ended well."""
    policy = case.policy(folder)
    try:
        release = prepare(case.arrow(), policy)
    except Infeasible:
        _require(not release_passes(case, _apply_cuts(case, {})), case, "says no where the most general table would do")
        return "infeasible"
    published = check_join_rows(case, release.tables["table"].arrow.to_pylist())
    turned = prepare(case.arrow().take(pa.array(range(len(case.rows) - 1, -1, -1))), policy)
    again = _restore_order(case, turned.tables["table"].arrow.to_pylist())
    _require(again == published, case, "makes something else of the same rows in another order")
    if verified:
        _check_verdict(case, release, published)
    return "as it came" if published == case.rows else "generalized"


def check_join_rows(case: JoinCase, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Label]]:
    """Hold published rows against the definitions, and nothing else; returns them in the order of the case's."""
    published = _restore_order(case, rows)
    _require(release_passes(case, published), case, "publishes what does not pass")
    cuts = {name: _find_cut(case, name, published) for name in case.quasi}
    for name, finer in finer_tables(case, cuts):
        _require(not release_passes(case, finer), case, f"could tell more of {name}")
    return published


def _check_verdict(case: JoinCase, release: Release, published: Sequence[Row]) -> None:
    """Check that the verifier passes the release, and finds the figures that the definitions give."""
    _require(release.verdict.satisfied, case, "is not passed by the verifier")
    figures = [finding["achieved"]["k"] for finding in release.privacy if finding["model"] in XY]
    join = case.join(published)
    expected = [float(achieved(rule, join)) for rule in case.requirements]
    close = all(abs(figure - exact) < 1e-9 for figure, exact in zip(figures, expected, strict=True))
    _require(close, case, f"says that it achieved {figures}, and {expected} is what it did")


def release_passes(case: JoinCase, published: Sequence[Row]) -> bool:
    """Tell whether rows keep all requirements, on joins and on classes.

    Of the models about classes, k-anonymity alone occurs in these cases.
    """
    classes: dict[tuple[Label, ...], set[object]] = {}
    for place, row in enumerate(published):
        classes.setdefault(tuple(row[name] for name in case.quasi), set()).add(row.get("person", place))
    k = max((rule["k"] for rule in case.document["privacy"] if rule["model"] == "k-anonymity"), default=1)
    return all(len(persons) >= k for persons in classes.values()) and case.passes(published)


def finer_tables(case: JoinCase, cuts: Mapping[str, Cut]) -> Iterator[tuple[str, list[dict[str, Label]]]]:
    """Specialize one label of one column, wherever it occurs, in every way; not for ranges.

    Yields the column and the table.
    """
    for name in (name for name in cuts if case.trees[name].levelled):
        leaves = case.trees[name].leaves
        for label in set(cuts[name].values()):
            finer = dict(cuts[name])
            for value, own in finer.items():
                if own == label:
                    finer[value] = leaves[value][max(leaves[value].index(own) - 1, 0)]
            if finer != cuts[name]:
                yield name, _apply_cuts(case, {**cuts, name: finer})


def _find_cut(case: JoinCase, name: str, published: Sequence[Row]) -> dict[Label, Label]:
    """Find the label of each value, and check that it has one, that it covers the value, and no two are on one path."""
    cut: dict[Label, Label] = {}
    for row, original in zip(published, case.rows, strict=True):
        once = cut.setdefault(original[name], row[name]) == row[name]
        _require(once, case, f"publishes two labels for one value of {name}")
    tree, labels = case.trees[name], set(cut.values())
    covered = {(value, label) for value in cut for label in labels if _covers(case, name, label, value)}
    _require(set(cut.items()) == covered, case, f"publishes labels of {name} that are no cut")
    if tree.levelled:
        above = [label for label in labels for other in labels - {label} if label in tree.paths[other]]
        _require(not above, case, f"publishes {above} of {name} besides what stands below")
    return cut


def _covers(case: JoinCase, name: str, label: Label, value: Label) -> bool:
    if case.trees[name].levelled:
        return label in case.trees[name].leaves[value]
    return label in {value, "*"} or (label is not None and in_range(label, value))


def _apply_cuts(case: JoinCase, cuts: Mapping[str, Cut]) -> list[dict[str, Label]]:
    """Generalize the table by cuts; a column without one becomes ``*``."""
    labels = {name: cuts.get(name, {}) for name in case.quasi}
    return [dict(row) | {name: labels[name].get(row[name], "*") for name in case.quasi} for row in case.rows]


def _restore_order(case: JoinCase, published: Sequence[Mapping[str, Any]]) -> list[dict[str, Label]]:
    """Put published rows in the order in which they came, with their persons, and check their unchanged cells."""
    places = {row["visits"]: place for place, row in enumerate(case.rows)}
    _require({row["visits"] for row in published} == places.keys(), case, "publishes other rows than came in")
    _require(len(published) == len(places), case, "loses or invents rows")
    rows = sorted((dict(row) for row in published), key=lambda row: places[row["visits"]])
    people = {(row.get("person"), original.get("person")) for row, original in zip(rows, case.rows, strict=True)}
    bijective = len(people) == len({pseudonym for pseudonym, _ in people}) == len({person for _, person in people})
    _require(bijective, case, "gives persons no pseudonym of their own")
    ordered = [
        row | {"person": original["person"]} if "person" in row else row
        for row, original in zip(rows, case.rows, strict=True)
    ]
    unchanged = [name for name in case.columns if name not in case.quasi]
    pairs = zip(ordered, case.rows, strict=True)
    same = all(row[name] == original[name] for row, original in pairs for name in unchanged)
    _require(same, case, "changes cells that are published as they are")
    return ordered


def _require(claim: bool, case: JoinCase, sentence: str) -> None:
    if not claim:
        raise AssertionError(f"{case.document['algorithm']['name']} {sentence}: {case!r}")
