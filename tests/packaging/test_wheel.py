"""What is built can be installed: the wheel runs in an environment that has its declared dependencies and no more."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement  # pytest itself needs it

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("hatchling") is None, reason="building needs hatchling: run make setup-dev"),
]


def build(source: Path, target: str, folder: Path) -> Path:
    """Build a wheel or a source archive from a source tree, with the hatchling that is installed."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, built from this tree."""
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


def closure(requirements: list[str]) -> dict[str, Distribution]:
    """Find the installed distributions of these requirements, and of all that they require in turn."""
    distributions: dict[str, Distribution] = {}
    queue = list(requirements)
    while queue:
        requirement = Requirement(queue.pop())
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and requirement.name not in distributions:
            distributions[requirement.name] = distribution(requirement.name)
            queue += distributions[requirement.name].requires or []
    return distributions


def site_packages(environment: Path) -> Path:
    """The folder of an environment that packages are installed into."""
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment into which pip installed the wheel, with its dependencies linked from the running one."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True, env={"PATH": os.environ["PATH"]})
    try:
        dependencies = closure(distribution_of(wheel)["Requires-Dist"])
    except PackageNotFoundError as error:
        pytest.skip(f"{error.name}, which the wheel requires, is not installed here as a package")
    for dependency in dependencies.values():
        for part in {file.parts[0] for file in dependency.files or [] if ".." not in file.parts}:
            link = site_packages(folder) / part
            if not link.exists():
                link.symlink_to(Path(str(dependency.locate_file(part))))
    return folder


def distribution_of(wheel: Path) -> dict[str, list[str]]:
    """The metadata of a wheel: every field with its values, requirements of extras left out."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(name).decode())
    values = {field: [str(value) for value in fields.get_all(field, [])] for field in fields}
    return values | {"Requires-Dist": [line for line in values["Requires-Dist"] if "extra ==" not in line]}


def run(environment: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a folder, with nothing of this tree in its way."""
    command = [str(environment / "bin" / "sfumato"), *arguments]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_demo_runs_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    """In an environment with the declared dependencies alone, the demo makes a release and the release verifies."""
    demo = run(environment, tmp_path, "demo", "--out", "release")
    assert demo.returncode == 0, demo.stderr
    assert {path.name for path in (tmp_path / "release" / "public").iterdir()} == {
        "table.csv",
        "manifest.json",
        "summary.html",
    }
    verify = run(environment, tmp_path, "verify", "release")
    assert verify.returncode == 0, verify.stderr
    assert "the release holds" in verify.stdout


def test_the_wheel_is_what_runs(environment: Path, tmp_path: Path) -> None:
    """The package of that environment is the installed one, and it is as typed as this one."""
    program = "import sfumato, pathlib; print(pathlib.Path(sfumato.__file__).parent)"
    command = [str(environment / "bin" / "python"), "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == site_packages(environment) / "sfumato"
    assert (site_packages(environment) / "sfumato" / "py.typed").exists()


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every file of the package is in the wheel, data files included; tests and documentation are not."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    there = {path.relative_to(source).as_posix() for path in (source / "sfumato").rglob("*") if path.is_file()}
    assert packed == {name for name in there if "__pycache__" not in name}


def test_the_source_archive_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    """Whoever has the source archive alone builds the wheel that we build, and finds the tests in it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert (tree / "tests" / "packaging" / "test_wheel.py").exists()
    rebuilt = build(tree, "wheel", tmp_path / "dist")
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(rebuilt) as theirs:
        assert {name: ours.read(name) for name in ours.namelist()} == {
            name: theirs.read(name) for name in theirs.namelist()
        }


def test_metadata(wheel: Path) -> None:
    """The wheel says its licence, the Pythons it runs under, where it comes from, and what its extras are."""
    fields = distribution_of(wheel)
    assert fields["License-Expression"] == ["Apache-2.0"]
    assert fields["Requires-Python"] == [">=3.11"]
    assert set(fields["Provides-Extra"]) == {
        *("all", "app", "databases", "excel", "learn", "pandas", "papers", "party", "polars", "spark", "stats")
    }
    assert {line.split(",")[0] for line in fields["Project-URL"]} >= {"Homepage", "Source", "Changelog"}
