"""What commands print: tables for people, one JSON object for programs."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from sfumato.encode import Attribute
from sfumato.policy.search import FULL_DOMAIN, LOCAL
from sfumato.release import Release
from sfumato.release.manifest import how_found
from sfumato.risk import Risk
from sfumato.utility import Utility
from sfumato.verifier import Verdict

if TYPE_CHECKING:
    from sfumato.utility.queries import QueryErrors

Progress = Callable[[int, int], None]


UNITS = dict.fromkeys(FULL_DOMAIN, "generalizations") | dict.fromkeys(LOCAL, "rows") | {"queries": "queries"}
"""What an algorithm counts while it works."""


@contextmanager
def progress(algorithm: str, *, quiet: bool, verb: str = "searching") -> Iterator[Progress | None]:
    """A progress bar on a terminal, with what is done and what is left; none in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(verb), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=_console(stderr=True), transient=True) as bar:
        task, unit = bar.add_task("", total=None), UNITS.get(algorithm, "steps")

        def show(done: int, every: int) -> None:
            left = f"{done:,} of {every:,} {unit}, {every - done:,} left"
            bar.update(task, completed=done, total=every, description=left)

        yield show


def show_release(release: Release, folder: Path, *, as_json: bool) -> None:
    """Where the release is, and what was promised, what holds and what it cost."""
    if as_json:
        print_json(summary(release, folder))
        return
    console = _console()
    console.print(_privacy(release.privacy))
    console.print(_cost(release))
    console.print(f"verified by a second implementation from the written files in {folder}", soft_wrap=True)
    console.print(f"publish  {folder / 'public'}", soft_wrap=True)
    console.print(f"keep     {folder / 'private'} (open {folder / 'private' / 'report.html'})", soft_wrap=True)


def summary(release: Release, folder: Path) -> dict[str, Any]:
    """What ``anonymize --json`` holds."""
    seconds = {key: round(release.seconds.get(key, 0.0), 4) for key in ("read", "search", "recode", "verify", "write")}
    utility = release.utility.as_json()
    shown = ("distortion_ratio", "ncp", "discernibility", "average_class_size")
    return {
        "release": str(folder),
        "rows": release.rows,
        "suppressed": release.suppressed,
        "classes": len(release.recoding.classes),
        "algorithm": release.recoding.algorithm,
        **how_found(release.recoding),
        "privacy": release.privacy,
        "utility": {key: utility[key] for key in shown} | {k: v for k, v in utility.items() if k not in shown},
        **_two_tables(release),
        "risk": release.risk.as_json(),
        "seconds": seconds | {"total": round(sum(seconds.values()), 4)},
    }


def _two_tables(release: Release) -> dict[str, Any]:
    """What ``anonymize --json`` holds besides, where two tables are published."""
    if not release.policy.publish.split:
        return {}
    return {"form": release.policy.publish.form, "ties": {name: asdict(tie) for name, tie in release.ties.items()}}


def show_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """Whether a release holds and, if not, every reason."""
    if as_json:
        print_json(verdict.as_json())
        return
    console = _console()
    console.print(_privacy([finding.as_json() for finding in verdict.privacy]))
    for complaint in verdict.complaints:
        console.print(f"✗ {complaint}", style="red", soft_wrap=True)
    word = "holds" if verdict.satisfied else "does not hold"
    console.print(f"{verdict.rows:,} rows in {verdict.classes:,} classes: the release {word}")


def show_risk(risk: Risk, *, as_json: bool) -> None:
    """The risk figures."""
    if as_json:
        print_json(risk.as_json())
        return
    table = Table("risk (the adversary knows who is in the table)", "")
    table.add_row("highest chance of picking a person's row", f"{risk.highest:.4f}")
    table.add_row("average chance", f"{risk.average:.4f}")
    table.add_row("rows alone in their class", f"{risk.uniques:,} ({risk.unique_share:.2%})")
    _console().print(table)


def show_utility(utility: Utility, errors: "QueryErrors | None" = None, *, as_json: bool) -> None:
    """What a publication cost, in total and per column, and how far answers to queries are off, where asked."""
    if as_json:
        print_json(utility.as_json() | ({} if errors is None else {"queries": errors.as_json()}))
        return
    table = Table("lost", "NCP", "levels", "entropy", "labels", "cells exact", "cells suppressed")
    for name, part in utility.attributes.items():
        lost = [f"{x:.1%}" for x in (part.ncp, part.distortion, part.entropy)]
        table.add_row(name, *lost, *(f"{x:,}" for x in (part.labels, part.exact_cells, part.suppressed_cells)))
    totals = [f"{x:.1%}" for x in (utility.ncp, utility.distortion_ratio, utility.entropy)]
    exact = sum(part.exact_cells for part in utility.attributes.values())
    table.add_row("in total", *totals, "", f"{exact:,}", f"{utility.suppressed_cells:,}")
    console = _console()
    console.print(table)
    console.print(
        f"{utility.suppressed_rows:,} rows suppressed; {utility.average_class_size:,.1f} rows per class on average; "
        f"precision {utility.precision:.4f}; discernibility {utility.discernibility:,}",
        soft_wrap=True,
    )
    if errors is not None:
        console.print(_errors(errors))
        console.print(_asked(errors), soft_wrap=True)


def _errors(errors: "QueryErrors") -> Table:
    table = Table("relative error of COUNT queries", "average", "median", "nine in ten within")
    for name, found in (("expected value", errors.expected), ("the paper's estimate", errors.paper)):
        figures = (found.average, found.median, found.ninth_decile)
        table.add_row(name, *("" if x is None else f"{x:.1%}" for x in figures))
    return table


def _asked(errors: "QueryErrors") -> str:
    """What was asked, and what became of queries that no row matches."""
    few = f"{errors.answered:,} of {errors.asked:,}" if errors.answered < errors.asked else f"{errors.asked:,}"
    columns = f"{errors.dimensions} quasi-identifier{'s' * (errors.dimensions > 1)} and '{errors.sensitive}'"
    asked = f"{few} queries of {columns}, selectivity {errors.selectivity:g}, seed {errors.seed}"
    return f"{asked}; {errors.zero:,} others, which no row of the original matches, were drawn and left out"


def warn(sentence: str) -> None:
    """One sentence on standard error that stops nothing."""
    print(f"warning: {sentence}", file=sys.stderr)  # noqa: T201 - this is where warnings go


def print_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(content, allow_nan=False))  # noqa: T201 - this is where output goes


def _console(*, stderr: bool = False) -> Console:
    """Names and values are printed as they are: a column called [red] or :boom: is not decoration."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def _privacy(findings: list[dict[str, Any]]) -> Table:
    table = Table("promised", "required", "holds", "")
    for finding in findings:
        mark = "✓" if finding["satisfied"] else "✗"
        table.add_row(finding["model"], _keys(finding["required"]), _keys(finding.get("achieved", {})), mark)
    return table


def _cost(release: Release) -> Table:
    utility = release.utility
    table = Table("what it cost", "")
    table.add_row("rows published", f"{release.rows:,} of {release.encoded.rows:,}")
    table.add_row("classes", f"{len(release.recoding.classes):,}, {utility.average_class_size:,.1f} rows on average")
    if release.policy.publish.split:
        return _ties(release, table)
    table.add_row("information lost (NCP)", f"{utility.ncp:.1%}")
    table.add_row("distortion ratio", f"{utility.distortion_ratio:.1%}")
    for attribute in release.encoded.quasi:
        lost = utility.attributes[attribute.name].ncp
        table.add_row(f"  {attribute.name}", f"{_generalized(release, attribute)}, {lost:.1%} lost")
    return table


def _ties(release: Release, table: Table) -> Table:
    """Two tables lose no value, but which values belong together."""
    table.add_row("quasi-identifiers", "as they were")
    for name, tie in release.ties.items():
        table.add_row(f"  {name}", f"told right for {tie.kept:.1%} of rows if dealt out at random within classes")
    return table


def _generalized(release: Release, attribute: Attribute) -> str:
    """How a column is published: at one level, or under labels of many."""
    if release.levels is not None:
        return f"level {release.levels[attribute.name]} of {attribute.hierarchy.height}"
    loss = release.utility.attributes[attribute.name]
    return f"{loss.labels:,} labels, {loss.exact_cells / release.rows:.1%} of cells exact"


def _keys(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_short(value)}" for key, value in values.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
