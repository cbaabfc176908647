"""``sfumato chance``: how likely it is that somebody else looks the same (exercises 14 and 15)."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.risk import Coincidence


def chance(
    others: Annotated[int, typer.Option(help="How many other people there are.", metavar="N")],
    known: Annotated[int, typer.Option(help="How many values the adversary knows of a person.", metavar="B")],
    values: Annotated[
        int, typer.Option(help="Possible values of each, all equally likely: 2 for bought or not, 5 for stars.")
    ] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compute how likely it is that somebody else has the same known values, if values are independent."""
    from sfumato.cli.printing import print_json
    from sfumato.risk import coincidence

    chances = coincidence(others, known, values)
    if as_json:
        print_json(chances.as_json())
    else:
        _print(chances)


def _print(chances: "Coincidence") -> None:
    from rich.table import Table

    from sfumato.cli.printing import console_of

    table = Table(f"{_number(chances.known)} known values, {_number(chances.values)} possible of each", "")
    table.add_row("other people", _number(chances.others))
    table.add_row("lookalikes expected among them (n / R^B)", f"{chances.expected:.4g}")
    table.add_row("chance of a lookalike, at most (the exercise's bound)", _share(chances.bound))
    table.add_row("chance of a lookalike, exactly", _share(chances.exact))
    table.add_row("chance that there is none: the person is found", _share(chances.alone))
    table.add_row("chance of picking the person among all who look alike", _share(chances.picked))
    for level, known in chances.needed.items():
        table.add_row(f"known values for less than {float(level):.0%} chance of one", _number(known))
    console = console_of()
    console.print(table)
    console.print(_explain(chances), soft_wrap=True)


def _explain(chances: "Coincidence") -> str:
    """Say in words what the chances imply."""
    more = chances.needed["0.05"] - chances.known
    more_would = f"{_number(more)} more known value{'s' * (more != 1)} would"
    if chances.exact < 0.05:
        meaning = (
            "Nobody else looks the same, almost surely: whoever knows these values finds the person's row, and with it "
            "everything else that the row says."
        )
    elif chances.alone > 0.05:
        meaning = (
            "It is open whether anybody else looks the same; if nobody does, the row and all it says is the person's. "
            f"{more_would} settle it."
        )
    else:
        meaning = (
            "Somebody else looks the same, almost surely: these values alone do not say which row is the person's. "
            f"{more_would} do."
        )
    assumption = "This takes values to be independent and equally likely; real ones are not, and rare ones tell more."
    return f"{meaning} {assumption}"


def _number(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"{number:.4g}"


def _share(share: float) -> str:
    if share < 1e-4 or share == 1:
        return f"{share:.3g}"
    return "> 0.9999" if share > 0.9999 else f"{share:.4f}"
