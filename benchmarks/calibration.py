"""How often the truth lies within two standard errors: `python -m benchmarks.calibration [--queries N] [--out DIR]`.

Real tables are published by several algorithms, and asked random queries of one to three conditions joined by AND; each
answer is held against the original. A table comes from the shared data (Adult) or from a package that carries it
(statsmodels, pydataset), and is left out where that is not installed. Figures are reported, never asserted; a slow test
asserts them with a margin.
"""

import argparse
import io
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchmarks import real_tables
from sfumato.datasets import adult_folder, adult_policy
from sfumato.errors import InputError
from sfumato.queries import OpenRelease
from sfumato.release import prepare

QUERIES, SEED = 300, 1


@dataclass(frozen=True, eq=False)
class RealTable:
    """A real table, and a policy for it: `numbers` are the columns that are asked about in ranges and averaged.

    `sensitive` is the column that stands in a table of its own where two tables are published.
    """

    name: str
    rows: pa.Table
    policy: Mapping[str, Any]
    numbers: tuple[str, ...]
    sensitive: str

    def with_algorithm(self, algorithm: str, k: int) -> dict[str, Any]:
        """The policy with an algorithm and a k.

        ``ranges`` is Mondrian with ranges and sets in place of levels, ``lossy-join`` is two tables.
        """
        columns, name = self.policy["columns"], algorithm
        if algorithm == "ranges":
            columns, name = {key: _without_levels(column) for key, column in columns.items()}, "mondrian"
        privacy = [{"model": "k-anonymity", "k": k}]
        if algorithm == "lossy-join":
            columns = {**columns, self.sensitive: {"role": "sensitive"}}
            return {**self.policy, "columns": columns, "privacy": privacy, "publish": {"form": "lossy-join"}}
        return {**self.policy, "columns": columns, "privacy": privacy, "algorithm": {"name": name}}


def _without_levels(column: Mapping[str, Any]) -> Mapping[str, Any]:
    hierarchy = column.get("hierarchy")
    if isinstance(hierarchy, Mapping) and "intervals" in hierarchy:
        levels = {key: value for key, value in hierarchy.items() if key != "intervals"}
        return {**column, "hierarchy": {"ranges": True, **levels}}
    return {**column, "hierarchy": "sets"} if column["role"] == "quasi" else column


@dataclass(frozen=True)
class Coverage:
    """How often the truth is within two errors of the estimate, of `asked` answers that are not exact.

    `within` goes by standard errors, `spread` by those of equally likely values alone; `width` is the median standard
    error as a share of the estimate, and `error` the median error as such a share.
    """

    table: str
    algorithm: str
    figure: str
    asked: int
    within: float
    spread: float
    width: float
    error: float


def measure_coverage(
    table: RealTable, algorithm: str, *, k: int = 5, queries: int = QUERIES, seed: int = SEED
) -> Iterator[Coverage]:
    """Publish a table, ask random queries of the release, and count how often the truth is within two errors."""
    with tempfile.TemporaryDirectory() as folder:
        release = prepare(table.rows, table.with_algorithm(algorithm, k)).save(Path(folder) / "release")
        original = duckdb.connect()
        original.register("original", table.rows)
        draw = random.Random(seed)
        found: dict[str, list[tuple[float, ...]]] = {"count(*)": [], "avg": []}
        with OpenRelease(release) as asked:
            for _ in range(queries):
                where = draw_conditions(table, draw, tied=algorithm == "lossy-join")
                number = f'avg("{draw.choice(table.numbers)}")'
                text = f"select count(*), {number} where {where}"
                truth = original.execute(f"select count(*), {number} from original where {where}").fetchone() or ()
                try:
                    answer = asked.query(text)[0]
                except InputError:  # about a column of which nothing says what its labels cover
                    continue
                for name, true, value in zip(found, truth, answer.values.values(), strict=True):
                    if None in {true, value.estimate} or not value.standard_error:
                        continue
                    figures = (value.estimate, true, value.standard_error, value.spread)
                    found[name].append(tuple(float(x or 0.0) for x in figures))
    for name, answers in found.items():
        if answers:
            yield _coverage(table.name, algorithm, name, answers)


def draw_conditions(table: RealTable, draw: random.Random, *, tied: bool = False) -> str:
    """Draw one to three conditions on different columns, with values of rows that are there; one is generalized.

    Where two tables are to be `tied`, one is about the sensitive column.
    """
    columns = [name for name, column in table.policy["columns"].items() if column["role"] != "identifier"]
    quasi = [name for name in columns if table.policy["columns"][name]["role"] == "quasi"]
    first = draw.choice(quasi)
    chosen = [first, *draw.sample([name for name in columns if name != first], draw.randint(0, 2))]
    if tied and table.sensitive not in chosen:
        chosen[1:2] = [table.sensitive]
    parts = []
    for name in chosen:
        cells = table.rows.column(name)
        one, other = (cells[draw.randrange(len(cells))].as_py() for _ in range(2))
        if one is None or other is None:
            parts.append(f'"{name}" is not null')
        elif name in table.numbers:
            low, high = sorted([one, other])
            # a question for one number of a real range means little, and is not asked
            within = low < high and draw.random() < 0.5
            parts.append(f'"{name}" between {low} and {high}' if within else f'"{name}" >= {one}')
        else:
            quoted = str(one).replace("'", "''")
            parts.append(f"\"{name}\" = '{quoted}'" if isinstance(one, str) else f'"{name}" = {one}')
    return " and ".join(parts)


def _coverage(table: str, algorithm: str, figure: str, answers: Sequence[tuple[float, ...]]) -> Coverage:
    within = sum(abs(estimate - true) <= 2 * error for estimate, true, error, _ in answers)
    spread = sum(abs(estimate - true) <= 2 * likely for estimate, true, _, likely in answers)
    widths = sorted(error / max(abs(estimate), 1e-9) for estimate, _, error, _ in answers)
    errors = sorted(abs(estimate - true) / max(abs(estimate), 1e-9) for estimate, true, *_ in answers)
    middle, asked = len(answers) // 2, len(answers)
    return Coverage(table, algorithm, figure, asked, within / asked, spread / asked, widths[middle], errors[middle])


# Tables.


def tables_at_hand() -> Iterator[RealTable]:
    """All tables that are at hand."""
    for table in (adult_table, affairs_table, labour_table, plebiscite_table, insurance_table):
        try:
            found = table()
        except ImportError:
            continue
        if found is not None:
            yield found


def adult_table() -> RealTable | None:
    """Adult: the census extract, with its eight quasi-identifiers, and hours and capital gain as they are."""
    folder = adult_folder()
    if folder is None:
        return None
    from pyarrow import csv  # noqa: PLC0415 - only where the table is at hand

    rows = csv.read_csv(folder / "adult.csv")
    policy = adult_policy(folder)
    columns = {name: dict(column) for name, column in policy["columns"].items()}
    for name in ("hours-per-week", "capital-gain"):
        columns[name] = {"role": "plain"}
    return RealTable(
        "adult", rows, policy | {"columns": columns}, ("age", "hours-per-week", "capital-gain"), "salary-class"
    )


def affairs_table() -> RealTable:
    """Fair's survey of 6,366 married women (statsmodels); its codes of half years are taken as whole ones."""
    frame = import_module("statsmodels.datasets.fair").load_pandas().data
    for name in ("age", "yrs_married", "children", "educ"):
        frame[name] = frame[name] // 1
    columns: dict[str, Any] = {
        "age": _intervals(5, 10, 20, domain=(15, 45)),
        "yrs_married": _intervals(5, 10, domain=(0, 25)),
        "children": _intervals(2, 4, domain=(0, 6)),
        "educ": _intervals(2, 4, 8, domain=(9, 20)),
        "occupation": SUPPRESS,
        "occupation_husb": SUPPRESS,
        "religious": {"role": "plain"},
        "rate_marriage": {"role": "plain"},
        "affairs": {"role": "plain"},
    }
    return _from_frame("fair", frame, columns, texts=("occupation", "occupation_husb"))


def labour_table() -> RealTable:
    """SLID: 7,425 people of Ontario with wage, education, age, sex and language (pydataset)."""
    frame = _pydataset("car", "SLID").dropna()
    columns: dict[str, Any] = {
        "age": _intervals(5, 10, 20, domain=(15, 70)),
        "education": _intervals(2, 4, 8, domain=(0, 20), integers=False),
        "sex": SUPPRESS,
        "language": SUPPRESS,
        "wages": {"role": "plain"},
    }
    return _from_frame("slid", frame, columns)


def plebiscite_table() -> RealTable:
    """Chile: 2,700 people asked before the plebiscite of 1988 (pydataset)."""
    frame = _pydataset("car", "Chile").dropna()
    columns: dict[str, Any] = {
        "region": SUPPRESS,
        "sex": SUPPRESS,
        "age": _intervals(5, 10, 20, domain=(18, 70)),
        "education": SUPPRESS,
        "income": _intervals(10_000, 50_000, domain=(0, 200_000)),
        "vote": {"role": "plain"},
        "population": {"role": "plain"},
        "statusquo": {"role": "plain"},
    }
    return _from_frame("chile", frame, columns)


def insurance_table() -> RealTable:
    """HI: 22,272 married women with hours of work, insurance and family (pydataset)."""
    frame = _pydataset("Ecdat", "HI")
    columns: dict[str, Any] = {
        "education": SUPPRESS,
        "race": SUPPRESS,
        "region": SUPPRESS,
        "experience": _intervals(5, 10, 20, domain=(-5, 60), integers=False),
        "kidslt6": _intervals(2, 4, domain=(0, 6)),
        "kids618": _intervals(2, 4, domain=(0, 9)),
        "husby": {"role": "plain"},
        "whrswk": {"role": "plain"},
        "whi": {"role": "plain"},
    }
    return _from_frame("hi", frame, columns)


SUPPRESS = {"role": "quasi", "hierarchy": "suppress"}


def _intervals(*widths: int, domain: tuple[int, int], integers: bool = True) -> dict[str, Any]:
    kind = {} if integers else {"integers": False}
    return {"role": "quasi", "hierarchy": {"intervals": list(widths), "domain": list(domain), **kind}}


def _pydataset(package: str, name: str) -> Any:
    """Read a table from the archive: two processes that import the library unpack it into one folder at once."""
    if not real_tables.is_installed("pydataset"):
        raise ImportError("pydataset is not installed", name="pydataset")
    text = real_tables.RealTable("pydataset", package, name).text()
    return import_module("pandas").read_csv(io.StringIO(text))


def _from_frame(name: str, frame: Any, columns: Mapping[str, Any], texts: Sequence[str] = ()) -> RealTable:
    rows = pa.Table.from_pandas(frame[list(columns)], preserve_index=False)
    for place, column in enumerate(rows.column_names):
        kind = rows.schema.field(column).type
        whole = pa.types.is_floating(kind) and all(x.as_py() is None or x.as_py() % 1 == 0 for x in rows.column(column))
        if column in texts or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            cells = rows.column(column).cast(pa.int64()) if whole else rows.column(column)
            rows = rows.set_column(place, column, cells.cast(pa.string()))
        elif whole:
            rows = rows.set_column(place, column, rows.column(column).cast(pa.int64()))
    numbers = tuple(column for column in rows.column_names if not pa.types.is_string(rows.schema.field(column).type))
    sensitive = next(column for column in columns if columns[column]["role"] == "plain")
    return RealTable(name, rows, {"columns": columns}, numbers, sensitive)


def main(arguments: Sequence[str]) -> None:
    """Measure, print a line for each, and write them as JSON where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--algorithms", default="auto,optimal,tds,ranges,lossy-join")
    parser.add_argument("--tables", default="")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    found = []
    for table in tables_at_hand():
        if options.tables and table.name not in options.tables.split(","):
            continue
        for algorithm in options.algorithms.split(","):
            for coverage in measure_coverage(table, algorithm, k=options.k, queries=options.queries):
                found.append(asdict(coverage))
                line = {key: round(value, 3) if isinstance(value, float) else value for key, value in found[-1].items()}
                sys.stdout.write(f"{json.dumps(line)}\n")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "results-calibration.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
