"""``sfumato rules``: frequent itemsets and rules in baskets, and hiding those that nobody is to find."""

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Mine rules from baskets, and hide those that nobody is to find.",
    rich_markup_mode=None,
)

_File = Annotated[
    Path,
    typer.Argument(
        help="Lines of items (.dat), a long table (--long) or a wide one (each cell is the item column=value).",
        metavar="FILE",
    ),
]
_Support = Annotated[
    str, typer.Option("--min-support", help="A share such as 0.01 or 1%, or from 1 on a count of baskets.", metavar="S")
]
_Confidence = Annotated[str, typer.Option("--min-confidence", help="From 0 to 1, or a percentage.", metavar="C")]
_Long = Annotated[
    str | None,
    typer.Option("--long", help="The columns of transactions and of items, of a table with a row for each item."),
]
_MaxSize = Annotated[int | None, typer.Option("--max-size", help="Look at sets of up to so many items.")]
_Policy = Annotated[
    Path | None,
    typer.Option(
        "--from-policy",
        help="Rules that lead from quasi-identifiers to sensitive values of this policy are sensitive.",
        metavar="policy.toml",
    ),
]
_Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]
_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@app.callback(invoke_without_command=True)
def _commands(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())  # noqa: T201 - what was asked for, by asking for nothing


@app.command("mine")
def mine(
    file: _File,
    min_support: _Support,
    min_confidence: _Confidence,
    max_size: _MaxSize = None,
    long: _Long = None,
    from_policy: _Policy = None,
    out: Annotated[Path | None, typer.Option("--out", help="A file for all itemsets and rules, as JSON.")] = None,
    force: _Force = False,
    as_json: _Json = False,
) -> None:
    """Find frequent itemsets and association rules."""
    from sfumato.cli.printing import console_of, printable
    from sfumato.core.regular_file import check_new_file
    from sfumato.rules.basket_files import write_json
    from sfumato.rules.rule_hiding import mine as mine_baskets

    if out is not None:
        check_new_file(out, "--out", force=force)
    found = mine_baskets(
        file,
        min_support=min_support,
        min_confidence=min_confidence,
        max_size=max_size,
        long=long,
        from_policy=from_policy,
    )
    if out is not None:
        write_json(out, found.json_parts(ascii_only=False))
    if as_json:
        sys.stdout.writelines(found.json_parts())
        print()  # noqa: T201 - this is where output goes
    else:
        console_of().print("\n".join(map(printable, str(found).split("\n"))), soft_wrap=True)


@app.command("hide")
def hide(
    file: _File,
    min_support: _Support,
    min_confidence: _Confidence,
    out: Annotated[Path, typer.Option("--out", help="The file to write, of the form that came in.")],
    sensitive: Annotated[
        Path | None, typer.Option("--sensitive", help="The rules to hide.", metavar="rules.toml")
    ] = None,
    from_policy: _Policy = None,
    method: Annotated[str, typer.Option(help="heuristic, border or exact.")] = "border",
    drop: Annotated[bool, typer.Option("--drop", help="heuristic: drop whole baskets in place of items.")] = False,
    time_limit: Annotated[
        float, typer.Option(help="exact: stop after so many seconds, and say what is proved.")
    ] = 60.0,
    max_size: _MaxSize = None,
    long: _Long = None,
    force: _Force = False,
    as_json: _Json = False,
) -> None:
    """Remove items from baskets until no sensitive rule is found at the thresholds, and write what is left."""
    from sfumato.cli.printing import console_of, print_json
    from sfumato.core.regular_file import check_new_file
    from sfumato.rules.rule_hiding import hide as hide_rules

    check_new_file(out, "--out", force=force)
    result = hide_rules(
        file,
        sensitive,
        min_support=min_support,
        min_confidence=min_confidence,
        method=method,
        long=long,
        from_policy=from_policy,
        max_size=max_size,
        drop=drop,
        time_limit=time_limit,
    )
    result.save(out, force=force)
    if as_json:
        print_json(result.as_json() | {"out": str(out)})
    else:
        console_of().print(f"{result}\nwritten to {out}, and counted again from there", soft_wrap=True)
