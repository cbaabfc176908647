"""A release in memory joined with the table it was made from, for the report: a sample of persons, quickly."""

from dataclasses import replace

from sfumato.attack.link import figures
from sfumato.attack.link.found import Linked
from sfumato.attack.link.joined import Join, joined
from sfumato.attack.link.measure import columns
from sfumato.attack.link.values import posterior
from sfumato.attack.link.words import IN_RELEASE
from sfumato.encode import EncodedTable
from sfumato.errors import listing
from sfumato.matching.fits import Fits
from sfumato.matching.notes import not_told
from sfumato.matching.people import drawn, people_drawn
from sfumato.matching.sources import memory_shown, rows_of
from sfumato.policy import Policy
from sfumato.recode import Recoding

_PERSONS = 2_000
_CELLS = 1 << 26
_FEWEST = 100
"""So many persons are looked up, fewer where there are more lines than that many pairs allow, but some at least."""


def linked_release(
    encoded: EncodedTable, recoding: Recoding, policy: Policy, *, persons: int = _PERSONS, seed: int = 1
) -> Linked:
    """Look up people of the original in their own release, by all quasi-identifiers.

    The adversary knows that they are in it, and nothing is assumed of others. At most so many `persons` are looked up,
    drawn at random; the figures are about them.
    """
    release = memory_shown(encoded, recoding, policy).released(encoded.names, list(encoded.sensitive))
    many = min(persons, max(_CELLS // max(len(release.class_of), 1), _FEWEST))
    rows = drawn(rows_of(recoding), many, seed)
    people = people_drawn({one.name: one.column for one in encoded.quasi}, rows, encoded.sensitive)
    fits = Fits(people, release)
    join = Join(fits)
    found = joined(join, people)
    told = {name: posterior(name, join, found) for name in release.bags}
    return Linked(
        release.name,
        "the original table",
        fits.by,
        records=found.every,
        people=people.persons,
        matched_records=None,
        matched_people=int(found.persons[found.records > 0].sum()),
        certain=None,
        everybody=None,
        in_release=figures.in_release(found, IN_RELEASE.format(on=listing(encoded.names))),
        columns={name: replace(one, everybody=None) for name, one in columns(found, told, people).items()},
        notes=tuple(not_told(fits)),
        bound=1 / release.k if release.k and recoding.group is None else None,
        matches=found.records[people.tuples],
    )
