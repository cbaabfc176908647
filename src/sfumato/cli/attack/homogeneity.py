"""``sfumato attack homogeneity``: what the most frequent value of a class tells of whoever stands in it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.attack.homogeneity import Homogeneity, Homogeneous

_SHARES = (
    ("right by the most frequent value of the own class", "right"),
    ("right by the most frequent value of the table", "blind"),
    ("largest share of a class that the policy allows", "bound"),
    ("largest share of a class", "largest_share"),
)
_COUNTS = (
    ("rows in classes of one value", "certain"),
    ("persons with such a row", "certain_persons"),
    ("rows in classes of one kind of value", "similar"),
    ("fewest different values of a class (distinct l)", "distinct"),
)


def homogeneity(
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    column: Annotated[str | None, typer.Option(help="The sensitive column; all, where it is left out.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="The policy: its bounds, and the hierarchies of its sensitive columns.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Guess that everybody holds the most frequent value of their class, and count how often that is right."""
    from sfumato.attack.bound import bounds
    from sfumato.attack.homogeneity import Bags, told_in
    from sfumato.attack.homogeneity import homogeneity as tried
    from sfumato.matching import read_released
    from sfumato.policy import load

    rules = None if policy is None else load(policy)
    told = told_in(read_released(release), rules, column)
    _show(tried(told, None if rules is None else bounds(rules, Bags(told))), as_json=as_json)


def _show(found: "Homogeneity", *, as_json: bool) -> None:
    """The figures as a table, and what they mean in sentences."""
    from sfumato.attack.homogeneity.words import FINDS
    from sfumato.cli.attack.figures import print_figures
    from sfumato.cli.printing import console_of, print_json

    if as_json:
        print_json(found.as_json())
        return
    console = console_of()
    print_figures(console, "homogeneity attack", {name: _figures(one) for name, one in found.columns.items()})
    for name, one in zip(found.columns, found.tried(), strict=True):
        about = f"{name}: " if len(found.columns) > 1 else ""
        console.print(about + " ".join(one.says), soft_wrap=True)
    console.print(FINDS, soft_wrap=True)


def _figures(found: "Homogeneous") -> dict[str, str]:
    from sfumato.page.words import percent

    shares = {title: _text(getattr(found, key), percent) for title, key in _SHARES}
    counts = {title: _text(getattr(found, key), "{:,}".format) for title, key in _COUNTS}
    return shares | counts | {"entropy l of the poorest class": f"{found.entropy:.2f}"}


def _text(figure: Any, shown: Callable[[Any], str]) -> str:
    """Nothing where there is no such figure."""
    return "" if figure is None else shown(figure)
