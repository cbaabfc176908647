"""``sfumato attack homogeneity`` and ``sfumato attack skewness``: what a class tells of whoever is in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.attack.homogeneity import ColumnHomogeneity, ColumnSkewness
    from sfumato.reading.release_view import ReleaseLines

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
    column: Annotated[str | None, typer.Option(help="Any published column; left out, every sensitive column.")] = None,
    policy: Annotated[
        Path | None, typer.Option(help="The policy: its bounds, and the hierarchies of its sensitive columns.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Guess that everybody holds the most frequent value of their class, and count how often that is right."""
    from sfumato.attack.bound import bounds
    from sfumato.attack.homogeneity import ASSUMES
    from sfumato.attack.homogeneity import homogeneity as attack
    from sfumato.attack.sensitive_columns import SensitiveColumns, read_attacked_columns
    from sfumato.cli.attack.attack_output import figure_tables, print_findings
    from sfumato.cli.printing import print_json
    from sfumato.policy import load

    rules = None if policy is None else load(policy)
    columns = read_attacked_columns(release, rules, column).columns
    found = attack(columns, None if rules is None else bounds(rules, SensitiveColumns(columns)))
    if as_json:
        print_json(found.as_json())
        return
    figures = {name: _homogeneity_figures(one) for name, one in found.columns.items()}
    sentences = (
        (f"{name}: " if len(found.columns) > 1 else "") + " ".join(one.sentences())
        for name, one in found.columns.items()
    )
    print_findings(*figure_tables("homogeneity attack", figures), *sentences, ASSUMES)


def _homogeneity_figures(found: "ColumnHomogeneity") -> dict[str, str]:
    from sfumato.cli.attack.attack_output import text_or_blank
    from sfumato.page.wording import percent

    shares = {title: text_or_blank(getattr(found, key), percent) for title, key in _SHARES}
    counts = {title: text_or_blank(getattr(found, key), "{:,}".format) for title, key in _COUNTS}
    return shares | counts | {"entropy l of the poorest class": f"{found.entropy:.2f}"}


def skewness(
    release: Annotated[Path, typer.Argument(help="The release folder, or its public part.", metavar="RELEASE")],
    column: Annotated[str | None, typer.Option(help="Any published column; left out, every sensitive column.")] = None,
    threshold: Annotated[
        float, typer.Option(help="Count rows in classes that tell more of some value than this.", min=0, max=1)
    ] = 0.3,
    policy: Annotated[
        Path | None, typer.Option(help="The policy: its bounds, and order and hierarchies of its sensitive columns.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compare what a class tells of sensitive values with what the whole table tells anyone."""
    from sfumato.attack.homogeneity import ASSUMES, gain_bounds
    from sfumato.attack.homogeneity import skewness as attack
    from sfumato.attack.sensitive_columns import read_attacked_columns
    from sfumato.cli.attack.attack_output import figure_tables, print_findings
    from sfumato.cli.printing import print_json
    from sfumato.policy import load

    rules = None if policy is None else load(policy)
    attacked = read_attacked_columns(release, rules, column)
    found = attack(attacked.columns, threshold=threshold, promised=None if rules is None else gain_bounds(rules))
    if as_json:
        print_json(found.as_json())
        return
    parts: list[str | Table] = []
    for name, one in found.columns.items():
        parts += [_skewed_classes(name, one, attacked.lines), " ".join(one.sentences())]
    figures = {name: _skewness_figures(one) for name, one in found.columns.items()}
    print_findings(*figure_tables("skewness attack", figures), *parts, ASSUMES)


def _skewness_figures(found: "ColumnSkewness") -> Mapping[str, str]:
    from sfumato.cli.attack.attack_output import text_or_blank
    from sfumato.page.wording import percent

    above = f"rows in classes that tell more than {100 * found.threshold:.3g} points"
    gain = found.gain.after - found.gain.before
    return {
        above: f"{percent(found.above / found.rows)}",
        "without the release": percent(0.0),
        "largest gain of a value, in points": f"{100 * gain:.1f}",
        "largest ratio of a value": found.ratio.times(),
        "distance of the farthest class (variational)": f"{found.distance:.3f}",
        "distance of the average row's class": f"{found.average:.3f}",
        "earth mover's distance, values in order": text_or_blank(found.ordered, "{:.3f}".format),
        "earth mover's distance, by hierarchy": text_or_blank(found.hierarchical, "{:.3f}".format),
    }


def _skewed_classes(name: str, found: "ColumnSkewness", released: "ReleaseLines") -> "Table":
    """List the classes that tell most, by their labels where these tell them, with the value and its shares."""
    from rich.table import Table

    from sfumato.page.wording import label, percent, value

    table = Table("class", "rows", name, "table", "class", title="the classes that tell most", title_justify="left")
    for one in found.top:
        line = int((released.class_of == one.place).argmax())
        labels = ", ".join(f"{key} {label(column.texts[column.codes[line]])}" for key, column in released.quasi.items())
        shown = "(two tables: no labels)" if released.manifest.is_split else labels
        most = one.most
        table.add_row(shown, f"{one.rows:,}", value(most.value), percent(most.before), percent(most.after))
    return table
