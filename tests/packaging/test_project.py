"""What is written in several places agrees: versions, pins, supported Pythons, the targets of make."""

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sfumato import __version__

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
REQUIREMENTS = [
    *PROJECT["dependencies"],
    *(requirement for extra in PROJECT["optional-dependencies"].values() for requirement in extra),
]


def text(path: str) -> str:
    """The text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pins() -> Any:
    """The module that finds versions to install."""
    spec = importlib.util.spec_from_file_location("pins", ROOT / "tools" / "pins.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that can be compared."""
    return tuple(int(part) for part in version.split(".")[:3])


def test_requirements_have_a_lower_bound_and_no_other() -> None:
    """A dependency states the oldest version that works, in full, and leaves newer ones to the user."""
    assert [
        requirement for requirement in REQUIREMENTS if not re.fullmatch(r"[a-z0-9-]+>=\d+\.\d+\.\d+", requirement)
    ] == []


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_pins_are_within_the_bounds(pins: Any, requirement: str) -> None:
    """What is pinned is allowed: running pins every dependency, development every extra as well."""
    name, _, bound = requirement.partition(">=")
    file = "requirements.txt" if requirement in PROJECT["dependencies"] else "requirements-dev.txt"
    assert numbers(pins.read_pins(ROOT / file)[name]) >= numbers(bound)


def test_requirement_files_agree(pins: Any) -> None:
    """No package is pinned at two versions, so that an environment can be filled step by step."""
    running, site, dev = (
        pins.read_pins(ROOT / file) for file in ("requirements.txt", "requirements-site.txt", "requirements-dev.txt")
    )
    assert dev == dev | running | site
    assert set(pins.group("dev")) <= dev.keys()


def test_running_installs_no_test_tools(pins: Any) -> None:
    """What `make demo` installs has no tool of testing, linting or documenting, and no frame library."""
    assert not pins.read_pins(ROOT / "requirements.txt").keys() & {*pins.group("dev"), "pandas", "polars", "matplotlib"}


def test_oldest_versions_are_the_bounds(pins: Any) -> None:
    """`make test-oldest` installs every dependency and every extra at its lower bound."""
    assert {requirement.replace(">=", "==") for requirement in REQUIREMENTS} <= set(pins.oldest())
    assert {pin.partition("==")[0] for pin in pins.oldest()} >= set(pins.group("test"))


def test_citation_has_the_version() -> None:
    """Whoever cites sfumato cites this version, and the changelog has a heading for it."""
    assert f"\nversion: {__version__}\n" in text("CITATION.cff")
    assert re.search(rf"^## {re.escape(__version__)}\b", text("CHANGELOG.md"), re.MULTILINE)


def test_supported_pythons_are_tested() -> None:
    """The workflow runs all tests under every Python that the package claims, the oldest being the one required."""
    claimed = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    (matrix,) = re.findall(r"^ +python: \[(.*)\]$", text(".github/workflows/test.yml"), re.MULTILINE)
    assert re.findall(r"[\d.]+", matrix) == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{claimed[0].replace('.', '')}"


def test_the_workflow_runs_everything() -> None:
    """A change has to pass `make test`, `make test-oldest` and `make site`, nothing less."""
    commands = re.findall(r"- run: make ([\w-]+)", text(".github/workflows/test.yml"))
    assert {"test", "test-oldest", "site"} <= set(commands)


def test_help_lists_every_target() -> None:
    """`make help` has a line for each target that somebody may ask for, and CONTRIBUTING only names such targets."""
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^make ([\w-]+)  ", listed, re.MULTILINE) == phony.split()
    named = re.findall(r"`make ([\w-]+)", text("CONTRIBUTING.md") + text("README.md") + text("docs/releasing.md"))
    assert set(named) <= set(phony.split())


def test_no_reference_to_what_is_gone() -> None:
    """Every path in code type in CONTRIBUTING and on the page about releasing is there."""
    named = re.findall(
        r"`((?:src|tests|docs|tools|benchmarks)/[\w/.-]*)`", text("CONTRIBUTING.md") + text("docs/releasing.md")
    )
    assert [path for path in named if not (ROOT / path).exists()] == []
