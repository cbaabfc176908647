"""The join in sentences: what the adversary is assumed to know, and what they learn; never that somebody is safe."""

from collections.abc import Iterator

from sfumato.attack.link.asked import Asked, Outside
from sfumato.attack.link.found import Chance, Guessed, Linked, LinkedColumn
from sfumato.attack.link.joined import Joined
from sfumato.attack.tried import Tried
from sfumato.errors import listing
from sfumato.matching.fits import Fits
from sfumato.matching.notes import by_text, not_told
from sfumato.page.words import percent, plural

IN_RELEASE = (
    "The adversary has the release, knows of a person {on}, exactly, and knows that the person is in the release: each "
    "record that matches is as likely as any other to be theirs."
)
EVERYBODY = (
    "The adversary has the release and {known}, with {on} of each person, exactly, and takes the persons in it for all "
    "whom the release may be about: each record is one of the persons who match it, as likely one as the other."
)


def assumed(asked: Asked) -> tuple[str, str]:
    """What is assumed: that the outside table is everybody; that a person is known to be in the release."""
    on = listing(asked.outside.people.known)
    return EVERYBODY.format(known=asked.outside.title, on=on), IN_RELEASE.format(on=on)


def noted(asked: Asked, fits: Fits, found: Joined) -> tuple[str, ...]:
    """What was not made use of, and what does not go with an assumption."""
    notes = [*not_told(fits), *(() if asked.explained else by_text(fits))]
    if asked.released.account.split:
        notes.append(
            "The release is two tables: records are lines of the first, which shows values as they are and hides "
            "nobody. What it keeps back is which sensitive values of a class are whose."
        )
    if asked.released.persons is not None:
        notes.append(
            "Rows of the release carry pseudonyms: records are persons, and who knows several rows of a person may do "
            "better."
        )
    return (*notes, *_namesakes(asked.outside), *_strangers(found))


def _namesakes(outside: Outside) -> Iterator[str]:
    """Rows that may be of one person, where each is taken for another."""
    names = [name for name in outside.names or () if name is not None]
    again = len(names) - len(set(names))
    if again:
        rows = f"{plural(again, 'row')} of {outside.title} {'repeats' if again == 1 else 'repeat'} a name"
        yield f"{rows}: each row is taken for another person, and where it is the same one, chances are too low."


def _strangers(found: Joined) -> Iterator[str]:
    """Records that show that the outside table is not everybody."""
    lonely = int(found.own[found.candidates == 0].sum())
    if lonely:
        verb = "matches" if lonely == 1 else "match"
        yield (
            f"{plural(lonely, 'record')} {verb} nobody in the outside table: it is not everybody, and chances that "
            "take it for that are too high."
        )
    crowded = found.own > found.candidates
    more = int((found.own - found.candidates)[crowded & (found.candidates > 0)].sum())
    if more:
        yield f"There are {more:,} records more than persons who match them: the outside table lacks somebody."


def tried(found: Linked) -> tuple[Tried, ...]:
    """Identities under each assumption, then values."""
    return (
        *_identities(found),
        *(one for name, column in found.columns.items() for one in _values(found, name, column)),
    )


def _identities(found: Linked) -> Iterator[Tried]:
    if found.everybody is not None:
        counts, one = "records tied to the right person", found.everybody
        says = f"{plural(one.one, 'record')} of {found.records:,} can be one person's only."
        yield Tried("link", one.assumes, counts, one.average, one.baseline, says=(_highest(one), says, _certain(found)))
    one, counts = found.in_release, "persons whose record is picked"
    says = f"{_persons(one.one)} one record only, of {found.matched_people:,} who match any."
    yield Tried(
        "link", one.assumes, counts, one.average, one.baseline, found.bound, says=(_highest(one), says, *found.notes)
    )


def _values(found: Linked, name: str, column: LinkedColumn) -> Iterator[Tried]:
    counts = f"persons whose '{name}' is guessed right"
    if found.everybody is not None and column.everybody is not None:
        one = column.everybody
        says = (_sure(name, one, found),)
        yield Tried("link", found.everybody.assumes, counts, one.average, one.baseline, says=says)
    one, right = column.in_release, column.right
    success = one.average if right is None else right
    baseline = one.baseline if column.right_baseline is None else column.right_baseline
    yield Tried("link", found.in_release.assumes, counts, success, baseline, says=(_sure(name, one, found),))


def meaning(found: Linked) -> tuple[str, ...]:
    """What the figures mean, sentence by sentence, for the command."""
    first = f"{_persons(found.matched_people)} records of the release, of {found.people:,} in the outside table."
    right = [_right(name, one) for name, one in found.columns.items() if one.right is not None]
    return (first, _certain(found), *right, *found.notes)


def _right(name: str, column: LinkedColumn) -> str:
    right, baseline = percent(column.right or 0.0), percent(column.right_baseline or 0.0)
    how = "the most frequent value of the release would be right for"
    return f"The likeliest value of '{name}' is the true one for {right} of the persons who match; {how} {baseline}."


def _highest(one: Chance) -> str:
    return f"The highest chance is {percent(one.highest)}."


def _certain(found: Linked) -> str:
    if found.certain is None:
        return ""
    if not found.certain:
        return "Nobody is tied to one record: no one matches a single record that nobody else matches."
    tied = "is tied" if found.certain == 1 else "are tied"
    return f"{_persons(found.certain)} one record that nobody else matches, and so {tied} to it."


def _sure(name: str, one: Guessed, found: Linked) -> str:
    surest = f"{percent(one.highest)} at the most"
    return f"'{name}' is certain for {one.certain:,} of {found.matched_people:,} persons who match ({surest})."


def _persons(count: int) -> str:
    return "Nobody matches" if not count else "1 person matches" if count == 1 else f"{count:,} persons match"
