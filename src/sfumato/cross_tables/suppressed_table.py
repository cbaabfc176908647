"""Publish a cross-table with its marginals, in which cells that give somebody away are suppressed, and enough others.

Rows are counted, or amounts added up, into cells; cells that are primary by the rules are suppressed; others besides,
so that none can be worked out; the verifier counts the evidence again from the rows, works out from the published table
between which bounds each suppressed cell can be, and holds that against what was promised. What it does not pass is
neither returned nor written.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._version import __version__
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.cross_tables.cell_table import CellTable, count_cells
from sfumato.cross_tables.primary_cells import DisclosureRules, ProtectionLevels, find_primary_cells
from sfumato.cross_tables.secondary_cells import COSTS, CellSuppression, suppress_cells
from sfumato.errors import DataError, InputError, NotVerified, listing, quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.html import document, note, paragraph, section, table, tag
from sfumato.page.wording import label, percent, plural
from sfumato.policy.database_url import DatabaseUrl
from sfumato.publish.csv_writer import write_csv
from sfumato.publish.manifest import GUARD
from sfumato.publish.published_table import PublishedTable
from sfumato.reading.outside_table import check_column_names, outside_column_names, read_outside_table
from sfumato.reading.release_reader import AUDIT, MANIFEST
from sfumato.release.folder import staged
from sfumato.release.timing import timed
from sfumato.release.write_release import write_json
from sfumato.table import Table, describe_source
from sfumato.table.files import file_digest
from sfumato.table.frames import frame_kind, frame_of_kind
from sfumato.verifier.cell_evidence import evidence_problems
from sfumato.verifier.cell_intervals import (
    CELL_EVIDENCE,
    CELL_FORM,
    CellEvidence,
    CellStatement,
    PublishedCells,
    check_cells,
    published_cells,
)
from sfumato.verifier.release_files import SUMMARY
from sfumato.verifier.verdict import Verdict
from sfumato.verifier.verify import verify_cells

SUPPRESSED = "x"
"""What stands in the place of a suppressed value."""
_MOST_SHOWN = (40, 14)
"""Lines and columns of a table that are shown in a terminal and a notebook."""
_PROTECTS = (
    "Suppressed cells, marked {sign}, cannot be worked out from what is published: of each there are tables with the "
    "same published cells and marginals, and no negative amount, in which it is {p:g} % lower or {p:g} % higher, and "
    "of cells in which fewer than {n} contribute, or few have most of the amount, both. That holds as well before "
    "somebody who is the only contributor to one of the cells, and knows it. Empty cells are published as 0. Not "
    "covered: several contributors who tell each other what they know, knowledge of amounts from elsewhere, other "
    "tables about the same people, and what it tells that a cell is suppressed."
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class CrossTable(Shown):
    """A verified cross-table.

    `cells` has every cell with its true value and `primary` the rule by which it is primary, or "": both are private,
    as are the `intervals` of suppressed cells (in steps). `frame` is the published table, in the kind of frame that
    came in, one line for each cell; a suppressed value is missing there.
    """

    cells: CellTable
    rules: DisclosureRules
    marginals: str
    total: str
    primary: NDArray[np.str_]
    suppression: CellSuppression
    verdict: Verdict
    intervals: tuple[tuple[float, float], ...]
    kind: str
    source: Table
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def frame(self) -> Any:
        """The published table as a frame, with NULL where a cell is suppressed."""
        columns = {name: arrow_texts(texts) for name, texts in self.label_columns().items()}
        hidden, cells = self.suppression.suppressed, self.cells
        amounts = cells.values if not cells.decimals else cells.values / 10.0**cells.decimals
        columns[self.value_column] = pa.array(amounts, mask=hidden)
        return frame_of_kind(pa.table(columns), "arrow" if self.kind == "file" else self.kind)

    @property
    def value_column(self) -> str:
        """The name of the column of values."""
        return value_column(self.cells)

    def label_columns(self) -> dict[str, list[str | None]]:
        """The labels of cells, by column, in the order in which cells are published."""
        labels = [self.cells.label(cell, self.total) for cell in range(len(self.cells))]
        return {name: [line[place] for line in labels] for place, name in enumerate(self.cells.names)}

    @cached_property
    def value_texts(self) -> list[str]:
        """The value of each cell as it is published."""
        hidden = self.suppression.suppressed.tolist()
        return [
            SUPPRESSED if gone else self.cells.amount_text(value)
            for gone, value in zip(hidden, self.cells.values.tolist(), strict=True)
        ]

    def grid(self) -> tuple[list[str], list[list[str]]]:
        """The table as it is read: a head, and a line for each row, with its label first."""
        cells, rows = self.cells, self.cells.rows
        labels = [cells.label(cell, self.total) for cell in range(len(cells))]
        across = list(dict.fromkeys(line[rows:] for line in labels))
        down = list(dict.fromkeys(line[:rows] for line in labels))
        text = dict(zip(labels, self.value_texts, strict=True))
        head = [" / ".join(cells.names[:rows]), *(_shown(one, self.total) for one in across)]
        if rows == len(cells.names):
            head = [" / ".join(cells.names), self.value_column]
        return head, [[_shown(one, self.total), *(text[*one, *other] for other in across)] for one in down]

    def display(self) -> Display:
        """Show the table as it is published, and what it took."""
        (head, lines), (most, wide) = self.grid(), _MOST_SHOWN
        sentences = self.sentences()
        if len(lines) > most or len(head) > wide + 1:
            down, across = f"{min(most, len(lines))} of {len(lines)} rows", len(head) - 1
            cut = f"{down} and {min(wide, across)} of {across} columns"
            sentences = [f"Shown are {cut}.", *sentences]
            head, lines = head[: wide + 1], [line[: wide + 1] for line in lines[:most]]
        what = "counts" if self.cells.counted else f"sums of {self.cells.measure}"
        return Display(f"Cross-table of {what}, {SUPPRESSED} where suppressed", (FigureTable(head, lines),), sentences)

    def sentences(self) -> list[str]:
        """Say what was suppressed, at what cost, and what the verifier found; for the data holder."""
        cells, found = self.cells, self.suppression
        first, every = int((self.primary != "").sum()), int(found.suppressed.sum())
        if not every:
            return [f"No cell gives anybody away by the rules: all {plural(len(cells), 'cell')} are published."]
        inner = found.suppressed & cells.innermost
        amounts = float(cells.values[inner].sum()) / max(float(cells.values[cells.innermost].sum()), 1.0)
        held = f"they hold {percent(amounts)} of {'all counts' if cells.counted else 'the amounts'}"
        kinds = f"{first:,} primary and {every - first:,} secondary"
        said = [f"{plural(every, 'cell')} of {len(cells):,} suppressed: {kinds}; {held}."]
        cheaper = (
            f"No cheaper suppression was found; none costs less than {percent(found.bound / found.cost)} of this one."
        )
        said.append("No suppression costs less than this one." if found.optimal else cheaper)
        reach = self.verdict.privacy[0].achieved.get("p")
        if reach is not None:
            said.append(
                "What can be worked out of a suppressed cell is an interval, which reaches at least "
                f"{reach:g} % of its value beyond it; verified."
            )
        if cells.left_out:
            said.append(
                f"{plural(cells.left_out, 'row')} without an amount {'is' if cells.left_out == 1 else 'are'} left out."
            )
        return said

    def as_json(self) -> dict[str, Any]:
        """Return one object, as ``sfumato audit table --json`` prints it."""
        cells, found = self.cells, self.suppression
        rules = {rule: int((self.primary == rule).sum()) for rule in dict.fromkeys(self.primary.tolist()) if rule}
        scale = 10.0**cells.decimals
        return {
            "cells": len(cells),
            "empty": int(cells.empty.sum()),
            "suppressed": int(found.suppressed.sum()),
            "primary": int((self.primary != "").sum()),
            "secondary": int((found.suppressed & (self.primary == "")).sum()),
            "rules": rules,
            "suppressed_value": float(cells.values[found.suppressed & cells.innermost].sum() / scale),
            "cost": found.cost,
            "bound": found.bound,
            "optimal": found.optimal,
            "left_out": cells.left_out,
            "privacy": [finding.as_json() for finding in self.verdict.privacy],
            "seconds": dict(self.seconds),
        }

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write public and private parts into a folder, which appears whole and verified from its files, or not at all.

        Raises:
            NotVerified: the verifier does not pass what was written.
            OutputError: the folder exists or cannot be written.
        """
        write_cross_table(self, Path(folder), force=force)
        return Path(folder)


def _shown(labels: Sequence[str | None], total: str) -> str:
    """Labels in one line; a grand total is one word."""
    return total if set(labels) == {total} else " / ".join(label(one) for one in labels)


def value_column(cells: CellTable) -> str:
    """Name the column of values so that no other column is called so."""
    name = "count" if cells.counted else "sum"
    while name in cells.names:
        name += "_"
    return name


def cross_table(  # noqa: PLR0913 - as many settings as a table has
    data: Any,
    rows: Sequence[str],
    columns: Sequence[str] = (),
    *,
    sum: str | None = None,  # noqa: A002 - what it is called
    min_count: int = 5,
    p: float = 10.0,
    dominance: tuple[int, float] | None = (1, 75.0),
    individual: str | None = None,
    marginals: str = "nested",
    cost: str = "value",
    total: str = "Total",
    out: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> CrossTable:
    """Count rows, or add up the column `sum`, into a table with marginals; suppress cells that give somebody away.

    `data` is a frame or a path; `rows` and `columns` are names of its columns. Suppressed are cells of fewer than
    `min_count` contributors, cells in which the largest amount can be estimated within `p` %, or in which the n largest
    have more than k % (`dominance`), and so many others that no suppressed cell can be bounded within p %. Contributors
    are rows, or persons by the column `individual`. `marginals` are nested or all, `cost` says what is kept small:
    value or cells. With `out` the table is written into a folder as well, as `CrossTable.save` does, before it is
    returned.

    >>> import pyarrow
    >>> data = {"town": ["a"] * 12 + ["b"] * 30, "sex": ["f"] * 2 + ["m"] * 10 + ["f"] * 9 + ["m"] * 21}
    >>> cross_table(pyarrow.table(data), ["town"], ["sex"])
    Cross-table of counts, x where suppressed
    town   f   m   Total
    a      x   x   12
    b      x   x   30
    Total  11  31  42
    4 cells of 9 suppressed: 1 primary and 3 secondary; they hold 100% of all counts.
    No suppression costs less than this one.
    What can be worked out of a suppressed cell is an interval, which reaches at least 38.09 % of its value beyond it;
    verified.
    """
    names = [*_as_names(rows), *_as_names(columns)]
    rules = DisclosureRules(min_count, p, dominance)
    if cost not in COSTS:
        raise InputError(f"cost is {' or '.join(COSTS)}, not {quote(cost)}")
    if not total or total == SUPPRESSED:
        raise InputError(f"the word for totals cannot be {quote(total)}; choose another, as in --total All")
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    with timed(seconds, "read"):
        source = _read(data, [*names, *(name for name in (sum, individual) if name is not None)])
        cells = count_cells(
            source,
            _as_names(rows),
            _as_names(columns),
            measure=sum,
            individual=individual,
            marginals=marginals,
            most_largest=max(2, dominance[0] if dominance else 0),
        )
    for name, labels in zip(cells.names, cells.labels, strict=True):
        if total in labels:
            raise DataError(
                f"column {quote(name)} holds {quote(total)}, which stands for totals; choose another word with --total"
            )
    with timed(seconds, "search"):
        primary = find_primary_cells(cells, rules)
        levels = ProtectionLevels.of(cells, rules, primary != "")
        suppression = suppress_cells(levels, cost, progress)
    kind = "file" if source.place is not None else frame_kind(data)
    draft = CrossTable(
        cells, rules, marginals, total, primary, suppression, Verdict(0, 0, ()), (), kind, source, seconds
    )
    with timed(seconds, "verify"):
        verified = _verify_in_memory(draft) if out is None else write_cross_table(draft, Path(out), force=force)
    seconds["total"] = time.perf_counter() - start
    return verified


def _as_names(given: Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _read(data: Any, names: Sequence[str]) -> Table:
    """Read the columns that are named, and no other."""
    there = outside_column_names(data, {})
    twice = [name for name in dict.fromkeys(there) if there.count(name) > 1]
    if twice:
        raise DataError(f"column names stand twice in the table: {listing(twice)}; rename one of each")
    check_column_names(names, there, describe_source(data))
    return read_outside_table(data, list(dict.fromkeys(names)), {})


def evidence_table(cross: CrossTable) -> Any:
    """Give what the verifier needs of each cell, an Arrow table in the order of the published lines: private."""
    cells = cross.cells
    width = cells.largest.shape[1]
    largest = pa.FixedSizeListArray.from_arrays(arrow_numbers(cells.largest.ravel()), width)
    return pa.table(
        {
            "value": arrow_numbers(cells.values),
            "contributors": arrow_numbers(cells.contributors),
            "largest": largest,
            "sole": arrow_numbers(cells.sole),
        }
    )


def _verify_in_memory(cross: CrossTable) -> CrossTable:
    """Let the verifier count the evidence again, and look for what the published table gives away.

    Raises:
        NotVerified: it does not pass the table.
    """
    published, statement, evidence = _state(cross)
    verdict, intervals = check_cells(published, statement, evidence)
    _require(replace(verdict, problems=(*_count_again(cross), *verdict.problems)))
    return replace(cross, verdict=verdict, intervals=tuple(intervals))


def _state(cross: CrossTable) -> tuple[PublishedCells, CellStatement, CellEvidence]:
    """Put the table as the verifier takes it: what is published, what is promised, and the evidence."""
    statement = CellStatement.from_manifest(_describe(cross))
    labels = cross.label_columns().values()
    lines = [tuple(line) for line in zip(*labels, cross.value_texts, strict=True)]
    return published_cells(lines, statement), statement, CellEvidence.from_arrow(evidence_table(cross), len(lines))


def _count_again(cross: CrossTable) -> list[str]:
    """Let the verifier count the evidence again from the rows; say what is not so."""
    published, statement, evidence = _state(cross)
    cells = cross.cells
    return evidence_problems(cross.source.arrow, cells.measure, cells.individual, published, (statement, evidence))


def _require(verdict: Verdict) -> None:
    if not verdict.satisfied:
        raise NotVerified(
            f"the verifier does not pass the table, so nothing was published: {'; '.join(verdict.complaints)}"
        )


# The folder


def write_cross_table(cross: CrossTable, target: Path, *, force: bool = False) -> CrossTable:
    """Write a cross-table, which the verifier checks from the files before the folder appears; return it verified.

    Raises:
        NotVerified: it does not pass what was written.
        OutputError: the folder exists or cannot be written.
    """
    from pyarrow import parquet  # noqa: PLC0415 - not before a table is written

    with staged(target, force=force) as hidden:
        public, private = hidden.path / "public", hidden.path / "private"
        public.mkdir()
        private.mkdir(mode=0o700)
        columns = {name: arrow_texts(texts) for name, texts in cross.label_columns().items()}
        columns[cross.value_column] = arrow_texts(cross.value_texts)
        types = dict.fromkeys(columns, pa.string())
        path = public / "table.csv"
        table = PublishedTable(cross.source, np.arange(len(cross.cells)), columns, types, frozenset(columns))
        digest = write_csv([table], path)
        parquet.write_table(evidence_table(cross), private / CELL_EVIDENCE)
        (public / SUMMARY).write_text(_summary_page(cross), encoding="utf-8")
        account = _describe(cross) | {
            "csv": {"null": "", "guard": GUARD},
            "files": {path.name: {"sha256": digest, "bytes": path.stat().st_size}},
            "summary": {"file": SUMMARY, "sha256": file_digest(public / SUMMARY)},
        }
        write_json(public / MANIFEST, account)
        content = (public / MANIFEST).read_bytes()
        verdict, intervals = verify_cells(public, content, account, {})
        _require(replace(verdict, problems=(*_count_again(cross), *verdict.problems)))
        record = _audit(cross, verdict, intervals) | {"manifest_sha256": file_digest(public / MANIFEST)}
        write_json(private / AUDIT, record)
        for file in private.iterdir():
            file.chmod(0o600)
    return replace(cross, verdict=verdict, intervals=tuple(intervals))


def _describe(cross: CrossTable) -> dict[str, Any]:
    """Write the manifest: what is published, and by which rules; it says nothing of which cells are primary."""
    cells, rules = cross.cells, cross.rules
    return {
        "sfumato": __version__,
        "published": datetime.now(tz=UTC).date().isoformat(),
        "form": CELL_FORM,
        "table": "table.csv",
        "cells": len(cells),
        "rows": list(cells.names[: cells.rows]),
        "columns": list(cells.names[cells.rows :]),
        "marginals": cross.marginals,
        "measure": "count" if cells.counted else "sum",
        "of": cells.measure,
        "value": cross.value_column,
        "decimals": cells.decimals,
        "individual": cells.individual is not None,
        "total": cross.total,
        "suppressed": SUPPRESSED,
        "rules": rules.as_json(),
        "protects": _PROTECTS.format(sign=SUPPRESSED, p=rules.p, n=rules.min_count),
    }


def _audit(cross: CrossTable, verdict: Verdict, intervals: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Write the private account: why each cell is suppressed, what it holds, and its interval."""
    cells, scale = cross.cells, 10.0**cross.cells.decimals
    places = np.flatnonzero(cross.suppression.suppressed).tolist()
    path = cross.source.place
    return {
        "sfumato": __version__,
        "written": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "input": {
            "sha256": None if path is None or isinstance(path, DatabaseUrl) else file_digest(path),
            "rows": cross.source.rows,
        },
        "individual": cells.individual,
        **(cross.as_json() | {"privacy": [finding.as_json() for finding in verdict.privacy]}),
        "suppressed_cells": [
            {
                "cell": dict(zip(cells.names, cells.label(cell, cross.total), strict=True)),
                "rule": str(cross.primary[cell]) or "secondary",
                "value": cells.amount_text(int(cells.values[cell])),
                "contributors": int(cells.contributors[cell]),
                "low": low / scale,
                "high": high / scale if isfinite(high) else None,
            }
            for cell, (low, high) in zip(places, intervals, strict=True)
        ],
    }


def _summary_page(cross: CrossTable) -> str:
    """Write the public page: the table as it is published, and what it promises."""
    head, lines = cross.grid()
    cells = cross.cells
    what = "Counts" if cells.counted else f"Sums of {cells.measure}"
    by = " and ".join(", ".join(part) for part in (cells.names[: cells.rows], cells.names[cells.rows :]) if part)
    small = f"{plural(len(cells), 'cell')}, of which {int(cross.suppression.suppressed.sum()):,} are suppressed"
    account = _describe(cross)
    return document(
        f"{what} by {by}",
        tag("h1", f"{what} by {by}", tag("small", small)),
        tag("div", table(head, lines), style="overflow-x:auto"),
        note(f"{SUPPRESSED}: suppressed, since it would give somebody away, or help to work out a cell that does."),
        section("What it promises", paragraph(account["protects"])),
    )
