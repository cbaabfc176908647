"""The contract of an algorithm that looks at earlier releases: a release that passes and tells all it can, or a no."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from sfumato.checks.covering import in_range
from sfumato.checks.joined import Label, Row, achieved
from sfumato.checks.joined_case import XY, JoinedCase
from sfumato.errors import Infeasible
from sfumato.release import Release, prepare

Labels = Mapping[Label, Label]


def check_joined(cases: Iterable[JoinedCase], *, verified: bool = True) -> Counter[str]:
    """Publish each case, and hold what comes out against the definitions, and against the verifier unless told not to.

    Returns:
        How many cases were infeasible, released, and released as they came in.

    Raises:
        AssertionError: A release breaks the contract; says how.
        NotVerified: The verifier does not pass a release.

    >>> check_joined([])
    Counter()
    """
    with TemporaryDirectory() as folder:
        return Counter(_checked(case, Path(folder), verified=verified) for case in cases)


def _checked(case: JoinedCase, folder: Path, *, verified: bool = True) -> str:
    policy = case.policy(folder)
    try:
        release = prepare(case.arrow(), policy)
    except Infeasible:
        _require(not passes(case, _told(case, {})), case, "says no where the most general table would do")
        return "infeasible"
    published = check_joined_rows(case, release.tables["table"].arrow.to_pylist())
    turned = prepare(case.arrow().take(pa.array(range(len(case.rows) - 1, -1, -1))), policy)
    again = _placed(case, turned.tables["table"].arrow.to_pylist())
    _require(again == published, case, "makes something else of the same rows in another order")
    if verified:
        _check_verdict(case, release, published)
    return "as it came" if published == _told(case, _leaves(case)) else "generalized"


def check_joined_rows(case: JoinedCase, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Label]]:
    """Hold published rows against the definitions, and nothing else; gives them in the order of the case's."""
    published = _placed(case, rows)
    _require(passes(case, published), case, "publishes what does not pass")
    cuts = {name: _cut(case, name, published) for name in case.quasi}
    for name, told in specializations(case, cuts):
        _require(not passes(case, told), case, f"could tell more of {name}")
    return published


def _check_verdict(case: JoinedCase, release: Release, published: Sequence[Row]) -> None:
    """The verifier passes the release, and finds the figures that the definitions give."""
    _require(release.verdict.satisfied, case, "is not passed by the verifier")
    found = [one["achieved"]["k"] for one in release.privacy if one["model"] in XY]
    joined = case.joined(published)
    expected = [float(achieved(rule, joined)) for rule in case.requirements]
    close = all(abs(one - other) < 1e-9 for one, other in zip(found, expected, strict=True))
    _require(close, case, f"says that it achieved {found}, and {expected} is what it did")


def passes(case: JoinedCase, published: Sequence[Row]) -> bool:
    """Whether rows keep all that is asked, of joins and of classes.

    Of the models about classes, k-anonymity alone occurs in these cases.
    """
    classes: dict[tuple[Label, ...], set[object]] = {}
    for place, row in enumerate(published):
        classes.setdefault(tuple(row[name] for name in case.quasi), set()).add(row.get("person", place))
    asked = [rule["k"] for rule in case.document["privacy"] if rule["model"] == "k-anonymity"]
    return all(len(each) >= max(asked, default=1) for each in classes.values()) and case.passes(published)


def specializations(case: JoinedCase, cuts: Mapping[str, Labels]) -> Iterator[tuple[str, list[dict[str, Label]]]]:
    """The table with one label of one column told more exactly, wherever it stands; not for ranges."""
    for name in (name for name in cuts if case.trees[name].levelled):
        for label in set(cuts[name].values()):
            finer = {
                value: _below(case, name, value, own) if own == label else own for value, own in cuts[name].items()
            }
            if finer != cuts[name]:
                yield name, _told(case, {**cuts, name: finer})


def _below(case: JoinedCase, name: str, value: Label, label: Label) -> Label:
    path = case.trees[name].leaves[value]
    return path[max(path.index(label) - 1, 0)]


def _cut(case: JoinedCase, name: str, published: Sequence[Row]) -> dict[Label, Label]:
    """The label of each value: one for each, that covers it, and no two on one path."""
    cut: dict[Label, Label] = {}
    for row, original in zip(published, case.rows, strict=True):
        once = cut.setdefault(original[name], row[name]) == row[name]
        _require(once, case, f"publishes two labels for one value of {name}")
    tree = case.trees[name]
    covered = {(value, label) for value in cut for label in set(cut.values()) if _covers(case, name, label, value)}
    _require(set(cut.items()) == covered, case, f"publishes labels of {name} that are no cut")
    if tree.levelled:
        above = [
            label for label in set(cut.values()) for other in set(cut.values()) - {label} if label in tree.paths[other]
        ]
        _require(not above, case, f"publishes {above} of {name} besides what stands below")
    return cut


def _covers(case: JoinedCase, name: str, label: Label, value: Label) -> bool:
    if case.trees[name].levelled:
        return label in case.trees[name].leaves[value]
    return label in {value, "*"} or (label is not None and in_range(label, value))


def _leaves(case: JoinedCase) -> dict[str, Labels]:
    return {name: {value: value for value in case.trees[name].leaves} for name in case.quasi}


def _told(case: JoinedCase, cuts: Mapping[str, Labels]) -> list[dict[str, Label]]:
    """The table by cuts; a column without one is told as ``*``."""
    labels = {name: cuts.get(name, {}) for name in case.quasi}
    return [dict(row) | {name: labels[name].get(row[name], "*") for name in case.quasi} for row in case.rows]


def _placed(case: JoinedCase, published: Sequence[Mapping[str, Any]]) -> list[dict[str, Label]]:
    """Published rows in the order in which they came, with the persons as they came, all else as it is published."""
    places = {row["visits"]: place for place, row in enumerate(case.rows)}
    _require({row["visits"] for row in published} == places.keys(), case, "publishes other rows than came in")
    _require(len(published) == len(places), case, "loses or invents rows")
    rows = sorted((dict(row) for row in published), key=lambda row: places[row["visits"]])
    people = {(row.get("person"), original.get("person")) for row, original in zip(rows, case.rows, strict=True)}
    one_to_one = len(people) == len({one for one, _ in people}) == len({other for _, other in people})
    _require(one_to_one, case, "gives persons no pseudonym of their own")
    placed = [
        row | {"person": original["person"]} if "person" in row else row
        for row, original in zip(rows, case.rows, strict=True)
    ]
    kept = [name for name in case.columns if name not in case.quasi]
    same = all(row[name] == original[name] for row, original in zip(placed, case.rows, strict=True) for name in kept)
    _require(same, case, "changes cells that are published as they are")
    return placed


def _require(claim: bool, case: JoinedCase, sentence: str) -> None:
    if not claim:
        raise AssertionError(f"{case.document['algorithm']['name']} {sentence}: {case!r}")
