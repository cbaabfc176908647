"""Answer queries from a release: counts, sums and averages, by expected value with a standard error.

A release is loaded into memory once (`open_release`) and answers any number of queries; `query` opens it for one, and
reads only the columns that the query mentions.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, isfinite, log10, sqrt
from pathlib import Path
from typing import Any, Self

from sfumato.errors import DataError, InputError, quote
from sfumato.labels.data_dictionary import is_aggregate
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.queries.density_points import add_smoothing_error
from sfumato.queries.drawn_sample import plan_drawn_rows
from sfumato.queries.expected_one_table import plan_expected_one_table
from sfumato.queries.expected_two_tables import plan_expected_two_tables
from sfumato.queries.masking_error import add_mask_measures, mask_deviations, mask_sentences, read_methods
from sfumato.queries.model_error import add_model_error
from sfumato.queries.paper_estimate import plan_paper_one_table, plan_paper_two_tables
from sfumato.queries.query_database import connect_to_files, report_query_errors
from sfumato.queries.query_plan import Measure, Measures, QueryPlan, sorted_pair
from sfumato.queries.query_tables import QueryColumn, load_tables
from sfumato.queries.sql_reader import ParsedQuery, find_mentioned_names, read_query
from sfumato.reading.release_reader import DENSITIES, SYNTHETIC_FORM, read_manifest

ESTIMATES = ("expected", "paper")

_PLANS = {
    (False, "expected"): plan_expected_one_table,
    (False, "paper"): plan_paper_one_table,
    (True, "expected"): plan_expected_two_tables,
    (True, "paper"): plan_paper_two_tables,
}
"""How a query is planned, by whether the release is split into tables and by the estimate."""

_MOST_COMBINATIONS = 2e9
"""Combinations that a query may look at; more would take minutes."""
_LUMPY = 0.05
"""From such a chance that two records share a value, a narrow condition may miss many of them."""

_OF_DRAWN_ROWS = (
    "sums over drawn rows ± the standard error of a sample of as many rows as the original had; "
    "what groups of at least k rows smooth away is not in it"
)

_NOISE = 1e-15
"""A variance of less than this share of a figure's square is what additions leave of 0."""


@dataclass(frozen=True)
class Estimate:
    """A figure and its standard error, both ``None`` where there is nothing to tell.

    `estimate` is the expected value, all values that a label covers being equally likely. `spread` is its standard
    deviation where they really are; they are not, and `standard_error` has the error of that as well: two of them hold
    the truth nine times in ten or more, on real tables (`model_error`). An average of no rows is ``None``. The estimate
    of the paper has no standard error.
    """

    estimate: float | None
    standard_error: float | None
    spread: float | None = None

    def as_json(self) -> dict[str, float | None]:
        """Plain data."""
        return {"estimate": self.estimate, "standard_error": self.standard_error, "spread": self.spread}


def format_estimate(value: Estimate) -> str:
    """Write a figure with two digits of its error, or with five of its own at most where it is exact.

    >>> [format_estimate(one) for one in (Estimate(1234.5678, 0.0567), Estimate(12.0, 0.0), Estimate(None, None))]
    ['1,234.568 ± 0.057', '12', '-']
    """
    if value.estimate is None:
        return "-"
    digits = 0
    if value.standard_error or value.estimate != round(value.estimate):
        digits = min(max(1 - floor(log10(value.standard_error or abs(value.estimate) / 1000)), 0), 12)
    text = f"{value.estimate:,.{digits}f}"
    if value.standard_error:
        return f"{text} ± {value.standard_error:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


@dataclass(frozen=True)
class Answer:
    """The figures of one group: `group` has its value in each column, `values` each figure by its name."""

    group: Mapping[str, Any]
    values: Mapping[str, Estimate]


@dataclass(frozen=True, repr=False)
class Answers(Shown):
    """What a release of some `form` answers to a query, by an `estimate`: one `Answer` per group, in order.

    `columns` are those that were grouped by; without them there is one answer. `sql` is what DuckDB was asked.
    `weighted_by` is the column of sampling weights that rows count by, where the release has one. `masked` says of each
    masked column that the query is about what the answers have of that, a sentence each; `aggregated` does of each
    column that is published by means, medians or modes of classes, and `lumps` of each column of densities that
    conditions are about, and of which many records share a value.

    >>> counted = Answer({}, {"count(*)": Estimate(4.0, 0.5, 0.4)})
    >>> answers = Answers("generalized", "expected", (), (counted,), "SELECT …")
    >>> answers[0].values["count(*)"].estimate
    4.0
    >>> answers.as_json()["answers"]
    [{'group': {}, 'values': {'count(*)': {'estimate': 4.0, 'standard_error': 0.5, 'spread': 0.4}}}]
    """

    form: str
    estimate: str
    columns: tuple[str, ...]
    answers: tuple[Answer, ...]
    sql: str
    weighted_by: str | None = None
    masked: tuple[str, ...] = ()
    aggregated: tuple[str, ...] = ()
    lumps: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def display(self) -> Display:
        """Show a line for each group, with its figures and their standard errors."""
        figures = list(self.answers[0].values) if self.answers else []
        lines = [
            (
                *("NULL" if value is None else str(value) for value in answer.group.values()),
                *map(format_estimate, answer.values.values()),
            )
            for answer in self.answers
        ]
        said = [] if self.answers else ["no group has a row that can meet the conditions"]
        said += [] if self.weighted_by is None else [f"rows count by their sampling weights in {self.weighted_by}"]
        said += [_OF_DRAWN_ROWS] if self.form == SYNTHETIC_FORM else []
        said += [*self.masked, *self.aggregated, *self.lumps]
        title = f"answers from a release of the form {self.form}"
        return Display(title, [FigureTable((*self.columns, *figures), lines)], said)

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """Plain data, as ``sfumato query --json`` prints it; with the SQL where it is to `explain` itself."""
        answers = [
            {"group": dict(one.group), "values": {name: value.as_json() for name, value in one.values.items()}}
            for one in self.answers
        ]
        content: dict[str, Any] = {
            "form": self.form,
            "estimate": self.estimate,
            "columns": list(self.columns),
            "answers": answers,
        }
        content |= {} if self.weighted_by is None else {"weighted_by": self.weighted_by}
        content |= {"masked": list(self.masked)} if self.masked else {}
        content |= {"aggregated": list(self.aggregated)} if self.aggregated else {}
        content |= {"lumps": list(self.lumps)} if self.lumps else {}
        return content | ({"sql": self.sql} if explain else {})


def query(folder: str | Path, text: str, *, estimate: str = "expected", weighted: bool = True) -> Answers:
    """What a release answers to a query: expected counts, sums and averages with their standard errors.

    `folder` is the release or its ``public`` part, of any form that anonymize writes; drawn rows answer as a sample
    does. `text` is SQL without FROM.
    `estimate` is ``expected`` or ``paper``, the estimate of Wong et al. Where the release has sampling weights, rows
    count by them, and so for people of the population, unless `weighted` is false. To ask many queries,
    `sfumato.queries.open_release` loads the release once.

    >>> import tempfile, sfumato as sf
    >>> from sfumato.datasets import hospital, hospital_policy
    >>> folder = sf.anonymize(hospital(300), hospital_policy()).save(Path(tempfile.mkdtemp()) / "release")
    >>> sf.query(folder, "select count(*) where illness = 'flu'")[0].values["count(*)"]
    Estimate(estimate=..., standard_error=0.0, spread=0.0)
    """
    with OpenRelease(folder, only_for=text) as release:
        return release.query(text, estimate=estimate, weighted=weighted)


def open_release(folder: str | Path) -> "OpenRelease":
    """Open a release to ask many queries; `folder` is the release or its public part."""
    return OpenRelease(folder)


class OpenRelease:
    """The public part of a release, loaded into memory once; it is closed by ``close``, or as a context manager.

    Where there is only one query to answer, it is loaded `only_for` that: with the columns that the query mentions.
    """

    def __init__(self, folder: str | Path, *, only_for: str | None = None) -> None:
        self.manifest = read_manifest(folder, densities=True, drawn=True)
        if self.manifest.form == SYNTHETIC_FORM:  # cells are values, those of quasi-identifiers as well
            entries = tuple({**entry, "role": "plain"} for entry in self.manifest.columns)
            self.manifest = replace(self.manifest, columns=entries)
        connection = connect_to_files([file for name in self.manifest.tables for file in self.manifest.files_of(name)])
        weights = [entry["name"] for entry in self.manifest.columns if entry.get("role") == "weight"]
        only = None
        if only_for is not None:
            only = find_mentioned_names(connection, only_for).union(name.casefold() for name in weights)
        self.tables = load_tables(connection, self.manifest, only=only)
        self.weight = next((column for column in self.tables.columns if column.name in weights), None)
        if self.weight is not None and not self.weight.number:
            raise DataError(f"column {quote(self.weight.name)} does not hold weights; it was changed after publication")
        self.masks = {entry["name"]: read_methods(entry) for entry in self.manifest.columns if entry.get("masked")}

    @cached_property
    def deviations(self) -> dict[int, float]:
        """How far masks have the numbers of each column off, a standard deviation by its place."""
        return mask_deviations(self.tables.connection, self.tables.columns, self.masks, split=self.manifest.is_split)

    def _drawn_values(self, parsed: ParsedQuery) -> dict[str, int]:
        """Count the different values of columns with post-randomization that a query is about."""
        asked = {column.place for column in parsed.groups}.union(*(one.columns for one in parsed.conditions))
        drawn = [
            column
            for column in self.tables.columns
            if column.place in asked
            and not column.uncertain
            and "post-randomization" in self.masks.get(column.name, ())
        ]
        counts = {}
        for column in drawn:
            table = column.dictionary if column.coded else f"t{column.table}"
            ((counts[column.name],),) = self.tables.connection.execute(
                f"SELECT count(DISTINCT {column.value}) FROM {table}"
            ).fetchall()
        return counts

    def query(self, text: str, *, estimate: str = "expected", weighted: bool = True) -> Answers:
        """Answer a query.

        The `estimate` is ``expected``, an expected value with its standard error, or ``paper``, which counts rows.
        Others count by sampling weights, where the release has some, unless `weighted` is false.
        """
        if estimate not in ESTIMATES:
            raise InputError(f"there is no estimate {quote(estimate)}; choose {' or '.join(ESTIMATES)}")
        if estimate == "paper" and self.manifest.form in DENSITIES:
            raise InputError("the paper's estimate is of labels, and a density may mean any number; choose expected")
        drawn = self.manifest.form == SYNTHETIC_FORM
        if estimate == "paper" and drawn:
            raise InputError("the paper's estimate is of labels, and drawn rows have values; choose expected")
        with report_query_errors():
            self._check_bounds(text)
            parsed = read_query(self.tables.connection, text, self.tables.columns)
            weight = self.weight if weighted and estimate == "expected" else None
            measures = Measures.from_query(parsed, weight)
            if estimate == "expected":
                measures = add_mask_measures(measures, self.deviations)
            if self.manifest.form in DENSITIES:  # a plain count last, by which lumps are reckoned
                measures = replace(measures, items=(*measures.items, Measure("1")))
            if drawn:
                plan = plan_drawn_rows(parsed, measures, self.tables.columns, self.manifest.multiple)
            else:
                plan = _PLANS[self.manifest.is_split, estimate](parsed, measures, self.tables.columns)
            self._check_work(plan)
            lines = self.tables.connection.execute(plan.sql).fetchall()
            centered = self._ask_centers(parsed, measures) if self.manifest.form in DENSITIES else None
        answers = tuple(_read_answer(line, parsed, measures, plan, centered) for line in lines)
        by = None if weight is None else weight.name
        masked = mask_sentences(parsed, self.tables.columns, self.masks, self._drawn_values(parsed))
        explained = self._explain(parsed, plan)
        aggregated = self._aggregate_sentences(parsed)
        lumps = self._lump_sentences(parsed)
        return Answers(self.manifest.form, estimate, parsed.names, answers, explained, by, masked, aggregated, lumps)

    def _aggregate_sentences(self, parsed: ParsedQuery) -> tuple[str, ...]:
        """Say of each column that a query is about, and that has aggregates of classes, what they count for."""
        forms = {entry["name"]: entry["form"] for entry in self.manifest.columns if is_aggregate(entry)}
        asked = [self.tables.columns[place].name for place in sorted(_find_places(parsed))]
        return tuple(
            f"{quote(name)} is published by {forms[name]} of classes, which count for all values of their class; how "
            "far these are from them is not in ±"
            for name in asked
            if name in forms
        )

    def _lump_sentences(self, parsed: ParsedQuery) -> tuple[str, ...]:
        """Say of columns of densities that conditions are about, and whose values many share, where ± does not hold."""
        asked = {self.tables.columns[place].name for one in parsed.conditions for place in one.columns}
        return tuple(
            f"many records share values of {quote(entry['name'])}, which densities smear: of a condition narrower than "
            "the spreads there, such as for one value, ± may be far too small"
            for entry in self.manifest.columns
            if "density" in entry and entry["name"] in asked and _is_lumpy(entry.get("ties"))
        )

    def _ask_centers(self, parsed: ParsedQuery, measures: Measures) -> "_CenteredSums":
        """Ask the same of the centres of densities alone, and of records that conditions see as they are."""
        asked = frozenset().union(*(one.columns for one in parsed.conditions))
        groups, number = len(parsed.groups), len(measures.items)

        def ask(columns: Sequence[QueryColumn]) -> dict[tuple[Any, ...], list[float]]:
            plan = plan_expected_one_table(parsed, measures, columns)
            lines = self.tables.connection.execute(plan.sql).fetchall()
            return {tuple(line[:groups]): [value or 0.0 for value in line[groups : groups + number]] for line in lines}

        sums_of = ask([replace(column, centered=True) for column in self.tables.columns])
        told = [replace(column, told=column.place in asked) for column in self.tables.columns]
        sure_of = {group: sums[-1] for group, sums in ask(told).items()}
        stated = {entry["name"]: entry.get("ties", 1.0) for entry in self.manifest.columns if "density" in entry}
        ties = [stated.get(column.name, 0.0) for column in self.tables.columns if column.place in asked]
        most = max((float(one) for one in ties if isinstance(one, int | float)), default=0.0)
        table = f"t{self.tables.columns[0].table}"
        joins = " ".join(
            f"JOIN (SELECT DISTINCT {column.code} FROM {column.dictionary}) USING ({column.code})"
            for column in told
            if column.told and column.uncertain
        )
        ((rows, sure),) = self.tables.connection.execute(
            f"SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM {table} {joins})"
        ).fetchall()
        return _CenteredSums(sums_of, sure_of, most, int(rows - sure))

    def close(self) -> None:
        """Give the memory back."""
        self.tables.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_bounds(self, text: str) -> None:
        """Refuse a query about the ends of ranges, which are no values of anybody: the labels tell more."""
        mentioned = find_mentioned_names(self.tables.connection, text) if self.manifest.bounds else ()
        for entry in self.manifest.bounds:
            if entry["name"].casefold() in mentioned:
                what, of = quote(entry["name"]), quote(entry.get("of"))
                if entry.get("bound") == "spread":
                    raise InputError(
                        f"{what} has the spreads of the densities of {of}, not what people have; ask of {of}"
                    )
                raise InputError(f"{what} has the ends of the ranges of {of}, not what people have; ask of {of}")

    def _check_work(self, plan: QueryPlan) -> None:
        """Refuse what would take minutes, before it does; exact counts are made only where quick ones are too high."""
        for counts in plan.work:
            fewest = float("inf")
            for count in counts:
                if fewest > _MOST_COMBINATIONS:
                    fewest = min(fewest, self.tables.connection.execute(count).fetchone()[0] or 0.0)
            if fewest > _MOST_COMBINATIONS:
                raise InputError(
                    f"the query takes {fewest:.1g} combinations of lines or values; ask about fewer columns, group "
                    "by fewer, or join conditions by AND, each about one column"
                )

    def _explain(self, parsed: ParsedQuery, plan: QueryPlan) -> str:
        """Give the statement, and what its columns are called in the release."""
        columns = [(place, self.tables.columns[place].name) for place in _find_places(parsed)]
        names = [f"-- c{place} is {json.dumps(name, ensure_ascii=False)}" for place, name in columns]
        return "\n".join([*sorted(names), plan.sql])


def _is_lumpy(ties: Any) -> bool:
    """Whether so many records share a value that a narrow condition misses them."""
    return isinstance(ties, int | float) and ties >= _LUMPY


@dataclass(frozen=True)
class _CenteredSums:
    """The sums of centres alone, by group, and the count of records that conditions see as they are.

    `ties` is how likely two records share a value that conditions are about, and `blurred` how many records are
    densities there.
    """

    sums: Mapping[tuple[Any, ...], Sequence[float]]
    sure: Mapping[tuple[Any, ...], float]
    ties: float
    blurred: int


def _find_places(parsed: ParsedQuery) -> set[int]:
    """Find the places of the columns that a query is about."""
    parts = [one.argument for one in parsed.aggregates if one.argument] + list(parsed.conditions)
    return {column.place for column in parsed.groups}.union(*(one.columns for one in parts))


# Figures from the line of a group: the values of the group, expected sums, and covariances of sums.


def _read_answer(
    line: Sequence[Any],
    parsed: ParsedQuery,
    measures: Measures,
    plan: QueryPlan,
    centered: "_CenteredSums | None",
) -> Answer:
    groups, figures = line[: len(parsed.groups)], [value or 0.0 for value in line[len(parsed.groups) :]]
    sums, rest = figures[: len(measures.items)], figures[len(measures.items) :]
    if not plan.has_errors:
        estimates = [_estimate_figure(needed, sums, None) for needed in measures.needs]
    else:
        likely = dict(zip(measures.pairs, rest[: len(measures.pairs)], strict=True))
        masks = {(k, k): sums[error] for k, error in measures.mask_errors.items()}
        whole = add_model_error(likely, plan.model, rest[len(measures.pairs) :], measures)
        if centered is not None and plan.model:
            none = [0.0] * len(sums)  # a group in which no centre meets the conditions
            drawn = centered.sums.get(tuple(groups), none)
            sure = centered.sure.get(tuple(groups), 0.0)
            whole = add_smoothing_error(whole, sums, drawn, centered.ties, centered.blurred, sure=sure)
        for pair, variance in masks.items():
            likely[pair] += variance
            whole[pair] += variance
        estimates = [
            replace(_estimate_figure(needed, sums, whole), spread=_estimate_figure(needed, sums, likely).standard_error)
            for needed in measures.needs
        ]
    names = [aggregate.name for aggregate in parsed.aggregates]
    return Answer(dict(zip(parsed.names, groups, strict=True)), dict(zip(names, estimates, strict=True)))


def _estimate_figure(
    needed: Sequence[int], sums: Sequence[float], covariances: Mapping[tuple[int, int], float] | None
) -> Estimate:
    """Estimate a figure: a sum is itself; an average is a ratio, whose error follows by the delta method."""
    if len(needed) == 1:
        return _finite_estimate(sums[needed[0]], None if covariances is None else covariances[needed[0], needed[0]])
    above, below = needed
    if sums[below] == 0:
        return Estimate(None, None)
    ratio = sums[above] / sums[below]
    if covariances is None:
        return _finite_estimate(ratio, None)
    both = covariances[sorted_pair(above, below)]
    variance = covariances[above, above] - 2 * ratio * both + ratio**2 * covariances[below, below]
    return _finite_estimate(ratio, variance / sums[below] ** 2)


def _finite_estimate(value: float, variance: float | None) -> Estimate:
    """Give a figure its standard error; what is no finite number is ``None``.

    >>> _finite_estimate(2.0, 0.25), _finite_estimate(float("inf"), 0.0)
    (Estimate(estimate=2.0, standard_error=0.5, spread=None), Estimate(estimate=None, standard_error=None, spread=None))
    """
    if not isfinite(value):
        return Estimate(None, None)
    if variance is None or not isfinite(variance):
        return Estimate(float(value), None)
    return Estimate(float(value), sqrt(variance) if variance > _NOISE * value**2 else 0.0)
