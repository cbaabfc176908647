"""The guide to attacks names every figure."""

from dataclasses import fields
from pathlib import Path

import pytest

from sfumato.attack.definetti import Attacked, Beyond, Definetti, Sampled

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "attacks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "key", [field.name for each in (Attacked, Beyond, Definetti, Sampled) for field in fields(each)]
)
def test_the_guide_mentions_every_figure(key: str) -> None:
    """Every key that the command prints stands in the guide, in code type."""
    assert f"`{key}`" in GUIDE
