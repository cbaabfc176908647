"""``sfumato attack definetti``: a learner trained on the two tables of a release."""

from pathlib import Path
from typing import Annotated

import typer

_FIGURES = (
    ("largest share of a class that the policy allows", "bound"),
    ("largest share of a class", "largest_share"),
    ("right by the most frequent value of the table", "blind"),
    ("right by a value drawn from the own bag", "random"),
    ("right by the most frequent value of the own bag", "bag"),
    ("right by the attack, in the table", "attack"),
    ("right by its learner without the bag, in the table", "without_bag"),
    ("right by its learner, outside the table", "outside"),
    ("surest of a value of somebody", "largest_posterior"),
)


def definetti(
    release: Annotated[Path, typer.Argument(help="The release folder, of two tables.", metavar="RELEASE")],
    original: Annotated[str, typer.Option(help="The table that the release was made from.")],
    policy: Annotated[Path | None, typer.Option(help="Its policy, where it has moved since.")] = None,
    seed: Annotated[int, typer.Option(help="Which classes are held out, and which sample is taken.", min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Guess sensitive values by a learner trained on the two tables of a release, and count how often it is right."""
    from sfumato.api.attacks import definetti as attack
    from sfumato.attack.definetti import ASSUMES, PROMISE, describe_figures, describe_sample, format_share
    from sfumato.cli.attack.attack_output import figure_tables, print_findings, text_or_blank
    from sfumato.cli.printing import print_json

    found = attack(release, original, policy=policy, seed=seed)
    if as_json:
        print_json(found.as_json())
        return
    figures = {
        name: {title: text_or_blank(getattr(column, key), format_share) for title, key in _FIGURES}
        for name, column in found.columns.items()
    }
    sentences = (
        " ".join(filter(None, (*describe_figures(name, column), describe_sample(column))))
        for name, column in found.columns.items()
    )
    print_findings(*figure_tables("deFinetti attack", figures), *sentences, ASSUMES, PROMISE)
