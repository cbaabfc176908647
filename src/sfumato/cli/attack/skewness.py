"""``sfumato attack skewness``: how much more of a value a class tells than the whole table."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.attack.homogeneity import Skewed, Skewness
    from sfumato.matching import Released


def skewness(
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    column: Annotated[str | None, typer.Option(help="The sensitive column; all, where it is left out.")] = None,
    threshold: Annotated[
        float, typer.Option(help="Count rows in classes that tell more of some value than this.", min=0, max=1)
    ] = 0.3,
    policy: Annotated[
        Path | None, typer.Option(help="The policy: its bounds, and order and hierarchies of its sensitive columns.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compare what a class tells of sensitive values with what the whole table tells anyone."""
    from sfumato.attack.homogeneity import allowed, told_in
    from sfumato.attack.homogeneity import skewness as tried
    from sfumato.matching import read_released
    from sfumato.policy import load

    rules = None if policy is None else load(policy)
    released = read_released(release)
    told = told_in(released, rules, column)
    found = tried(told, threshold=threshold, promised=None if rules is None else allowed(rules))
    _show(found, released, as_json=as_json)


def _show(found: "Skewness", released: "Released", *, as_json: bool) -> None:
    """The figures as a table, the most telling classes, and what it means in sentences."""
    from sfumato.attack.homogeneity.words import FINDS
    from sfumato.cli.attack.figures import print_figures
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json(found.as_json())
        return
    console = console_of()
    print_figures(console, "skewness attack", {name: _figures(one) for name, one in found.columns.items()})
    for (name, one), said in zip(found.columns.items(), found.tried(), strict=True):
        console.print(_classes(name, one, released))
        console.print(" ".join(said.says), soft_wrap=True)
    console.print(FINDS, soft_wrap=True)


def _figures(found: "Skewed") -> Mapping[str, str]:
    from sfumato.attack.homogeneity.words import times
    from sfumato.page.words import percent

    above = f"rows in classes that tell more than {100 * found.threshold:.3g} points"
    gain = found.gain.after - found.gain.before
    return {
        above: f"{percent(found.above / found.rows)}",
        "without the release": percent(0.0),
        "largest gain of a value, in points": f"{100 * gain:.1f}",
        "largest ratio of a value": times(found.ratio),
        "distance of the farthest class (variational)": f"{found.distance:.3f}",
        "distance of the average row's class": f"{found.average:.3f}",
        "earth mover's distance, values in order": "" if found.ordered is None else f"{found.ordered:.3f}",
        "earth mover's distance, by hierarchy": "" if found.hierarchical is None else f"{found.hierarchical:.3f}",
    }


def _classes(name: str, found: "Skewed", released: "Released") -> object:
    """The classes that tell most, by their labels where these tell them, with the value and its shares."""
    from rich.table import Table

    from sfumato.page.words import label, percent, value

    table = Table("class", "rows", name, "table", "class", title="the classes that tell most", title_justify="left")
    for one in found.top:
        line = int((released.class_of == one.place).argmax())
        labels = ", ".join(f"{key} {label(column.texts[column.codes[line]])}" for key, column in released.quasi.items())
        shown = "(two tables: no labels)" if released.account.split else labels
        most = one.most
        table.add_row(shown, f"{one.rows:,}", value(most.value), percent(most.before), percent(most.after))
    return table
