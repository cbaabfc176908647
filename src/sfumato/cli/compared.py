"""What ``compare`` prints: its lines for people, one JSON object for programs."""

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from sfumato.cli.printing import console_of, print_json
from sfumato.compare.comparison import Comparison
from sfumato.compare.outcome import Outcome, plain


def show_comparison(
    found: Comparison, folder: Path, written: Path | None, line: Outcome | None, *, as_json: bool
) -> None:
    """The lines, the front and where everything is."""
    if as_json:
        chosen = {"chosen": {"line": line.number, "policy": str(written)}} if line else {}
        print_json({"comparison": str(folder), **found.as_json(), **chosen})
        return
    console = console_of()
    console.print(_table(found))
    for reason, lines in found.failures.items():
        console.print(f"no release: {', '.join(map(str, lines))}: {reason}", soft_wrap=True)
    for front in found.fronts:
        console.print(front.says, soft_wrap=True)
    console.print(f"open  {folder / 'compare.html'} (private: it tells of rows that are not published)", soft_wrap=True)
    if line is not None and written is not None:
        _written(line, written)


def show_written(line: Outcome, path: Path, *, as_json: bool) -> None:
    """Which line was written, and where."""
    if as_json:
        print_json({"chosen": {"line": line.number, "policy": str(path)}})
        return
    _written(line, path)


def _written(line: Outcome, path: Path) -> None:
    told = ", ".join(part for part in (line.algorithm, line.told) if part)
    console_of().print(f"wrote {path}: line {line.number} ({told})", soft_wrap=True)


def _table(found: Comparison) -> Table:
    """Loss, risk and time of each line; front and knee are marked."""
    split = any(each.figures and each.figures.tie_lost is not None for each in found.outcomes)
    names = list(found.outcomes[0].settings)
    figures = ("loss", "highest", "average", "out", "s")
    table = Table(
        "",
        *[Column(name, overflow="fold") for name in ("algorithm", *names)],
        *[Column(name, justify="right") for name in figures],
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    front = {each.number for one in found.fronts for each in one.lines}
    knees = {one.knee for one in found.fronts}
    for each in found.outcomes:
        mark = "◆" if each.number in knees else "•" if each.number in front else ""
        table.add_row(f"{each.number}{mark}", each.algorithm, *map(plain, each.settings.values()), *_cells(each))
    table.caption = f"loss: {'NCP, or the tie lost where two tables are published' if split else 'NCP'}; "
    table.caption += "highest and average prosecutor risk; rows left out; seconds; • front, ◆ knee"
    return table


def _cells(line: Outcome) -> list[str]:
    if line.figures is None:
        return ["–"] * 5
    one = line.figures
    return [f"{one.loss:.1%}", f"{one.highest:.2%}", f"{one.average:.2%}", f"{one.suppressed:,}", f"{one.total:.2f}"]
