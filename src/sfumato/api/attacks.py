"""The attacks, as functions over frames, paths and releases: ``sf.attack.link(release, voters, ["age", "zip"])``.

Each does what ``sfumato attack`` of its name does. A release is a folder, or a `Release` that nobody has saved yet;
tables are frames or paths. What comes back has `results()`, `as_json()`, and shows itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.api.complete_release import CompleteRelease, open_complete_release
from sfumato.api.given_release import PolicyLike, given_data, given_releases, name_of, policy_for
from sfumato.errors import InputError, listing
from sfumato.masking import remask_table
from sfumato.policy import load
from sfumato.release import Release
from sfumato.table import Table, read_original

if TYPE_CHECKING:
    from sfumato.attack.definetti import DefinettiResult
    from sfumato.attack.homogeneity import Homogeneity, Skewness
    from sfumato.attack.intersect import IntersectionResult
    from sfumato.attack.known import KnownValuesResult
    from sfumato.attack.link import LinkageResult
    from sfumato.attack.minimality import MinimalityResult

Progress = Callable[[int, int], None]


def link(  # noqa: PLR0913 - as many settings as the question has
    release: Any,
    known: Any,
    on: Sequence[str],
    *,
    policy: PolicyLike | None = None,
    sensitive: Sequence[str] = (),
    name: str | None = None,
    most: int = 20,
) -> "LinkageResult":
    """Join a release with an outside table, as an adversary would, and count whom and what that tells.

    `release` is a folder or a `Release`, or a table: raw, or published by anybody, whose labels are explained by a
    `policy`. `known` is the outside table, each row a person, and `on` the columns that both have. `sensitive` are the
    columns to learn of people, the sensitive ones if left out. `name` is the column of the outside table that names
    people, of whom the `most` exposed are listed.

    >>> import pyarrow
    >>> hospital = pyarrow.table({"age": [26, 37], "disease": ["HIV", "Hepatitis C"]})
    >>> roll = pyarrow.table({"name": ["Joy", "William", "Sue"], "age": [26, 37, 26]})
    >>> found = link(hospital, roll, ["age"], sensitive=["disease"], name="name")
    >>> [(one.person, one.values["disease"]["everybody"].chance) for one in found.persons]
    [('William', 1.0), ('Joy', 0.5), ('Sue', 0.5)]
    """
    from sfumato.attack.link import link as attack  # noqa: PLC0415 - one attack does not load the others

    rules = policy_for(policy, release)
    with given_data(release) as given:
        found = attack(given, known, _names(on), policy=rules, sensitive=_names(sensitive), name=name, most=most)
    return replace(found, release=name_of(release)) if isinstance(release, Release) else found


def known(  # noqa: PLR0913 - as many settings as the question has
    data: Any,
    original: Any = None,
    *,
    policy: PolicyLike | None = None,
    columns: Sequence[str] = (),
    most: int | None = None,
    targets: int | None = None,
    seed: int = 1,
) -> "KnownValuesResult":
    """Find the rows of people by values that are known of them, and count success over how many are known.

    `data` is a raw table, whose own rows are looked for; or a release, whose `original` has the rows to look for, and
    which a `Release` has itself. `columns` are those that may be known, all that are published if left out; `most` is
    the most values known, `targets` how many rows are looked for, and `seed` says which.

    >>> import pyarrow
    >>> items = pyarrow.table({"bread": [1, 1, 0, 0], "milk": [0, 1, 1, 1]})
    >>> [(one.known, one.only) for one in known(items, columns=["bread", "milk"]).series[0].points]
    [(1, 0.125), (2, 0.5)]
    """
    from sfumato.attack.known import SearchEffort  # noqa: PLC0415 - one attack does not load the others
    from sfumato.attack.known import known as attack  # noqa: PLC0415 - same

    rules, effort = policy_for(policy, data), SearchEffort(targets=targets, seed=seed)
    truth = data.source if original is None and isinstance(data, Release) else original
    with given_data(data) as given:
        found = attack(given, truth, policy=rules, columns=_names(columns), most=most, effort=effort)
    return replace(found, table=name_of(data)) if isinstance(data, Release) else found


def homogeneity(release: Any, *, column: str | None = None, policy: PolicyLike | None = None) -> "Homogeneity":
    """Guess that everybody holds the most frequent value of their class, and count how often that is right.

    `column` is the sensitive column, all where it is left out. A `policy` adds its bounds, and the hierarchies of its
    sensitive columns; a `Release` has its own.

    >>> import sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> found = homogeneity(sf.anonymize(hospital(300), hospital_policy()))
    >>> found.columns["illness"].right >= found.columns["illness"].blind
    True
    """
    from sfumato.attack.bound import bounds  # noqa: PLC0415 - one attack does not load the others
    from sfumato.attack.homogeneity import homogeneity as attack  # noqa: PLC0415 - same
    from sfumato.attack.sensitive_columns import SensitiveColumns, select_sensitive_columns  # noqa: PLC0415 - same
    from sfumato.reading.release_view import read_release_lines  # noqa: PLC0415 - same

    rules = policy_for(policy, release)
    with _released(release) as folder:
        columns = select_sensitive_columns(read_release_lines(folder), rules, column)
        return attack(columns, None if rules is None else bounds(rules, SensitiveColumns(columns)))


def skewness(
    release: Any, *, column: str | None = None, threshold: float = 0.3, policy: PolicyLike | None = None
) -> "Skewness":
    """Compare what a class tells of sensitive values with what the whole table tells anyone.

    Rows in classes that tell more of some value than the `threshold` are counted. `column` and `policy` are as for
    `homogeneity`.
    """
    from sfumato.attack.homogeneity import gain_bounds  # noqa: PLC0415 - one attack does not load the others
    from sfumato.attack.homogeneity import skewness as attack  # noqa: PLC0415 - same
    from sfumato.attack.sensitive_columns import select_sensitive_columns  # noqa: PLC0415 - same
    from sfumato.reading.release_view import read_release_lines  # noqa: PLC0415 - same

    if not 0 <= threshold <= 1:
        raise InputError(f"the threshold must be from 0 to 1, not {threshold:g}")
    rules = policy_for(policy, release)
    with _released(release) as folder:
        columns = select_sensitive_columns(read_release_lines(folder), rules, column)
        return attack(columns, threshold=threshold, promised=None if rules is None else gain_bounds(rules))


def intersect(
    releases: Sequence[Any],
    known: Any = None,
    *,
    policy: PolicyLike | None = None,
    threshold: int = 2,
    column: str | None = None,
) -> "IntersectionResult":
    """Count, for each person, the sensitive values that are consistent with all releases taken together.

    `known` is a table of persons, with quasi-identifiers as the adversary knows them, such as the original; without it
    persons are the rows of the first release. Who has fewer than `threshold` values left is exposed. A `policy` says
    what columns of `known` are, in place of the first release's own.
    """
    from sfumato.attack.intersect import intersect as attack  # noqa: PLC0415 - one attack does not load the others

    every = list(releases)
    rules = None if policy is None else load(policy)
    with given_releases(every) as folders:
        for given, folder in zip(every, folders, strict=True):
            _require_release(given, folder)
        found = attack(folders, known, policy=rules, threshold=threshold, column=column)
    named = tuple(
        replace(one, release=name_of(given, place)) if isinstance(given, Release) else one
        for place, (given, one) in enumerate(zip(every, found.releases, strict=True))
    )
    return replace(found, releases=named)


def definetti(
    release: Any, original: Any = None, *, policy: PolicyLike | None = None, seed: int = 1
) -> "DefinettiResult":
    """Guess sensitive values by a learner trained on the two tables of a release, and count how often it is right.

    `original` is the table that it was made from, which a `Release` has itself; `seed` says which classes are held out.
    """
    from sfumato.attack.bound import bounds  # noqa: PLC0415 - one attack does not load the others
    from sfumato.attack.definetti import DefinettiEffort, Original  # noqa: PLC0415 - same
    from sfumato.attack.definetti import definetti as attack  # noqa: PLC0415 - same
    from sfumato.split import tables_from_files  # noqa: PLC0415 - same

    with _released(release) as place:
        table = _original(release, original)
        folder = open_complete_release(place, policy_for(policy, release), table)
        if "nss" not in folder.manifest:
            raise InputError(
                f"{place} is one generalized table, where each row shows its own sensitive values beside its labels "
                "and there is nothing to assign; name a release of form lossy-join or anatomy, or see sfumato risk"
            )
        tables = tables_from_files(folder.public, folder.manifest)
        truth = Original.of_table(_algorithm_input(release, original, folder), folder.policy)
        return attack(tables, truth, bounds(folder.policy, tables), effort=DefinettiEffort(seed=seed))


def minimality(  # noqa: PLR0913 - as many settings as the question has
    release: Any,
    original: Any = None,
    *,
    policy: PolicyLike | None = None,
    column: str | None = None,
    worlds: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
) -> "MinimalityResult":
    """Measure how much surer of sensitive values one is who knows that the algorithm publishes nothing too coarse.

    `original` is the table that the release was made from, which a `Release` has itself; `column` the sensitive column,
    all where it is left out. Where not all ways to deal out the values of a class can be tried, `worlds` are drawn, by
    the `seed`.
    """
    from sfumato.attack.minimality import THOROUGH, MinimalityEffort  # noqa: PLC0415 - one attack at a time
    from sfumato.attack.minimality import minimality as attack  # noqa: PLC0415 - same
    from sfumato.attack.minimality.minimality_attack import (  # noqa: PLC0415 - same
        check_sensitive_column,
        minimality_of_buckets,
        policy_of_search,
        remake_release,
    )

    with _released(release) as place:
        folder = open_complete_release(place, policy_for(policy, release), _original(release, original))
        rules = policy_of_search(folder.policy)
        check_sensitive_column(rules, column)
        if rules.publish.form == "anatomy":
            return minimality_of_buckets(place, rules, seed=seed, column=column)
        truth = _algorithm_input(release, original, folder)
        encoded, recoding = remake_release(place, truth, rules, progress=progress)
    slots = max(THOROUGH.slots, THOROUGH.slots // THOROUGH.worlds * worlds)
    return attack(
        encoded, recoding, rules, effort=MinimalityEffort(worlds=worlds, slots=slots, seed=seed), column=column
    )


@contextmanager
def _released(release: Any) -> Iterator[Path]:
    """Give the folder of a release; a table is none."""
    with given_data(release) as folder:
        _require_release(release, folder)
        yield folder


def _require_release(given: Any, folder: Any) -> None:
    if not isinstance(folder, Path):
        raise InputError(f"give a release, or the folder of one, not a {type(given).__name__}")


def _original(release: Any, original: Any) -> Any:
    """Give the table that a release was made from; a `Release` has it."""
    if original is None and not isinstance(release, Release):
        raise InputError("name the table that the release was made from: a frame or a path")
    return release.source if original is None else original


def _algorithm_input(release: Any, original: Any, folder: CompleteRelease) -> Table:
    """Give the table that the algorithm saw: the original, masked as it was for the release.

    What was drawn for a mask is known of a `Release`, and can be drawn again with a seed; else it is gone.
    """
    if original is None and isinstance(release, Release) and release.publication.masked is not None:
        return release.publication.masked.table
    policy = folder.policy
    table = read_original(_original(release, original), policy)
    again, drawn = remask_table(table, policy, first="extends" not in folder.manifest)
    gone = [column.name for column in (*policy.quasi, *policy.sensitive) if column.name in drawn]
    if gone:
        raise InputError(
            f"the algorithm saw {listing(gone)} masked at random, which nobody can do in the same way again without a "
            "seed; the attack was tried when the release was made: see attacks in private/audit.json"
        )
    return again


def _names(columns: Sequence[str]) -> list[str]:
    """List names of columns; one name alone is a list of one."""
    return [columns] if isinstance(columns, str) else list(columns)
