"""``sfumato dimensions``: how risk and loss grow with the number of quasi-identifiers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError, OutputError, Stopped, quote

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.compare import Dimensions
    from sfumato.compare.dimensions_curse import DimensionRelease


def dimensions(
    policy: Annotated[Path, typer.Argument(help="The policy file (TOML).")],
    data: Annotated[
        str | None, typer.Option(help="The table, or a database URL, in place of the policy's [data] source.")
    ] = None,
    k: Annotated[str | None, typer.Option(help="Values of k with commas, in place of the policy's.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="In place of the policy's [algorithm] name.")] = None,
    order: Annotated[
        str, typer.Option(help="How columns are added: as given, or by distinction (most different values first).")
    ] = "given",
    out: Annotated[Path | None, typer.Option(help="A page (.html) or a drawing (.svg) of it; private.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Add quasi-identifiers one by one, and show how the risk of the raw table and the loss of a release grow."""
    from sfumato.cli.line_progress import line_progress
    from sfumato.compare import dimensions as run
    from sfumato.compare.dimensions_curse import dimensions_drawing, dimensions_page
    from sfumato.compare.output_files import write_file
    from sfumato.core.regular_file import check_new_file

    ks = None if k is None else _parse_ks(k)
    drawing = out is not None and out.suffix.lower() == ".svg"
    if out is not None:
        if not drawing and out.suffix.lower() != ".html":
            raise OutputError(f"{out} is neither a page nor a drawing; name a file that ends in .html or .svg")
        check_new_file(out, "--out", force=force)
    with line_progress("adding", "columns", quiet=as_json) as watch:
        measured = run(policy, data, k=ks, algorithm=algorithm, order=order, watch=watch)
    if not measured.levels:
        raise Stopped("stopped before the first column was done; nothing was written")
    if out is not None:
        write_file(out, dimensions_drawing(measured) if drawing else dimensions_page(measured), private=True)
    _show(measured, out, as_json=as_json)
    if measured.stopped:
        kept = f", and kept in {out}" if out else ""
        raise Stopped(f"stopped; {len(measured.levels)} of {measured.planned} columns are shown{kept}")


def _parse_ks(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    wrong = [part for part in parts if not part.isdecimal() or int(part) < 1]
    if wrong:
        raise InputError(f"--k {quote(wrong[0])} is not a whole number of at least 1; write it as --k 2,5,10")
    return list(dict.fromkeys(int(part) for part in parts))


def _show(measured: "Dimensions", written: Path | None, *, as_json: bool) -> None:
    """Print risk and loss by number of quasi-identifiers."""
    from sfumato.cli.printing import console_of, print_json
    from sfumato.page.wording import plural

    if as_json:
        print_json(measured.as_json() | ({"written": str(written)} if written else {}))
        return
    console = console_of()
    console.print(_level_table(measured))
    for level in measured.levels:
        for release in level.releases:
            if not release.figures:
                k = "" if release.k is None else f", k = {release.k:,}"
                console.print(f"{plural(level.number, 'column')}{k}: no release: {release.reason}", soft_wrap=True)
    console.print("private: these are figures of rows that are not published", soft_wrap=True)
    if written is not None:
        console.print(f"open  {written}", soft_wrap=True)


def _level_table(measured: "Dimensions") -> "Table":
    from rich.table import Column, Table

    from sfumato.cli.printing import break_name, name_column
    from sfumato.page.wording import percent

    heads = ("alone", "risk", "k", "loss", "cube", "dist.", "class", "s")
    added = name_column("added", [level.column for level in measured.levels])
    table = Table("", added, *[Column(head, justify="right") for head in heads])
    for level in measured.levels:
        raw = [percent(level.raw.unique_share), percent(level.raw.average)]
        for place, release in enumerate(level.releases):
            first = [str(level.number), break_name(level.column), *raw] if place == 0 else [""] * 4
            table.add_row(*first, *_cells(release))
    table.caption = "raw: rows alone in their class, average risk; released: loss, the share of each range that a "
    table.caption += "cube of k rows covers, distortion ratio, rows a class, seconds"
    return table


def _cells(release: "DimensionRelease") -> list[str]:
    from sfumato.page.wording import percent

    k = "" if release.k is None else f"{release.k:,}"
    cube = "" if release.cube is None else percent(release.cube)
    figures = release.figures
    if figures is None:
        return [k, "–", cube, "–", "–", "–"]
    distortion, size = percent(figures.distortion_ratio), f"{figures.average_class_size:,.1f}"
    return [k, percent(figures.loss), cube, distortion, size, f"{figures.total:.2f}"]
