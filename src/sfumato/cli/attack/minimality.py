"""``sfumato attack minimality``: what it betrays that nothing finer was published."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sfumato.attack.minimality import MinimalityFigures, MinimalityResult

_FIGURES = (
    ("largest share of a class that the policy allows", "bound"),
    ("largest share of a class", "largest_share"),
    ("surest of a value of somebody, knowing the algorithm", "largest_posterior"),
    ("right by the most frequent value of the table", "blind"),
    ("right by the most frequent value of the own class", "bag"),
    ("right by the likeliest value, knowing the algorithm", "attack"),
)


def minimality(
    release: Annotated[Path, typer.Argument(help="The release folder.", metavar="RELEASE")],
    original: Annotated[str, typer.Option(help="The table that the release was made from.", metavar="DATA")],
    policy: Annotated[Path | None, typer.Option(help="Its policy, where it has moved since.")] = None,
    column: Annotated[str | None, typer.Option(help="The sensitive column; all, where it is left out.")] = None,
    worlds: Annotated[
        int,
        typer.Option(
            help="The most ways to deal out the values of a class that are tried, where not all are.",
            min=10,
            metavar="N",
        ),
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Which ways are drawn.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure how much surer of sensitive values one is who knows that the algorithm publishes nothing too coarse."""
    from sfumato.api.attacks import minimality as attack
    from sfumato.attack.minimality.minimality_result import PROMISE
    from sfumato.cli.attack.attack_output import figure_tables, print_findings
    from sfumato.cli.printing import print_json, progress

    with progress("search", quiet=as_json, verb="making it again") as bar:
        found = attack(release, original, policy=policy, column=column, worlds=worlds, seed=seed, progress=bar)
    if as_json:
        print_json(found.as_json())
        return
    figures = {name: _figures(found, one) for name, one in found.columns.items()}
    paragraphs: list[str] = []
    printed: set[str] = set()  # what was looked at is the same for all columns, and said once
    for result in found.results():
        new = [sentence for sentence in result.says if sentence not in printed]
        paragraphs.append(" ".join(new))
        printed.update(new)
    print_findings(*figure_tables("minimality attack", figures), *paragraphs, found.assumes, PROMISE)


def _figures(found: "MinimalityResult", column: "MinimalityFigures") -> dict[str, str]:
    """Write the figures of a column; nothing in place of those that are not known."""
    from sfumato.cli.attack.attack_output import text_or_blank
    from sfumato.page.wording import percent

    shares = {title: None if found.unmeasured(column, key) else getattr(column, key) for title, key in _FIGURES}
    beyond = "" if found.unmeasured(column, "beyond_bound") else f"{column.beyond_bound.rows:,}"
    texts = {title: text_or_blank(share, percent) for title, share in shares.items()}
    return texts | {"rows of which one is surer than the bound": beyond}
