"""The figures in sentences, for the command and the report alike."""

from typing import TYPE_CHECKING

from sfumato.page.words import amount, percent, plural

if TYPE_CHECKING:
    from sfumato.attack.minimality.found import Betrayed, Looked, Minimality

EVERYBODY = (
    "The adversary has the release, knows everybody's quasi-identifiers and in which class each person stands, and "
    "knows the requirements and the algorithm"
)
BASES = {
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
    "nothing": ": that it stops as early as it can. No requirement looks at a sensitive column.",
}
DRAWN = (
    "Buckets are drawn without regard to the quasi-identifiers, so that it tells nothing of a person which bucket it is"
)
PROMISE = (
    "A value that is surer than the bound does not break the promise, which limits what the bag of a class shows by "
    "itself. It is what one adds who knows how the classes were found."
)
WAYS = "ways to deal the values of a class out to its rows"
UNASKED = "No requirement looks at the column, so that its values decided nothing."
SAME = "What is known of the algorithm tells no more than the shares of the class."


def assumed(basis: str) -> str:
    """What the adversary is assumed to know."""
    return EVERYBODY + BASES[basis]


def meaning(column: str, found: "Betrayed", told: "Minimality") -> tuple[str, ...]:
    """What the figures of a column mean, sentence by sentence."""
    if told.basis == "drawn":
        return (f"{DRAWN}.", _share(column, found))
    if not found.asked:
        return (UNASKED, _share(column, found))
    if told.why:
        return (f"Not measured: {told.why}. That is unknown, not safe.",)
    if not told.looked.telling and not told.looked.unfit:
        return (_nothing(told.looked), _share(column, found), *_doubts(told.looked))
    surer = _surer(found, sampled=told.looked.drawn > 0)
    return (_share(column, found), surer, _right(found), _worlds(told.looked), *_doubts(told.looked))


def _share(column: str, found: "Betrayed") -> str:
    share = f"The largest share that a value of '{column}' has of a class is {percent(found.largest_share)}"
    if found.bound is None:
        return f"{share}; the policy sets no bound to it."
    return f"{share}; the policy allows {percent(found.bound)}."


def _surer(found: "Betrayed", *, sampled: bool) -> str:
    bound = "the largest share of a class" if found.bound is None else "the bound"
    surest = percent(found.largest_posterior)
    if not found.beyond_bound.rows:
        tell = ", as far as a sample can tell" if sampled else f" ({surest} at most)"
        return f"Who knows the algorithm is surer than {bound} of nobody{tell}."
    rows, up = plural(found.beyond_bound.rows, "row"), f"{'at least' if sampled else 'up to'} {surest}"
    right = percent(found.beyond_bound.right or 0.0)
    return f"Who knows the algorithm is surer than {bound} of {rows} ({up}), and right about {right} of them."


def _right(found: "Betrayed") -> str:
    return (
        f"The likeliest value is right for {percent(found.attack)} of the rows; the most frequent value of the own "
        f"class for {percent(found.bag)}, that of the table for {percent(found.blind)}."
    )


def _nothing(looked: "Looked") -> str:
    if not looked.open:
        return f"Whatever is finer has a class of too few rows, whoever holds what. {SAME}"
    where = plural(looked.open, "class", "classes")
    if looked.misled:
        return f"Something finer is open to {where}, and where that tells something it tells what is not so. {SAME}"
    return f"Something finer is open to {where}, but none of the {looked.worlds:,} {WAYS} is ruled out by it. {SAME}"


def _worlds(looked: "Looked") -> str:
    how = [f"all in {plural(looked.counted, 'class', 'classes')}"] if looked.counted else []
    how += [f"a sample in {plural(looked.drawn, 'class', 'classes')}"] if looked.drawn else []
    tried = f"Of the {WAYS}, {' and '.join(how)} were tried"
    return (
        f"{tried}; {percent(looked.fitting)} of {looked.worlds:,} fit, and they tell something in {looked.telling:,}."
    )


def _doubts(looked: "Looked") -> tuple[str, ...]:
    """What was not looked at, what is unknown, and where the adversary errs."""
    said = []
    if looked.looked < looked.rows:
        said.append(f"Only {amount(looked.looked, looked.rows)} of the rows were looked at, classes drawn at random.")
    if looked.counted + looked.drawn < looked.open:
        said.append(f"Of {looked.open:,} classes that something finer is open to, {_some(looked)} were tried.")
    if looked.unfit:
        where = plural(looked.unfit, "class", "classes")
        said.append(f"In {where} too few of the ways that were tried fit: what is betrayed there is unknown.")
    if looked.misled:
        of = f"{looked.misled:,} of {plural(looked.open, 'class', 'classes')}"
        said.append(f"In {of} something finer would have passed: the adversary errs there, and they count as no gain.")
    return tuple(said)


def _some(looked: "Looked") -> str:
    return f"{looked.counted + looked.drawn:,}"
