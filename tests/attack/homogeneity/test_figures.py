"""Homogeneity, similarity and skewness, against counts by hand and by brute force."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.bound import bounds
from sfumato.attack.homogeneity import Gain, gain_bounds, homogeneity, skewness
from sfumato.attack.sensitive_columns import (
    SensitiveColumn,
    SensitiveColumns,
    sensitive_columns_from_recoding,
    sensitive_columns_from_release,
)
from sfumato.core.classes import EquivalenceClasses
from sfumato.policy import load
from sfumato.reading.release_view import read_release_lines
from sfumato.release import prepare

SUPPRESS = {"role": "quasi", "hierarchy": "suppress"}


def _columns(labels: Any, values: Any, persons: Any = None) -> dict[str, SensitiveColumn]:
    classes = EquivalenceClasses.of(labels, individuals=persons, illness=values)
    return {"illness": SensitiveColumn(classes.sensitive["illness"], classes.sizes, classes.individuals)}


def test_brute_force() -> None:
    """Certain rows, right guesses, largest share, gain, ratio, distance and rows above equal a count row by row."""
    draw = np.random.default_rng(4)
    labels = draw.integers(0, 60, 300).tolist()
    values = draw.choice(list("abcde"), 300, p=[0.4, 0.3, 0.15, 0.1, 0.05]).tolist()
    columns = _columns(labels, values)
    bags: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for label, value in zip(labels, values, strict=True):
        bags[label][value] += 1
    table, sizes = Counter(values), Counter(labels)
    shares = [(bag[v] / sizes[k], table[v] / 300, v, k) for k, bag in bags.items() for v in bag]
    alike, skewed = homogeneity(columns).columns["illness"], skewness(columns, threshold=0.25).columns["illness"]
    certain = sum(sizes[k] for k, bag in bags.items() if len(bag) == 1)
    assert (alike.certain, certain > 0) == (certain, True)
    assert alike.right == pytest.approx(sum(max(bag.values()) for bag in bags.values()) / 300)
    assert alike.blind == pytest.approx(max(table.values()) / 300)
    assert alike.distinct == min(map(len, bags.values()))
    after, before, value, _ = max(shares, key=lambda one: one[0] - one[1])
    assert skewed.gain == Gain(value, before, after)
    after, before, value, _ = max(shares, key=lambda one: one[0] / one[1])
    assert skewed.ratio == Gain(value, before, after)
    above = {k for after, before, _, k in shares if after - before > 0.25}
    assert (skewed.above, skewed.classes_above) == (sum(sizes[k] for k in above), len(above))
    apart = {k: sum(abs(bag[v] / sizes[k] - table[v] / 300) for v in table) / 2 for k, bag in bags.items()}
    assert skewed.distance == pytest.approx(max(apart.values()))
    assert skewed.average == pytest.approx(sum(apart[k] * sizes[k] for k in apart) / 300)
    best = sorted((max(a - b for a, b, _, k in shares if k == each) for each in bags), reverse=True)
    assert [one.gain for one in skewed.top] == pytest.approx(best[:5])


def test_persons_are_counted_once() -> None:
    """Ann has two rows in a class of one value, and is one person of three."""
    found = homogeneity(_columns([0, 0, 1, 1], ["flu", "flu", "HIV", "cold"], ["ann", "ann", "bob", "cid"]))
    illness = found.columns["illness"]
    assert (illness.certain, illness.certain_persons, illness.persons) == (2, 1, 3)
    assert "of 1 person" in found.results()[0].says[0]


def _policy(tmp_path: Any, *, asked: bool) -> dict[str, Any]:
    (tmp_path / "illness.csv").write_text("flu,cold-like,*\ncold,cold-like,*\nHIV,viral,*\nulcer,other,*\n")
    model = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5}
    return {
        "columns": {"q": SUPPRESS, "illness": {"role": "sensitive", "hierarchy": str(tmp_path / "illness.csv")}},
        "privacy": [{"model": "k-anonymity", "k": 2}, *([model] if asked else [])],
        "algorithm": {"name": "optimal"},
    }


@pytest.mark.parametrize("asked", [False, True])
def test_similar_values_in_memory_and_from_files(tmp_path: Any, asked: bool) -> None:
    """Flu and cold are of one kind, HIV and ulcer are not; asked for or not, from memory and from files."""
    rows = pa.table({"q": ["a", "a", "b", "b"], "illness": ["flu", "cold", "HIV", "ulcer"]})
    release = prepare(rows, _policy(tmp_path, asked=asked))
    folder, policy = release.save(tmp_path / "release"), release.policy
    for columns in (
        sensitive_columns_from_recoding(release.encoded, release.recoding, policy),
        sensitive_columns_from_release(read_release_lines(folder), policy),
    ):
        found = homogeneity(columns, bounds(policy, SensitiveColumns(columns))).columns["illness"]
        assert (found.similar, found.certain, found.right) == (2, 0, 0.5)
        assert found.bound == (0.5 if asked else None)
        assert skewness(columns).columns["illness"].hierarchical is not None
    assert homogeneity(sensitive_columns_from_release(read_release_lines(folder))).columns["illness"].similar is None


def test_what_t_closeness_promises_of_a_gain() -> None:
    """A variational distance bounds every gain, so that rows above a larger threshold are promised to be none."""
    model = {"model": "t-closeness", "column": "illness", "t": 0.25, "distance": "variational"}
    policy = load({"columns": {"q": SUPPRESS, "illness": {"role": "sensitive"}}, "privacy": [model]})
    columns = _columns([0, 0, 1, 1], ["HIV", "flu", "flu", "flu"])
    assert gain_bounds(policy) == {"illness": 0.25}
    (result,) = skewness(columns, promised=gain_bounds(policy)).results()
    assert (result.success, result.baseline, result.bound) == (0.0, 0.0, 0.0)
    (other,) = skewness(columns, threshold=0.2, promised=gain_bounds(policy)).results()
    assert (other.success, other.bound) == (1.0, None)


def test_order_of_numbers() -> None:
    """Where values are numbers the earth mover's distance goes by their order."""
    rows = pa.table({"q": ["a", "a", "b", "b"], "salary": ["1", "2", "8", "9"]})
    columns = {"q": SUPPRESS, "salary": {"role": "sensitive"}}
    release = prepare(rows, {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    salaries = sensitive_columns_from_recoding(release.encoded, release.recoding, release.policy)
    found = skewness(salaries).columns["salary"]
    assert found.ordered == pytest.approx(1 / 3)  # of four places, half of each two lower ones moves by two, of three
    assert found.distance == pytest.approx(0.5)
