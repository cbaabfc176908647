"""Submissions: whatever the noise produces is read, and nothing else."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.collect import CollectionForm
from sfumato.collect.noise import Noise
from sfumato.collect.permanent_response import perturb_answer
from sfumato.collect.submission import longest_submission, read_submission, write_submission
from sfumato.core.randomness import Randomness
from sfumato.serving.refused_request import Refused

KEY = "0123456789abcdef" * 2
REPORTS: dict[str, Any] = {
    "age": 41.25,
    "hours": -3.5,
    "files": 123.0,
    "use": "notes",
    "sex": "f",
    "language": ["Ada", "Go"],
    "features": [],
}
TRUE: dict[str, Any] = {
    "age": 34,
    "hours": 20.5,
    "files": 20000,
    "use": "papers",
    "sex": "m",
    "language": "C",
    "features": ["macros"],
}


@given(seed=st.integers(0, 2**32))
def test_what_the_noise_produces_is_read(form: CollectionForm, seed: int) -> None:
    """Reports drawn from the noise of every kind pass, and come back as the cells that were sent."""
    randomness = Randomness(seed)
    reports = {name: perturb_answer(name, one, TRUE[name], randomness) for name, one in form.noise.columns.items()}
    body = write_submission(KEY, "d", reports)
    assert len(body) <= longest_submission(form.noise)
    cells = dict(zip(reports, read_submission(body, form.noise, "d").cells, strict=True))
    assert cells == {key: "|".join(one) if isinstance(one, list) else one for key, one in reports.items()}


@pytest.mark.parametrize(
    "noise", [GaussianNoise(3.0, (0.0, 60.0)), LaplaceNoise(3.0, (0.0, 60.0)), UniformNoise(3.0, (0.0, 60.0))]
)
def test_the_farthest_reports_are_admitted_and_no_farther_ones(noise: AdditiveNoise) -> None:
    """The extremes of what can be drawn pass, finite, and a report one spread beyond them does not."""

    class Extremes(Randomness):
        def words(self, count: int) -> Any:
            return np.array([0, 2**64 - 1], np.uint64)[:count]

    least, most = noise.perturb(np.array([0.0, 60.0]), Extremes())
    assert np.isfinite([least, most]).all()
    assert noise.admits(np.array([least, most])).all()
    assert not noise.admits(np.array([least - noise.spread, most + noise.spread, 1e300])).any()


@pytest.mark.parametrize(
    "changed",
    [
        {"age": 41.23456789},
        {"age": 1e6},
        {"age": True},
        {"age": "41"},
        {"age": None},
        {"age": 10**400},
        {"files": 25001.0},
        {"files": -5001.0},
        {"use": "other"},
        {"use": ["notes"]},
        {"sex": "F"},
        {"language": ["Ada", "Ada"]},
        {"language": ["Cobol"]},
        {"language": "Ada"},
        {"features": [1]},
        {"features": {"macros": 1}},
    ],
)
def test_what_the_noise_cannot_produce_is_refused(form: CollectionForm, changed: dict[str, Any]) -> None:
    """Off the grid, out of reach, of another type or not among the answers: refused, by the name of the question."""
    with pytest.raises(Refused) as error:
        read_submission(write_submission(KEY, "d", REPORTS | changed), form.noise, "d")
    assert error.value.status == 422
    assert str(error.value).startswith(next(iter(changed)))


@pytest.mark.parametrize(
    ("status", "changed"),
    [
        (400, {"format": "sfumato-answer/2"}),
        (400, {"key": "short"}),
        (400, {"key": KEY.upper()}),
        (400, {"key": 3}),
        (400, {"more": 1}),
        (409, {"noise": "another"}),
        (422, {"reports": {}}),
        (422, {"reports": REPORTS | {"name": "Ann"}}),
        (422, {"reports": [1]}),
    ],
)
def test_another_form_of_submission_is_refused(form: CollectionForm, status: int, changed: dict[str, Any]) -> None:
    """Keys that are missing, too many or of another kind are refused; so is a report drawn from another noise."""
    content = json.loads(write_submission(KEY, "d", REPORTS)) | changed
    with pytest.raises(Refused) as error:
        read_submission(json.dumps(content).encode(), form.noise, "d")
    assert error.value.status == status


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[" * 100_000, b"[]", b"3", b'{"age": NaN}', b'{"a": 1, "a": 2}', b"9" * 5000]
)
def test_what_is_no_json_object_is_refused(form: CollectionForm, body: bytes) -> None:
    """Damaged, deeply nested and doubled texts end in the same sentence, never in another error."""
    with pytest.raises(Refused) as error:
        read_submission(body, form.noise, "d")
    assert error.value.status == 400


def test_no_digit_carries_anything_else() -> None:
    """A number within a rounding error of the grid is stored as the number of the grid."""
    noise = Noise({"age": LaplaceNoise(20.0, (10.0, 90.0))})
    (cell,) = read_submission(write_submission(KEY, "d", {"age": 41.25 + 1e-14}), noise, "d").cells
    assert cell == 41.25
