"""Cross-tables: the evidence of each cell, counted again in SQL from the original rows, when these are at hand."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import is_lack_of_memory
from sfumato.verifier.cell_intervals import CellEvidence, CellStatement, Labels, PublishedCells
from sfumato.verifier.duckdb_tables import as_text
from sfumato.verifier.sql import connect


def evidence_problems(
    original: Any,
    measure: str | None,
    individual: str | None,
    cells: PublishedCells,
    told: tuple[CellStatement, CellEvidence],
) -> list[str]:
    """Say what of the evidence is not so, by an Arrow table of the original rows.

    Every cell is counted again: what it holds, how many contribute, their largest amounts, and who is alone in it.
    """
    statement, evidence = told
    columns = {f"c{i}": as_text(original.column(name)) for i, name in enumerate(statement.names)}
    if measure is not None:
        columns["amount"] = as_text(original.column(measure)).cast(pa.string())
    if individual is not None:
        columns["person"] = as_text(original.column(individual)).cast(pa.string())
    if not columns:
        return []
    with closing(connect()) as connection:
        connection.register("original", pa.table(columns))
        try:
            counted = _count(connection, statement, persons=individual is not None, measured=measure is not None)
        except duckdb.Error as error:
            if is_lack_of_memory(error):
                raise MemoryError from None
            return ["the original rows cannot be counted again"]
    return _compare(counted, cells, statement, evidence)


def _count(
    connection: Any, statement: CellStatement, *, persons: bool, measured: bool
) -> Mapping[Labels, Sequence[Any]]:
    """Count the cells of every pattern that are not empty, by labels: contributors, sum, largest, who is alone."""
    amount = "1"
    if measured:
        steps = f"CAST(trim(amount) AS DECIMAL(38, {statement.decimals}))"
        amount = f"CAST(replace(CAST({steps} AS VARCHAR), '.', '') AS HUGEINT)"
    who = "coalesce('=' || person, 'NULL')" if persons else "CAST(row_number() OVER () AS VARCHAR)"
    where = "WHERE amount IS NOT NULL AND lower(amount) <> 'nan'" if measured else ""
    names = [f"c{i}" for i in range(len(statement.names))]
    connection.execute(
        f"CREATE TABLE lines AS SELECT {', '.join(names)}, {who} AS who, {amount} AS amount FROM original {where}"
    )
    most = max(2, statement.dominance[0] if statement.dominance else 0)
    found: dict[Labels, Sequence[Any]] = {}
    for pattern in statement.patterns():
        kept = [name for i, name in enumerate(names) if i in pattern]
        groups = ", ".join([*kept, "who"])
        cells = ", ".join([*kept, "count(*)"])
        by = f"GROUP BY {', '.join(kept)}" if kept else ""
        rows = connection.execute(
            f"SELECT {cells}, sum(amount), list_slice(list(amount ORDER BY amount DESC), 1, {most}), min(who) "
            f"FROM (SELECT {groups}, sum(amount) AS amount FROM lines GROUP BY {groups}) {by}"
        ).fetchall()
        for row in rows:
            values = iter(row[: len(kept)])
            labels = tuple(next(values) if i in pattern else statement.total for i in range(len(names)))
            found[labels] = row[len(kept) :]
    return found


def _compare(
    counted: Mapping[Labels, Sequence[Any]], cells: PublishedCells, statement: CellStatement, evidence: CellEvidence
) -> list[str]:
    """Hold the evidence against what was counted, line by line."""
    if not set(counted) <= set(cells.labels):
        return ["the original has cells that the table lacks"]
    most = max(2, statement.dominance[0] if statement.dominance else 0)
    number_of: dict[str, int] = {}
    person_of: dict[int, str] = {}
    for line, labels in enumerate(cells.labels):
        contributors, value, largest, who = counted.get(labels, (0, 0, [], ""))
        stated = evidence.values[line], evidence.contributors[line], list(evidence.largest[line][:most])
        padded = [*map(int, largest), *[0] * (most - len(largest))]
        if stated != (int(value), contributors, padded):
            return ["the evidence is not what the original rows come to"]
        alone = evidence.sole[line]
        if (alone >= 0) != (contributors == 1):
            return ["the evidence does not say rightly who is alone in a cell"]
        if alone >= 0 and (number_of.setdefault(who, alone) != alone or person_of.setdefault(alone, who) != who):
            return ["the evidence does not say rightly who is alone in a cell"]
    return []
