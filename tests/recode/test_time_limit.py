"""A search whose time is over ends with a release that passes, whatever the algorithm, or says that it found none."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.deadline import Deadline, is_over, report_through
from sfumato.datasets import hospital, hospital_policy, visits, visits_policy
from sfumato.encode import encode
from sfumato.errors import OutOfTime, PolicyError
from sfumato.policy import Policy, load
from sfumato.policy.options import RECODERS
from sfumato.recode import Recoding, recode
from sfumato.recode.local.candidates import Effort
from sfumato.recode.local.parts import recode_in_parts
from sfumato.recode.local.start import choose_start, pose_problem
from sfumato.release import anonymize
from sfumato.table import from_frame

HOSPITAL = load(hospital_policy())
AFTER = (0, 1, 2, 5, 20)
"""So many looks at the clock until the time is over."""


def ending_after(looks: int) -> Callable[[], float]:
    """A clock that stands still for so many looks, and is then past every deadline."""
    left = [looks + 1]  # the first look is when the deadline is set

    def clock() -> float:
        left[0] -= 1
        return 0.0 if left[0] >= 0 else 1e12

    return clock


def read(document: dict[str, Any]) -> Policy:
    """The policy of a document, its hierarchies beside that of the hospital."""
    return Policy.read(document, folder=HOSPITAL.folder)


def recoded(monkeypatch: pytest.MonkeyPatch, looks: int, policy: Policy, frame: Any) -> Recoding:
    """Recode a table by a search that is over after so many looks at the clock."""
    encoded = encode(from_frame(frame, policy), policy)
    with monkeypatch.context() as patch:
        patch.setattr(
            "sfumato.recode.algorithms.Deadline",
            lambda seconds, show: Deadline(seconds, show, clock=ending_after(looks)),
        )
        return recode(encoded, policy)


def with_algorithm(document: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """The policy with another algorithm, and a minute of time."""
    return dict(document) | {"algorithm": {"seed": 1, "time_limit": 60} | keys}


@pytest.mark.parametrize("suppression", [0.0, 0.05])
@pytest.mark.parametrize("algorithm", RECODERS)
def test_whenever_it_ends_the_classes_pass(algorithm: str, suppression: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every algorithm, ended after any number of looks at the clock, has classes that meet the requirements."""
    document = with_algorithm(dict(HOSPITAL.document), name=algorithm, suppression=suppression)
    policy, ended = read(document), []
    for looks in AFTER:
        found = recoded(monkeypatch, looks, policy, hospital(300))
        assert all(model.holds(found.classes).all() for model in policy.privacy)
        assert found.suppressed <= 300 * suppression
        ended.append(found.early)
    assert ended[0]


@pytest.mark.parametrize("algorithm", RECODERS)
def test_persons_are_linked_by_as_many_as_required(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with persons, of whom each set of classes is shared by three."""
    rule = {"model": "identity-k-anonymity", "k": 4, "linked_k": 3}
    document = dict(load(visits_policy()).document) | {"privacy": [rule]}
    document = with_algorithm(document, name=algorithm)
    policy = read(document)
    for looks in AFTER[:3]:
        found = recoded(monkeypatch, looks, policy, visits(60))
        assert all(model.holds(found.classes).all() for model in policy.privacy)
        assert found.early


@pytest.mark.parametrize("algorithm", RECODERS)
def test_without_an_end_it_is_as_without_a_limit(algorithm: str) -> None:
    """A search that has enough time finds what it finds without a limit, class by class."""
    document = with_algorithm(dict(HOSPITAL.document), name=algorithm, time_limit=1e6)
    free = read(document | {"algorithm": {"name": algorithm, "seed": 1}})
    encoded = encode(from_frame(hospital(300), free), free)
    limited, found = recode(encoded, read(document)), recode(encoded, free)
    assert not limited.early
    assert limited.class_of.tolist() == found.class_of.tolist()
    assert {name: one.texts for name, one in limited.labels.items()} == {
        name: one.texts for name, one in found.labels.items()
    }


@pytest.mark.parametrize("algorithm", ["auto", "optimal", "tds", "microaggregation"])
def test_no_time_at_all_is_verified_and_told(algorithm: str) -> None:
    """With a limit of 0 seconds a release comes out, passes the verifier, and warns that it is not the best."""
    policy = read(dict(HOSPITAL.document) | {"algorithm": {"name": algorithm}})
    made = anonymize(hospital(300), policy, time_limit=0)
    assert made.recoding.early
    assert made.verdict.satisfied
    assert any("ended after 0 s" in warning for warning in made.warnings)


def test_the_audit_says_that_it_ended_early_and_the_manifest_does_not(tmp_path: Path) -> None:
    """What stays with the data holder tells of the limit; what is published tells nothing of it."""
    policy = read(dict(HOSPITAL.document) | {"algorithm": {"name": "mondrian", "time_limit": 0}})
    anonymize(hospital(300), policy).save(tmp_path / "release")
    assert json.loads((tmp_path / "release/private/audit.json").read_text())["ended_early"] is True
    manifest = (tmp_path / "release/public/manifest.json").read_text()
    assert "early" not in manifest
    assert "time_limit" not in manifest


def test_nothing_found_in_time_is_an_error() -> None:
    """Where the most general table fails and suppression might mend it, no time means no release, in one sentence."""
    rows = {"zip": ["1"] * 9 + ["2"], "ill": ["flu"] * 5 + ["cold"] * 4 + ["hiv"]}
    columns = {"zip": {"role": "quasi", "hierarchy": "suppress"}, "ill": {"role": "sensitive"}}
    rule = {"model": "alpha-deassociation", "column": "ill", "alpha": 0.05, "values": ["hiv"]}
    document = {"columns": columns, "privacy": [rule], "algorithm": {"name": "optimal", "suppression": 0.1}}
    assert anonymize(pa.table(rows), document).suppressed == 1
    with pytest.raises(OutOfTime, match=r"found no release within 0 s.*--time-limit"):
        anonymize(pa.table(rows), document, time_limit=0)


def test_parts_end_in_other_processes_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline travels with the parts of a table to whoever recodes them, and back comes that it was over."""
    policy = read(with_algorithm(dict(HOSPITAL.document)))
    problem = choose_start(pose_problem(encode(from_frame(hospital(3000), policy), policy), policy))
    assert problem is not None
    deadline = Deadline(0, lambda *_: None)  # what shows progress stays here: it could not be pickled
    found = recode_in_parts(problem, ("progressive",), Effort(10**6, 10**5), deadline, size=100)
    assert found is not None
    assert deadline.early
    assert problem.holds(found.partition).all()


def test_forms_without_a_search_refuse_it() -> None:
    """Anatomy and drawn rows have nothing to show before they are done, and the policy says so."""
    document = dict(HOSPITAL.document)
    for form in ("anatomy", "synthetic", "uncertain"):
        with pytest.raises(PolicyError):
            read(document | {"publish": {"form": form}, "algorithm": {"time_limit": 5}})


def test_a_deadline_is_told_once_and_shared() -> None:
    """Who was told that the time is over is remembered, by all that report through other functions as well."""
    deadline = Deadline(1, clock=ending_after(1))
    other = report_through(deadline, lambda *_: None)
    assert not is_over(deadline)
    assert is_over(other)
    assert deadline.early
    assert Deadline(5).ends > time.time()


def test_recodings_are_early_only_where_they_ended_so() -> None:
    """By itself a recoding is not early."""
    policy = HOSPITAL
    found = recode(encode(from_frame(hospital(100), policy), policy), policy)
    assert not found.early
    assert replace(found, early=True).early
