"""``sfumato dimensions``: how risk and loss grow with the number of quasi-identifiers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.errors import InputError, OutputError, Stopped

if TYPE_CHECKING:
    from sfumato.compare import Dimensions


def dimensions(
    policy: Annotated[Path, typer.Argument(help="The policy file (TOML).")],
    data: Annotated[Path | None, typer.Option(help="The table, in place of the policy's [data] source.")] = None,
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
    from sfumato.cli.dimensions_shown import show_dimensions
    from sfumato.cli.watching import watching
    from sfumato.compare import dimensions as run

    ks = None if k is None else _whole(k)
    if out is not None:
        _check_out(out, force=force)
    with watching("adding", "columns", quiet=as_json) as watch:
        found = run(policy, data, k=ks, algorithm=algorithm, order=order, watch=watch)
    if not found.levels:
        raise Stopped("stopped before the first column was done; nothing was written")
    if out is not None:
        _write(found, out)
    show_dimensions(found, out, as_json=as_json)
    if found.stopped:
        kept = f", and kept in {out}" if out else ""
        raise Stopped(f"stopped; {len(found.levels)} of {found.planned} columns are shown{kept}")


def _whole(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    wrong = [part for part in parts if not part.isdecimal() or int(part) < 1]
    if wrong:
        raise InputError(f"--k {wrong[0]!r} is not a whole number of at least 1; write it as --k 2,5,10")
    return list(dict.fromkeys(int(part) for part in parts))


def _check_out(out: Path, *, force: bool) -> None:
    from sfumato.compare.files import check_file

    if out.suffix.lower() not in {".html", ".svg"}:
        raise OutputError(f"{out} is neither a page nor a drawing; name a file that ends in .html or .svg")
    check_file(out, "--out", force=force)


def _write(found: "Dimensions", out: Path) -> None:
    from sfumato.compare.dimensions_page import drawing, page
    from sfumato.compare.files import write_file

    write_file(out, drawing(found) if out.suffix.lower() == ".svg" else page(found), private=True)
