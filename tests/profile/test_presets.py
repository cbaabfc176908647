"""Presets change roles, hierarchies and thresholds, and name their source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError
from sfumato.profile import PRESETS, Proposal, propose
from sfumato.profile.presets.hipaa import RESTRICTED

Writes = Callable[[str | bytes], Path]


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


def test_safe_harbor(american: Path) -> None:
    """Dates, places, ZIP codes and ages above 89 go; three digits of a ZIP code, a state and ages up to 90 stay."""
    found = roles(propose(american, "hipaa-safe-harbor"))
    gone = ("ssn", "dob", "zip", "age", "city")
    assert {name: found[name] for name in gone} == dict.fromkeys(gone, "identifier")
    assert {found[name] for name in ("zip3", "capped_age", "state", "race")} == {"quasi"}


def test_safe_harbor_restricts_prefixes(writes: Writes) -> None:
    """Three digits that stand for 20,000 people or fewer must have become 000."""
    for code, role in (("036", "identifier"), ("000", "quasi")):
        rows = "".join(f"{['100', '606', code][row % 3]},{row % 2}\n" for row in range(30))
        found = propose(writes(f"zip,sex\n{rows}"), "hipaa-safe-harbor")
        assert roles(found)["zip"] == role
    assert len(RESTRICTED) == 19


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
