"""Every fenced block of the documentation is run: what it shows is what happens.

A file's blocks run in order, in one folder of their own. The word after the fence says how:

``python``   executed in one namespace per file; as a doctest where it has prompts
``console``  lines ``$ command``, each with the output that follows it (``...`` stands for anything)
``sh``       a script that must succeed
``toml``     a policy, or a part of one, that must be accepted (``broken`` after it: refused)
``json``     must be JSON
``csv``      written to the file of its title
``text``     for the eye alone

With ``title="name"`` a block is written to that file first.
"""

import ast
import doctest
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import load

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
KINDS = {"python", "console", "sh", "toml", "json", "csv", "text"}
SECONDS = 60
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# What a part of a policy is completed with before it is checked.
COLUMNS = {
    "sex": {"role": "quasi", "hierarchy": "suppress"},
    "illness": {"role": "sensitive"},
    "income": {"role": "sensitive"},
}
PRIVACY = [{"model": "k-anonymity", "k": 5}]


@dataclass(frozen=True)
class Block:
    """One fenced block: its kind, the words beside it, its text and the line where it starts."""

    kind: str
    info: str
    text: str
    line: int

    @property
    def title(self) -> str | None:
        """The file it is written to."""
        match = TITLE.search(self.info)
        return match and match[1]


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 1) for m in FENCE.finditer(text)]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    """Execute it, as a doctest where it has prompts."""
    if ">>> " not in block.text:
        tree = ast.parse(block.text)
        ast.increment_lineno(tree, block.line)
        exec(compile(tree, str(page), "exec"), names)  # noqa: S102 - our own documentation
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


def run_shell(script: str, folder: Path) -> tuple[str, int]:
    """What a script prints and its exit code, with eighty columns."""
    env = os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the command as well as the shell
            pytest.fail(f"{script}\ntakes more than {SECONDS} seconds")
    return printed, process.returncode


def run_console(block: Block, folder: Path) -> None:
    """Run each command and compare what it prints."""
    first, *parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not first.strip(), "a console block starts with a command"
    for part in parts:
        command, _, expected = part.partition("\n")
        printed, _ = run_shell(command, folder)
        same = doctest.OutputChecker().check_output(expected, printed, OPTIONS)
        assert same, f"$ {command}\nexpected:\n{expected}\nprinted:\n{printed}"


def check_policy(block: Block, folder: Path) -> None:
    """Load it; a part of a policy is completed first."""
    tables = tomllib.loads(block.text)
    if "broken" in block.info.split():
        return
    here = Path.cwd()
    os.chdir(folder)
    try:
        load({"columns": COLUMNS, "privacy": PRIVACY, **tables})
    except PolicyError as error:
        pytest.fail(f"{error}\n{block.text}")
    finally:
        os.chdir(here)


def run(block: Block, page: Path, folder: Path, names: dict[str, Any]) -> None:
    """Do with a block what its kind says."""
    if block.title:
        (folder / block.title).write_text(block.text, encoding="utf-8")
    match block.kind:
        case "python":
            run_python(block, page, names)
        case "console":
            run_console(block, folder)
        case "sh":
            printed, code = run_shell(f"set -e\n{block.text}", folder)
            assert code == 0, printed
        case "toml":
            check_policy(block, folder)
        case "json":
            json.loads(block.text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_folder: Path) -> None:
    """Every block of a page does what the page says it does."""
    monkeypatch.chdir(tmp_path)
    # The readme's .venv/bin/sfumato is the real one, as on a fresh clone; that of all other pages starts faster.
    (tmp_path / ".venv").symlink_to(sys.prefix)
    monkeypatch.setenv("PATH", f"{command_folder}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        try:
            run(block, page, tmp_path, names)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"in {page.relative_to(ROOT)}, line {block.line}")
            raise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_are_of_a_known_kind(page: Path) -> None:
    """No block is left unrun because its kind is misspelt or missing."""
    text = page.read_text(encoding="utf-8")
    opened = [line for line in text.splitlines() if line.startswith("```") and line != "```"]
    assert len(opened) == len(blocks(page)) == text.count("\n```\n") + text.endswith("\n```")
    assert {block.kind for block in blocks(page)} <= KINDS
