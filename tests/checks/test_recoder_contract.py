"""Every algorithm with every model ends in a release that the verifier passes, or says no."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from sfumato import anonymize
from sfumato.checks import check_recoder, check_release, random_case
from sfumato.models import MODELS
from sfumato.policy.search import ALGORITHMS as DECLARED
from sfumato.recode import ALGORITHMS


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_with_every_model(algorithm: str, model: str) -> None:
    """What is published passes the verifier and the naive definitions, and the cases are not all of one kind."""
    seen = check_recoder(algorithm, model)
    assert seen.total() == 20
    assert seen["whole"] + seen["suppressing"] >= 5
    assert seen["infeasible"] >= 1


def test_no_algorithm_escapes() -> None:
    """Every algorithm a policy may name is one that is tried here."""
    assert set(DECLARED) == {"auto", *ALGORITHMS}


def test_a_release_of_another_table_is_caught(tmp_path: Path) -> None:
    """A release that lost rows, changed a cell or came from elsewhere does not keep the contract."""
    case = random_case(Random(5), "k-anonymity")
    loose = replace(case, document=case.document | {"privacy": [{"model": "k-anonymity", "k": 1}]})
    release = anonymize(loose.arrow(), loose.policy(tmp_path))
    check_release(loose, release)
    fewer = replace(loose, columns={name: cells[1:] for name, cells in loose.columns.items()})
    with pytest.raises(AssertionError, match="loses or invents rows"):
        check_release(fewer, release)
    visits: dict[str, list[str | None]] = {"visits": ["3"] * len(loose.rows)}
    with pytest.raises(AssertionError, match="no ancestors"):
        check_release(replace(loose, columns=loose.columns | visits), release)
    strict = replace(loose, document=loose.document | {"privacy": [{"model": "k-anonymity", "k": 99}]})
    with pytest.raises(AssertionError, match="publishes a class that fails"):
        check_release(strict, release)
