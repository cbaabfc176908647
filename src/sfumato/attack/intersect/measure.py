"""Measure: releases and people in, what they leave open together out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attack.intersect.asked import Asked
from sfumato.attack.intersect.compose import Composed
from sfumato.attack.intersect.figures import narrowed, rows_left
from sfumato.attack.intersect.found import Intersection, Seen
from sfumato.attack.intersect.values import Values
from sfumato.attack.intersect.words import assumed, notes
from sfumato.core.arrays import BoolArray
from sfumato.errors import InputError
from sfumato.matching.fits import Fits
from sfumato.matching.people import People
from sfumato.matching.released import Released
from sfumato.matching.sources import read_released
from sfumato.policy import Policy

Progress = Callable[[int, int], None]

_CELLS = 1 << 22
"""Pairs of a person and a line of a release that are looked at together."""


def intersect(
    releases: Sequence[str | Path],
    known: Any = None,
    *,
    policy: Policy | None = None,
    threshold: int = 2,
    column: str | None = None,
    progress: Progress | None = None,
) -> Intersection:
    """For each person, how many sensitive values are consistent with all releases taken together.

    `releases` are folders that anonymize wrote, or their public parts. `known` is a table with quasi-identifiers as the
    adversary knows them, such as the original: a `Table`, a path or a frame; without one persons are the rows of the
    first release. A `policy` says which columns are quasi-identifiers and how a file is read, in place of the first
    release's own. Who has fewer than `threshold` values left is exposed. `column` is one sensitive column, or all that
    two releases share.

    >>> import tempfile, sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> folder, rows = Path(tempfile.mkdtemp()), hospital(400)
    >>> both = [sf.anonymize(rows, hospital_policy()).save(folder / name) for name in ("may", "june")]
    >>> intersect(both, rows).columns["illness"].added
    0
    """
    if threshold < 2:
        raise InputError(
            f"the threshold is the fewest values that somebody should have left, 2 at least, not {threshold}"
        )
    asked = Asked.of([read_released(Path(one)) for one in _several(releases)], policy, column)
    people = asked.people(known)
    fits = [Fits(people, one, own=people.lines and place == 0) for place, one in enumerate(asked.releases)]
    columns = [Values(name, asked.releases, people.truth.get(name)) for name in asked.sensitive]
    composed = [Composed.empty(values, people) for values in columns]
    there = _look_up(people, fits, composed, progress)
    return Intersection(
        people.persons,
        tuple(
            _seen(one, fit, there[place], people)
            for place, (one, fit) in enumerate(zip(asked.releases, fits, strict=True))
        ),
        {one.values.name: narrowed(one, people, threshold) for one in composed},
        rows_left(composed, people, asked.needed),
        assumed(people, asked.releases),
        notes(fits),
        {one.values.name: one.left[people.tuples] for one in composed},
    )


def _several(releases: Sequence[str | Path]) -> Sequence[str | Path]:
    if len(releases) < 2:
        raise InputError("one release has nothing to be intersected with; name two or more about the same people")
    return releases


def _look_up(
    people: People, fits: Sequence[Fits], composed: Sequence[Composed], progress: Progress | None
) -> BoolArray:
    """Look all people up in all releases, a block at a time; whether each different tuple is in each release."""
    there = np.zeros((len(fits), people.different), dtype=np.bool_)
    step = max(_CELLS // max(len(one.release.class_of) for one in fits), 1)
    order = np.argsort(people.tuples, kind="stable")
    bounds = np.searchsorted(people.tuples[order], np.arange(people.different + 1))
    for start in range(0, people.different, step):
        end = min(start + step, people.different)
        pairs = [one.pairs(start, end) for one in fits]
        there[:, start:end] = [one.some for one in pairs]
        persons = order[bounds[start] : bounds[end]]
        for one in composed:
            one.add(pairs, start, persons, people.tuples[persons] - start)
        if progress is not None:
            progress(end, people.different)
    return there


def _seen(release: Released, fits: Fits, there: BoolArray, people: People) -> Seen:
    absent = int((~there[people.tuples]).sum())
    form, classes = release.account.form, len(release.sizes)
    return Seen(release.name, form, release.rows, classes, fits.by, absent, release.k)
