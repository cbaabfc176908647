"""``sfumato collect plan``: how private a noise is, how exact the result will be, and noise for a wanted privacy."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, quote

if TYPE_CHECKING:
    from sfumato.collect.collection_plan import CollectionPlan
    from sfumato.collect.correlated_noise import ShapedNoise
    from sfumato.collect.noise import Noise


def plan(
    noise: Annotated[Path | None, typer.Option(help="The noise file (JSON).")] = None,
    rows: Annotated[int | None, typer.Option(help="Say what error to expect at so many answers.")] = None,
    prior: Annotated[
        list[Path] | None,
        typer.Option(help="What collect reconstruct --json printed of a column: what an adversary knows of it."),
    ] = None,
    reports: Annotated[
        Path | None, typer.Option(help="Perturbed rows: say what a filter over all columns of numbers recovers.")
    ] = None,
    shape: Annotated[
        bool, typer.Option("--shape", help="Give the Gaussian noise the correlation of the data, from --reports.")
    ] = False,
    column: Annotated[str | None, typer.Option(help="Propose noise for a column of this name.")] = None,
    domain: Annotated[str | None, typer.Option(help="LOW,HIGH: the column holds numbers from LOW to HIGH.")] = None,
    values: Annotated[str | None, typer.Option(help="The column holds one of these answers, with commas.")] = None,
    items: Annotated[str | None, typer.Option(help="The column holds baskets of these items, with commas.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="gaussian, uniform or laplace; response or unary; chosen if left out.")
    ] = None,
    privacy: Annotated[
        str | None, typer.Option(help="Width of the 95% interval of the noise, as a share of the domain: 100%.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="The local ε of the column.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the proposed noise to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Say how private a collection is and how exact its result will be, or propose noise for a wanted privacy."""
    from sfumato.collect import Noise
    from sfumato.collect import plan as make_plan
    from sfumato.collect.correlated_noise import shape_noise
    from sfumato.compare.output_files import write_file
    from sfumato.core.regular_file import check_new_file

    described = {"domain": domain, "values": values, "items": items, "kind": kind, "privacy": privacy}
    asked = [f"--{name}" for name, given in (described | {"epsilon": epsilon}).items() if given is not None]
    if column is None and asked:
        raise InputError(f"{asked[0]} describes a column to propose noise for; name it with --column")
    if column is None and noise is None:
        raise InputError("say --noise noise.json to plan with, or --column NAME to propose noise for")
    if shape and reports is None:
        raise InputError("--shape takes the correlation from perturbed rows; name them with --reports")
    if out is not None and column is None and not shape:
        raise InputError("--out is for proposed noise; say a --column to propose, or --shape")
    if out is not None:
        check_new_file(out, "--out", force=force)
    known = _read_priors(prior or [])
    planned = Noise({}) if noise is None else Noise.load(noise)
    if column is not None:
        planned = _add_column(planned, column, described, epsilon)
    shaped = shape_noise(planned, reports) if shape else None
    outlook = make_plan(planned, rows, prior=known, reports=reports)
    final = planned if shaped is None else shaped.noise
    if out is not None:
        write_file(out, json.dumps(final.as_json(), indent=1) + "\n")
    proposed = final if column is not None or shape else None
    _show(outlook, proposed, shaped, out, as_json=as_json)


def _read_priors(paths: list[Path]) -> dict[str, Any]:
    from sfumato.collect.prior_knowledge import read_prior_file

    known: dict[str, Any] = {}
    for path in paths:
        document = read_prior_file(path)
        name = document.get("column")
        if not isinstance(name, str):
            raise InputError(f'{path.name} does not say of which "column" it is')
        known[name] = document
    return known


def _add_column(planned: "Noise", column: str, described: dict[str, str | None], epsilon: float | None) -> "Noise":
    """Propose the noise of a column by what was said of it, and add it to the others."""
    from dataclasses import replace

    from sfumato.collect import propose_noise

    if not column:
        raise InputError("--column must be a name that is not empty")
    if column in planned.columns:
        raise InputError(f"the noise has a column {quote(column)} already; choose another name, or take it out first")
    try:
        chosen = propose_noise(
            domain=_parse_domain(described["domain"]),
            values=_parse_list(described["values"]),
            items=_parse_list(described["items"]),
            kind=described["kind"],
            privacy=_parse_share(described["privacy"]),
            epsilon=epsilon,
        )
    except InputError as error:
        raise InputError(f"column {quote(column)}: {error}") from None
    return replace(planned, columns={**planned.columns, column: chosen})


def _parse_domain(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise InputError(f"--domain {quote(text)} is not two numbers; write it as --domain 0,100") from None
    return low, high


def _parse_list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _parse_share(text: str | None) -> float | None:
    if text is None:
        return None
    number = text.strip().removesuffix("%")
    try:
        share = float(number)
    except ValueError:
        share = math.nan
    if not (math.isfinite(share) and share > 0):
        raise InputError(f"--privacy {quote(text)} is not a share of the domain; write it as --privacy 100%")
    return share / 100 if text.strip().endswith("%") else share


def _show(
    outlook: "CollectionPlan",
    proposed: "Noise | None",
    shaped: "ShapedNoise | None",
    written: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the plan, what is proposed and where it is."""
    from rich.table import Column, Table

    from sfumato.cli.printing import break_name, console_of, name_column, print_json, warn
    from sfumato.collect.collection_plan import PRIVACY_HEAD
    from sfumato.collect.correlated_noise import PRICE

    if as_json:
        more: dict[str, Any] = {} if proposed is None else {"noise": proposed.as_json()}
        more |= {} if shaped is None else {"shaped": shaped.after.as_json() | {"price": PRICE}}
        print_json(outlook.as_json() | more | ({} if written is None else {"written": str(written)}))
        return
    console = console_of()
    figures = [(PRIVACY_HEAD, outlook.privacy_lines()), (outlook.accuracy_head(), outlook.accuracy_lines())]
    filters = () if outlook.filtered is None else (shaped or outlook.filtered).display().tables
    figures += [(tuple(one.head), [list(line) for line in one.lines]) for one in filters]
    for head, lines in figures:
        if lines:
            table = Table(
                name_column(head[0], list(outlook.columns)), *[Column(one, justify="right") for one in head[1:]]
            )
            for line in lines:
                table.add_row(break_name(line[0]), *line[1:])
            console.print(table)
    for sentence in outlook.sentences():
        console.print(sentence, soft_wrap=True)
    for sentence in outlook.warnings():
        warn(sentence)
    if shaped is not None:
        console.print(PRICE, soft_wrap=True)
        for sentence in shaped.after.warnings():
            warn(f"even with the noise shaped, {sentence}")
    if proposed is not None and written is None:
        console.print(f"noise  {json.dumps(proposed.as_json())}", soft_wrap=True)
    if written is not None:
        console.print(f"wrote  {written}", soft_wrap=True)
