"""Every algorithm with every model ends in a release that the verifier passes, or says no."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.models import MODELS
from sfumato.policy.options import LOCAL, RECODERS
from sfumato.recode import ALGORITHMS as FULL_DOMAIN
from sfumato.recode.local import ALGORITHMS as LOCAL_ALGORITHMS
from sfumato.testing import TableCase, check_recoder, check_release, random_case
from sfumato.testing.recoder_contract import check_cells

pytestmark = pytest.mark.slow

TABLES = 2  # and five times as many of each pair in tests/properties/test_releases.py


@pytest.mark.parametrize("algorithm", RECODERS)
def test_every_algorithm_with_every_model(algorithm: str) -> None:
    """What is published passes the verifier and the naive definitions, and the cases are not all of one kind."""
    seen = sum((check_recoder(algorithm, model, tables=TABLES) for model in MODELS), start=Counter[str]())
    assert seen.total() == TABLES * len(MODELS)
    assert seen["whole"] >= TABLES
    assert seen["suppressing"] >= 1
    assert seen["infeasible"] >= 1


def test_no_algorithm_escapes() -> None:
    """Every algorithm that there is can be named in a policy, and so is tried here."""
    assert set(RECODERS) == {"auto", "tds", *FULL_DOMAIN, *LOCAL_ALGORITHMS}
    assert set(LOCAL) == set(LOCAL_ALGORITHMS)


@pytest.mark.parametrize("algorithm", ["optimal", "top-down"])
def test_a_release_of_another_table_is_caught(tmp_path: Path, algorithm: str) -> None:
    """A release that lost rows, changed a cell or came from elsewhere does not keep the contract."""
    case = random_case(Random(5), "k-anonymity", algorithm)
    loose = replace(case, document=case.document | {"privacy": [{"model": "k-anonymity", "k": 1}]})
    release = anonymize(loose.arrow(), loose.policy(tmp_path))
    check_release(loose, release)
    fewer = replace(loose, columns={name: cells[1:] for name, cells in loose.columns.items()})
    with pytest.raises(AssertionError, match="loses or invents rows"):
        check_release(fewer, release)
    with pytest.raises(AssertionError, match="rows that did not come in"):
        check_release(_changed(loose, "visits", [f"x{i}" for i in range(len(loose.rows))]), release)
    with pytest.raises(AssertionError, match="changes cells"):
        check_release(_changed(loose, "income", loose.columns["income"][::-1]), release)
    strict = replace(loose, document=loose.document | {"privacy": [{"model": "k-anonymity", "k": 99}]})
    with pytest.raises(AssertionError, match="publishes a class that fails"):
        check_release(strict, release)


def test_a_label_of_another_value_is_caught(tmp_path: Path) -> None:
    """A cell that is no ancestor of the one it came from is found, although another row has that cell."""
    case = random_case(Random(5), "k-anonymity", "top-down")
    loose = replace(case, document=case.document | {"privacy": [{"model": "k-anonymity", "k": 1}]})
    published = anonymize(loose.arrow(), loose.policy(tmp_path)).table.to_pylist()
    check_cells(loose, published)
    other = next(row for row in published if row["q0"] != published[0]["q0"])
    published[0]["q0"], other["q0"] = other["q0"], published[0]["q0"]
    with pytest.raises(AssertionError, match="cells of q0 that do not cover"):
        check_cells(loose, published)


def test_cases_without_levels_have_ranges_and_sets() -> None:
    """Algorithms that do without levels are tried on ranges and sets too, and only those are."""
    for algorithm in RECODERS:
        kinds: Counter[str] = Counter()
        for seed in range(20):
            case = random_case(Random(seed), algorithm=algorithm)
            kinds.update(str(case.document["columns"][name]["hierarchy"]).split(".")[-1] for name in case.quasi)
        both = {"sets", "{'ranges': True}"}
        without = {"auto": both, "mondrian": both, "mondrian-relaxed": both, "tds": {"{'ranges': True}"}}
        without["microaggregation"] = both | {"{'dates': ['month', 'year']}"}
        assert set(kinds) == {"csv"} | without.get(algorithm, set())


def _changed(case: TableCase, column: str, cells: list[Any]) -> TableCase:
    return replace(case, columns=case.columns | {column: cells})
