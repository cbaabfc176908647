"""What local recodings cost: by their definitions, and from the files as from the release."""

import json
import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sfumato as sf
from sfumato.cli.main import _run
from sfumato.datasets.adult import adult_folder, adult_policy
from sfumato.errors import Infeasible
from sfumato.policy.options import LOCAL
from sfumato.testing import TableCase, random_case
from sfumato.testing.label_definitions import covers

LABELLING = tuple(name for name in LOCAL if name != "microaggregation")
"""A mean is no label; what aggregates lose is held against its definition in tests/recode/local."""


def _labels(case: TableCase, release: Any) -> dict[str, Counter[str | None]]:
    return {name: Counter(release.table[name].to_pylist()) for name in case.quasi}


def _leaves(case: TableCase, name: str, label: str | None) -> int:
    """How many values of the domain a label covers."""
    return sum(covers(case, name, label, value) for value in case.trees[name])


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LABELLING)
def test_losses_are_their_definitions(tmp_path: Path, algorithm: str) -> None:
    """NCP, distortion, entropy and exact cells of each column, counted label by label, suppressed rows as lost."""
    compared = 0
    for seed in range(25):
        case = random_case(Random(f"local {seed}"), algorithm="top-down").with_algorithm(name=algorithm, improve=False)
        try:
            release = sf.anonymize(case.arrow(), case.policy(tmp_path))
        except Infeasible:
            continue
        compared += 1
        rows, gone = len(case.rows), release.suppressed
        for name, found in _labels(case, release).items():
            tree, part = case.trees[name], release.utility.attributes[name]
            lost = sum(n * (_leaves(case, name, label) - 1) / (len(tree) - 1) for label, n in found.items())
            assert part.ncp == pytest.approx((lost + gone) / rows)
            assert part.exact_cells == sum(n for label, n in found.items() if label in tree)
            assert part.labels == len(found)
            assert part.entropy == pytest.approx(_entropy(case, name, found))
    assert compared > 10


def _entropy(case: TableCase, name: str, found: Counter[str | None]) -> float:
    """Bits lost, of the bits there were: a label tells log2 of the table's rows over those whose value it covers."""
    rows, values = len(case.rows), [row[name] for row in case.rows]
    before = -sum(n / rows * math.log2(n / rows) for n in Counter(values).values())
    told = sum(
        n * math.log2(rows / sum(covers(case, name, label, value) for value in values)) for label, n in found.items()
    )
    return max(1 - told / rows / before, 0) if before else 0.0


@pytest.mark.slow
@pytest.mark.adult
@pytest.mark.parametrize("algorithm", LABELLING)
def test_adult_from_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], algorithm: str) -> None:
    """On the real rows, `sfumato utility` finds in the published file what `anonymize` reported."""
    folder = adult_folder()
    if folder is None:
        pytest.skip("the Adult rows are not at hand; set SFUMATO_ADULT to their folder")
    policy = adult_policy(folder) | {"algorithm": {"name": algorithm, "improve": False}}
    release = sf.anonymize(None, policy)
    release.save(tmp_path / "out")
    assert _run(["utility", str(tmp_path / "out"), "--original", str(folder / "adult.csv"), "--json"]) == 0
    found, told = json.loads(capsys.readouterr().out), release.utility.as_json()
    for name, part in told.pop("attributes").items():
        assert found["attributes"][name] == pytest.approx(part)
    assert {key: found[key] for key in told} == pytest.approx(told)
