"""Lower bounds of the loss, against trying everything."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.lower_bound import boxes, main, nearest
from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.encode import EncodedTable, encode
from sfumato.policy import Policy, load
from sfumato.recode import recode
from sfumato.table import from_frame
from sfumato.utility import measure

pytestmark = pytest.mark.slow

K = 3


def policy(k: int) -> Policy:
    """Five quasi-identifiers, so that few combinations of levels have to be tried."""
    document = synthetic_adult_policy(k=k)
    left_out = ("education", "native-country", "workclass", "occupation")
    return load(document | {"columns": document["columns"] | {name: {"role": "identifier"} for name in left_out}})


@pytest.fixture(scope="module")
def small() -> EncodedTable:
    """Twelve made-up people, two of them alike."""
    rules, rows = policy(K), synthetic_adult(11)
    return encode(from_frame(rows.take([0, *range(11)]), rules), rules)


def label_cost(encoded: EncodedTable, rows: tuple[int, ...]) -> float:
    """What a row costs in a class of these rows: the mean over attributes of the lowest common label's loss."""
    total = 0.0
    for attribute in encoded.quasi:
        lines = attribute.hierarchy.matrix[attribute.column.codes[list(rows)]]
        level = next(i for i, codes in enumerate(lines.T) if len(set(codes)) == 1)
        total += attribute.hierarchy.loss[level][lines[0, level]]
    return total / len(encoded.quasi)


def others(encoded: EncodedTable, row: int) -> list[int]:
    """All rows but one."""
    return [other for other in range(encoded.rows) if other != row]


def test_nearest(small: EncodedTable) -> None:
    """A row costs at least what it costs with its second nearest other, in classes of three."""
    costs = [sorted(label_cost(small, (row, other)) for other in others(small, row)) for row in range(small.rows)]
    assert nearest(small, [K])[K] == pytest.approx(np.mean([near[K - 2] for near in costs]))


def test_boxes(small: EncodedTable) -> None:
    """A row costs at least what it costs in the cheapest class of three that it could be in."""
    least = [
        min(label_cost(small, (row, *pair)) for pair in combinations(others(small, row), K - 1))
        for row in range(small.rows)
    ]
    assert boxes(small, [K])[K] == pytest.approx(np.mean(least))


@pytest.mark.parametrize("k", [2, 5, 10])
def test_order(k: int) -> None:
    """The second bound is never below the first, nor either above what a release loses."""
    rules = policy(k).replace(algorithm="optimal")
    encoded = encode(from_frame(synthetic_adult(200), rules), rules)
    lost = measure(encoded, recode(encoded, rules)).ncp
    assert 0 < nearest(encoded, [k])[k] <= boxes(encoded, [k])[k] + 1e-12 <= lost + 2e-12


def test_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Both bounds are printed for each k, and that the rows are made up where they are."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    main(["--rows", "20", "--k", "2", "--k", "40"])
    about, *bounds = capsys.readouterr().out.splitlines()
    assert about.startswith("20 rows, made up")
    assert [line.split(":")[0] for line in bounds] == ["nearest", "boxes"]
