"""Presets: the thresholds and roles of somebody else's rule, with its source, as far as a policy can say them.

They are data: ``presets.toml`` beside this module. Only what HIPAA Safe Harbor does to dates, ZIP codes and ages is
code, in `safe_harbor`.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from sfumato.errors import InputError, did_you_mean, quote
from sfumato.policy import Role
from sfumato.profile.caution import Caution
from sfumato.profile.column_facts import ColumnFacts
from sfumato.profile.proposed_hierarchies import ProposedHierarchy
from sfumato.profile.roles import RoleGuess
from sfumato.profile.safe_harbor import RESTRICTED_ZIP_CODES, limit_column
from sfumato.profile.vocabulary import CONCEPTS

ColumnLimit = Callable[[ColumnFacts], ProposedHierarchy | str | None]
"""The hierarchy that a rule asks of a column, or why it cannot stay; nothing where the rule is silent."""


@dataclass(frozen=True)
class RoleChange:
    """A role that a rule decides otherwise: of columns about one of the concepts, or about anything without these."""

    guessed: Role
    role: Role
    add_reason: str
    concepts: frozenset[str] = frozenset()
    caution: Caution = Caution.NONE

    def applies(self, facts: ColumnFacts, guess: RoleGuess) -> bool:
        """Tell whether the rule is about a column; one with the same value in every row becomes no secret."""
        constant_secret = self.role is Role.SENSITIVE and facts.values.distinct <= 1
        about = not self.concepts or facts.said_concept in self.concepts
        return guess.role is self.guessed and about and not constant_secret

    def change(self, guess: RoleGuess) -> RoleGuess:
        """Change the role, and say why."""
        caution = max(guess.caution, self.caution)
        return replace(guess, role=self.role, reason=guess.reason + self.add_reason, caution=caution)


@dataclass(frozen=True)
class Preset:
    """What a rule asks for; ``presets.toml`` says what its keys mean.

    `limit` is what the rule does to a column besides.
    """

    name: str
    title: str
    source: str
    k: int | None = None
    k_reason: str = ""
    alpha: float = 0.5
    l: int = 3  # noqa: E741 - the field's own name
    t: float = 0.3
    dominance: float | None = None
    linked_k_is_k: bool = False
    suppression: float = 0.02
    role_changes: tuple[RoleChange, ...] = ()
    remarks: tuple[str, ...] = ()
    not_done: tuple[str, ...] = ()
    limit: ColumnLimit | None = None

    @property
    def allows_sensitive(self) -> bool:
        """Whether a column may keep the role sensitive."""
        return not any(change.guessed is Role.SENSITIVE for change in self.role_changes)

    def decide_role(self, facts: ColumnFacts, guess: RoleGuess) -> RoleGuess:
        """Change the role that was guessed for a column, where the rule has a say on it."""
        for change in self.role_changes:
            if change.applies(facts, guess):
                return change.change(guess)
        if self.limit is None or guess.role not in {Role.QUASI, Role.SENSITIVE, Role.PLAIN}:
            return guess
        limit = self.limit(facts)
        if isinstance(limit, str):
            return replace(guess, role=Role.IDENTIFIER, reason=limit, caution=Caution.NOTE)
        return guess if limit is None else replace(guess, role=Role.QUASI)

    def propose_hierarchy(self, facts: ColumnFacts) -> ProposedHierarchy | None:
        """Propose the hierarchy that the rule asks of a column; ``None`` where the usual one will do."""
        limit = self.limit(facts) if self.limit is not None else None
        return limit if isinstance(limit, ProposedHierarchy) else None


NO_PRESET = Preset(name="", title="", source="")
"""No rule but our own habits."""


def find_preset(name: str | None) -> Preset:
    """Find the preset of that name, or the one that asks for nothing in particular.

    >>> find_preset("emma-0070")
    Traceback (most recent call last):
    sfumato.errors.InputError: there is no preset 'emma-0070'; did you mean ema-0070?
    """
    if name is None:
        return NO_PRESET
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS) or f"; choose {', '.join(PRESETS)}"
        raise InputError(f"there is no preset {quote(name)}{hint}")
    return PRESETS[name]


# The file of presets, checked when it is loaded.

_LIMITS: dict[str, ColumnLimit] = {"hipaa-safe-harbor": limit_column}
_TYPES: dict[str, type] = {
    "title": str,
    "source": str,
    "k": int,
    "k_reason": str,
    "alpha": float,
    "l": int,
    "t": float,
    "dominance": float,
    "linked_k_is_k": bool,
    "suppression": float,
    "role_changes": list,
    "remarks": list,
    "not_done": list,
}


def load_presets(text: str) -> dict[str, Preset]:
    """Read and check presets.

    Raises a ValueError for a key that there is not or that has another type, and for a role or a concept that there is
    not.
    """
    return {name: _read_preset(name, table) for name, table in tomllib.loads(text).items()}


def _read_preset(name: str, table: dict[str, Any]) -> Preset:
    for key, value in table.items():
        if key not in _TYPES or not isinstance(value, _TYPES[key]):
            raise ValueError(f"presets: {name} has a wrong key or value: {key} = {value!r}")
    if not table.get("title") or not table.get("source"):
        raise ValueError(f"presets: {name} needs a title and a source")
    zip_codes = ", ".join(sorted(RESTRICTED_ZIP_CODES))
    return Preset(
        **table
        | {
            "name": name,
            "role_changes": tuple(_read_role_change(name, change) for change in table.get("role_changes", ())),
            "remarks": tuple(table.get("remarks", ())),
            "not_done": tuple(line.replace("{restricted_zip_codes}", zip_codes) for line in table.get("not_done", ())),
            "limit": _LIMITS.get(name),
        }
    )


def _read_role_change(preset: str, table: dict[str, Any]) -> RoleChange:
    unknown = {*table.get("concepts", ())} - CONCEPTS.keys()
    wrong = table.keys() - {"from", "to", "concepts", "add_reason", "check"}
    if unknown or wrong:
        raise ValueError(f"presets: {preset} has a role change with {', '.join(sorted(unknown | wrong))}")
    roles = (Role(table["from"]), Role(table["to"]))
    caution = Caution.CHECK if table.get("check", False) else Caution.NONE
    return RoleChange(*roles, table["add_reason"], frozenset(table.get("concepts", ())), caution)


PRESETS = load_presets((files("sfumato.profile") / "presets.toml").read_text(encoding="utf-8"))
