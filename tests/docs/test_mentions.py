"""The documentation names everything that a user can say."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from sfumato.cli.main import build_app
from sfumato.datasets import hospital, hospital_policy
from sfumato.models import DENSITY, LINKAGE, MODELS
from sfumato.models.distances import DISTANCES
from sfumato.policy import load, schema
from sfumato.policy.options import ALGORITHMS, LOCAL, RANGES, SCORES
from sfumato.profile.presets import PRESETS, Preset
from sfumato.recode.metrics import METRICS
from sfumato.release import anonymize
from sfumato.risk import RiskOptions, risk_by_columns
from sfumato.utility import AttributeLoss

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"


def guide(name: str) -> str:
    """The text of a guide, written by hand."""
    return (GUIDES / f"{name}.md").read_text(encoding="utf-8")


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its name, those of a group after the group's."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def options() -> Iterator[tuple[str, str]]:
    """Every command with every option it has."""
    for name, command in commands(typer.main.get_command(build_app())):
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


@pytest.mark.parametrize(
    "attack",
    [
        name.removeprefix("attack ")
        for name, _ in commands(typer.main.get_command(build_app()))
        if name.startswith("attack ")
    ],
)
def test_attacks_guide_has_a_section(attack: str) -> None:
    """The guide to the attacks has every attack in its table, with a link to its section."""
    assert re.search(rf"^\| \[`{attack}`\]\(#[\w-]+\) \|", guide("attacks"), re.MULTILINE)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_init_guide_has_a_preset(preset: Preset) -> None:
    """The guide to starting a policy has every preset, with the rule that it is from."""
    line = re.search(rf"^\| `{preset.name}` \|.*$", guide("init"), re.MULTILINE)
    assert line
    assert preset.source.split(",")[0].split(";")[0] in line[0]


def test_risk_guide_mentions_every_key(tmp_path: Path) -> None:
    """The guide to risk has every key that the command prints as JSON, whatever is asked for."""
    (tmp_path / "people.csv").write_text(
        "who,sex,town\n1,f,Bern\n1,f,\n2,m,Bern\n3,m,Bern\n4,m,Thun\n", encoding="utf-8"
    )
    data, quasi = tmp_path / "people.csv", ["sex", "town"]
    found = [
        risk_by_columns(data, quasi, individual="who", asked=RiskOptions(population=data)),
        risk_by_columns(data, quasi, asked=RiskOptions(fraction=0.5)),
    ]
    told = {key for one in found for key in one.as_json()}
    assert {"population", "population_uniqueness", "null", "columns", "linked"} <= told
    text = guide("risk") + guide("commands")
    assert {key for key in told if f"`{key}`" not in text} == set()


@pytest.mark.parametrize("key", sorted(set(keys(schema()))))
def test_policy_guide_mentions_key(key: str) -> None:
    """The guide to the policy has every key of its schema, in code type."""
    assert f"`{key}`" in guide("policy")


@pytest.mark.parametrize("model", [*MODELS, *LINKAGE, *DENSITY])
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


@pytest.mark.parametrize("name", [*ALGORITHMS, *METRICS])
def test_algorithms_guide_mentions(name: str) -> None:
    """The guide to the algorithms has every algorithm and every metric."""
    assert f"`{name}`" in guide("algorithms")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_policy_guide_mentions_algorithm(name: str) -> None:
    """The guide to the policy has every name that an algorithm can be asked for by."""
    assert f"`{name}`" in guide("policy")


@pytest.mark.parametrize("name", LOCAL)
def test_local_recoding_guide_has_a_section(name: str) -> None:
    """The guide to local recoding has a heading for each algorithm."""
    assert f"\n## `{name}`\n" in guide("local-recoding")


@pytest.mark.parametrize("form", RANGES)
def test_publishing_guide_mentions_form(form: str) -> None:
    """The guide to publishing has every form of ranges in its table of what they reveal."""
    assert f'\n| `"{form}"` |' in guide("publishing")


@pytest.mark.parametrize("algorithm", ["auto", "optimal"])
def test_publishing_guide_mentions_every_key(algorithm: str, tmp_path: Path) -> None:
    """The guide to publishing has every key of the manifest and of the audit, in code type."""
    policy = load(hospital_policy()).replace(algorithm=algorithm)
    _assert_explained(anonymize(hospital(500), policy).save(tmp_path / "release"))


def test_publishing_guide_mentions_every_key_of_chosen_labels(tmp_path: Path) -> None:
    """The guide to publishing has the keys that come with ranges and sets, those of a column among them."""
    table = hospital(200).select(["age", "job"])
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": True, "domain": [0, 119]}},
        "job": {"role": "quasi", "hierarchy": "sets"},
    }
    policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    folder = anonymize(table, policy).save(tmp_path / "release")
    _assert_explained(folder)
    manifest = json.loads((folder / "public" / "manifest.json").read_text(encoding="utf-8"))
    for part in (*manifest["columns"], *manifest["chosen_labels"]):
        assert {key for key in part if f"`{key}`" not in guide("publishing")} == set()


def test_publishing_guide_mentions_every_key_of_earlier_releases(tmp_path: Path) -> None:
    """The guide to publishing has the keys that come with earlier releases, those of each release among them."""
    earlier = tmp_path / "lab.csv"
    earlier.write_text("sex,test\nf,flu\nm,HIV\n", encoding="utf-8")
    policy = {
        "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}},
        "previous": [{"name": "lab", "table": str(earlier)}],
        "privacy": [{"model": "xy-anonymity", "x": ["sex", "lab.sex"], "y": ["$row"], "k": 2}],
    }
    folder = anonymize(hospital(200).select(["sex"]), policy).save(tmp_path / "release")
    _assert_explained(folder)
    for account in ("public/manifest.json", "private/audit.json"):
        (entry,) = json.loads((folder / account).read_text(encoding="utf-8"))["previous"]
        assert {key for key in entry if f"`{key}`" not in guide("publishing")} == set()


@pytest.mark.parametrize("name", [*SCORES, "score", "class"])
def test_algorithms_guide_mentions_score(name: str) -> None:
    """The guide to the algorithms has every score of top-down specialization, and the keys that choose one."""
    assert f"`{name}`" in guide("algorithms")


def test_commands_guide_mentions_figures_of_a_column() -> None:
    """The guide to the commands has every figure that is measured of a column."""
    for field in fields(AttributeLoss):
        assert f"`{field.name}`" in guide("commands")


def _assert_explained(folder: Path) -> None:
    for account in (folder / "public" / "manifest.json", folder / "private" / "audit.json"):
        for key in json.loads(account.read_text(encoding="utf-8")):
            assert f"`{key}`" in guide("publishing"), key


@pytest.mark.parametrize("number", [*range(1, 17), 18, 19, 20])
def test_trust_page_has_a_line(number: int) -> None:
    """The page on trust has a line for each property, which names its test."""
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| {number} \|.*`test_trust_{number:02}", page, re.MULTILINE)
