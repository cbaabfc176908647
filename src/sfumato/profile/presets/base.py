"""Preset: the thresholds and roles of somebody else's rule, with its source."""

from collections.abc import Callable
from dataclasses import dataclass

from sfumato.profile.facts import Facts
from sfumato.profile.roles import Guess
from sfumato.profile.trees.tree import Tree


def unchanged(facts: Facts, guess: Guess) -> Guess:
    """The role as it was guessed."""
    del facts
    return guess


def untouched(facts: Facts) -> Tree | None:
    """No hierarchy but the usual one."""
    del facts
    return None


@dataclass(frozen=True)
class Preset:
    """What a rule asks for, as far as a policy can say it.

    `k` is left out where the rule names no class size, and `k_why` says where it is from. `alpha`, `l` and `t` are the
    strictest bounds that are proposed for a sensitive column, `dominance` one for a person's share. `linked` asks for k
    persons who share a person's classes, and not for a few. `decide` changes roles, and `tree` has a hierarchy for
    columns that the rule has a say on; `says` is why, and `unsaid` what no policy can do for you.
    """

    name: str
    title: str
    source: str
    k: int | None = None
    k_why: str = ""
    alpha: float = 0.5
    l: int = 3  # noqa: E741 - the field's own name
    t: float = 0.3
    linked: bool = False
    suppression: float = 0.02
    dominance: float | None = None
    says: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    decide: Callable[[Facts, Guess], Guess] = unchanged
    tree: Callable[[Facts], Tree | None] = untouched
