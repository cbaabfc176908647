"""How closely somebody should look at a decision of a proposal, by what it costs where it is wrong."""

from enum import IntEnum


class Caution(IntEnum):
    """Three grades, the most dangerous the highest, and none where nothing is to be looked at.

    `DANGER`: a wrong decision publishes who somebody is, or what nobody may learn. `CHECK`: it weakens the promise, or
    reads values otherwise than they are meant. `NOTE`: it costs detail, and nobody is harmed.

    >>> Caution.DANGER.mark, Caution.NOTE.mark, max(Caution.NONE, Caution.CHECK).grade
    ('check: danger: ', 'note: ', 'check')
    """

    NONE = 0
    NOTE = 1
    CHECK = 2
    DANGER = 3

    @property
    def mark(self) -> str:
        """What stands before the reason in a policy; the word check: finds the two that need a human eye."""
        return ("", "note: ", "check: ", "check: danger: ")[self]

    @property
    def grade(self) -> str | None:
        """Its name in JSON."""
        return None if self is Caution.NONE else self.name.lower()

    @property
    def needs_decision(self) -> bool:
        """Whether somebody has to decide."""
        return self >= Caution.CHECK
