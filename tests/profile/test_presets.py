"""Presets change roles, hierarchies and thresholds, and name their source."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError
from sfumato.policy import Role
from sfumato.profile import PRESETS, Proposal, propose
from sfumato.profile.presets import NO_PRESET, RoleChange, load_presets


def roles(proposal: Proposal) -> dict[str, str]:
    """The role of each column."""
    return {name: entry["role"] for name, entry in proposal.document["columns"].items()}


def models(proposal: Proposal) -> dict[str, dict[str, Any]]:
    """The requirements by model."""
    return {entry["model"]: entry for entry in proposal.document["privacy"]}


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_changes_the_policy_and_names_its_source(american: Path, name: str) -> None:
    """Every preset gives another document than none does, with its source and what it leaves open in comments."""
    plain, preset = propose(american), propose(american, name)
    assert preset.document != plain.document
    flat = " ".join(line.removeprefix("#").strip() for line in preset.text.splitlines())
    assert PRESETS[name].source in flat
    assert "What this policy does not do:" in flat


def test_ema(american: Path, visits_file: Path) -> None:
    """A risk of 0.09 needs classes of 12, since 1/11 is more; of persons where a column names them."""
    assert models(propose(american, "ema-0070"))["k-anonymity"]["k"] == 12
    assert 1 / 12 <= 0.09 < 1 / 11
    assert models(propose(visits_file, "ema-0070"))["identity-k-anonymity"]["linked_k"] == 12


def test_cms(american: Path) -> None:
    """Cells of diagnoses count 11 as well: nothing is sensitive and nobody is dropped."""
    found = propose(american, "cms")
    assert roles(found)["diagnosis"] == "quasi"
    assert found.document["privacy"] == [{"model": "k-anonymity", "k": 11}]
    assert found.document["algorithm"]["suppression"] == 0


def test_statistics_office(american: Path, visits_file: Path) -> None:
    """Ten units, no value with more than 90 % of a class, no person with more than half of it."""
    found = models(propose(american, "statistics-office"))
    assert found["k-anonymity"]["k"] == 10
    assert found["alpha-deassociation"]["alpha"] == 0.9
    found = models(propose(visits_file, "statistics-office"))
    assert found["identity-alpha-beta"] == {
        "model": "identity-alpha-beta",
        "column": "illness",
        "alpha": 0.5,
        "beta": 0.9,
    }


def test_gdpr(american: Path) -> None:
    """Ethnic origin is a special category; bounds are tighter, and it is said that no number is in the law."""
    found = propose(american, "gdpr")
    assert roles(found)["race"] == "sensitive"
    assert models(found)["k-anonymity"]["k"] == 10
    assert "no number is in the law" in found.text


def test_unknown_preset(american: Path) -> None:
    """A name that is no preset is refused with the nearest one."""
    with pytest.raises(InputError, match="there is no preset 'hippa-safe-harbor'; did you mean hipaa-safe-harbor"):
        propose(american, "hippa-safe-harbor")


PRESET = """
[mine]
title = "A rule"
source = "a book"
k = 7
"""
CHANGE = """
[[mine.role_changes]]
from = "quasi"
to = "identifier"
add_reason = "; left out"
"""


def test_a_preset_is_read() -> None:
    """What a preset does not say is as without one."""
    preset = load_presets(PRESET + CHANGE)["mine"]
    assert (preset.name, preset.k, preset.alpha) == ("mine", 7, NO_PRESET.alpha)
    assert preset.allows_sensitive
    (change,) = preset.role_changes
    assert change == RoleChange(Role.QUASI, Role.IDENTIFIER, "; left out")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PRESET + "kk = 3", "mine has a wrong key or value: kk = 3"),
        (PRESET + 'alpha = "high"', "mine has a wrong key or value: alpha = 'high'"),
        ('[mine]\ntitle = "A rule"', "mine needs a title and a source"),
        (PRESET + CHANGE + 'concepts = ["towns"]', "role change with towns"),
        (PRESET + CHANGE + "when = 1", "role change with when"),
        (PRESET + CHANGE.replace("quasi", "quasy"), "quasy"),
    ],
)
def test_a_preset_that_nobody_could_apply_is_refused(text: str, says: str) -> None:
    """Keys, roles and concepts that there are not are found when the file is loaded."""
    with pytest.raises(ValueError, match=says):
        load_presets(text)
