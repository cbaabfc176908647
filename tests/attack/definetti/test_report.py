"""The section of the private report on what a learner can guess."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.attack.bound import bounds
from sfumato.attack.definetti import DefinettiFigures, Original, definetti
from sfumato.release import Release, prepare
from sfumato.report.risk_sections import learner_section
from sfumato.split import tables_from_recoding

Makes = Callable[..., Any]

COLUMNS = {
    "job": {"role": "quasi", "hierarchy": "suppress"},
    "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 3}},
    "<b>ill</b>": {"role": "sensitive"},
}
ALPHA = {"model": "alpha-k-anonymity", "k": 3, "alpha": 0.5, "column": "<b>ill</b>"}


def _release(form: str, rows: int = 600) -> Release:
    draw = np.random.default_rng(1)
    job = draw.integers(0, 5, rows)
    ill = np.where(draw.random(rows) < 0.8, job, draw.integers(0, 5, rows))
    table = pa.table(
        {
            "job": [f"job {one}" for one in job],
            "zip": [f"{one:03}" for one in draw.integers(0, 300, rows)],
            "<b>ill</b>": [f"ill {one}" for one in ill],
        }
    )
    return prepare(table, {"columns": COLUMNS, "privacy": [ALPHA], "publish": {"form": form}, "algorithm": {"seed": 1}})


def _tried(release: Release) -> DefinettiFigures:
    assert release.attacks.definetti is not None
    return release.attacks.definetti.columns["<b>ill</b>"]


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
def test_section_tells_bound_attack_and_outside(form: str) -> None:
    """Bound, attack and the same learner outside stand in the table and in sentences, names escaped."""
    release = _release(form)
    found = _tried(release)
    assert release.attacks.definetti is not None
    section = learner_section(release.attacks.definetti)
    assert found.bound == 0.5
    assert found.outside is not None
    words = re.sub(r"<[^>]+>", " ", section)
    for title, figure in (("bound", 0.5), ("The attack, in", found.attack), ("learner, outside", found.outside)):
        assert re.search(rf"{title} [^%]* {100 * figure:.1f}%", words)
    assert "does not break the promise" in words
    assert "<b>" not in section
    assert "&lt;b&gt;ill&lt;/b&gt;" in section


def test_the_report_and_the_command_try_the_same() -> None:
    """Figures in memory are those of the thorough attack where the table is small, but for parts held out."""
    release = _release("lossy-join")
    tables = tables_from_recoding(release.encoded, release.recoding)
    whole = definetti(tables, Original.of_encoded(release.encoded), bounds(release.policy, tables))
    quick, thorough = _tried(release), whole.columns["<b>ill</b>"]
    assert (quick.attack, quick.bag, quick.sampled) == (thorough.attack, thorough.bag, thorough.sampled)
    assert quick.outside == pytest.approx(thorough.outside, abs=0.1)
