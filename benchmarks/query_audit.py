"""How long a decision of the query auditor takes: a million rows, 2,000 cells and 10,000 earlier queries.

``python -m benchmarks.query_audit`` makes a table, begins a ledger, asks 10,000 statements of mixed kinds, and then
measures further ones: decision, answer and the write to the disk together, and beside them a yardstick of the same run,
a transaction of one line that SQLite flushes. It writes results-query-audit.json and RESULTS-query-audit.md.
"""

import argparse
import json
import resource
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.auditor.query_ledger import AuditSettings, QueryLedger
from sfumato.errors import InputError

HERE = Path(__file__).parent
AGES, DEPARTMENTS, REGIONS = 20, 10, 10


def make_table(rows: int, seed: int, more_regions: int = 0) -> pa.Table:
    """Make people with an age, a department and a region, 2,000 combinations, and a pay."""
    rng = np.random.default_rng(seed)
    cell = rng.integers(0, AGES * DEPARTMENTS * (REGIONS + more_regions), rows)
    cell[: AGES * DEPARTMENTS * REGIONS] = np.arange(AGES * DEPARTMENTS * REGIONS)
    return pa.table(
        {
            "age": 20 + cell % AGES,
            "dept": [f"d{code}" for code in (cell // AGES % DEPARTMENTS).tolist()],
            "region": [f"r{code}" for code in (cell // AGES // DEPARTMENTS).tolist()],
            "pay": rng.normal(4000, 2500, rows).round().astype(np.int64),
        }
    )


def random_statement(rng: np.random.Generator, *, free: bool) -> str:
    """Ask for a sum, an average or a maximum of a random part of the table; `free` ones say more that is new."""
    parts = []
    if free:  # a union of random boxes, so that nearly every sum is new
        for _ in range(3):
            age, region = rng.integers(20, 40, 2), int(rng.integers(0, REGIONS))
            departments = ", ".join(f"'d{code}'" for code in rng.choice(DEPARTMENTS, 4, replace=False).tolist())
            parts.append(
                f"(age between {age.min()} and {age.max()} and dept in ({departments}) and region = 'r{region}')"
            )
        return f"select sum(pay) where {' or '.join(parts)}"
    low, high = sorted(rng.integers(20, 40, 2).tolist())
    kind = rng.choice(["sum", "avg", "max", "count"], p=[0.5, 0.3, 0.1, 0.1])
    departments = ", ".join(f"'d{code}'" for code in rng.choice(DEPARTMENTS, 3, replace=False).tolist())
    # maxima of one region alone: after one of everybody, no sum would be answered any more
    within = " and region = 'r9'" if kind == "max" else ""
    return f"select {kind}(pay) where age between {low} and {high} and dept in ({departments}){within}"


def measure(rows: int, earlier: int, measured: int) -> dict[str, Any]:
    """Begin a ledger, ask, and measure."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        table = make_table(rows, 7)
        settings = AuditSettings(("pay",), ("age", "dept", "region"), name="staff")
        begun = time.perf_counter()
        ledger = QueryLedger.create(Path(folder, "audit.db"), table, settings)
        found: dict[str, Any] = {"rows": rows, "cells": ledger.table.cells, "made_seconds": begun - started}
        found["init_seconds"] = time.perf_counter() - begun
        asked = time.perf_counter()
        for place in range(earlier):
            ledger.ask(random_statement(rng, free=place % 5 == 0))
        found |= {"earlier": earlier, "earlier_seconds": time.perf_counter() - asked}
        found["rank"] = ledger._audits["pay"].sums.rank  # noqa: SLF001 - what the work depends on
        wall, cpu, outcomes = [], [], []
        for place in range(measured):
            sql = random_statement(rng, free=place % 2 == 0)
            before, cpu_before = time.perf_counter(), time.process_time()
            outcomes.append(ledger.ask(sql).outcome)
            wall.append(1000 * (time.perf_counter() - before))
            cpu.append(1000 * (time.process_time() - cpu_before))
        found |= {"measured": measured, "outcomes": {one: outcomes.count(one) for one in sorted(set(outcomes))}}
        found["milliseconds"] = dict(zip(("median", "p95", "largest"), np.percentile(wall, [50, 95, 100]), strict=True))
        found["cpu_milliseconds"] = dict(
            zip(("median", "p95", "largest"), np.percentile(cpu, [50, 95, 100]), strict=True)
        )
        found["yardstick_milliseconds"] = flush_time(Path(folder, "yardstick.db"))
        found["ledger_megabytes"] = Path(folder, "audit.db").stat().st_size / 1e6
        ledger.close()
        opened = time.perf_counter()
        QueryLedger(Path(folder, "audit.db")).close()
        found["open_seconds"] = time.perf_counter() - opened
        try:
            QueryLedger.create(Path(folder, "wide.db"), make_table(10_000, 7, more_regions=2), settings)
        except InputError as error:
            found["beyond"] = str(error)
    found["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return found


def flush_time(path: Path) -> float:
    """Measure the median of a transaction of one line, flushed, in milliseconds."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE line (text TEXT)")
    times = []
    for _ in range(200):
        before = time.perf_counter()
        connection.execute("INSERT INTO line VALUES ('x')")
        times.append(1000 * (time.perf_counter() - before))
    connection.close()
    return float(np.median(times))


def write(found: dict[str, Any]) -> None:
    """Keep the figures, and a page of them."""
    rounded = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 3))
    (HERE / "results-query-audit.json").write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
    wall, cpu = rounded["milliseconds"], rounded["cpu_milliseconds"]
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in rounded["outcomes"].items())
    told = (
        f"{rounded['rows']:,} rows in {rounded['cells']:,} cells; {rounded['earlier']:,} earlier statements, whose "
        f"sums have rank {rounded['rank']:,}. Measured: {rounded['measured']:,} statements ({outcomes})."
    )
    beside = (
        f"The yardstick, a transaction of one line that SQLite flushes, took {rounded['yardstick_milliseconds']} ms "
        f"in the same run. Beginning the ledger took {rounded['init_seconds']} s, opening it again "
        f"{rounded['open_seconds']} s; it has {rounded['ledger_megabytes']} MB, and the process had "
        f"{rounded['peak_megabytes']} MB at most, the table in memory included."
    )
    lines = [
        "# Decisions of the query auditor",
        "",
        "Written by `python -m benchmarks.query_audit`: decision, answer and the flush of the record together.",
        "",
        told,
        "",
        "| | median | 95 of 100 | largest |",
        "|---|---:|---:|---:|",
        f"| a statement, ms | {wall['median']} | {wall['p95']} | {wall['largest']} |",
        f"| its CPU time, ms | {cpu['median']} | {cpu['p95']} | {cpu['largest']} |",
        "",
        beside,
        "",
        f"Beyond 2,000 cells: {rounded['beyond']}.",
        "",
    ]
    (HERE / "RESULTS-query-audit.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--earlier", type=int, default=10_000)
    parser.add_argument("--measured", type=int, default=400)
    options = parser.parse_args()
    write(measure(options.rows, options.earlier, options.measured))
