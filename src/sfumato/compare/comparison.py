"""Comparison: all lines, the front of loss against risk, its knee, and what both mean in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.compare.front import front, knee
from sfumato.compare.outcome import Outcome
from sfumato.errors import InputError
from sfumato.policy import Policy

RISKS = ("highest", "average")
MEASURES = {"ncp": "NCP", "tie": "the tie to sensitive values"}


@dataclass(frozen=True)
class Front:
    """The lines of one measure of loss that no other line beats in both loss and risk, the least loss first.

    `knee` is the number of the line where the front bends most, if it bends.
    """

    measure: str
    risk: str
    lines: tuple[Outcome, ...]
    knee: int | None

    @property
    def suggested(self) -> int | None:
        """The knee, or the only line there is on the front."""
        return self.lines[0].number if len(self.lines) == 1 else self.knee

    @property
    def says(self) -> str:
        """What the front tells, in one or two sentences."""
        first, last = self.lines[0], self.lines[-1]
        if len(self.lines) == 1:
            return f"Line {first.number} has the least loss and the least risk: no other line is better in either."
        ends = f"line {first.number} has the least loss, line {last.number} the least risk"
        if self.knee is not None:
            how = "up to it risk falls fast for little loss, beyond it loss grows fast for little risk"
            return f"The knee is line {self.knee}: {how} ({ends})."
        why = f"only {len(self.lines)} lines stand on the front" if len(self.lines) < 3 else "the front does not bend"
        return f"There is no knee, since {why}: {ends}; the choice is yours."


@dataclass(frozen=True, eq=False)
class Comparison:
    """What was run of what was planned; `risk` is the figure that the fronts go by, ``highest`` or ``average``.

    `stopped` says that somebody stopped it; `read` are the seconds for reading and encoding, once for all lines.
    """

    policy: Policy
    outcomes: tuple[Outcome, ...]
    planned: int
    rows: int
    risk: str = "highest"
    read: float = 0.0
    stopped: bool = False

    @cached_property
    def fronts(self) -> tuple[Front, ...]:
        """One for each measure of loss that there is: losses of different kinds cannot be compared."""
        found = [_front([each for each in self.measured if _measure(each) == name], self.risk) for name in MEASURES]
        return tuple(one for one in found if one is not None)

    @property
    def measured(self) -> tuple[Outcome, ...]:
        """The lines that came to a release."""
        return tuple(each for each in self.outcomes if each.figures)

    @property
    def failures(self) -> dict[str, list[int]]:
        """The lines that came to none, by the reason."""
        found: dict[str, list[int]] = {}
        for each in self.outcomes:
            if not each.figures:
                found.setdefault(each.reason, []).append(each.number)
        return found

    def line(self, choice: int | None = None) -> Outcome:
        """The line of this number, or the one that is suggested; an `InputError` where there is none."""
        number = self._suggested() if choice is None else choice
        found = next((each for each in self.outcomes if each.number == number), None)
        if found is None:
            done = f"{len(self.outcomes)} of {self.planned}"
            raise InputError(f"There is no line {number} among the {done} that were run")
        if not found.figures:
            raise InputError(f"Line {number} came to no release: {found.reason}")
        return found

    def _suggested(self) -> int:
        if not self.fronts:
            raise InputError("No line came to a release")
        if len(self.fronts) > 1:
            raise InputError("One table and two tables lose different things, so that no line is the best of both")
        if (number := self.fronts[0].suggested) is None:
            raise InputError(self.fronts[0].says.rstrip("."))
        return number

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        return {
            "private": True,
            "rows": self.rows,
            "planned": self.planned,
            "done": len(self.outcomes),
            "stopped": self.stopped,
            "risk": self.risk,
            "seconds": {"read": round(self.read, 4)},
            "lines": [each.as_json() for each in self.outcomes],
            "fronts": [
                {
                    "measure": one.measure,
                    "lines": [each.number for each in one.lines],
                    "knee": one.knee,
                    "says": one.says,
                }
                for one in self.fronts
            ],
        }


def _measure(outcome: Outcome) -> str:
    return outcome.figures.measure if outcome.figures else ""


def point(outcome: Outcome, risk: str) -> tuple[float, float]:
    """Loss and risk of a line that came to a release."""
    assert outcome.figures is not None  # noqa: S101 - only such lines are drawn
    return outcome.figures.loss, float(getattr(outcome.figures, risk))


def _front(outcomes: Sequence[Outcome], risk: str) -> Front | None:
    if not outcomes:
        return None
    points = [point(each, risk) for each in outcomes]
    places = front(points)
    bend = knee([points[place] for place in places])
    lines = tuple(outcomes[place] for place in places)
    return Front(_measure(lines[0]), risk, lines, None if bend is None else lines[bend].number)
