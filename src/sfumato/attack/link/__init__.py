"""The linkage attack: a release joined with an outside table that names people, as an adversary would.

Which records a person matches, and which persons a record, is what the two tables tell together. What follows for one
person depends on what else is known: that the outside table is everybody, or that the person is in the release.
"""

from sfumato.attack.link.found import Chance, Guessed, Linked, LinkedColumn, Match, Person
from sfumato.attack.link.measure import link
from sfumato.attack.link.memory import linked_release

__all__ = ["Chance", "Guessed", "Linked", "LinkedColumn", "Match", "Person", "link", "linked_release"]
