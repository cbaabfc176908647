"""Further cuts of ranges where the best one fails, and steps that gain nothing."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.recode.tds import cuts
from sfumato.release import Release, anonymize
from sfumato.verifier import verify

Row = dict[str, Any]


def made(seed: int) -> pa.Table:
    """Sixty rows of two columns of numbers, uneven, and a class that depends on both."""
    random = Random(seed)
    ages = [int(random.triangular(18, 90, 25)) for _ in range(60)]
    hours = [random.choice([20, 38, 40, 40, 40, 42, 60]) for _ in ages]
    paid = ["yes" if age + hour + random.randint(-9, 9) > 80 else "no" for age, hour in zip(ages, hours, strict=True)]
    return pa.table({"age": ages, "hours": hours, "paid": paid})


def release_of(table: pa.Table, k: int, **search: Any) -> Release:
    """A release of it by top-down specialization, with cuts between all values."""
    ranges = {"role": "quasi", "hierarchy": {"ranges": True}}
    columns = {"age": ranges, "hours": ranges, "paid": {"role": "plain"}}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": k}], "publish": {"ranges": "boxes"}}
    return anonymize(table, policy | {"algorithm": {"name": "tds", **search}})


def finer(release: Release) -> Iterator[list[tuple[int, ...]]]:
    """The class of every row after any one range of any one column is cut in two, at any place."""
    columns = [(attribute, release.recoding.labels[attribute.name]) for attribute in release.encoded.quasi]
    shown = [labels.codes.tolist() for _, labels in columns]
    for place, (attribute, labels) in enumerate(columns):
        numbers = [int(str(attribute.hierarchy.labels[0][code])) for code in attribute.column.codes.tolist()]
        for label in range(len(labels.texts)):
            inside = sorted({number for number, code in zip(numbers, shown[place], strict=True) if code == label})
            for cut in inside[:-1]:
                told = [
                    -1 if code == label and number <= cut else code
                    for number, code in zip(numbers, shown[place], strict=True)
                ]
                yield [*zip(*shown[:place], told, *shown[place + 1 :], strict=True)]


def passes(classes: list[tuple[int, ...]], k: int) -> bool:
    """Whether every class has k rows."""
    return min(Counter(classes).values()) >= k


@pytest.mark.parametrize(
    "score", [{"score": "distortion"}, {"class": "paid"}, {"class": "paid", "score": "conditional"}]
)
def test_no_cut_that_would_pass_is_left(score: dict[str, str]) -> None:
    """With further cuts none of any range would pass, tried one by one; with the best alone some table has one."""
    left = 0
    for seed in range(6):
        for k in (4, 9):
            release = release_of(made(seed), k, next_cut=True, **score)
            assert not any(passes(classes, k) for classes in finer(release))
            left += any(passes(classes, k) for classes in finer(release_of(made(seed), k, **score)))
    assert left


def test_of_very_many_cuts_some_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a range has more cuts than are tried, those are that part its rows evenly; what comes out passes."""
    monkeypatch.setattr(cuts, "MOST_CUTS", 3)
    for seed in range(6):
        release = release_of(made(seed), 9, next_cut=True)
        assert (
            min(Counter(zip(*(release.table[name].to_pylist() for name in ("age", "hours")), strict=True)).values())
            >= 9
        )


@pytest.mark.parametrize(
    "rule",
    [
        {"model": "alpha-deassociation", "column": "paid", "alpha": 0.6, "refined": True},
        {"model": "t-closeness", "column": "paid", "t": 0.5, "distance": "emd-equal"},
        {"model": "distinct-l-diversity", "column": "paid", "l": 2},
    ],
)
@pytest.mark.parametrize("suppression", [0, 0.1])
def test_other_models_are_kept(rule: dict[str, Any], suppression: float, tmp_path: Path) -> None:
    """Also where a cut that fails may pass later, the files that are written are found good by the verifier."""
    ranges = {"role": "quasi", "hierarchy": {"ranges": True, "domain": [10, 99]}}
    columns = {"age": ranges, "hours": ranges, "paid": {"role": "sensitive"}}
    search = {"name": "tds", "next_cut": True, "suppression": suppression}
    policy = {"columns": columns, "privacy": [rule, {"model": "k-anonymity", "k": 3}], "algorithm": search}
    release = anonymize(made(1), policy)
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied
    assert any(len(set(release.table[name].to_pylist())) > 1 for name in ("age", "hours"))


TREE = "a,one,*\nb,one,*\nc,two,*\n"


@pytest.mark.parametrize(("beneficial", "label"), [(False, "one"), (True, "*")])
def test_a_step_of_no_gain(tmp_path: Path, label: str, *, beneficial: bool) -> None:
    """Where all rows are below one label it is specialized, unless only steps that gain something are wanted."""
    (tmp_path / "tree.csv").write_text(TREE)
    table = pa.table({"q": ["a", "a", "a", "b"], "paid": ["yes", "no", "yes", "no"]})
    columns = {"q": {"role": "quasi", "hierarchy": str(tmp_path / "tree.csv")}, "paid": {"role": "plain"}}
    search = {"name": "tds", "class": "paid", "beneficial": beneficial}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": search}
    assert set(anonymize(table, policy).table["q"].to_pylist()) == {label}


def test_a_column_that_tells_nothing_of_the_class(tmp_path: Path) -> None:
    """With only beneficial steps a column that is the same for every class stays whole, and another does not."""
    (tmp_path / "tree.csv").write_text(TREE)
    tree = {"role": "quasi", "hierarchy": str(tmp_path / "tree.csv")}
    table = pa.table({"q": ["a", "b"] * 8, "r": ["a", "a", "c", "c"] * 4, "paid": ["yes", "yes", "no", "no"] * 4})
    columns = {"q": tree, "r": tree, "paid": {"role": "plain"}}
    search = {"name": "tds", "class": "paid", "beneficial": True}
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}], "algorithm": search}
    released = anonymize(table, policy).table
    assert set(released["q"].to_pylist()) == {"*"}
    assert set(released["r"].to_pylist()) == {"one", "two"}
