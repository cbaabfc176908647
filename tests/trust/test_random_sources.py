"""TRUST 21: what protects anybody is drawn from the operating system, and a seed is for tests and is recorded."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]

HOUSE = Path(sfumato.__file__).parent
MAKES_RELEASES = (
    *("core", "models", "hierarchy", "policy", "table", "encode.py", "labels", "previous", "recode", "split"),
    "masking",
    *("publish", "reading", "verifier", "release", "ledger"),
    *("channels/additive_noise.py", "channels/category_noise.py", "collect/basket_noise.py", "collect/perturbation.py"),
    *("collect/noise_correlation.py", "collect/permanent_response.py", "collect/collector_client.py"),
)
"""All that a row meets on its way into a release, and all that an answer meets before it is sent."""


def _modules(part: str) -> Iterator[Path]:
    path = HOUSE / part
    yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def _draws(tree: ast.AST) -> Iterator[str]:
    """Uses of generators whose numbers can be foretold: the module `random`, and what numpy has under that name."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names if one.name in {"random", "numpy.random"})
            case ast.ImportFrom(module="random" | "numpy.random" as module):
                yield str(module)
            case ast.ImportFrom(module="numpy", names=names):
                yield from (one.name for one in names if one.name == "random")
            case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
                yield "np.random"


@pytest.mark.parametrize("part", MAKES_RELEASES)
def test_trust_21_nothing_that_makes_a_release_draws_foretellable_numbers(part: str) -> None:
    """One module draws for all that protect, and there a generator of numpy's stands for a seed alone."""
    modules = list(_modules(part))
    assert modules
    found = {path.relative_to(HOUSE).as_posix(): list(_draws(ast.parse(path.read_text()))) for path in modules}
    assert {name: uses for name, uses in found.items() if uses and name != "core/randomness.py"} == {}


def test_trust_21_the_lint_knows_such_draws() -> None:
    """The walk finds every way of writing them; ruff's rules S311 and NPY002 watch the rest of the house."""
    for text in (
        "import random",
        "from random import Random",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.default_rng()",
    ):
        assert list(_draws(ast.parse(text))), text


def test_trust_21_a_seed_is_recorded_inside_and_told_nobody(rules: Rules, saves: Saves) -> None:
    """The private audit has the seed of a release that was made with one; no public file does."""
    seed = 918273645
    policy = rules({"q": "quasi"}, algorithm={"seed": seed})
    folder = saves(pa.table({"q": ["a", "b"] * 20}), policy)
    assert json.loads((folder / "private" / "audit.json").read_text())["seed"] == seed
    assert all(str(seed).encode() not in path.read_bytes() for path in (folder / "public").iterdir())
