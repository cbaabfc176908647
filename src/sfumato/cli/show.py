"""What commands print of a release and of a verdict: tables for people, one JSON object for programs."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from sfumato.cli.printing import console_of, print_json
from sfumato.encode import QuasiIdentifier
from sfumato.release import Release
from sfumato.release.audit import how_found
from sfumato.verifier import Verdict


def show_release(release: Release, folder: Path, *, as_json: bool) -> None:
    """Where the release is, and what was promised, what holds and what it cost."""
    if as_json:
        print_json(summary(release, folder))
        return
    console = console_of()
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
        **({"persons": release.persons.as_json()} if release.persons else {}),
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
    console = console_of()
    console.print(_privacy([finding.as_json() for finding in verdict.privacy]))
    for complaint in verdict.complaints:
        console.print(f"✗ {complaint}", style="red", soft_wrap=True)
    word = "holds" if verdict.satisfied else "does not hold"
    console.print(f"{verdict.rows:,} rows in {verdict.classes:,} classes: the release {word}")


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


def _generalized(release: Release, attribute: QuasiIdentifier) -> str:
    """How a column is published: at one level, or under labels of many."""
    if release.levels is not None:
        return f"level {release.levels[attribute.name]} of {attribute.hierarchy.height}"
    loss = release.utility.attributes[attribute.name]
    return f"{loss.labels:,} labels, {loss.exact_cells / release.rows:.1%} of cells exact"


def _keys(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_short(value)}" for key, value in values.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
