"""The policy as text, with the reason for every line, and its hierarchy files."""

import tomllib
from dataclasses import dataclass
from typing import Any

from sfumato.page.words import percent, plural
from sfumato.policy import Role
from sfumato.policy.toml_text import write_key, write_table, write_value
from sfumato.profile.comments import comment
from sfumato.profile.facts import Facts, Profile
from sfumato.profile.kinds import Kind
from sfumato.profile.presets import Preset
from sfumato.profile.requirement import Entry
from sfumato.profile.roles import Guess
from sfumato.profile.trees import Tree


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A column with its role, its hierarchy if it has one, and the name of that one's file."""

    facts: Facts
    guess: Guess
    tree: Tree | None = None
    file: str = ""

    @property
    def check(self) -> bool:
        """Whether somebody should look at it."""
        return self.guess.check or (self.tree is not None and self.tree.check)

    @property
    def entry(self) -> dict[str, Any]:
        """What [columns] has of it."""
        if self.tree is None:
            return {"role": str(self.guess.role)}
        least = {"least": self.tree.least} if self.tree.least and self.guess.role is Role.QUASI else {}
        return {"role": str(self.guess.role), "hierarchy": self.file or self.tree.written, **least}


@dataclass(frozen=True, eq=False, repr=False)
class Draft:
    """All that the text is made of."""

    profile: Profile
    preset: Preset
    columns: tuple[Column, ...]
    entries: list[Entry]
    source: str
    unique: int

    @property
    def document(self) -> dict[str, Any]:
        """The policy as tables."""
        return {
            "data": {"source": self.source, **self.profile.opened.data()},
            "columns": {column.facts.name: column.entry for column in self.columns},
            "privacy": [entry.content for entry in self.entries],
            "algorithm": {"name": "auto", "suppression": self.preset.suppression},
            "publish": {"format": "csv"},
        }

    @property
    def decisions(self) -> int:
        """How many lines somebody should look at."""
        reading = bool(self.profile.opened.encoding) + bool(self.profile.opened.null)
        return reading + sum(column.check for column in self.columns) + sum(entry.check for entry in self.entries)

    def text(self) -> str:
        """The policy file; read as TOML it is the document, exactly."""
        parts = [self._opening(), self._data(), self._columns(), *self._privacy(), self._algorithm(), self._publish()]
        written = "\n\n".join("\n".join(part) for part in parts) + "\n"
        assert tomllib.loads(written) == self.document  # noqa: S101 - what is shown is what is meant
        return written

    def _opening(self) -> list[str]:
        quasi = sum(column.guess.role is Role.QUASI for column in self.columns)
        size = f"{plural(self.profile.rows, 'row')}, {plural(len(self.columns), 'column')}"
        lines = comment(f"A policy to start from, written by sfumato init for {self.profile.path.name} ({size}).")
        lines += comment(
            f"{plural(self.decisions, 'decision needs', 'decisions need')} a human eye, marked 'check:'. Nothing here "
            "was decided by somebody who knows the people."
        )
        if quasi:
            share = percent(self.unique / self.profile.rows)
            alike = f"{plural(quasi, 'quasi-identifier')} single out {share} of the rows as the table stands."
            lines += comment(f"{alike} Each one costs precision in all others: leave out what nobody needs.")
        if self.preset.name:
            lines += ["#", *comment(f"Preset {self.preset.name}: {self.preset.title}.")]
            lines += comment(f"Source: {self.preset.source}.")
            lines += [line for text in self.preset.says for line in comment(text)]
            lines += comment("What this policy does not do:")
            lines += [line for text in self.preset.unsaid for line in comment(f"- {text}", indent="  ")]
        return lines

    def _data(self) -> list[str]:
        lines = []
        found = self.profile.opened
        if found.encoding:
            lines += comment(f"check: the file is not UTF-8 and was read as {found.encoding}; look at its accents.")
        if found.null:
            lines += comment("check: these texts are read as missing.")
        return [*lines, *write_table("[data]", self.document["data"])]

    def _columns(self) -> list[str]:
        lines = ["[columns]"]
        for column in self.columns:
            lines += comment(_described(column), indent="  ")
            lines.append(f"{write_key(column.facts.name)} = {write_value(column.entry)}")
        return lines

    def _privacy(self) -> list[list[str]]:
        none = "No column looks sensitive. If one is, give it the role, and a requirement of its own."
        written = [
            [*comment(f"check: {entry.why}" if entry.check else entry.why), *write_table("[[privacy]]", entry.content)]
            for entry in self.entries
        ]
        if not any(column.guess.role is Role.SENSITIVE for column in self.columns) and self.preset.name != "cms":
            written[-1] += comment(none)
        return written

    def _algorithm(self) -> list[str]:
        share = percent(self.preset.suppression)
        drop = f"at most {share} of the rows may be dropped" if self.preset.suppression else "no row may be dropped"
        return [
            *comment(f"auto takes the best of the local algorithms; {drop}."),
            *write_table("[algorithm]", self.document["algorithm"]),
        ]

    def _publish(self) -> list[str]:
        return write_table("[publish]", self.document["publish"])


def _described(column: Column) -> str:
    """Why a column is what it is: counts and reasons, and never a value."""
    values = column.facts.values
    missing = f", {percent(values.missing / max(values.rows, 1))} missing" if values.missing else ""
    kind = column.facts.kind
    what = "no values" if kind is Kind.EMPTY else plural(values.distinct, f"{kind} value", f"different {kind} values")
    tree = f"; {column.tree.why}" if column.tree and column.tree.why else ""
    mark = "check: " if column.check else ""
    mixed = "; most are numbers, but not all" if column.facts.shape.mixed else ""
    return f"{mark}{column.guess.reason} ({what}{missing}{mixed}){tree}"
