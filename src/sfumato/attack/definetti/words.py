"""The figures in sentences, for the command and the report alike: what an adversary can do, never that one is safe."""

from sfumato.attack.definetti.found import Attacked, Definetti
from sfumato.attack.result import AttackResult

CLOSE = 0.02
"""Accuracies inside and outside the table that differ by no more than this are called close."""

PROMISE = (
    "An accuracy above the bound does not break the promise, which limits what the bag of a class shows by itself. "
    "It is what a learner makes of all classes together; another learner, or one that knows more, may do better."
)

ASSUMES = (
    "The adversary has the two tables, and knows that a person is in them and the person's quasi-identifiers; of "
    "sensitive values nothing."
)


def tried(found: Definetti) -> tuple[AttackResult, ...]:
    """The attack in one line for each sensitive column; the baseline is the most frequent value of the table."""
    return tuple(
        AttackResult(
            "definetti",
            ASSUMES,
            f"persons whose '{column}' a learner guesses right",
            one.attack,
            one.blind,
            bound=one.bound,
            says=tuple(filter(None, (*meaning(column, one), sampling(one)))),
        )
        for column, one in found.columns.items()
    )


def percent(share: float) -> str:
    """A share that is not rounded to a certainty.

    >>> percent(0.435), percent(0.99999), percent(1.0)
    ('43.5%', '>99.9%', '100.0%')
    """
    return ">99.9%" if 0.999 < share < 1 else f"{share:.1%}"


def meaning(column: str, found: Attacked) -> tuple[str, ...]:
    """What the figures of a column mean, sentence by sentence."""
    return (_bags(column, found), _inside(found), _outside(found), _beyond(found))


def sampling(found: Attacked) -> str:
    """How much of the release was looked at; nothing where it was all."""
    trained, guessed = found.sampled.trained, found.sampled.guessed
    if found.lines == trained == guessed:
        return ""
    return f"Trained on {trained:,} lines and guessed about {guessed:,}, drawn at random from {found.lines:,}."


def _bags(column: str, found: Attacked) -> str:
    share = f"The largest share that a value of '{column}' has of a class is {percent(found.largest_share)}"
    if found.bound is None:
        return f"{share}; the policy sets no bound to it."
    return f"{share}; the policy allows {percent(found.bound)}."


def _inside(found: Attacked) -> str:
    attack = f"The attack guesses right for {percent(found.attack)} of the people in the table"
    bag = f"the most frequent value of their own bag is right for {percent(found.bag)}"
    return f"{attack}; {bag}, the most frequent value of the table for {percent(found.blind)}."


def _outside(found: Attacked) -> str:
    if found.outside is None:
        return "There is one class only, so that nobody could be held out to try the learner on people outside."
    outside = f"{percent(found.outside)} of people outside the table"
    gain = found.attack - found.outside
    if gain > CLOSE:
        by = f"so that being in the table costs people {100 * gain:.1f} points"
        return f"The same learner guesses right for {outside}, {by}: the bag of their class adds to what it knows."
    close = "what it guesses it has learned about everybody alike, and staying out of the table protects nobody from it"
    return f"The same learner guesses right for {outside}, nearly as many or more: {close}."


def _beyond(found: Attacked) -> str:
    """How sure the learner is, and how rightly so."""
    bound = "the largest share of a class" if found.bound is None else "the bound"
    beyond, guessed = found.beyond_bound, found.sampled.guessed
    if beyond.right is None:
        return f"It is surer than {bound} of nobody ({percent(found.largest_posterior)} at most)."
    of = f"{beyond.lines:,} of {guessed:,} people ({percent(found.largest_posterior)} at most)"
    return f"It is surer than {bound} of {of}, and right about {percent(beyond.right)} of them."
