"""Permanent responses: an answer that is asked for again is sent as it was, and averaging learns nothing more."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sfumato.channels.additive_noise import GaussianNoise
from sfumato.channels.category_noise import ResponseNoise
from sfumato.collect import PermanentResponses
from sfumato.collect.basket_noise import FlipNoise
from sfumato.collect.permanent_response import perturb_answer
from sfumato.errors import DataError, InputError

NOISE = GaussianNoise(20.0, (0.0, 100.0))


@pytest.mark.slow
def test_a_thousand_repeats_learn_nothing_more(tmp_path: Path) -> None:
    """Drawn anew, the mean of a thousand reports gives an answer away; remembered, it is as far off as one report."""
    anew = np.array([perturb_answer("age", NOISE, 34) for _ in range(1000)])
    assert abs(anew.mean() - 34) < 4  # six standard errors
    memory = PermanentResponses(tmp_path / "memory")
    remembered = {memory.report("age", NOISE, 34) for _ in range(1000)}
    assert len(remembered) == 1
    people = [PermanentResponses(tmp_path / f"memory{place}") for place in range(25)]
    means = [np.mean([person.report("age", NOISE, 34) for _ in range(20)]) for person in people]
    assert 20 * 0.45 < np.std(means) < 20 * 1.75  # χ² of 24 degrees, beyond one in a million


def test_question_noise_and_answer_are_told_apart(tmp_path: Path) -> None:
    """Another question, noise or answer has a report of its own; another way of writing the same answer has not."""
    memory = PermanentResponses(tmp_path / "memory")
    first = memory.report("age", NOISE, 34)
    assert memory.report("age", NOISE, 34.0) == memory.report("age", NOISE, np.int64(34)) == first
    others = [
        memory.report("weight", NOISE, 34),
        memory.report("age", GaussianNoise(21.0, (0.0, 100.0)), 34),
        memory.report("age", NOISE, 35),
    ]
    assert len({first, *others}) == 4
    flip = FlipNoise(tuple("abcdefghijklmnop"), 0.6)
    assert memory.report("b", flip, ["a", "b"]) == memory.report("b", flip, ("b", "a"))


def test_the_memory_is_its_owners_alone(tmp_path: Path) -> None:
    """The file is made for its owner; one that others can read is refused, and so is a link or a folder."""
    path = tmp_path / "memory"
    before = os.umask(0)
    try:
        PermanentResponses(path).report("age", NOISE, 34)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        PermanentResponses(path).report("age", NOISE, 34)
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "text").write_text("no database " * 100)
    (tmp_path / "text").chmod(0o600)
    for name in ("link", ".", "text"):
        with pytest.raises(InputError, match=r"name another file|chmod 600"):
            PermanentResponses(tmp_path / name).report("age", NOISE, 34)


@pytest.mark.slow
def test_two_processes_draw_once(tmp_path: Path) -> None:
    """Of processes that ask at the same moment one draws, and all send the same."""
    path = tmp_path / "memory"
    code = (
        "import sys; from sfumato.collect import PermanentResponses as P\n"
        "from sfumato.channels.additive_noise import GaussianNoise as G\n"
        "print([P(sys.argv[1]).report(f'q{n}', G(20.0, (0.0, 100.0)), 34) for n in range(20)])"
    )
    run = [subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {one.communicate(timeout=120)[0] for one in run}
    assert [one.returncode for one in run] == [0] * 4
    assert len(said) == 1


@pytest.mark.parametrize("answer", [101, -1, float("nan"), "34", None, True])
def test_a_number_outside_the_domain_is_not_drawn_for(tmp_path: Path, answer: object) -> None:
    """It is refused by the name of the question, without the value, and nothing is remembered of it."""
    with pytest.raises(DataError, match="column 'age'") as error:
        PermanentResponses(tmp_path / "memory").report("age", NOISE, answer)
    assert "101" not in str(error.value)


def test_answers_that_the_noise_does_not_know_are_refused() -> None:
    """A value or an item that is not among those of the noise has no report."""
    with pytest.raises(DataError, match="none of the values"):
        perturb_answer("vote", ResponseNoise(("a", "b"), 0.5), "c")
    with pytest.raises(DataError, match="an item that the noise does not know"):
        perturb_answer("basket", FlipNoise(("a", "b"), 0.9), ["c"])
    with pytest.raises(DataError, match="must be a list of items"):
        perturb_answer("basket", FlipNoise(("a", "b"), 0.9), "ab")
