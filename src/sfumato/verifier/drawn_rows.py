"""Releases of drawn rows: each row comes from the statistics of a group of at least k rows of the original.

What is promised is how the rows came about, and the rows do not show it. So there is evidence, which stays with the
data holder: the group that each published row was drawn for, and of each group how many rows and persons it had and the
means of its numbers. Checked from the files are the sizes of the groups against k, the published rows of each group
against its size and its means, that no category stands in fewer rows than k would give it and all are those that the
manifest lists, that numbers are numbers, on their grid and within their bounds, and that the evidence is the one that
the audit knows.

When a release is made, the original is at hand as well. Then the evidence itself is checked against it: every row is in
one group, groups have as many rows and persons and such means as stated, strata are kept, no category of the original
that k hold is lost and none that fewer hold is published, atoms are held by k, and where numbers were drawn from
several groups together k hold one there.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import InputError, NotVerified, listing, quote
from sfumato.verifier.duckdb_tables import Files, TableView, as_paths, as_text, open_view, own_dialect, unreadable
from sfumato.verifier.release_files import JsonObject, plain_file
from sfumato.verifier.sql import connect, path_pattern, quote_text
from sfumato.verifier.verdict import Finding, Verdict

DRAWN_FORMS = ("synthetic", "uncertain")
"""The forms whose rows, or whose centres, are drawn."""
DRAWN_MODELS = ("k-anonymity", "identity-k-anonymity")
"""What can be promised of them."""
GROUPS_FILE = "groups.parquet"
"""Private: the group of each published row, in the order of the file."""
STATISTICS_FILE = "group_statistics.parquet"
"""Private: of each group its number, its rows, its persons, the mean of each column of numbers, and with which groups
its numbers were drawn where few of it hold one."""

FROM_EVIDENCE = (
    "how many people each row was drawn from is read from the evidence in the private part; that the original gives "
    "this evidence was checked when the release was made, and cannot be seen without the original"
)
"""What a verdict on drawn rows rests on."""

_TOLERANCE, _PRECISION = 1e-6, 1e-12
"""By how much means may differ besides rounding to a grid: relative to the numbers of the group, and of the column."""
_NO_MEANS = ("time", "duration")
"""Types of Arrow whose means are not compared."""


@dataclass(frozen=True)
class DrawnColumnStatement:
    """What a manifest says of a drawn column: what it holds, its grid, its bounds, and the values many rows share."""

    name: str
    kind: str
    step: float = 0.0
    bounds: tuple[float, float] | None = None
    date_format: str | None = None
    atoms: tuple[str, ...] = ()
    has_means: bool = True
    labels: tuple[str | None, ...] | None = None

    @classmethod
    def from_entry(cls, entry: JsonObject) -> "DrawnColumnStatement":
        """Read an entry of the data dictionary; whatever is not as it should be is refused."""
        bounds, atoms = entry.get("bounds"), entry.get("atoms", [])
        step, kind, form = entry.get("step", 0), entry.get("kind"), entry.get("date_format")
        labels = entry.get("labels")
        numbers = [step, *(bounds if isinstance(bounds, list) else [])]
        sound = kind in {"number", "date", "category"} and all(
            isinstance(number, int | float) and not isinstance(number, bool) for number in numbers
        )
        sound = sound and (bounds is None or (isinstance(bounds, list) and len(bounds) == 2)) and step >= 0
        sound = sound and isinstance(atoms, list) and all(isinstance(atom, str) for atom in atoms)
        sound = sound and (
            labels is None or (isinstance(labels, list) and all(isinstance(label, str | None) for label in labels))
        )
        if not sound or not isinstance(form, str | None):
            raise NotVerified(
                f"manifest.json does not say properly what column {quote(entry['name'])} holds: it was changed after "
                "publication, or is of another version"
            )
        timed = str(entry.get("type", "")).startswith(_NO_MEANS)
        pair = None if bounds is None else (float(bounds[0]), float(bounds[1]))
        listed = None if labels is None else tuple(labels)
        return cls(entry["name"], str(kind), float(step), pair, form, tuple(atoms), not timed, listed)

    def number_sql(self, cell: str, *, atoms: bool = True) -> str:
        """Write a cell of the column as a number: NULL where it holds none, or an atom and those are left out.

        Dates are microseconds since 1970.
        """
        text = f"CAST({cell} AS VARCHAR)"
        if self.kind == "number":
            number = f"TRY_CAST({text} AS DOUBLE)"
        elif self.date_format is None:
            number = f"CAST(epoch_us(TRY_CAST({text} AS TIMESTAMP)) AS DOUBLE)"
        else:
            number = f"CAST(epoch_us(try_strptime({text}, {quote_text(self.date_format)})) AS DOUBLE)"
        listed = ", ".join(quote_text(atom) for atom in self.atoms)
        return number if atoms or not listed else f"CASE WHEN {text} IN ({listed}) THEN NULL ELSE {number} END"


@dataclass(frozen=True)
class DrawnStatement:
    """What a manifest says of drawn rows: k, the rows drawn for each, the strata, and the columns."""

    requirements: tuple[Mapping[str, Any], ...]
    columns: tuple[DrawnColumnStatement, ...]
    multiple: int
    strata: tuple[str, ...]

    @classmethod
    def from_manifest(cls, manifest: JsonObject, requirements: Sequence[Mapping[str, Any]]) -> "DrawnStatement":
        """Read a manifest that was checked for form."""
        names = [entry["name"] for entry in manifest["columns"]]
        multiple, strata = manifest.get("multiple", 1), manifest.get("strata", [])
        sound = isinstance(multiple, int) and not isinstance(multiple, bool) and multiple >= 1
        if not sound or not isinstance(strata, list) or any(name not in names for name in strata):
            raise NotVerified(
                "manifest.json does not say properly how rows were drawn: it was changed after publication"
            )
        for rule in requirements:
            if rule["model"] not in DRAWN_MODELS:
                models = " or ".join(DRAWN_MODELS)
                raise InputError(f"{rule['model']} cannot be checked of drawn rows; ask for {models}")
        columns = tuple(map(DrawnColumnStatement.from_entry, manifest["columns"]))
        return cls(tuple(requirements), columns, multiple, tuple(strata))

    @property
    def k(self) -> int:
        """How many each drawn row stands for at least."""
        return max(int(rule["k"]) for rule in self.requirements)


@dataclass(frozen=True, eq=False)
class OriginalRows:
    """The table that rows were drawn from, as Arrow, with the group of each row, and the person where there are any.

    `climbed` has, by column, the labels that stand for rare values; some value may be spelled like one of them.
    """

    table: Any
    members: Any
    persons: Any = None
    climbed: Mapping[str, Sequence[str | None]] = field(default_factory=dict)


def verify_drawn_files(files: Files, private: Path, statement: DrawnStatement, null: str) -> Verdict:
    """Check a written table of drawn rows against the evidence in the private part."""
    evidence = [private / GROUPS_FILE, private / STATISTICS_FILE]
    if not all(file.exists() for file in evidence):
        raise InputError(
            "how many people each row was drawn from cannot be seen in the rows; it is checked with the private part "
            "of the release, which is not here: name the whole folder"
        )
    groups, statistics = (plain_file(private, file.name).resolve() for file in evidence)
    connection = connect([*as_paths(files), groups, statistics], in_order=True)
    with closing(connection):
        view = open_view(connection, "published", files, own_dialect(files, null))
        for name, file in (("group_of", groups), ("stated", statistics)):
            try:
                connection.execute(
                    f"CREATE TABLE {name} AS SELECT * FROM read_parquet({quote_text(path_pattern(file))})"
                )
            except duckdb.Error as error:
                raise unreadable(file.name, error) from None
        return _check(view, statement)


def evidence_problems(
    private: Path, audit: JsonObject, names: Sequence[str] = (GROUPS_FILE, STATISTICS_FILE)
) -> list[str]:
    """Name files of evidence that are not those whose hashes the audit has."""
    stated = audit.get("evidence")
    if not isinstance(stated, dict):
        return ["the audit does not say what the evidence was: it was changed after it was written"]
    problems = []
    for name in names:
        with plain_file(private, name).open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != stated.get(name):
                problems.append(f"{name} is not the evidence that was written: its SHA-256 differs from the audit's")
    return problems


def verify_drawn_tables(
    table: Any, groups: Any, statistics: Any, statement: DrawnStatement, original: OriginalRows
) -> Verdict:
    """Check drawn rows in memory, and the evidence against the original rows; all are Arrow tables."""
    connection = connect(in_order=True)
    with closing(connection):
        view = _register(connection, "published", table)
        connection.register("group_of", groups)
        connection.register("stated", statistics)
        verdict = _check(view, statement)
        rows = _register(connection, "original", original.table, member=original.members, person=original.persons)
        problems = (*verdict.problems, *_original_problems(view, rows, statement, original))
        return Verdict(verdict.rows, verdict.classes, verdict.privacy, problems)


def _register(connection: Any, name: str, table: Any, **more: Any) -> TableView:
    import pyarrow as pa  # noqa: PLC0415 - the verifier starts without it where it can

    columns = {f"c{place}": as_text(column) for place, column in enumerate(table.columns)}
    columns |= {key: column for key, column in more.items() if column is not None}
    connection.register(name, pa.table(columns))
    return TableView(connection, tuple(table.column_names), {}, source=name, label="the table")


# ---------------------------------------------------------------------------------------------------------------------
# The published rows beside the evidence


def _check(view: TableView, statement: DrawnStatement) -> Verdict:
    lacking = [column.name for column in statement.columns if column.name not in view.columns]
    if lacking:
        return Verdict(0, 0, (), (f"the table lacks columns that the manifest has: {listing(lacking)}",))
    _require_evidence(view, statement)
    means = "".join(
        f", {column.number_sql(view.text_sql(view.column(column.name)))} AS n{place}"
        for place, column in enumerate(statement.columns)
        if column.kind != "category"
    )
    view.read(
        f'CREATE TABLE drawn AS SELECT g."group" AS g, {", ".join(f"p.c{i}" for i in range(len(view.columns)))}{means} '
        f"FROM {view.source} AS p POSITIONAL JOIN group_of AS g"
    )
    one = _one_value(view)
    rows, evidence = one("SELECT count(*) FROM " + view.source), one("SELECT count(*) FROM group_of")
    groups, least = one("SELECT count(*) FROM stated"), one("SELECT coalesce(min(persons), 0) FROM stated")
    problems = []
    if rows != evidence:
        problems.append(f"the table has {rows:,} rows where {evidence:,} were drawn")
    wrong = one(
        'SELECT count(*) FROM (SELECT g, count(*) AS n FROM drawn GROUP BY g) FULL JOIN stated ON g = "group" '
        f"WHERE n IS DISTINCT FROM {statement.multiple} * rows OR persons > rows"
    )
    if wrong:
        problems.append(f"{wrong:,} groups have not as many rows drawn for them as their size says")
    problems += _mean_problems(view, statement)
    problems += _cell_problems(view, statement)
    findings = []
    for rule in statement.requirements:
        few = one(f"SELECT count(*) FROM stated WHERE persons < {int(rule['k'])}")
        failures = (f"{few:,} groups have fewer than {rule['k']:,}, the smallest {least:,}",) if few else ()
        required = {key: value for key, value in rule.items() if key != "model"}
        findings.append(Finding(rule["model"], required, {"k": least}, not few, failures))
    return Verdict(rows, groups, tuple(findings), tuple(problems))


def _require_evidence(view: TableView, statement: DrawnStatement) -> None:
    """Refuse evidence that lacks a column."""
    needed = {"stated": {"group", "rows", "persons"}, "group_of": {"group"}}
    for place, column in enumerate(statement.columns):
        if column.kind != "category":
            needed["stated"].add(f"m{place}")
    for table, names in needed.items():
        if names - _column_names(view, table):
            raise NotVerified(
                f"{GROUPS_FILE if table == 'group_of' else STATISTICS_FILE} lacks what it should say of each group: it "
                "was changed after it was written, or is of another version"
            )


def _column_names(view: TableView, table: str) -> set[str]:
    return {name for (name,) in view.connection.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()}


def number_text(number: float) -> str:
    """Write a number in SQL, as a float that is the same.

    >>> number_text(0.1), number_text(1e300)
    ('CAST(0.1 AS DOUBLE)', 'CAST(1e+300 AS DOUBLE)')
    """
    return f"CAST({float(number)} AS DOUBLE)"


def _precision(table: str, place: int) -> str:
    """Write what a mean may be off by because it was worked out in floats, of the size that the column has."""
    return f"{number_text(_PRECISION)} * (SELECT coalesce(max(abs(n{place})), 0) FROM {table})"


def _one_value(view: TableView) -> Any:
    def read(statement: str) -> int:
        ((value,),) = view.connection.execute(statement).fetchall()
        return int(value or 0)

    return read


def _mean_problems(view: TableView, statement: DrawnStatement) -> list[str]:
    """Name columns in which the rows of a group do not have the mean that is stated of it."""
    one, problems, known = _one_value(view), [], _column_names(view, "stated")
    for place, column in enumerate(statement.columns):
        if column.kind == "category" or not column.has_means:
            continue
        # evidence says with p where a number was not the whole story
        if f"p{place}" not in known and one(f"SELECT count(*) FROM stated WHERE m{place} IS NULL"):
            problems.append(f"in column {quote(column.name)}, groups have no stated mean where all have numbers")
        wrong = one(
            f"SELECT count(*) FROM (SELECT g, avg(n{place}) AS found, max(abs(n{place})) AS size, count(*) AS n "
            f'FROM drawn GROUP BY g) JOIN stated ON g = "group" WHERE m{place} IS NOT NULL AND '
            f"NOT coalesce(abs(found - m{place}) <= {number_text(column.step)} / 2 / n * 1.001 + "
            f"{number_text(_TOLERANCE)} * greatest(size, abs(m{place})) + {_precision('drawn', place)}, false)"
        )
        if wrong:
            problems.append(f"in column {quote(column.name)}, {wrong:,} groups do not have the mean that is stated")
    return problems


def _cell_problems(view: TableView, statement: DrawnStatement) -> list[str]:
    """Name columns with cells that are no numbers, off their grid or out of bounds, and with categories too rare."""
    one, problems = _one_value(view), []
    least = statement.k * statement.multiple
    for place, column in enumerate(statement.columns):
        cell = view.column(column.name)
        if column.kind == "category":
            few = one(f"SELECT count(*) FROM (SELECT {cell} FROM drawn GROUP BY {cell} HAVING count(*) < {least})")
            if few:
                problems.append(f"column {quote(column.name)} has {few:,} values in fewer than {least:,} rows")
            problems += _label_problems(view, column)
            continue
        if not column.has_means:  # times of day, which are no numbers here
            continue
        wrong = one(f"SELECT count(*) FROM drawn WHERE {cell} IS NOT NULL AND n{place} IS NULL")
        if wrong:
            problems.append(f"column {quote(column.name)} has {wrong:,} cells that are no {column.kind}s")
        if column.step and column.kind == "number":
            steps = f"(n{place} / {number_text(column.step)})"
            off = one(
                f"SELECT count(*) FROM drawn WHERE abs({steps} - round({steps})) > "
                f"greatest(1e-9, least(abs({steps}) * 1e-12, 0.4))"
            )
            if off:
                problems.append(f"column {quote(column.name)} has {off:,} numbers that are not on its grid")
        if column.bounds is not None:
            low, high = column.bounds
            out = one(
                f"SELECT count(*) FROM drawn WHERE n{place} < {number_text(low)} OR n{place} > {number_text(high)}"
            )
            if out:
                problems.append(f"column {quote(column.name)} has {out:,} values out of its bounds")
    return problems


def _label_problems(view: TableView, column: DrawnColumnStatement) -> list[str]:
    """Say where a category holds other values than the manifest lists."""
    if column.labels is None:
        return []
    cell = view.text_sql(view.column(column.name))
    found = {value for (value,) in view.connection.execute(f"SELECT DISTINCT {cell} FROM drawn").fetchall()}
    unknown = len(found - set(column.labels))
    return [f"column {quote(column.name)} has {unknown:,} values that the manifest does not list"] if unknown else []


# ---------------------------------------------------------------------------------------------------------------------
# The evidence beside the original


def _original_problems(
    view: TableView, rows: TableView, statement: DrawnStatement, original: OriginalRows
) -> list[str]:
    one, problems, persons = _one_value(view), [], original.persons is not None
    who = "person" if persons else "rowid"
    cells = ", ".join(
        f"{column.number_sql(rows.column(column.name), atoms=False)} AS n{place}"
        if column.kind != "category"
        else f"{rows.column(column.name)} AS t{place}"
        for place, column in enumerate(statement.columns)
    )
    person = "person" if persons else "row_number() OVER () AS rowid"
    view.connection.execute(f"CREATE TABLE came AS SELECT member AS g, {person}, {cells} FROM original")
    wrong = one(
        f"SELECT count(*) FROM (SELECT g, count(*) AS n, count(DISTINCT {who}) AS p FROM came GROUP BY g) "
        'FULL JOIN stated ON g = "group" WHERE n IS DISTINCT FROM rows OR p IS DISTINCT FROM persons'
    )
    if wrong:
        problems.append(f"{wrong:,} groups do not have as many rows and persons as the evidence states")
    for place, column in enumerate(statement.columns):
        if column.name in statement.strata:
            cell = view.column(column.name)
            differ = one(
                f"SELECT count(*) FROM (SELECT g, min({cell}) AS a, max({cell}) AS b FROM drawn GROUP BY g) AS d JOIN "
                f"(SELECT g, min(t{place}) AS x, max(t{place}) AS y FROM came GROUP BY g) AS o USING (g) "
                "WHERE a IS DISTINCT FROM x OR b IS DISTINCT FROM y OR a IS DISTINCT FROM b"
            )
            if differ:
                problems.append(f"{differ:,} groups are not within one value of {quote(column.name)}")
        elif column.kind == "category":
            lost = one(
                f"SELECT count(*) FROM (SELECT t{place} AS v, count(*) AS n, count(DISTINCT {who}) AS p FROM came "
                f"GROUP BY v) AS o LEFT JOIN (SELECT {view.column(column.name)} AS v, count(*) AS m FROM drawn GROUP "
                f"BY v) AS d ON o.v IS NOT DISTINCT FROM d.v WHERE p >= {statement.k} AND coalesce(m, 0) < "
                f"{statement.multiple} * n"
            )
            if lost:
                problems.append(f"column {quote(column.name)} has {lost:,} values in fewer rows than the original")
            rare = one(
                f"SELECT count(*) FROM (SELECT t{place} AS v, count(DISTINCT {who}) AS p FROM came GROUP BY v) AS o "
                f"JOIN (SELECT DISTINCT {view.column(column.name)} AS v FROM drawn) AS d "
                f"ON o.v IS NOT DISTINCT FROM d.v WHERE p < {statement.k}{_except_labels(original, column.name)}"
            )
            if rare:
                problems.append(f"column {quote(column.name)} has {rare:,} values that fewer than {statement.k:,} hold")
        else:
            problems += _pool_problems(view, rows, statement, place, who)
            if not column.has_means:
                continue
            wrong = one(
                f"SELECT count(*) FROM (SELECT g, avg(n{place}) AS found, max(abs(n{place})) AS size, "
                f'count(n{place}) AS h, count(*) AS n FROM came GROUP BY g) JOIN stated ON g = "group" '
                f"WHERE m{place} IS NOT NULL AND "
                f"(h < n OR abs(found - m{place}) > {number_text(_TOLERANCE)} * greatest(size, "
                f"abs(m{place})) + {_precision('came', place)})"
            )
            if wrong:
                problems.append(f"in column {quote(column.name)}, {wrong:,} groups do not have the mean of their rows")
    return problems


def _except_labels(original: OriginalRows, column: str) -> str:
    """Write a condition that leaves out the labels that stand for rare values of a column."""
    labels = [label for label in original.climbed.get(column, ()) if label is not None]
    return f" AND o.v NOT IN ({', '.join(map(quote_text, labels))})" if labels else ""


def _pool_problems(view: TableView, rows: TableView, statement: DrawnStatement, place: int, who: str) -> list[str]:
    """Say where a number was drawn from what fewer than k hold: of an atom, or of groups that were taken together."""
    one, problems, column = _one_value(view), [], statement.columns[place]
    for atom in column.atoms:
        held = one(
            f"SELECT count(DISTINCT {who}) FROM (SELECT *, row_number() OVER () AS rowid FROM {rows.source}) "
            f"WHERE {column.number_sql(rows.column(column.name))} = {column.number_sql(quote_text(atom))}"
        )
        if held < statement.k:
            problems.append(f"an atom of column {quote(column.name)} is held by fewer than {statement.k:,}")
    pool = f"p{place}" if f"p{place}" in _column_names(view, "stated") else '"group"'
    few = one(
        f'SELECT count(*) FROM (SELECT count(DISTINCT {who}) AS p FROM came JOIN stated ON g = "group" '
        f"WHERE n{place} IS NOT NULL AND {pool} >= 0 GROUP BY {pool}) WHERE p < {statement.k}"
    )
    if few:
        problems.append(
            f"numbers of column {quote(column.name)} were drawn {few:,} times from what fewer than {statement.k:,} hold"
        )
    return problems
