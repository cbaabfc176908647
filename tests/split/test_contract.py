"""Two tables of any table, by every algorithm: the contract in `checks.split`."""

from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from sfumato.models import MODELS
from sfumato.policy.options import RECODERS
from sfumato.release import Release, anonymize
from sfumato.testing import TableCase, random_case
from sfumato.testing.two_table_contract import check_split, check_tables, split_case

pytestmark = pytest.mark.slow

TABLES = 2


@pytest.mark.parametrize("algorithm", RECODERS)
@pytest.mark.parametrize("ss", ["together", "apart"])
def test_every_algorithm_with_every_model(algorithm: str, ss: str) -> None:
    """Any grouping that an algorithm makes is published as two tables that keep the promise, class by class."""
    random = Random(f"split {algorithm} {ss}")
    cases = [
        split_case(random_case(random, model, algorithm), "lossy-join", ss=ss)
        for model in MODELS
        for _ in range(TABLES)
    ]
    seen = check_split(cases)
    assert seen.total() == len(cases)
    assert seen["whole"] + seen["suppressing"] > TABLES


@pytest.mark.parametrize("model", MODELS)
def test_anatomy_with_every_model(model: str) -> None:
    """The buckets of Anatomy keep whatever promise a policy asks for, or it says no."""
    random = Random(f"anatomy {model}")
    cases = [case for case in (random_case(random, model) for _ in range(60)) if _looks_at_one(case)]
    seen: Counter[str] = check_split(split_case(case, "anatomy") for case in cases)
    assert seen.total() == len(cases) > 10
    assert seen["infeasible"] < len(cases)


def _looks_at_one(case: TableCase) -> bool:
    rules = case.document["privacy"]
    named = {
        name for rule in rules for name in [*rule.get("columns", []), *([rule["column"]] if "column" in rule else [])]
    }
    return len(named) == 1


def test_a_moved_line_is_caught(tmp_path: Path) -> None:
    """The contract can fail: two lines of NSS that change their classes are noticed."""
    case, release = _of_several_classes(tmp_path)
    nss = release.nss.to_pylist()
    sensitive = {row["visits"]: (row["illness"], row["income"]) for row in case.rows}
    one, other = next(
        (one, other)
        for one, other in combinations(nss, 2)
        if one["class_id"] != other["class_id"] and sensitive[one["visits"]] != sensitive[other["visits"]]
    )
    one["class_id"], other["class_id"] = other["class_id"], one["class_id"]
    release.__dict__["nss"] = pa.Table.from_pylist(nss)
    with pytest.raises(AssertionError, match="sensitive values of each class"):
        check_tables(case, release)


def _of_several_classes(folder: Path) -> tuple[TableCase, Release]:
    """A case that asks for two rows a class only, and its release."""
    for seed in range(100):
        case = split_case(random_case(Random(seed), "k-anonymity", "top-down"), "lossy-join")
        case.document["privacy"] = [{"model": "k-anonymity", "k": 2}]
        release = anonymize(case.arrow(), case.policy(folder))
        if len(release.recoding.classes) > 2:
            return case, release
    raise AssertionError("no case of several classes")
