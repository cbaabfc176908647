"""The result of the minimality attack: figures of each column, what was looked at, and sentences on both.

The sentences are for the command and the report alike. What could not be measured is called unknown, never safe.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.page.wording import amount, percent, plural

PROMISE = (
    "A value that is surer than the bound does not break the promise, which limits what the bag of a class shows by "
    "itself. It is what one adds who knows how the classes were found."
)
WAYS = "ways to deal the values of a class out to its rows"

_EVERYBODY = (
    "The adversary has the release, knows everybody's quasi-identifiers and in which class each person stands, and "
    "knows the requirements and the algorithm"
)
_BASES = {
    "all nodes": ": that every generalization which it takes before the published one failed.",
    "nodes below": (
        ": that every generalization one level lower in one column failed or cost more. The rows that were suppressed "
        "are taken as known, with their values."
    ),
    "node": ": that every generalization one level lower in one column failed, in some class.",
    "cut": ": that each label of the cut could not be parted into those one level lower, in some class that has it.",
    "class": (
        ", and takes each class to be as fine as it can be: that no column of it could be parted one level lower (at "
        "the median, where it has no levels). A local algorithm does not promise that, so that who believes it errs in "
        "some classes."
    ),
    "drawn": ": that it draws buckets at random among rows of the most frequent sensitive values left.",
    "applied": ": that labels and classes are those of a release before, which these rows had no part in choosing.",
    "nothing": ": that it stops as early as it can. No requirement looks at a sensitive column.",
}
"""What the adversary concludes from, by the name of the basis."""

_DRAWN = (
    "Buckets are drawn without regard to the quasi-identifiers, so that it tells nothing of a person which bucket it is"
)
_UNASKED = "No requirement looks at the column, so that its values decided nothing."
_SAME = "What is known of the algorithm tells no more than the shares of the class."


@dataclass(frozen=True)
class RowsBeyondBound:
    """Rows of which the adversary is surer than the bound, and the share of them that the guess is right about."""

    rows: int
    right: float | None


@dataclass(frozen=True)
class MinimalityFigures:
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
    beyond_bound: RowsBeyondBound
    blind: float
    bag: float
    attack: float
    asked: bool = True


@dataclass(frozen=True)
class MinimalityCoverage:
    """What was looked at: `looked` rows in `classes`, of `rows` that are published.

    `open` counts the classes to which a finer alternative is open, `telling` those in which it rules some worlds out
    and others not. Of `counted` classes all worlds were looked at, of `drawn` ones a sample, `worlds` in all, of which
    the share `fitting` is left. In `unfit` classes no world that was looked at is left, so that nothing is known of
    them; in `misled` classes the truth is not among those that are left, because the algorithm is not as thorough as
    the adversary believes.
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


@dataclass(frozen=True, repr=False)
class MinimalityResult(ShownAttack):
    """The attack on each sensitive column. `why` says why it was not measured, where it was not."""

    algorithm: str
    basis: str
    looked: MinimalityCoverage
    seed: int
    columns: Mapping[str, MinimalityFigures] = field(default_factory=dict)
    why: str | None = None

    @property
    def assumes(self) -> str:
        """What the adversary is assumed to know."""
        return _EVERYBODY + _BASES[self.basis]

    def unmeasured(self, figures: MinimalityFigures, name: str) -> bool:
        """Tell whether a figure of a column is unknown."""
        return self.why is not None and figures.asked and name in {"largest_posterior", "beyond_bound", "attack"}

    def results(self) -> tuple[AttackResult, ...]:
        """Reduce to one line for each sensitive column; without success where nothing could be measured."""
        return tuple(
            AttackResult(
                "minimality",
                self.assumes,
                f"rows whose '{column}' is guessed right",
                None if self.unmeasured(figures, "attack") else figures.attack,
                figures.blind,
                None,
                _describe_column(column, figures, self),
            )
            for column, figures in self.columns.items()
        )

    def as_json(self) -> dict[str, Any]:
        """Convert to what ``--json`` prints, with null in place of unknown figures."""
        columns = {
            column: {
                name: None if self.unmeasured(figures, name) else figure for name, figure in asdict(figures).items()
            }
            for column, figures in self.columns.items()
        }
        return {**asdict(self), "columns": columns, "assumes": self.assumes}


def _describe_column(column: str, figures: MinimalityFigures, result: MinimalityResult) -> tuple[str, ...]:
    """Say what the figures of a column mean, sentence by sentence."""
    looked = result.looked
    allowed = "sets no bound to it" if figures.bound is None else f"allows {percent(figures.bound)}"
    largest = f"The largest share that a value of '{column}' has of a class is {percent(figures.largest_share)}"
    share = f"{largest}; the policy {allowed}."
    if result.basis == "drawn":
        return (f"{_DRAWN}.", share)
    if not figures.asked:
        return (_UNASKED, share)
    if result.basis == "applied" and not result.why:
        return (f"The labels were chosen before these rows came. {_SAME}", share)
    if result.why:
        return (f"Not measured: {result.why}. That is unknown, not safe.",)
    if not looked.telling and not looked.unfit:
        return (_describe_nothing(looked), share, *_describe_doubts(looked))
    right = (
        f"The likeliest value is right for {percent(figures.attack)} of the rows; the most frequent value of the own "
        f"class for {percent(figures.bag)}, that of the table for {percent(figures.blind)}."
    )
    surest = _describe_surest(figures, sampled=looked.drawn > 0)
    return (share, surest, right, _describe_worlds(looked), *_describe_doubts(looked))


def _describe_surest(figures: MinimalityFigures, *, sampled: bool) -> str:
    bound = "the largest share of a class" if figures.bound is None else "the bound"
    surest = percent(figures.largest_posterior)
    if not figures.beyond_bound.rows:
        tell = ", as far as a sample can tell" if sampled else f" ({surest} at most)"
        return f"Who knows the algorithm is surer than {bound} of nobody{tell}."
    rows, up = plural(figures.beyond_bound.rows, "row"), f"{'at least' if sampled else 'up to'} {surest}"
    right = percent(figures.beyond_bound.right or 0.0)
    return f"Who knows the algorithm is surer than {bound} of {rows} ({up}), and right about {right} of them."


def _describe_nothing(looked: MinimalityCoverage) -> str:
    """Say why the shares of the class are all that is known."""
    if not looked.open:
        return f"Whatever is finer has a class of too few rows, whoever holds what. {_SAME}"
    where = plural(looked.open, "class", "classes")
    if looked.misled:
        return f"Something finer is open to {where}, and where that tells something it tells what is not so. {_SAME}"
    return f"Something finer is open to {where}, but none of the {looked.worlds:,} {WAYS} is ruled out by it. {_SAME}"


def _describe_worlds(looked: MinimalityCoverage) -> str:
    how = [f"all in {plural(looked.counted, 'class', 'classes')}"] if looked.counted else []
    how += [f"a sample in {plural(looked.drawn, 'class', 'classes')}"] if looked.drawn else []
    fit = f"{percent(looked.fitting)} of {looked.worlds:,} fit, and they tell something in {looked.telling:,}"
    return f"Of the {WAYS}, {' and '.join(how)} were tried; {fit}."


def _describe_doubts(looked: MinimalityCoverage) -> tuple[str, ...]:
    """Say what was not looked at, what is unknown, and where the adversary errs."""
    sentences = []
    tried = looked.counted + looked.drawn
    if looked.looked < looked.rows:
        part = amount(looked.looked, looked.rows)
        sentences.append(f"Only {part} of the rows were looked at, classes drawn at random.")
    if tried < looked.open:
        sentences.append(f"Of {looked.open:,} classes that something finer is open to, {tried:,} were tried.")
    if looked.unfit:
        where = plural(looked.unfit, "class", "classes")
        sentences.append(f"In {where} too few of the ways that were tried fit: what is betrayed there is unknown.")
    if looked.misled:
        of = f"{looked.misled:,} of {plural(looked.open, 'class', 'classes')}"
        sentences.append(
            f"In {of} something finer would have passed: the adversary errs there, and they count as no gain."
        )
    return tuple(sentences)
