"""What ``import sfumato as sf`` shows, costs and lets one call."""

import importlib
import inspect
import subprocess
import sys

import pytest

import sfumato as sf
from sfumato.callable_package import ATTACKS, FUNCTIONS

PROGRAM = """
import sys
import sfumato as sf
names = dir(sf)
assert set(sf.__all__) <= set(names), names
heavy = {"numpy", "pyarrow", "duckdb", "pandas", "polars", "sfumato.api", "sfumato.risk"} & set(sys.modules)
assert not heavy, heavy
"""


def test_dir_shows_every_public_name_and_imports_none() -> None:
    """Completion knows all names in a fresh process that has imported nothing heavy for it."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


@pytest.mark.parametrize("name", sf.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """Each name of `__all__` can be had, and is in `dir`."""
    assert getattr(sf, name) is not None
    assert name in dir(sf)


@pytest.mark.parametrize("package", FUNCTIONS)
def test_a_package_that_can_be_called_is_a_package_still(package: str) -> None:
    """It has its parts under their names, says how it is called, and is the same wherever it was imported first."""
    module = importlib.import_module(package)
    assert callable(module)
    assert module is sys.modules[package]
    assert inspect.signature(module).parameters
    assert module.__doc__


def test_attacks_are_listed_and_others_are_refused() -> None:
    """`dir(sf.attack)` has each attack, which can be called; another name is an error as of any module."""
    assert set(ATTACKS) <= set(dir(sf.attack))
    assert all(callable(getattr(sf.attack, name)) for name in ATTACKS)
    with pytest.raises(AttributeError, match=r"'sfumato\.attack' has no attribute 'guess'"):
        sf.attack.guess  # type: ignore[attr-defined]  # noqa: B018 - it is to be refused
    with pytest.raises(AttributeError, match="'sfumato' has no attribute 'anonymise'"):
        sf.anonymise  # noqa: B018 - same
