"""The documentation names everything that a user can say."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from sfumato.cli.main import app
from sfumato.datasets import hospital, hospital_policy
from sfumato.models import MODELS
from sfumato.models.distances import DISTANCES
from sfumato.policy import schema
from sfumato.recode.metrics import METRICS
from sfumato.recode.run import ALGORITHMS
from sfumato.release import anonymize

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"


def guide(name: str) -> str:
    """The text of a guide, written by hand."""
    return (GUIDES / f"{name}.md").read_text(encoding="utf-8")


def options() -> Iterator[tuple[str, str]]:
    """Every command with every option it has."""
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        for parameter in command.params:
            yield from ((name, option) for option in parameter.opts if option.startswith("--"))


def keys(part: Any) -> Iterator[str]:
    """Every key that a JSON schema allows, at any depth."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if name == "properties":
                yield from inner
            yield from keys(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from keys(inner)


@pytest.mark.parametrize(("command", "option"), sorted(options()))
def test_commands_guide_mentions_option(command: str, option: str) -> None:
    """The guide to the commands has the option under the heading of its command."""
    section = re.search(rf"^## `sfumato {command}`\n(.*?)(?=^## |\Z)", guide("commands"), re.MULTILINE | re.DOTALL)
    assert section, f"no heading for sfumato {command}"
    assert f"`{option}" in section[1]


@pytest.mark.parametrize("key", sorted(set(keys(schema()))))
def test_policy_guide_mentions_key(key: str) -> None:
    """The guide to the policy has every key of its schema, in code type."""
    assert f"`{key}`" in guide("policy")


@pytest.mark.parametrize("model", MODELS)
def test_models_guide_has_a_section(model: str) -> None:
    """The guide to the models has a heading for each, with its keys and its source."""
    section = re.search(rf"^## `{model}`\n(.*?)(?=^## |\Z)", guide("models"), re.MULTILINE | re.DOTALL)
    assert section
    for part in ("Definition", "Threat", "Does not stop", "Keys", "Monotone", "Source"):
        assert f"**{part}" in section[1]


@pytest.mark.parametrize("distance", DISTANCES)
def test_models_guide_mentions_distance(distance: str) -> None:
    """The guide to the models has every distance of t-closeness."""
    assert f"`{distance}`" in guide("models")


@pytest.mark.parametrize("name", [*ALGORITHMS, "auto", *METRICS])
def test_algorithms_guide_mentions(name: str) -> None:
    """The guide to the algorithms has every algorithm and every metric."""
    assert f"`{name}`" in guide("algorithms")


def test_publishing_guide_mentions_every_key(tmp_path: Path) -> None:
    """The guide to publishing has every key of the manifest and of the audit, in code type."""
    folder = anonymize(hospital(500), hospital_policy()).save(tmp_path / "release")
    for account in (folder / "public" / "manifest.json", folder / "private" / "audit.json"):
        for key in json.loads(account.read_text(encoding="utf-8")):
            assert f"`{key}`" in guide("publishing"), key


@pytest.mark.parametrize("number", range(1, 16))
def test_trust_page_has_a_line(number: int) -> None:
    """The page on trust has a line for each property, which names its test."""
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| {number} \|.*`test_trust_{number:02}", page, re.MULTILINE)
