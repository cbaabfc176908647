"""The shape of the package: names that stand once, and imports that never go round, lazy and type imports counted."""

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sfumato

ROOT = Path(sfumato.__file__).parent
SHARED = {"verifier.checks": "checks", "verifier.verify": "verify", "ledger.ledger": "ledger"}
"""Modules outside the commands that share a name, with the command or the documented package they share it with."""


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The tree of every module, by its dotted name."""
    files = {path.relative_to(ROOT.parent).with_suffix(""): path for path in sorted(ROOT.rglob("*.py"))}
    names = {".".join(parts.parts).removesuffix(".__init__"): path for parts, path in files.items()}
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in names.items()}


@functools.cache
def nodes() -> dict[str, list[ast.AST]]:
    """All that stands in a module, at any depth, by the module's name; a walk takes longer than any question here."""
    return {name: list(ast.walk(tree)) for name, tree in trees().items()}


def _imported(name: str) -> Iterator[str]:
    """Every module that some statement of a module imports, wherever the statement is."""
    for node in nodes()[name]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in trees())
        elif isinstance(node, ast.ImportFrom):
            source = node.module or name
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                yield whole if whole in trees() else source


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Not even inside functions or for types; `sfumato` itself only points at names, and imports them when asked."""
    graph = {
        name: {other for other in _imported(name) if other in trees() and other not in (name, "sfumato")}
        for name in trees()
        if name != "sfumato"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_class_name_stands_once() -> None:
    """So that a search for a name finds one class."""
    where = defaultdict(list)
    for name, inside in nodes().items():
        for node in inside:
            if isinstance(node, ast.ClassDef):
                where[node.name].append(name)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}


def test_a_module_name_stands_once() -> None:
    """Commands are called what they run; all other modules have a name of their own."""
    where = defaultdict(list)
    for name in trees():
        is_package = any(other.startswith(name + ".") for other in trees())
        if not is_package and ".cli." not in name and name.removeprefix("sfumato.") not in SHARED:
            where[name.rpartition(".")[2]].append(name)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}


def test_nothing_is_put_into_a_frozen_value() -> None:
    """No assignment into a `__dict__`."""
    for name, inside in nodes().items():
        for node in inside:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                whole = target.value if isinstance(target, ast.Subscript) else target
                assert not (isinstance(whole, ast.Attribute) and whole.attr == "__dict__"), name


def test_no_expression_is_evaluated_for_its_side_effect() -> None:
    """A statement does something by a call; a bare attribute that works something out hides what it does."""
    for name, inside in nodes().items():
        for node in inside:
            if isinstance(node, ast.Expr):
                assert not isinstance(node.value, ast.Attribute | ast.Subscript | ast.Name), f"{name}:{node.lineno}"


def test_sentences_quote_in_one_way() -> None:
    """No module puts a value into a sentence by its `repr`: `quote` does, and cuts what is too long for a sentence.

    Left out are what is for developers (ValueError), SQL, and the experiments, datasets and contracts.
    """
    elsewhere = ("sfumato.errors", "sfumato.papers", "sfumato.datasets", "sfumato.testing", "sfumato.verifier.checks")
    for name, inside in nodes().items():
        if name.startswith(elsewhere):
            continue
        internal = {
            id(part)
            for node in inside
            if isinstance(node, ast.Raise) and "ValueError" in ast.unparse(node)
            for part in ast.walk(node)
        }
        for node in inside:
            if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
                assert id(node) in internal, f"{name}, line {node.lineno}"
