"""``sfumato attack definetti``: a learner trained on the two tables of a release."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import InputError

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
    from sfumato.attack.bound import bounds
    from sfumato.attack.definetti import (
        ASSUMES,
        PROMISE,
        DefinettiEffort,
        Original,
        describe_figures,
        describe_sample,
        format_share,
    )
    from sfumato.attack.definetti import definetti as attack
    from sfumato.cli.attack.attack_output import figure_tables, print_findings, text_or_blank
    from sfumato.cli.complete_release import open_complete_release
    from sfumato.cli.printing import print_json
    from sfumato.split import tables_from_files
    from sfumato.table import read_original

    folder = open_complete_release(release, policy)
    if "nss" not in folder.manifest:
        raise InputError(
            f"{release} is one generalized table, where each row shows its own sensitive values beside its labels and "
            "there is nothing to assign; name a release of form lossy-join or anatomy, or see sfumato risk"
        )
    tables = tables_from_files(folder.public, folder.manifest)
    truth = Original.of_table(read_original(original, folder.policy), folder.policy)
    found = attack(tables, truth, bounds(folder.policy, tables), effort=DefinettiEffort(seed=seed))
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
