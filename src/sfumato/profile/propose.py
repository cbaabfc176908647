"""From a file to a policy that runs as it is."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfumato.errors import DataError, SfumatoError
from sfumato.hierarchy import parse
from sfumato.policy import Role
from sfumato.profile.compose import Column, Draft
from sfumato.profile.facts import Facts, Profile, profile
from sfumato.profile.files import file_names, file_text
from sfumato.profile.presets import Preset, preset_of
from sfumato.profile.requirement import class_size, persons, requirement
from sfumato.profile.roles import Guess, guesses
from sfumato.profile.trees import SUPPRESS, Tree, tree_of
from sfumato.profile.trees.intervals import interval_tree
from sfumato.profile.trees.tree import MOST_LINES


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """A policy to start from: its text, its hierarchy files by name, and what it was made of."""

    draft: Draft
    text: str
    files: dict[str, str]

    @property
    def document(self) -> dict[str, Any]:
        """The policy as tables."""
        return self.draft.document

    @property
    def decisions(self) -> int:
        """How many lines somebody should look at."""
        return self.draft.decisions

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: the profile and the decisions, and no value of any column."""
        return {
            "source": self.draft.source,
            "rows": self.draft.profile.rows,
            "preset": self.draft.preset.name or None,
            "columns": [_column_json(column) for column in self.draft.columns],
            "privacy": [entry.content for entry in self.draft.entries],
            "unique_rows": self.draft.unique,
            "decisions": self.decisions,
        }


def propose(
    path: str | os.PathLike[str], preset: str | None = None, *, policy: str | os.PathLike[str] = "policy.toml"
) -> Proposal:
    """Profile a table and propose a policy for it; `policy` is where it is to stand, which its paths start from.

    Raises a DataError where the file cannot be read or has nothing to publish, and Infeasible where the preset asks for
    more people than the table has.
    """
    rule, found, target = preset_of(preset), profile(Path(path)), Path(policy)
    roles = _roles(found, rule)
    k = class_size(rule, persons(found, roles)[1])
    columns = _planted(found, roles, _Planter(rule, k, ("", *found.opened.null)), f"{target.stem}-hierarchies")
    quasi = [name for name, guess in roles.items() if guess.role is Role.QUASI]
    source = os.path.relpath(Path(path).resolve(), target.resolve().parent)
    draft = Draft(found, rule, columns, requirement(found, roles, rule), source, found.unique(quasi))
    files = {column.file: file_text(column.tree) for column in columns if column.tree and column.file}
    return Proposal(draft, draft.text(), files)


def _roles(found: Profile, rule: Preset) -> dict[str, Guess]:
    """The roles, after the preset had its say; somebody has to be a quasi-identifier."""
    roles = guesses(found.columns)
    roles = {facts.name: rule.decide(facts, roles[facts.name]) for facts in found.columns}
    if any(guess.role is Role.QUASI for guess in roles.values()):
        return roles
    known = [facts for facts in found.columns if roles[facts.name].role is Role.SENSITIVE]
    if not known:
        raise DataError(
            f"{found.path.name} has nothing to publish: every column names a person, is empty or is free text; "
            "write a policy by hand if some of it is to be published"
        )
    first = min(known, key=lambda facts: facts.values.distinct)
    why = f"{roles[first.name].reason}; a policy needs a quasi-identifier, and there is no other column"
    return roles | {first.name: replace(roles[first.name], role=Role.QUASI, reason=why, check=True)}


def _planted(found: Profile, roles: dict[str, Guess], planter: "_Planter", folder: str) -> tuple[Column, ...]:
    """The columns with their hierarchies, each tried on the values that it is for."""
    trees = {facts.name: planter.tree(facts, roles[facts.name]) for facts in found.columns}
    files = file_names([name for name, tree in trees.items() if tree and tree.lines], folder)
    return tuple(
        Column(facts, roles[facts.name], trees[facts.name], files.get(facts.name, "")) for facts in found.columns
    )


@dataclass(frozen=True)
class _Planter:
    """What hierarchies depend on besides the column: the preset, k, and the texts that are read as missing."""

    rule: Preset
    k: int
    nulls: tuple[str, ...]

    def tree(self, facts: Facts, guess: Guess) -> Tree | None:
        """The hierarchy of a column, if it is to have one."""
        if guess.role is Role.SENSITIVE and facts.shape.numbers is not None:
            return _order(facts, self.nulls)
        if guess.role is not Role.QUASI:
            return None
        tree = self.rule.tree(facts) or tree_of(facts, self.k, self.nulls)
        if _binds(tree, facts, self.nulls):
            return tree
        # what must not be told exactly is then not told at all
        return replace(SUPPRESS, check=True, least=1) if tree.least else SUPPRESS


def _order(facts: Facts, nulls: tuple[str, ...]) -> Tree | None:
    """An order for distances between numbers, where there is none by itself: with missing values, or decimal commas."""
    numbers = facts.shape.numbers
    if numbers is None or (numbers.style == "point" and not facts.values.missing):
        return None
    tree = replace(interval_tree(facts, nulls), why="the order that distances are measured in")
    return None if tree.written == "suppress" else tree


def _binds(tree: Tree, facts: Facts, nulls: tuple[str, ...]) -> bool:
    """Whether the hierarchy takes every value of the column; of very many values the profile is believed."""
    if facts.values.distinct > MOST_LINES:
        return True
    texts = [*facts.values.listed(), *([None] if facts.values.missing else [])]
    with TemporaryDirectory() as folder:
        written = tree.written
        if tree.lines:
            Path(folder, written := "tree.csv").write_bytes(file_text(tree).encode())
        try:
            parse(written, folder=Path(folder), key="hierarchy").bind(texts, column=facts.name, nulls=nulls)
        except SfumatoError:
            return False
    return True


def _column_json(column: Column) -> dict[str, Any]:
    values = column.facts.values
    return {
        "name": column.facts.name,
        "type": str(column.facts.kind),
        "distinct": values.distinct,
        "missing": values.missing,
        "separation": round(values.separation, 6),
        **column.entry,
        "reason": column.guess.reason,
        "check": column.check,
    }
