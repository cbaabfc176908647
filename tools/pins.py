"""Versions to install: the newest that pyproject.toml allows, written to requirements files, or the oldest, printed.

``python tools/pins.py newest`` asks pip for the newest versions and writes ``requirements.txt`` (what running needs),
``requirements-site.txt`` (what the documentation site needs) and ``requirements-dev.txt`` (both, and what testing and
linting need). It runs under the oldest Python that we support, so that the versions install under all of them.

``python tools/pins.py oldest`` prints what ``make test-oldest`` installs: every dependency and extra at its lower
bound, and the test tools as they are pinned.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
EXTRAS: list[str] = [requirement for extra in PROJECT["optional-dependencies"].values() for requirement in extra]
HEAD = "# Written by `make pins`: the newest versions that pyproject.toml allows. Do not edit.\n"


def main(arguments: list[str]) -> None:
    """Do what the one argument says."""
    match arguments:
        case ["newest"]:
            write_newest()
        case ["oldest"]:
            print("\n".join(oldest()))
        case _:
            sys.exit(__doc__)


def oldest() -> list[str]:
    """List every dependency and extra at its lower bound, and the test tools at the versions that are pinned."""
    pins = read_pins(ROOT / "requirements-dev.txt")
    bounds = [requirement.replace(">=", "==") for requirement in (*PROJECT["dependencies"], *EXTRAS)]
    return bounds + [f"{tool}=={pins[tool]}" for tool in group("test")]


def write_newest() -> None:
    """Write the three requirements files; what one settles, the next ones keep."""
    lowest = PROJECT["requires-python"].removeprefix(">=")
    if f"{sys.version_info.major}.{sys.version_info.minor}" != lowest:
        sys.exit(f"error: run this under Python {lowest}, so that the versions fit every Python we support")
    run = resolve(PROJECT["dependencies"], settled={})
    site = resolve(group("site"), settled=run)
    dev = resolve([*PROJECT["dependencies"], *EXTRAS, *group("dev")], settled=run | site)
    write("requirements.txt", run)
    write("requirements-site.txt", site)
    only_dev = {name: version for name, version in dev.items() if name not in run and name not in site}
    write("requirements-dev.txt", only_dev, "-r requirements.txt", "-r requirements-site.txt")


def group(name: str) -> list[str]:
    """List the requirements of a dependency group, those of groups that it includes among them."""
    members: list[str] = []
    for entry in PYPROJECT["dependency-groups"][name]:
        members += group(entry["include-group"]) if isinstance(entry, dict) else [entry]
    return members


def resolve(requirements: Iterable[str], *, settled: Mapping[str, str]) -> dict[str, str]:
    """Ask pip which versions it would install into an empty environment, given what is settled already."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.writelines(f"{name}=={version}\n" for name, version in settled.items())
        constraints.flush()
        options = ["--dry-run", "--ignore-installed", "--quiet", "--report=-", f"--constraint={constraints.name}"]
        command = [sys.executable, "-m", "pip", "install", *options, *requirements]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    found = {normalized(entry["metadata"]["name"]): entry["metadata"]["version"] for entry in report["install"]}
    return dict(sorted(found.items()))


def write(file: str, pins: Mapping[str, str], *includes: str) -> None:
    """Write a requirements file."""
    lines = [*includes, *(f"{name}=={version}" for name, version in pins.items())]
    (ROOT / file).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def read_pins(file: Path) -> dict[str, str]:
    """Read the versions of a requirements file, those of files that it includes among them."""
    pins: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            pins |= read_pins(file.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[name] = version
    return pins


def normalized(name: str) -> str:
    """Spell the name of a package as indexes do.

    >>> normalized("Typing_Extensions")
    'typing-extensions'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(sys.argv[1:])
