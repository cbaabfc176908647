"""The shape of the package: names that stand once, and imports that never go round, lazy and type imports counted."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sfumato

ROOT = Path(sfumato.__file__).parent
SHARED = {"verifier.checks": "checks", "verifier.verify": "verify", "ledger.ledger": "ledger"}
"""Modules outside the commands that share a name, with the command or the documented package they share it with."""


def _modules() -> dict[str, ast.Module]:
    """The tree of every module, by its dotted name."""
    files = {path.relative_to(ROOT.parent).with_suffix(""): path for path in sorted(ROOT.rglob("*.py"))}
    names = {".".join(parts.parts).removesuffix(".__init__"): path for parts, path in files.items()}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in names.items()}


MODULES = _modules()


def _imported(name: str, tree: ast.Module) -> Iterator[str]:
    """Every module that some statement of a module imports, wherever the statement is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            source = node.module or name
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                yield whole if whole in MODULES else source


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Not even inside functions or for types; `sfumato` itself only points at names, and imports them when asked."""
    graph = {
        name: {other for other in _imported(name, tree) if other in MODULES and other not in (name, "sfumato")}
        for name, tree in MODULES.items()
        if name != "sfumato"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_class_name_stands_once() -> None:
    """So that a search for a name finds one class."""
    where = defaultdict(list)
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                where[node.name].append(name)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}


def test_a_module_name_stands_once() -> None:
    """Commands are called what they run; all other modules have a name of their own."""
    where = defaultdict(list)
    for name in MODULES:
        is_package = any(other.startswith(name + ".") for other in MODULES)
        if not is_package and ".cli." not in name and name.removeprefix("sfumato.") not in SHARED:
            where[name.rpartition(".")[2]].append(name)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}


def test_nothing_is_put_into_a_frozen_value() -> None:
    """No assignment into a `__dict__`."""
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                inside = target.value if isinstance(target, ast.Subscript) else target
                assert not (isinstance(inside, ast.Attribute) and inside.attr == "__dict__"), name


def test_no_expression_is_evaluated_for_its_side_effect() -> None:
    """A statement does something by a call; a bare attribute that works something out hides what it does."""
    for name, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr):
                assert not isinstance(node.value, ast.Attribute | ast.Subscript | ast.Name), f"{name}:{node.lineno}"


def test_sentences_quote_in_one_way() -> None:
    """No module puts a value into a sentence by its `repr`: `quote` does, and cuts what is too long for a sentence.

    Left out are what is for developers (ValueError), SQL, and the experiments, datasets and contracts.
    """
    elsewhere = ("sfumato.errors", "sfumato.papers", "sfumato.datasets", "sfumato.testing", "sfumato.verifier.checks")
    for name, tree in MODULES.items():
        if name.startswith(elsewhere):
            continue
        internal = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise) and "ValueError" in ast.unparse(node)
            for part in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
                assert id(node) in internal, f"{name}, line {node.lineno}"
