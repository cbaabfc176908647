"""What the attack found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.attack.minimality import words
from sfumato.attack.result import AttackResult


@dataclass(frozen=True)
class Beyond:
    """Rows of which the adversary is surer than the bound, and the share of them that the guess is right about."""

    rows: int
    right: float | None


@dataclass(frozen=True)
class Betrayed:
    """What is betrayed of one sensitive column; shares of the rows that were looked at.

    `bound` is the largest share of a class that the policy allows a value, ``None`` where it bounds none;
    `largest_share` is the largest that is published, of a value that the bound is about, and `largest_posterior` the
    surest that the adversary is of such a value of anybody: at the least, where worlds were sampled. `beyond_bound` are
    those of whom the adversary is surer than the bound, or than the largest share where there is none. Guesses are
    right this often: `blind` by the most frequent value of the table, `bag` by that of the own class, `attack` by the
    likeliest value given that nothing finer was published. `asked` says whether a requirement looks at the column.
    """

    bound: float | None
    largest_share: float
    largest_posterior: float
    beyond_bound: Beyond
    blind: float
    bag: float
    attack: float
    asked: bool = True

    def tried(self, column: str, told: "Minimality") -> AttackResult:
        """In one line; without success where nothing could be measured."""
        counts = f"rows whose '{column}' is guessed right"
        said = words.meaning(column, self, told)
        success = None if told.unmeasured(self, "attack") else self.attack
        return AttackResult("minimality", told.assumes, counts, success, self.blind, None, said)


@dataclass(frozen=True)
class Looked:
    """What was looked at: rows and classes, of `rows` that are published.

    `open` are classes to which a finer alternative is open that has rows enough, `telling` those in which it rules some
    worlds out and others not. Of `counted` classes all worlds were looked at, of `drawn` ones a sample, `worlds` in
    all, of which the share `fitting` is left. In `unfit` classes no world that was looked at is left, so that nothing
    is known of them; in `misled` classes what is true is not among those that are left, because the algorithm is not as
    thorough as the adversary believes.
    """

    rows: int
    looked: int
    classes: int
    open: int = 0
    telling: int = 0
    counted: int = 0
    drawn: int = 0
    worlds: int = 0
    fitting: float = 1.0
    unfit: int = 0
    misled: int = 0


@dataclass(frozen=True)
class Minimality:
    """The attack on each sensitive column. `why` says why it was not measured, where it was not."""

    algorithm: str
    basis: str
    looked: Looked
    seed: int
    columns: Mapping[str, Betrayed] = field(default_factory=dict)
    why: str | None = None

    @property
    def assumes(self) -> str:
        """What the adversary is assumed to know."""
        return words.assumed(self.basis)

    def unmeasured(self, found: Betrayed, figure: str) -> bool:
        """Whether a figure of a column is not known."""
        return self.why is not None and found.asked and figure in {"largest_posterior", "beyond_bound", "attack"}

    def tried(self) -> tuple[AttackResult, ...]:
        """A line for each sensitive column."""
        return tuple(one.tried(name, self) for name, one in self.columns.items())

    def as_json(self) -> dict[str, Any]:
        """Fit for JSON."""
        columns = {name: self._fit(one) for name, one in self.columns.items()}
        return {**asdict(self), "columns": columns, "assumes": self.assumes}

    def _fit(self, found: Betrayed) -> dict[str, Any]:
        """The figures of a column, without those that are not known."""
        return {name: None if self.unmeasured(found, name) else figure for name, figure in asdict(found).items()}
