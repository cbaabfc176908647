"""``sfumato risk``: how easily rows can be tied to persons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import InputError, quote
from sfumato.page.wording import percent, plural

if TYPE_CHECKING:
    from rich.table import Column, Table

    from sfumato.risk import (
        Adversaries,
        ColumnSets,
        KMap,
        MissingValueRisk,
        PersonRisk,
        RiskOptions,
        TableRisk,
        Uniqueness,
        WeightedSample,
    )

_MOST_SETS = 8
"""Sets of columns that are printed for people; programs get all."""


def risk(
    data: Annotated[str, typer.Argument(help="A raw or published table, a database URL, or a release folder.")],
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy that says which columns are quasi-identifiers, and which names persons."),
    ] = None,
    quasi: Annotated[str | None, typer.Option(help="The quasi-identifiers, separated by commas.")] = None,
    individual: Annotated[
        str | None, typer.Option(help="With --quasi: the column that names persons, where one may have several rows.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="With --quasi: the column of sampling weights, where the table is a survey.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="Persons that a group should have: the policy's k if left out, else 5.", min=1)
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="The chance above which a row is counted as at risk.", metavar="SHARE")
    ] = 0.2,
    population: Annotated[
        Path | None,
        typer.Option(help="A table of the whole population, with the quasi-identifiers as others know them."),
    ] = None,
    population_size: Annotated[
        int | None, typer.Option(help="How many people the table was drawn from, where there is no table of them.")
    ] = None,
    sampling_fraction: Annotated[
        float | None, typer.Option(help="The share of the population that is in the table, in place of its size.")
    ] = None,
    sets: Annotated[int, typer.Option(help="Look at every set of up to so many columns; 0 for none.")] = 3,
    original: Annotated[
        str | None, typer.Option(help="With a release of drawn rows: the table that they were drawn from.")
    ] = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="With a release of drawn rows: let anonymeter attack them.")
    ] = False,
    hold_out: Annotated[
        str | None,
        typer.Option(help="With --attacks: a table of people who had no part in the release, as control."),
    ] = None,
    anonymeter: Annotated[
        Path | None,
        typer.Option(
            help="With --attacks: the Python that anonymeter is installed for, where that is not this one.",
            metavar="PYTHON",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure the re-identification risk of a table: who could be found in it, by whom, and by which columns."""
    from sfumato.cli.printing import print_json
    from sfumato.reading.release_reader import is_synthetic_release
    from sfumato.risk import RiskOptions

    if attacks or original or hold_out or anonymeter or is_synthetic_release(Path(data)):
        if any((policy, quasi, individual, weight, k, population, population_size, sampling_fraction)):
            raise InputError(
                "drawn rows are nobody's: their risk is how near they are to --original, and what --attacks make of "
                "them; leave --policy, --quasi, --individual, --weight, --k and the population out"
            )
        _risk_of_drawn_rows(data, original, hold_out, anonymeter, attacks=attacks, as_json=as_json)
        return
    options = RiskOptions(threshold, population, population_size, sampling_fraction, sets)
    measured = _measure(data, policy, quasi, individual, weight, k, options)
    if as_json:
        print_json(measured.as_json())
    else:
        _print(measured)


def _risk_of_drawn_rows(
    data: str, original: str | None, hold_out: str | None, python: Path | None, *, attacks: bool, as_json: bool
) -> None:
    from sfumato.api.commands import risk as measure
    from sfumato.cli.printing import console_of, print_json
    from sfumato.risk.drawn_risk import TOO_FEW

    found: Any = measure(data, original=original, attacks=attacks, hold_out=hold_out, anonymeter=python)
    if as_json:
        print_json(found.as_json())
        return
    console = console_of()
    if found.closest is None:
        console.print(TOO_FEW)
    else:
        table = _table("how near drawn rows are to the original", "")
        for line in found.closest_lines():
            table.add_row(*line)
        console.print(table)
        console.print(
            "Rows were drawn anew from half of the original, and held against that half and the other.", soft_wrap=True
        )
    if found.attacks is not None:
        table = _table("attack by anonymeter", "risk (95%)", "right", "of control", "at random")
        for attack in found.attack_lines():
            table.add_row(*attack)
        console.print(table)
        console.print(
            f"Attacked: {found.attacked}. Risk is how much more often guesses are right of people who had a part in "
            "the rows than of the control, as a share of what was left to gain.",
            soft_wrap=True,
        )


def _measure(
    data: str,
    policy: Path | None,
    quasi: str | None,
    individual: str | None,
    weight: str | None,
    k: int | None,
    options: "RiskOptions",
) -> "TableRisk":
    """Measure a release by its folder, or a table by a policy or by the names of its columns."""
    from sfumato.policy.database_url import find_place
    from sfumato.reading.release_reader import find_release_folder
    from sfumato.risk import risk_by_columns, risk_by_policy, risk_by_release

    place = find_place(data)
    if isinstance(place, Path) and find_release_folder(place) == place:
        if policy or quasi or individual or weight:
            raise InputError(
                "a release folder names its quasi-identifiers and persons itself; leave --policy, --quasi, "
                "--individual and --weight out, or name a table of its public part"
            )
        return risk_by_release(place, k=k, asked=options)
    if (policy is None) == (quasi is None):
        raise InputError("give either --policy or --quasi a,b,c; only a release folder needs neither")
    if policy is not None:
        if individual is not None:
            raise InputError("--individual goes with --quasi; a policy names its individual column itself")
        if weight is not None:
            raise InputError("--weight goes with --quasi; a policy gives its column of weights the role weight")
        from sfumato.policy import load

        return risk_by_policy(place, load(policy), k=k, asked=options)
    names = [name.strip() for name in str(quasi).split(",") if name.strip()]
    return risk_by_columns(place, names, individual=individual, weight=weight, k=k, asked=options)


def _print(measured: "TableRisk") -> None:
    """Print all figures that were asked for, and what each adversary is assumed to know."""
    from sfumato.cli.printing import console_of

    console = console_of()
    console.print(_adversary_table(measured.adversaries))
    for sentence in _assumptions(measured.adversaries):
        console.print(sentence, soft_wrap=True)
    if measured.weights:
        console.print(_describe_weights(measured.weights), soft_wrap=True)
    if measured.persons:
        console.print(_person_table(measured.persons, measured.by))
    if measured.population:
        console.print(_population_table(measured.population))
    if measured.uniqueness:
        console.print(_uniqueness_table(measured.uniqueness))
    if measured.nulls:
        console.print(_missing_value_table(measured.nulls))
    if measured.sets:
        for part in _column_set_tables(measured.sets):
            console.print(part)


def _adversary_table(adversaries: "Adversaries") -> "Table":
    prosecutor, journalist, marketer = adversaries.prosecutor, adversaries.journalist, adversaries.marketer
    both, unit = (prosecutor, journalist), adversaries.counts
    table = _table("chance of being found", "prosecutor", "journalist", "marketer")
    table.add_row(f"highest of all {unit}", *(_chance(each.highest) for each in both), "")
    table.add_row("average", *(_chance(each.average) for each in (*both, marketer)))
    table.add_row(f"{unit} above {adversaries.threshold:g}", *(_amount(each.number, each.above) for each in both), "")
    table.add_row(f"{unit} alone (chance 1)", *(_amount(each.certain, each.certain_share) for each in both), "")
    table.add_row(f"{unit} tied right", "", "", f"{marketer.right:,.1f}")
    return table


def _assumptions(adversaries: "Adversaries") -> tuple[str, ...]:
    """Say what each of the three is assumed to know."""
    from sfumato.risk.adversaries import ESTIMATED, TABLE, WEIGHTED

    where = {
        TABLE: "looks persons up in the population table",
        ESTIMATED: "looks persons up among the whole population, whose size is known and whose classes are estimated",
        WEIGHTED: "looks persons up among the whole population, of which sampling weights say how many each row is",
    }.get(adversaries.basis, "looks persons up in a list of all; no population was given, so the table stands for it")
    return (
        "All three know the quasi-identifiers of persons exactly.",
        "The prosecutor also knows that the person is in the table.",
        f"The journalist wants to find anybody, and {where}.",
        "The marketer ties every row to somebody there; the average is the share that is right.",
    )


def _describe_weights(weights: "WeightedSample") -> str:
    """Say how many people the sampling weights stand for, and whether they were used."""
    stand = f"The weights in {quote(weights.column)} add up to {weights.people:,.0f} people"
    if weights.used:
        return f"{stand}; the journalist's chance is the individual risk of Benedetti and Franconi."
    return f"{stand}; they were not used, since the population was given."


def _person_table(persons: "PersonRisk", by: str) -> "Table":
    """Show what several rows per person do; `by` says where the k is from."""
    table = _table(f"persons (k = {persons.k:,}, {by})", "")
    table.add_row("rows per person (rpi)", f"{persons.rpi:.4g}, of {persons.persons:,} persons")
    amounts = {
        "classes of k rows, but of fewer persons (vulnerable)": (persons.vulnerable, persons.vulnerable_share),
        "classes of one person's rows (single)": (persons.single, persons.single_share),
        "persons whose classes fewer than k share (linked)": (persons.linked, persons.linked_share),
    }
    for title, (number, share) in amounts.items():
        table.add_row(title, _amount(number, share))
    table.add_row("fewest who share their set of classes", f"{persons.linked_fewest:,}")
    return table


def _population_table(population: "KMap") -> "Table":
    table = _table(f"population table ({population.people:,} people)", "")
    smallest = "no row falls in any" if population.k_map is None else f"{population.k_map:,}"
    table.add_row("smallest class that a row falls in (k-map)", smallest)
    table.add_row("rows that fit one person only", f"{population.alone:,}")
    table.add_row("rows that fit nobody: counted as not to be found there", f"{population.outside:,}")
    if population.short:
        table.add_row("rows in classes of which it has fewer than the table", f"{population.short:,}")
    if population.outside or population.short:
        table.caption = "the population table is not whole, or written differently from the table"
    return table


def _uniqueness_table(estimates: "Uniqueness") -> "Table":
    """Show the estimates side by side, and which of them the rule takes."""
    table = _table("alone in the population, estimated", "people", "share", "")
    for name, title in (("pitman", "Pitman"), ("zayatz", "Zayatz"), ("snb", "SNB (slide negative binomial)")):
        estimate = getattr(estimates, name)
        if estimate.uniques is None:
            table.add_row(title, "", "", f"none: {estimate.reason}")
        else:
            mark = "taken" if name == estimates.chosen else ""
            table.add_row(title, f"{estimate.uniques:,.0f}", percent(estimate.share), mark)
    people, fraction = f"{estimates.people:,} people", percent(estimates.fraction)
    table.caption = f"of {people}, of whom {fraction} are in the table; {estimates.why}"
    return table


def _missing_value_table(nulls: "MissingValueRisk") -> "Table":
    title = f"{plural(nulls.cells, 'missing value')} in {plural(nulls.rows, 'row')}"
    table, both = _table(title, "as a value", "as a wildcard"), (nulls.as_value, nulls.as_wildcard)
    table.add_row("highest chance", *(_chance(each.highest) for each in both))
    table.add_row("average chance", *(_chance(each.average) for each in both))
    alone = (_amount(round(each.uniques), each.unique_share) for each in both)
    table.add_row(f"{nulls.counts} that are alone", *alone)
    table.caption = "as a value: NULL looks like NULL only; as a wildcard: it may be anything, in either row"
    if nulls.as_wildcard.looked_at < nulls.as_value.looked_at:
        table.caption += f"; {nulls.as_wildcard.looked_at:,} {nulls.counts} drawn at random stand for all"
    return table


def _column_set_tables(sets: "ColumnSets") -> tuple["Table", "Table | str"]:
    """Show the sets that tell rows apart best, and those that are the first to find somebody."""
    from sfumato.cli.printing import break_name, name_column

    every = f"{plural(len(sets.sets), 'set')} of up to {plural(sets.largest, 'column')}"
    if len(sets.among) < sum(len(each.columns) == 1 for each in sets.sets):
        few = f"{len(sets.among)} columns that separate most, since there are too many of all"
        every += f", larger ones of the {few}"
    names = [name for each in (*sets.sets[:_MOST_SETS], *sets.minimal[:_MOST_SETS]) for name in each.columns]
    best = _table(name_column("columns together", names), "distinction", "separation")
    best.caption = f"{every}; distinction: different values by rows, separation: pairs of rows that differ"
    for each in sets.sets[:_MOST_SETS]:
        best.add_row(", ".join(map(break_name, each.columns)), percent(each.distinction), percent(each.separation))
    if not sets.minimal:
        return best, f"No set of up to {plural(sets.largest, 'column')} finds anybody."
    first = _table(name_column("columns that find somebody", names), "finds", "first")
    for each in sets.minimal[:_MOST_SETS]:
        first.add_row(", ".join(map(break_name, each.columns)), f"{each.finds:,}", f"{each.first:,}")
    more = len(sets.minimal) - _MOST_SETS
    others = f"{plural(more, 'more set does', 'more sets do')}; " if more > 0 else ""
    by_any = plural(sets.found, sets.counts.removesuffix("s"))
    first.caption = f"{others}found by some set: {by_any}; first: no part of the set finds them"
    return best, first


def _table(*headers: "str | Column") -> "Table":
    from rich.table import Table

    return Table(*headers)


def _amount(number: int, share: float) -> str:
    return f"{number:,} ({percent(share)})"


def _chance(chance: float) -> str:
    return f"{chance:.2g}" if 0 < chance < 0.0001 else f"{chance:.4f}"
