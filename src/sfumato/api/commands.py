"""What the commands `init`, `risk`, `utility`, `compare` and `query` do, as functions over frames, paths and releases.

A table is a frame of pandas, polars, Arrow or DuckDB, or the path of a file. A release is a folder, or a `Release` that
nobody has saved yet. What comes back is the value whose `as_json` the command prints with ``--json``.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sfumato.api.complete_release import open_complete_release
from sfumato.api.given_release import PolicyLike, given_data, given_drawn_files, policy_for
from sfumato.errors import InputError, listing
from sfumato.labels.data_dictionary import is_aggregate
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent
from sfumato.policy import load
from sfumato.reading.release_reader import is_synthetic_release
from sfumato.release import Release
from sfumato.release.drawn_release import DrawnRelease

if TYPE_CHECKING:
    from sfumato.api.table_proposal import TableProposal
    from sfumato.compare import Comparison
    from sfumato.queries import Answers
    from sfumato.risk import AttackOptions, DrawnRisk, TableRisk
    from sfumato.utility import Utility
    from sfumato.utility.masked_values import PublishedChanges
    from sfumato.utility.query_error import QueryErrors

Progress = Callable[[int, int], None]

_QUERIES, _DIMENSIONS, _SELECTIVITY, _SEED = 100, 4, 0.05, 1


def propose(data: Any, preset: str | None = None) -> "TableProposal":
    """Look at a table and propose a policy for it, as ``sfumato init`` does; `data` is a frame or a path.

    `preset` is one of hipaa-safe-harbor, ema-0070, cms, statistics-office and gdpr. The proposal has a `policy` that
    runs as it is, the commented `text` of its file, and what was found of each column.

    >>> from sfumato.datasets import hospital
    >>> found = propose(hospital(500))
    >>> found.policy.columns["illness"].role
    <Role.SENSITIVE: 'sensitive'>
    """
    from sfumato.api.table_proposal import propose_policy  # noqa: PLC0415 - only where a table is profiled

    return propose_policy(data, preset)


def risk(  # noqa: PLR0913 - as many settings as the question has
    data: Any,
    quasi: Sequence[str] | None = None,
    *,
    policy: PolicyLike | None = None,
    individual: str | None = None,
    k: int | None = None,
    threshold: float = 0.2,
    population: Any = None,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    sets: int = 3,
    original: Any = None,
    attacks: bool = False,
    hold_out: Any = None,
    anonymeter: str | Path | None = None,
) -> "TableRisk":
    """Measure how easily rows of a table can be tied to persons: who could be found, by whom, and by which columns.

    `data` is a frame or a path, with the names of its quasi-identifiers (`quasi`) or a policy that has them; or a
    release, which knows its own. `individual` is the column that names persons, where one may have several rows, and
    `k` how many persons a group should have. The table may be a sample: of a `population` (a frame or a path), of
    `population_size` people, or as a `sampling_fraction`. Every set of up to `sets` columns is looked at.

    A release of drawn rows is measured beside the table that it was drawn from (`original`): how near its rows are to
    that, and with `attacks` what the package anonymeter makes of them, with a `hold_out` of people who had no part in
    it as control. `anonymeter` is the Python that it is installed for, where that is another. What comes back is a
    `DrawnRisk`.

    >>> import pyarrow
    >>> people = pyarrow.table({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> found = risk(people, quasi=["age", "sex"])
    >>> found.risk.highest, found.risk.uniques
    (1.0, 1)
    """
    from sfumato.risk import (  # noqa: PLC0415 - heavy
        AttackOptions,
        RiskOptions,
        risk_by_columns,
        risk_by_policy,
        risk_by_release,
    )

    asked = RiskOptions(threshold, population, population_size, sampling_fraction, sets)
    wanted = AttackOptions(attacks, hold_out, anonymeter)
    drawn = find_drawn_release(data)
    if drawn is not None:
        if policy is not None or quasi is not None or individual is not None:
            raise InputError(
                "a release of drawn rows has no quasi-identifiers to look people up by; leave policy, quasi and "
                "individual out"
            )
        return cast("TableRisk", _drawn_risk(drawn, original, wanted))  # the same white lie as in `anonymize`
    if attacks or original is not None:
        raise InputError(
            "attacks by anonymeter, and distances to the original, are for releases of drawn rows "
            '(form = "synthetic"); see sfumato attack for others'
        )
    with given_data(data) as given:
        if isinstance(data, Release) or (isinstance(given, Path) and given.is_dir()):
            if policy is not None or quasi is not None or individual is not None:
                raise InputError(
                    "a release names its quasi-identifiers and persons itself; leave policy, quasi and individual out"
                )
            return risk_by_release(given, k=k, asked=asked)
        if (policy is None) == (quasi is None):
            raise InputError(
                'say which columns others may know: quasi=["age", "sex"], or a policy; only a release needs neither'
            )
        if policy is not None:
            if individual is not None:
                raise InputError("individual goes with quasi; a policy names its individual column itself")
            return risk_by_policy(given, load(policy), k=k, asked=asked)
        names = [quasi] if isinstance(quasi, str) else list(quasi or ())
        return risk_by_columns(given, names, individual=individual, k=k, asked=asked)


def find_drawn_release(given: Any) -> "Path | DrawnRelease | None":
    """Find a release of drawn rows, given it or its folder; ``None`` for anything else."""
    if isinstance(given, DrawnRelease):
        return given
    folder = Path(given) if isinstance(given, str | os.PathLike) else None
    return folder if folder is not None and is_synthetic_release(folder) else None


def _drawn_risk(release: "Path | DrawnRelease", original: Any, asked: "AttackOptions") -> "DrawnRisk":
    from sfumato.risk.drawn_risk import measure_drawn_risk  # noqa: PLC0415 - heavy

    table = release.source if original is None and isinstance(release, DrawnRelease) else original
    if table is None:
        raise InputError(
            "drawn rows are nobody's, so that their risk is how near they are to the rows they were drawn from; name "
            "that table with --original"
        )
    with given_drawn_files(release) as place:
        folder = open_complete_release(place, policy_for(None, release), table, drawn=True)
        return measure_drawn_risk(folder.public, folder.manifest, table, policy=folder.policy, asked=asked)


@dataclass(frozen=True, repr=False)
class ReleaseUtility(Shown):
    """What a release cost: the `losses` of its columns, and the errors of random `queries`, where they were asked.

    `masked` has the masked columns that are not generalized, and how their published values compare with the true ones.
    """

    losses: "Utility"
    queries: "QueryErrors | None" = None
    masked: "Mapping[str, PublishedChanges]" = field(default_factory=dict)

    def display(self) -> Display:
        """Show the losses, and how far queries are off."""
        shown, errors = self.losses.display(), self.queries
        if self.masked:
            lines = [(name, one.in_words()) for name, one in self.masked.items()]
            shown = replace(shown, tables=(*shown.tables, FigureTable(("masked", "true → published"), lines)))
        if errors is None or errors.expected.average is None:
            return shown
        off = f"COUNT queries are off by {percent(errors.expected.average)} on average, of {errors.answered:,} asked"
        return replace(shown, sentences=(*shown.sentences, off))

    def as_json(self) -> dict[str, Any]:
        """Return one object, as ``sfumato utility --json`` prints it."""
        content = self.losses.as_json() | ({} if self.queries is None else {"queries": self.queries.as_json()})
        return content | ({"masked": {n: one.as_json() for n, one in self.masked.items()}} if self.masked else {})


def utility(  # noqa: PLR0913 - as many settings as the question has
    release: Any,
    original: Any = None,
    *,
    policy: PolicyLike | None = None,
    queries: int | None = None,
    dimensions: int | None = None,
    selectivity: float | None = None,
    sensitive: str | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> ReleaseUtility:
    """Measure what a publication cost, from what is published and the table it was made from.

    Of drawn rows it is how like the original they are, a `Likeness`, and queries are not asked. Nor are they of means,
    medians and modes of classes, of which an `AggregateUtility` comes back: all losses, where the classes that are
    formed again from the original are those of the published table, and else what the files tell without them.

    `release` is a folder or a `Release`; `original` a frame or a path, which a `Release` has itself. So many random
    COUNT `queries` (100) are asked of so many quasi-identifiers each (`dimensions`: 4), which would match a share
    (`selectivity`: 0.05) of the rows if all values were alike, and of the column `sensitive`; `seed` says which.

    >>> import sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> release = sf.anonymize(hospital(300), hospital_policy())
    >>> utility(release).losses.ncp == release.utility.ncp
    True
    """
    from sfumato.utility.query_error import Workload  # noqa: PLC0415 - heavy
    from sfumato.utility.release_comparison import ReleaseComparison, queried_column  # noqa: PLC0415 - same

    settings = {"dimensions": dimensions, "selectivity": selectivity, "seed": seed, "sensitive": sensitive}
    given = {name: value for name, value in settings.items() if value is not None}
    if queries == 0 and given:
        first = next(iter(given))
        raise InputError(f"--{first} says how queries are drawn, and --queries 0 asks for none; leave one of them out")
    drawn = find_drawn_release(release)
    if drawn is not None and (queries or given):
        raise InputError(
            "queries are not estimated from drawn rows: they are a table like the original, so ask it itself; leave "
            "--queries and what goes with it out"
        )
    table = release.source if original is None and isinstance(release, Release | DrawnRelease) else original
    if table is None:
        raise InputError("name the table that the release was made from, as in sf.utility(release, original)")
    if drawn is not None:
        from sfumato.utility.drawn_comparison import compare_drawn_rows  # noqa: PLC0415 - heavy

        with given_drawn_files(drawn) as place:
            folder = open_complete_release(place, policy_for(policy, release), table, drawn=True)
            found = compare_drawn_rows(folder.public, folder.manifest, table, policy=folder.policy)
        return cast("ReleaseUtility", found)
    with given_data(release) as place:
        folder = open_complete_release(place, policy_for(policy, release), table)
        aggregated = [entry["name"] for entry in folder.manifest["columns"] if is_aggregate(entry)]
        if aggregated:
            from sfumato.utility.aggregate_comparison import measure_aggregates  # noqa: PLC0415 - heavy

            if queries or given:
                raise InputError(
                    "queries count rows by what labels cover, which means, medians and modes do not tell of "
                    f"{listing(aggregated)}; leave --queries and what goes with it out"
                )
            comparison = ReleaseComparison.read(folder.public, folder.manifest, table, policy=folder.policy)
            return cast("ReleaseUtility", measure_aggregates(comparison))
        workload = column = errors = None
        # where no column is sensitive there is nothing to ask, unless somebody does
        quiet = [column for column in folder.policy.sensitive if column.masks.noise is None]
        if queries != 0 and (queries is not None or given or quiet):
            workload = Workload(
                _QUERIES if queries is None else queries,
                min(_DIMENSIONS, len(folder.policy.quasi)) if dimensions is None else dimensions,
                _SELECTIVITY if selectivity is None else selectivity,
                _SEED if seed is None else seed,
            )
            column = queried_column(folder.policy, sensitive)
        comparison = ReleaseComparison.read(folder.public, folder.manifest, table, policy=folder.policy)
        losses = comparison.utility()
        if workload:
            errors = comparison.queries(workload, column, progress=progress)
    return ReleaseUtility(losses, errors, comparison.masked)


def compare(
    data: Any,
    policy: PolicyLike | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    settings: Mapping[str, Sequence[Any]] | None = None,
    seed: int | None = None,
    risk: str = "highest",
) -> "Comparison":
    """Run a policy with several algorithms and settings, and measure what each loses, leaves open and takes.

    `data` is a frame or a path, or ``None`` for the policy's own source; or a `Release`, which has its table and its
    policy with it. `settings` are values by key, as in
    ``{"k": [2, 5, 10], "suppression": [0, 0.02]}``. Without `algorithms` all that the policy can be met with are run.
    `risk` is what the front goes by, highest or average.

    >>> from sfumato.datasets import hospital, hospital_policy
    >>> found = compare(hospital(300), hospital_policy(), algorithms=["optimal"], settings={"k": [2, 5]})
    >>> [line.figures.classes > 1 for line in found.outcomes]
    [True, True]
    """
    from sfumato.compare.comparison import compare as run  # noqa: PLC0415 - heavy

    rules = policy_for(policy, data)
    if rules is None:
        raise InputError("name the policy that is run, as in sf.compare(data, policy); only a Release has one itself")
    table = data.source if isinstance(data, Release) else data
    return run(rules, table, algorithms=algorithms, settings=settings, seed=seed, risk=risk)


def query(release: Any, text: str, *, estimate: str = "expected", weighted: bool = True) -> "Answers":
    """Answer a query from a release: expected counts, sums and averages with their standard errors.

    `release` is a folder, its ``public`` part, or a `Release`, of any form that anonymize makes. `text` is SQL without
    FROM. `estimate` is ``expected`` or ``paper``, the estimate of Wong et al. Where the release has sampling weights,
    rows count by them unless `weighted` is false. To ask many queries, `sfumato.queries.open_release` loads a folder
    once.

    >>> import sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> release = sf.anonymize(hospital(300), hospital_policy())
    >>> query(release, "select count(*) where illness = 'flu'")
    answers from a release of the form generalized
    count(*)
    77
    """
    from sfumato.queries import query as answer_query  # noqa: PLC0415 - imports DuckDB

    with given_data(release) as folder:
        if not isinstance(folder, Path):
            raise InputError(f"a query is answered from a release or its folder, not from a {type(folder).__name__}")
        return answer_query(folder, text, estimate=estimate, weighted=weighted)
