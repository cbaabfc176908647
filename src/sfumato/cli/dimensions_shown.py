"""What ``dimensions`` prints: a line for each quasi-identifier more, or one JSON object."""

from pathlib import Path

from rich.table import Column, Table

from sfumato.cli.printing import console_of, print_json
from sfumato.compare.dimensions import Dimensions, Reached
from sfumato.page.words import percent, plural


def show_dimensions(found: Dimensions, written: Path | None, *, as_json: bool) -> None:
    """Risk and loss by number of quasi-identifiers."""
    if as_json:
        print_json(found.as_json() | ({"written": str(written)} if written else {}))
        return
    console = console_of()
    console.print(_table(found))
    for level in found.levels:
        for each in level.reached:
            if not each.figures:
                told = "" if each.k is None else f", k = {each.k:,}"
                console.print(f"{plural(level.number, 'column')}{told}: no release: {each.reason}", soft_wrap=True)
    console.print("private: these are figures of rows that are not published", soft_wrap=True)
    if written is not None:
        console.print(f"open  {written}", soft_wrap=True)


def _table(found: Dimensions) -> Table:
    heads = ("alone", "risk", "k", "loss", "cube", "dist.", "class", "s")
    table = Table("", Column("added", overflow="fold"), *[Column(head, justify="right") for head in heads])
    for level in found.levels:
        raw = [percent(level.raw.unique_share), percent(level.raw.average)]
        for place, each in enumerate(level.reached):
            first = [str(level.number), level.column, *raw] if place == 0 else [""] * 4
            table.add_row(*first, *_cells(each))
    table.caption = "raw: rows alone in their class, average risk; released: loss, the share of each range that a "
    table.caption += "cube of k rows covers, distortion ratio, rows a class, seconds"
    return table


def _cells(each: Reached) -> list[str]:
    start = ["" if each.k is None else f"{each.k:,}"]
    cube = "" if each.cube is None else percent(each.cube)
    if each.figures is None:
        return [*start, "–", cube, "–", "–", "–"]
    one = each.figures
    return [
        *start, percent(one.loss), cube, percent(one.distortion_ratio), f"{one.average_class_size:,.1f}",
        f"{one.total:.2f}",
    ]  # fmt: skip
