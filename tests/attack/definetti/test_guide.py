"""The guide to attacks names every figure."""

from dataclasses import fields
from pathlib import Path

import pytest

from sfumato.attack.definetti import DefinettiFigures, DefinettiResult, LinesBeyondBound, SampleSize

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "attacks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "key",
    [
        field.name
        for each in (DefinettiFigures, LinesBeyondBound, DefinettiResult, SampleSize)
        for field in fields(each)
    ],
)
def test_the_guide_mentions_every_figure(key: str) -> None:
    """Every key that the command prints stands in the guide, in code type."""
    assert f"`{key}`" in GUIDE
