"""Releases of records as densities: whether every record has the expected anonymity that is promised.

The promise is about the true records, which the published ones do not show. So there is evidence, which stays with the
data holder: the true numbers of each published record, in the order of the file. Checked from the files are:

- that spreads of a record are one multiple of the scales that the manifest states, and 0 where a value is told exactly;
- that centres lie about the truth as draws from the stated densities do: not nearer, not farther, not beside it;
- expected anonymity: for each record the sum, over the true records that nothing exact tells it from, of the chance
  that they fit a density of its spread at least as well as it does itself.

When a release is made, the evidence itself and all that is published exactly are checked against the original.

A sum stops where it reaches what was promised, so that what is found is a lower bound; no more than that is stated,
since the digits of a sum would tell of the true records. Near records are found by boxes around a few dozen each, in a
radius that grows, and compared one by one; a record that is missed would make a sum smaller. Chances are tails of the
error function, and overlaps of boxes.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError, NotVerified, listing, quote
from sfumato.verifier.drawn_rows import DrawnColumnStatement
from sfumato.verifier.duckdb_tables import Files, TableView, as_paths, as_text, open_view, own_dialect, unreadable
from sfumato.verifier.release_files import CHANGED, JsonObject, plain_file
from sfumato.verifier.sql import connect, path_pattern, quote_text
from sfumato.verifier.verdict import Finding, Verdict

UNCERTAIN_FORM = "uncertain"
"""The form whose records are densities."""
UNCERTAIN_MODEL = "expected-anonymity"
"""What can be promised of them."""
TRUE_VALUES_FILE = "true_values.parquet"
"""Private: the true numbers of each published record, in the order of the file; dates as microseconds since 1970."""

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]

_DENSITIES = ("gaussian", "uniform")
_MICROSECONDS = 86_400_000_000.0
_RARE = 24.0
"""Draws that look so unlikely happen once in e to this power: if they are seen, they are no draws."""
_UNLIKELY = 13.5
"""The same of centres at the truth: once in 700,000 releases."""
_ROUNDED = 1.5e-3
"""A centre within so many spreads of the truth, its rounding included, is at the truth."""
_RADII = {"gaussian": (5.5, 6.5, 8.0, 12.0), "uniform": (2.0,)}
"""How many spreads away records are looked at, until a sum is enough; beyond the last, chances are of no account."""
_PAIRS_AT_ONCE = 40_000
"""Pairs that are compared at a time: so few that they stay near the processor, and on one thread."""
_IN_A_BOX = 48
"""Points that are looked at together."""
_LAST: dict[bytes, tuple[float, int]] = {}
"""What was counted last, by the hash of all numbers that it was counted of."""


@dataclass(frozen=True)
class UncertainColumnStatement:
    """What a manifest says of an uncertain column: its spreads' name and scale, and the values told exactly."""

    cells: DrawnColumnStatement
    spread: str
    scale: float
    atoms: tuple[float, ...]

    @property
    def name(self) -> str:
        """What the column is called."""
        return self.cells.name

    @property
    def per_unit(self) -> float:
        """How much a spread of 1 is in the column's numbers."""
        return _MICROSECONDS if self.cells.kind == "date" else 1.0

    def center_sql(self, cell: str) -> str:
        """Write a published centre as a number; dates are published as moments, whatever they were."""
        return DrawnColumnStatement(self.name, self.cells.kind).number_sql(cell)


@dataclass(frozen=True)
class UncertainStatement:
    """What a manifest says of densities: their kind, the columns, the strata, and what is promised."""

    requirements: tuple[Mapping[str, Any], ...]
    density: str
    columns: tuple[UncertainColumnStatement, ...]
    strata: tuple[str, ...]

    @classmethod
    def from_manifest(cls, manifest: JsonObject, requirements: Sequence[Mapping[str, Any]]) -> "UncertainStatement":
        """Read a manifest that was checked for form."""
        for rule in requirements:
            if rule["model"] != UNCERTAIN_MODEL:
                raise InputError(f"{rule['model']} cannot be checked of densities; ask for {UNCERTAIN_MODEL}")
        names = [entry["name"] for entry in manifest["columns"]]
        strata, density = manifest.get("strata", []), manifest.get("density")
        if density not in _DENSITIES or not isinstance(strata, list) or any(name not in names for name in strata):
            raise NotVerified(f"manifest.json does not say properly what densities it is about: {CHANGED}")
        spreads = {entry.get("of"): entry["name"] for entry in manifest["columns"] if entry["role"] == "bound"}
        columns = []
        for entry in manifest["columns"]:
            if entry["name"] in spreads:
                scale, atoms = entry.get("scale"), entry.get("exact", [])
                numbers = [scale, *(atoms if isinstance(atoms, list) else [None])]
                if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
                    raise NotVerified(
                        f"manifest.json does not say properly what column {quote(entry['name'])} holds: {CHANGED}"
                    )
                cells = DrawnColumnStatement.from_entry(entry)
                columns.append(UncertainColumnStatement(cells, spreads[entry["name"]], float(scale), tuple(atoms)))
        untold = [
            e["name"] for e in manifest["columns"] if e["role"] == "quasi" and e["name"] not in (*spreads, *strata)
        ]
        if not columns or untold:
            raise NotVerified(f"manifest.json has quasi-identifiers that are neither uncertain nor strata: {CHANGED}")
        return cls(tuple(requirements), density, tuple(columns), tuple(strata))


def verify_uncertain_files(files: Files, private: Path, statement: UncertainStatement, null: str) -> Verdict:
    """Check a written table of densities against the true values in the private part."""
    if not (private / TRUE_VALUES_FILE).exists():
        raise InputError(
            "how many true records fit a density cannot be seen in it; it is checked with the private part of the "
            "release, which is not here: name the whole folder"
        )
    truth = plain_file(private, TRUE_VALUES_FILE).resolve()
    connection = connect([*as_paths(files), truth], in_order=True)
    with closing(connection):
        view = open_view(connection, "published", files, own_dialect(files, null))
        try:
            connection.execute(f"CREATE TABLE truth AS SELECT * FROM read_parquet({quote_text(path_pattern(truth))})")
        except duckdb.Error as error:
            raise unreadable(TRUE_VALUES_FILE, error) from None
        return _check(view, statement)


def verify_uncertain_tables(table: Any, truth: Any, statement: UncertainStatement, original: Any) -> Verdict:
    """Check densities in memory, and the true values against the original rows in published order; all Arrow tables."""
    connection = connect(in_order=True)
    with closing(connection):
        view, came = _register(connection, "published", table), _register(connection, "original", original)
        connection.register("truth", truth)
        verdict = _check(view, statement)
        problems = (*verdict.problems, *_original_problems(view, came, statement))
        return Verdict(verdict.rows, verdict.classes, verdict.privacy, problems)


def _register(connection: Any, name: str, table: Any) -> TableView:
    import pyarrow as pa  # noqa: PLC0415 - the verifier starts without it where it can

    connection.register(name, pa.table({f"c{place}": as_text(column) for place, column in enumerate(table.columns)}))
    return TableView(connection, tuple(table.column_names), {}, source=name, label="the table")


# ---------------------------------------------------------------------------------------------------------------------
# Published densities beside the true values


def _check(view: TableView, statement: UncertainStatement) -> Verdict:
    wanted = [name for column in statement.columns for name in (column.name, column.spread)] + list(statement.strata)
    lacking = [name for name in wanted if name not in view.columns]
    if lacking:
        return Verdict(0, 0, (), (f"the table lacks columns that the manifest has: {listing(lacking)}",))
    cells = []
    for place, column in enumerate(statement.columns):
        cells.append(f"{column.center_sql(view.text_sql(view.column(column.name)))} AS z{place}")
        cells.append(f"TRY_CAST(CAST({view.column(column.spread)} AS VARCHAR) AS DOUBLE) AS s{place}")
    keys = [
        f"dense_rank() OVER (ORDER BY {view.column(name)}) AS k{place}" for place, name in enumerate(statement.strata)
    ]
    view.read(
        "CREATE TABLE densities AS SELECT * EXCLUDE (place) FROM "
        f"(SELECT {', '.join([*cells, *keys, 'place'])} FROM "
        f"(SELECT *, row_number() OVER () AS place FROM {view.source})) ORDER BY place"
    )
    published = view.connection.execute("SELECT * FROM densities").fetchnumpy()
    truth = view.connection.execute("SELECT * FROM truth").fetchnumpy()
    rows = len(next(iter(published.values())))
    known = {f"v{place}" for place in range(len(statement.columns))}
    if known - truth.keys() or len(next(iter(truth.values()), ())) != rows:
        found = len(next(iter(truth.values()), ()))
        return Verdict(rows, 0, (), (f"there are {rows:,} published records and true values of {found:,}",))
    records = _Records.read(statement, published, truth)
    problems = records.exact_problems() + records.center_problems()
    group_of, groups = records.strata()
    findings = []
    for rule in statement.requirements:
        k = float(rule["k"])
        least, few = records.least_anonymity(group_of, groups, k)
        failures = (
            (f"{few:,} records have expected anonymity below {rule['k']:,}, the lowest {least:.4g}",) if few else ()
        )
        required = {key: value for key, value in rule.items() if key != "model"}
        findings.append(Finding(rule["model"], required, {"k": least}, not few, failures))
    return Verdict(rows, groups, tuple(findings), tuple(problems))


@dataclass(frozen=True, eq=False)
class _Records:
    """Centres, spreads and true values of all records, NaN where there is none: float[rows] for each column."""

    statement: UncertainStatement
    centers: list[Numbers]
    spreads: list[Numbers]
    truth: list[Numbers]
    keys: list[Places]

    @classmethod
    def read(cls, statement: UncertainStatement, published: Mapping[str, Any], truth: Mapping[str, Any]) -> "_Records":
        """Take columns as DuckDB gives them."""
        places = range(len(statement.columns))

        def floats(values: Any) -> Numbers:
            return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)

        return cls(
            statement,
            [floats(published[f"z{place}"]) for place in places],
            [floats(published[f"s{place}"]) for place in places],
            [floats(truth[f"v{place}"]) for place in places],
            [np.asarray(published[f"k{place}"], dtype=np.int64) for place in range(len(statement.strata))],
        )

    def is_exact(self, place: int) -> NDArray[np.bool_]:
        """Whether the value of a record is one that is told as it is."""
        column, truth = self.statement.columns[place], self.truth[place]
        return np.isin(truth, column.atoms) | (np.full(len(truth), not column.scale) & ~np.isnan(truth))

    def exact_problems(self) -> list[str]:
        """Name columns with cells that are missing or exact on one side alone, and spreads of another scale."""
        problems, multiples = [], self.multiples()
        for place, column in enumerate(self.statement.columns):
            center, spread, truth = self.centers[place], self.spreads[place], self.truth[place]
            missing = np.isnan(truth)
            wrong = int(((np.isnan(center) != missing) | (np.isnan(spread) != missing)).sum())
            if wrong:
                problems.append(
                    f"column {quote(column.name)} has {wrong:,} centres or spreads where none belongs, or none"
                )
                continue
            exact = self.is_exact(place)
            told = ~missing & (spread == 0)
            wrong = int((exact & (spread != 0)).sum() + (told & ~np.isclose(center, truth, rtol=1e-12, atol=0)).sum())
            if wrong:
                problems.append(
                    f"column {quote(column.name)} has {wrong:,} values that are to be told as they are, and are not"
                )
            open_ = ~missing & ~exact
            with np.errstate(invalid="ignore"):
                off = np.abs(spread / (column.scale or 1) - multiples) > 1e-5 * multiples
            wrong = int((open_ & (off | (spread < 0))).sum())
            if wrong:
                problems.append(
                    f"column {quote(column.name)} has {wrong:,} spreads that are not the same multiple of its scale "
                    "as those of other columns of the record"
                )
        return problems

    def multiples(self) -> Numbers:
        """Find the spread of each record in common units: float[rows], 0 where nothing of it is uncertain."""
        largest = np.zeros(len(self.truth[0]))
        for place, column in enumerate(self.statement.columns):
            if column.scale > 0:
                open_ = ~np.isnan(self.truth[place]) & ~self.is_exact(place)
                largest = np.maximum(largest, np.where(open_, np.nan_to_num(self.spreads[place]) / column.scale, 0.0))
        return largest

    def smallest(self) -> Numbers:
        """Find the same where columns disagree: the smallest, which is what counts."""
        least = np.full(len(self.truth[0]), np.inf)
        for place, column in enumerate(self.statement.columns):
            if column.scale > 0:
                open_ = ~np.isnan(self.truth[place]) & ~self.is_exact(place)
                least = np.minimum(least, np.where(open_, np.nan_to_num(self.spreads[place]) / column.scale, np.inf))
        return np.where(np.isfinite(least), least, 0.0)

    def center_problems(self) -> list[str]:
        """Say where centres are no draws around the truth: too near, too far, to one side, or at the truth itself."""
        problems, uniform = [], self.statement.density == "uniform"
        at_truth, expected = np.ones(len(self.truth[0]), dtype=bool), np.zeros(len(self.truth[0]))
        for place, column in enumerate(self.statement.columns):
            spread = np.nan_to_num(self.spreads[place]) * column.per_unit
            drawn = spread > 0
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                off = (self.centers[place] - self.truth[place])[drawn] / spread[drawn]
            expected[drawn] += math.log(_ROUNDED * (1.0 if uniform else math.sqrt(2 / math.pi)))
            at_truth[drawn] &= np.abs(off) < _ROUNDED
            if not len(off):
                continue
            far = int((~(np.abs(off) <= (1 + 1e-9 if uniform else 9.0))).sum())
            if far:
                problems.append(
                    f"column {quote(column.name)} has {far:,} centres that are too far from the truth to be drawn"
                )
                continue
            square, mean = float(np.mean(off**2)), float(np.mean(off))
            each = _RARE / len(off)
            room = (math.sqrt(each / 2),) * 2 if uniform else (2 * math.sqrt(each), 2 * math.sqrt(each) + 2 * each)
            about = 1 / 3 if uniform else 1.0
            if not about - room[0] <= square <= about + room[1] or abs(mean) > math.sqrt(2 * each):
                problems.append(f"centres of column {quote(column.name)} are not drawn from densities around the truth")
        for likely in np.unique(expected[expected < 0]).tolist():  # records with as many columns that were drawn
            alike = expected == likely
            mean, count = int(alike.sum()) * math.exp(likely), int((at_truth & alike).sum())
            # Chernoff's bound on a sum of so many rare events
            if count > mean and count * math.log(count / mean) - count + mean > _UNLIKELY:
                problems.append(f"{count:,} records have their centre at the truth, more than could be drawn there")
        return problems

    def strata(self) -> tuple[Places, int]:
        """Number the groups of records that nothing exact tells apart: strata, what is missing, and exact values."""
        keys = list(self.keys)
        for place in range(len(self.statement.columns)):
            truth = self.truth[place]
            exact = self.is_exact(place)
            values = np.where(exact, truth, np.where(np.isnan(truth), np.inf, -np.inf))
            keys.append(np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64))
        stacked = np.stack(keys, axis=1)
        unique, inverse = np.unique(stacked, axis=0, return_inverse=True)
        return inverse.reshape(-1).astype(np.int64), len(unique)

    def least_anonymity(self, group_of: Places, groups: int, enough: float) -> tuple[float, int]:
        """Find the lowest expected anonymity of a record, counted no further than enough, and how many have less.

        A release is checked in memory, and again from its files. Where these hold the same numbers to the last bit, the
        sums are the same ones, and are not counted a second time.
        """
        lowest, few, spreads = math.inf, 0, self.smallest()
        told = hashlib.sha256(repr((self.statement, groups, enough)).encode())
        for part in (group_of, *self.spreads, *self.truth):
            told.update(np.ascontiguousarray(part).tobytes())
        known = _LAST.get(told.digest())
        if known is not None:
            return known
        order = np.argsort(group_of, kind="stable")
        for rows in np.split(order, np.searchsorted(group_of[order], np.arange(1, groups))):
            scaled = [
                self.truth[place][rows] / (column.scale * column.per_unit)
                for place, column in enumerate(self.statement.columns)
                if column.scale > 0 and not np.isnan(self.truth[place][rows[0]]) and not self.is_exact(place)[rows[0]]
            ]
            if scaled:
                found = expected_fits(np.stack(scaled, axis=1), spreads[rows], self.statement.density, enough)
            else:
                found = np.full(len(rows), float(len(rows)))
            lowest = min(lowest, float(found.min()))
            few += int((found < enough * (1 - 1e-9)).sum())
        _LAST.clear()
        _LAST[told.digest()] = lowest if few else enough, few
        return _LAST[told.digest()]


# ---------------------------------------------------------------------------------------------------------------------
# Expected anonymity


def expected_fits(points: Numbers, spreads: Numbers, density: str, enough: float) -> Numbers:
    """Sum up, for each record, the chances that the others and itself fit its density as well; no further than enough.

    points: float[n, d], in common units; spreads: float[n]

    >>> expected_fits(np.array([[0.0], [1.0], [1.0]]), np.array([2.0, 2.0, 0.0]), "uniform", 9.0)
    array([2.5 , 2.75, 2.  ])
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

    different, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    own = inverse.reshape(-1)
    sums = np.where(spreads == 0, counts[own], 0.0)
    boxes = _Boxes.around(different, np.asarray(cKDTree(different, leafsize=_IN_A_BOX).indices, dtype=np.int64))
    left = np.flatnonzero(spreads > 0)
    left = left[np.argsort(boxes.places[own[left]], kind="stable")]  # near ones together
    for radius in _RADII[density]:
        for rows in np.array_split(left, -(-len(left) // _IN_A_BOX)) if len(left) else ():
            # a few records with much larger spreads than those around them are looked at by themselves
            wide = spreads[rows] > 2 * np.median(spreads[rows])
            for part in (rows[~wide], rows[wide]):
                if len(part):
                    others = boxes.within(different[own[part]], radius * spreads[part].max(), density)
                    sums[part] = np.zeros(len(part))
                    for some in np.array_split(others, -(-len(part) * len(others) // _PAIRS_AT_ONCE)):
                        chances = _chances(different[own[part]], different[some], spreads[part], radius, density)
                        chances[own[part][:, None] == some] = 1.0
                        sums[part] += np.einsum("ij,j->i", chances, counts[some].astype(np.float64))
        left = left[sums[left] < enough]
    return sums


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Points, float[n, d], a few dozen near ones at a time in a box: `order` int[n] lists them box by box.

    `places` int[n] says where each point stands in that order; `low` and `high` are float[boxes, d].
    """

    points: Numbers
    order: Places
    places: Places
    low: Numbers
    high: Numbers

    @classmethod
    def around(cls, points: Numbers, order: Places) -> "_Boxes":
        """Put boxes around so many points each, in an order in which near ones stand together."""
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        starts = np.arange(0, len(order), _IN_A_BOX)
        ordered = points[order]
        return cls(points, order, places, np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts))

    def within(self, points: Numbers, distance: float, density: str) -> Places:
        """List the points that are no farther than so from the box around these, in the density's norm."""
        low, high, reach = points.min(axis=0), points.max(axis=0), distance * (1 + 1e-9)
        near = np.flatnonzero(_apart(self.low - high, low - self.high, density) <= reach)
        listed = (near[:, None] * _IN_A_BOX + np.arange(_IN_A_BOX)).ravel()
        found: Places = self.order[listed[listed < len(self.order)]]
        # of a box that is near, many points are not
        inside = self.points.take(found, axis=0)
        return found.take(np.flatnonzero(_apart(inside - high, low - inside, density) <= reach))


def _apart(above: Numbers, below: Numbers, density: str) -> Numbers:
    """Give distances from a box, float[n], by how far others lie above and below it in each column: float[n, d]."""
    beyond = np.maximum(np.maximum(above, below), 0.0)
    distances: Numbers = beyond.max(axis=1) if density == "uniform" else np.sqrt(np.einsum("ij,ij->i", beyond, beyond))
    return distances


def _chances(points: Numbers, others: Numbers, spreads: Numbers, radius: float, density: str) -> Numbers:
    """Give the chance that each other fits the density of each point as well as the point does: float[p, o].

    points and others: float[p, d] and float[o, d], which differ; spreads: float[p]. Beyond so many spreads a tail is 0.
    """
    found = np.ones((len(points), len(others)))
    if density == "uniform":
        for x, y in zip(points.T, others.T, strict=True):
            share = np.abs(x[:, None] - y)
            share *= (-0.5 / spreads)[:, None]
            share += 1.0
            found *= np.maximum(share, 0.0, out=share)
        return found
    from scipy.special import erfc  # noqa: PLC0415 - takes a while

    # |x - y|² = |x|² + |y|² - 2·x·y about the middle of the points, in spreads
    x, y = points - points.mean(axis=0), others - points.mean(axis=0)
    squares = (x * -2.0) @ y.T
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", y, y)
    squares *= (1.0 / (spreads * spreads))[:, None]
    near = np.flatnonzero(squares <= radius * radius)
    found[:] = 0.0
    tails = np.sqrt(np.maximum(squares.ravel().take(near), 0.0)) * (0.5 / math.sqrt(2))
    found.ravel()[near] = erfc(tails) / 2
    return found


# ---------------------------------------------------------------------------------------------------------------------
# The evidence beside the original


def _original_problems(view: TableView, came: TableView, statement: UncertainStatement) -> list[str]:
    """Say where true values are not those of the original, or what is published exactly is not what came in."""
    problems = []
    uncertain = {name for column in statement.columns for name in (column.name, column.spread)}
    if [name for name in view.columns if name not in {column.spread for column in statement.columns}] != list(
        came.columns
    ):
        return ["the columns are not those of the original"]

    def count(condition: str, other: str) -> int:
        ((wrong,),) = view.connection.execute(
            f"SELECT count(*) FILTER (WHERE {condition}) FROM "
            f"(SELECT {', '.join(f'c{i} AS o{i}' for i in range(len(came.columns)))} FROM original) "
            f"POSITIONAL JOIN {other}"
        ).fetchall()
        return int(wrong)

    for place, column in enumerate(statement.columns):
        number = column.cells.number_sql(f"o{came.columns.index(column.name)}")
        if wrong := count(f"({number}) IS DISTINCT FROM v{place}", "truth"):
            problems.append(f"in column {quote(column.name)}, {wrong:,} true values are not those of the original")
    for name in came.columns:
        if name in uncertain:
            continue
        differs = f"o{came.columns.index(name)} IS DISTINCT FROM {view.column(name)}"
        if wrong := count(differs, view.source):
            problems.append(f"column {quote(name)} has {wrong:,} values that are not those of the original")
    return problems
