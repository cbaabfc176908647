"""The figures in sentences: what an adversary is assumed to know, and what they learn; never that somebody is safe."""

from collections.abc import Iterator, Sequence

from sfumato.attack.intersect.found import Intersection, Narrowed
from sfumato.attack.result import AttackResult
from sfumato.errors import listing
from sfumato.matching.fits import Fits
from sfumato.matching.notes import not_told
from sfumato.matching.people import People
from sfumato.matching.released import Released

_ONE_VALUE = (
    "Each person is taken to hold one value of a sensitive column, the same in all releases; whoever knows more than "
    "that, or learns from how values go with quasi-identifiers, may do better."
)


def tried(found: Intersection) -> tuple[AttackResult, ...]:
    """The attack in one line for each sensitive column; the baseline is the worst that one release does by itself."""
    names = [one.release for one in found.releases]
    return tuple(
        AttackResult(
            "intersect",
            found.assumes,
            f"persons with fewer than {one.threshold} values of '{column}' left",
            one.exposed / max(one.persons, 1),
            max([0, *(alone for alone in one.alone if alone is not None)]) / max(one.persons, 1),
            says=meaning(column, one, names),
        )
        for column, one in found.columns.items()
    )


def assumed(people: People, releases: Sequence[Released]) -> str:
    """What the adversary is assumed to know."""
    every = "both" if len(releases) == 2 else f"all {len(releases)}"
    have = f"The adversary has the public files of {every} releases"
    if people.lines:
        who = f"and nothing else: a person is a row of the first one, known by its labels of {listing(people.known)}"
        return f"{have} {who}, and may be in any row of the others under whose labels a common value lies. {_ONE_VALUE}"
    who = f"and knows of each person {listing(people.known)}, exactly, and which releases the person is in"
    return f"{have} {who}. {_ONE_VALUE}"


def notes(fits: Sequence[Fits]) -> tuple[str, ...]:
    """What was not made use of, and so may be worse than it looks."""
    return (*(note for one in fits for note in not_told(one)), *_pseudonyms(fits))


def _pseudonyms(fits: Sequence[Fits]) -> Iterator[str]:
    keyed = [
        one.release.name
        for one in fits
        for entry in one.release.account.columns
        if entry.get("role") == "individual" and entry.get("pseudonyms") == "keyed"
    ]
    if len(keyed) > 1:
        yield f"{listing(keyed)} carry pseudonyms made with a key: who joins rows by these learns more than is counted."


def meaning(name: str, found: Narrowed, releases: Sequence[str]) -> tuple[str, ...]:
    """What the figures of a column mean, sentence by sentence."""
    return tuple(filter(None, (_together(name, found), _alone(found, releases), _true(found), _disagree(found))))


def around(found: Intersection) -> tuple[str, ...]:
    """What is to be said of persons who are not in all releases, and of rows."""
    absent = [f"{one.absent:,} fit no row of {one.release}" for one in found.releases if one.absent]
    said = [f"Of {found.persons:,} persons, {', '.join(absent)}: they are not in it."] if absent else []
    rows = found.rows
    if rows.smallest is not None:
        few = "" if rows.below is None else f"; {_persons(rows.below)} fewer than the k that the release promises"
        said.append(f"The fewest rows that fit somebody and hold a value that is left are {rows.smallest:,}{few}.")
    return tuple(said)


def _persons(count: int) -> str:
    return "nobody has" if not count else "1 person has" if count == 1 else f"{count:,} persons have"


def _together(name: str, found: Narrowed) -> str:
    if not found.persons:
        return f"Nobody fits rows of two releases that have '{name}', so that there is nothing to intersect."
    few = "only one value" if found.threshold == 2 else f"fewer than {found.threshold} values"
    of = f"of {found.persons:,} who are in two or more"
    return f"Of '{name}', {_persons(found.below)} {few} left in all releases together, {of}."


def _alone(found: Narrowed, releases: Sequence[str]) -> str:
    by = [f"{one:,} by {name}" for one, name in zip(found.alone, releases, strict=True) if one is not None]
    added = f"{found.added:,} are exposed by the releases together and by none alone"
    return f"Each release alone exposes {', '.join(by)}; {added}."


def _true(found: Narrowed) -> str:
    if found.right is None:
        return ""
    return f"For {found.right:,} persons the one value that is left is the true one."


def _disagree(found: Narrowed) -> str:
    why = "they are not in all releases, or their value has changed; they are not counted as exposed"
    if found.contradicted:
        return f"For {found.contradicted:,} persons the true value is not among those left: {why}."
    return f"For {found.empty:,} persons no value is left: {why}." if found.empty else ""
