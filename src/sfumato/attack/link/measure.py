"""Measure: a release and an outside table in, what their join tells out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.attack.link import figures
from sfumato.attack.link.asked import Asked, Question
from sfumato.attack.link.found import Linked
from sfumato.attack.link.joined import Join, Joined, Progress, joined
from sfumato.attack.link.values import Posterior, posterior
from sfumato.attack.link.words import assumed, noted
from sfumato.matching.fits import Fits
from sfumato.matching.people import People
from sfumato.policy import Policy


def link(  # noqa: PLR0913 - as many settings as the question has
    release: str | Path,
    known: Any,
    on: Sequence[str],
    *,
    policy: Policy | None = None,
    sensitive: Sequence[str] = (),
    name: str | None = None,
    most: int = 20,
    progress: Progress | None = None,
) -> Linked:
    r"""Join a release with an outside table on some columns, and say what that tells of the persons in the table.

    `release` is a folder that anonymize wrote, its public part, or a file: raw, or published by anybody. Of a file the
    hierarchies of the `policy` say what labels stand for; without one a label is a value and ``*`` stands for all.
    `known` is the outside table, each row a person: a path or a frame. `sensitive` are the columns to learn of people,
    those of the release or of the policy if none is named. `name` is the column of the outside table that names people,
    and `most` how many of the most exposed are listed.

    >>> import pyarrow, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "hospital.csv"
    >>> _ = file.write_text("age,zip,disease\n26,10547,HIV\n37,90210,Hepatitis C\n")
    >>> roll = pyarrow.table({"name": ["Joy", "William", "Sue"], "age": [26, 37, 26]})
    >>> found = link(file, roll, ["age"], sensitive=["disease"], name="name")
    >>> [(one.person, one.values["disease"]["everybody"].chance) for one in found.persons]
    [('William', 1.0), ('Joy', 0.5), ('Sue', 0.5)]
    """
    return _linked(Asked.of(release, known, Question(on, sensitive, policy, name)), tuple(on), most, progress)


def _linked(asked: Asked, on: tuple[str, ...], most: int, progress: Progress | None) -> Linked:
    """The join, and all figures of it."""
    people = asked.outside.people
    fits = Fits(people, asked.released)
    join = Join(fits, progress)
    found = joined(join, people)
    told = {column: posterior(column, join, found) for column in asked.released.bags}
    chosen = figures.exposed(found, told, people.tuples, most)
    both = assumed(asked)
    return Linked(
        asked.released.name,
        asked.outside.title,
        on,
        records=found.every,
        people=people.persons,
        matched_records=int(found.own[found.candidates > 0].sum()),
        matched_people=int(found.persons[found.records > 0].sum()),
        certain=int(found.persons[found.certain].sum()),
        everybody=figures.everybody(found, both[0]),
        in_release=figures.in_release(found, both[1]),
        columns=columns(found, told, people),
        persons=figures.persons(found, told, people.tuples, chosen, asked.outside.names),
        notes=noted(asked, fits, found),
        bound=asked.bound,
        matches=found.records[people.tuples],
    )


def columns(found: Joined, told: Mapping[str, Posterior], people: People) -> dict[str, Any]:
    """The figures of each sensitive column."""
    return {
        name: figures.column(found, one, figures.true_codes(people.truth.get(name), one), people.tuples)
        for name, one in told.items()
    }
