"""A person's rows with equal quasi-identifiers are one tuple, which no algorithm parts."""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import visits
from sfumato.encode import encode
from sfumato.policy import load
from sfumato.policy.options import LOCAL
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import bundle_persons
from sfumato.recode.local.start import pose_problem
from sfumato.release import Release, anonymize
from sfumato.table import from_frame
from sfumato.testing import check_recoder
from sfumato.testing.random_tables import random_case

QUASI = ("age", "sex", "zip", "job")
COLUMNS: Mapping[str, Any] = {
    "patient": {"role": "individual"},
    "insurance": {"role": "identifier"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20], "domain": [0, 119]}},
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 4}},
    "job": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
    "nights": {"role": "plain"},
}
RULES = [
    [{"model": "identity-k-anonymity", "k": 4}],
    [{"model": "identity-kl-diversity", "column": "illness", "k": 3, "l": 3}],
    [{"model": "identity-alpha-beta", "column": "illness", "alpha": 0.4, "beta": 0.5}],
    [{"model": "alpha-k-anonymity", "column": "illness", "k": 3, "alpha": 0.5, "values": ["flu"]}],
]


def table() -> Any:
    """Visits in which a patient's rows mostly look alike: every other age is forgotten; each row has its own number."""
    found = visits(300)
    ages = pa.array([age - age % 2 for age in found["age"].to_pylist()])
    found = found.set_column(2, "age", ages)
    return found.set_column(7, "nights", pa.array(range(found.num_rows)))


def released(algorithm: Mapping[str, Any], rules: list[dict[str, Any]]) -> Release:
    """A release of the visits."""
    return anonymize(table(), {"columns": COLUMNS, "privacy": rules, "algorithm": {**algorithm, "seed": 1}})


def parted(release: Release) -> int:
    """How many patients have rows that look alike in several classes."""
    original = {row["nights"]: row for row in table().to_pylist()}
    classes: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    for row in release.table.to_pylist():
        came = original[row["nights"]]
        key = (came["patient"], *(came[name] for name in QUASI))
        classes.setdefault(key, set()).add(tuple(row[name] for name in QUASI))
    return sum(len(found) > 1 for found in classes.values())


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["auto", *LOCAL])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules[0]["model"])
@pytest.mark.parametrize("improve", [True, False])
def test_no_algorithm_parts_them(algorithm: str, rules: list[dict[str, Any]], improve: bool) -> None:
    """By default, whatever the model, improved or not."""
    if algorithm == "microaggregation" and improve:
        pytest.skip("it is not improved")
    assert parted(released({"name": algorithm, "improve": improve}, rules)) == 0


def test_they_may_be_parted() -> None:
    """Without it, top-down sends rows of one person to several classes: so the test above can fail."""
    found = released({"name": "top-down", "improve": False, "keep_together": False}, RULES[0])
    assert parted(found) > 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LOCAL)
def test_all_hold_when_rows_go_their_own_ways(algorithm: str) -> None:
    """Releases without it meet the definitions too."""
    random = Random(f"apart {algorithm}")
    cases = [
        random_case(random, "identity-kl-diversity", algorithm).with_algorithm(keep_together=False) for _ in range(8)
    ]
    assert check_recoder(algorithm, cases=cases).total() == 8


def test_bundles_hold_what_their_rows_do() -> None:
    """Counted from bundles, classes are what they are counted from rows."""
    policy = load({"columns": COLUMNS, "privacy": RULES[1], "algorithm": {"name": "top-down"}})
    source = encode(from_frame(table(), policy), policy)
    whole = pose_problem(source, policy)
    bundles, bags = bundle_persons(source)
    assert len(bundles.tuples) == len(whole.counts) < len(source.tuples)
    group = np.arange(len(whole.counts)) % 7
    counted = whole.count(Partition.from_tuples(whole.counts, group, 7))
    rows = group[_bundle_of(bundles)]
    for name, column in source.sensitive.items():
        for value in range(column.width):
            expected = np.bincount(rows[column.codes == value], minlength=7)
            lines = counted.sensitive[name]
            found = np.zeros(7, dtype=np.int64)
            chosen = lines.value == value
            found[lines.class_of[chosen]] = lines.count[chosen]
            assert found.tolist() == expected.tolist()
    assert counted.sizes.tolist() == np.bincount(rows, minlength=7).tolist()
    assert set(bags) == {"illness"}


def _bundle_of(bundles: Any) -> Any:
    """The bundle of each row, by looking it up."""
    quasi = [attribute.column.codes for attribute in bundles.quasi]
    keys = list(zip(*bundles.tuples.quasi, bundles.tuples.others["patient"], strict=True))
    place = {tuple(int(code) for code in key): i for i, key in enumerate(keys)}
    rows = zip(*quasi, bundles.individual.codes, strict=True)
    return np.array([place[tuple(int(code) for code in row)] for row in rows])
