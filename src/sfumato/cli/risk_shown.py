"""What ``sfumato risk`` prints: who could be found, by whom, and by which columns."""

from rich.table import Table

from sfumato.cli.printing import console_of, print_json
from sfumato.page.words import percent, plural
from sfumato.risk import Adversaries, Chances, KMap, Nulls, Persons, Sets, TableRisk, Uniqueness
from sfumato.risk.adversaries import ESTIMATED, TABLE

_SHOWN = 8
"""Sets of columns that are shown to people; programs get all."""


def show_risk(found: TableRisk, *, as_json: bool) -> None:
    """The figures from every side that was asked for, and what each adversary is assumed to know."""
    if as_json:
        print_json(found.as_json())
        return
    console = console_of()
    console.print(_adversaries(found.adversaries))
    for sentence in _assumed(found.adversaries):
        console.print(sentence, soft_wrap=True)
    parts = (
        found.persons and _persons(found.persons, found.by),
        found.population and _population(found.population),
        found.uniqueness and _uniqueness(found.uniqueness),
        found.nulls and _nulls(found.nulls),
        *(_sets(found.sets) if found.sets else ()),
    )
    for part in parts:
        if part:
            console.print(part)


def _adversaries(found: Adversaries) -> Table:
    table = Table("chance of being found", "prosecutor", "journalist", "marketer")
    sure, any_, all_ = found.prosecutor, found.journalist, found.marketer
    who = found.counts
    table.add_row(f"highest of all {who}", _chance(sure.highest), _chance(any_.highest), "")
    table.add_row("average", _chance(sure.average), _chance(any_.average), _chance(all_.average))
    table.add_row(f"{who} above {found.threshold:g}", _above(sure), _above(any_), "")
    alone = (_amount(one.certain, one.certain_share) for one in (sure, any_))
    table.add_row(f"{who} alone (chance 1)", *alone, "")
    table.add_row(f"{who} tied right", "", "", f"{all_.right:,.1f}")
    return table


def _assumed(found: Adversaries) -> tuple[str, ...]:
    """What each of the three is taken to know."""
    where = {
        TABLE: "looks persons up in the population table",
        ESTIMATED: "looks persons up among the whole population, whose size is known and whose classes are estimated",
    }.get(found.basis, "looks persons up in a list of all; no population was given, so the table stands for it")
    return (
        "All three know the quasi-identifiers of persons exactly.",
        "The prosecutor also knows that the person is in the table.",
        f"The journalist wants to find anybody, and {where}.",
        "The marketer ties every row to somebody there; the average is the share that is right.",
    )


def _persons(persons: Persons, by: str) -> Table:
    """What several rows per person do; `by` says where the k is from."""
    table = Table(f"persons (k = {persons.k:,}, {by})", "")
    table.add_row("rows per person (rpi)", f"{persons.rpi:.4g}, of {persons.persons:,} persons")
    lines = {
        "classes of k rows, but of fewer persons (vulnerable)": (persons.vulnerable, persons.vulnerable_share),
        "classes of one person's rows (single)": (persons.single, persons.single_share),
        "persons whose classes fewer than k share (linked)": (persons.linked, persons.linked_share),
    }
    for told, (number, share) in lines.items():
        table.add_row(told, _amount(number, share))
    table.add_row("fewest who share their set of classes", f"{persons.linked_fewest:,}")
    return table


def _population(found: KMap) -> Table:
    table = Table(f"population table ({found.people:,} people)", "")
    smallest = "no row falls in any" if found.k_map is None else f"{found.k_map:,}"
    table.add_row("smallest class that a row falls in (k-map)", smallest)
    table.add_row("rows that fit one person only", f"{found.alone:,}")
    table.add_row("rows that fit nobody: counted as not to be found there", f"{found.outside:,}")
    if found.short:
        table.add_row("rows in classes of which it has fewer than the table", f"{found.short:,}")
    if found.outside or found.short:
        table.caption = "the population table is not whole, or written differently from the table"
    return table


def _uniqueness(found: Uniqueness) -> Table:
    """The estimates side by side, and which of them the rule takes."""
    table = Table("alone in the population, estimated", "people", "share", "")
    for name, title in (("pitman", "Pitman"), ("zayatz", "Zayatz"), ("snb", "SNB (slide negative binomial)")):
        one = getattr(found, name)
        figures = ("", "") if one.uniques is None else (f"{one.uniques:,.0f}", percent(one.share))
        mark = "taken" if name == found.chosen else ""
        table.add_row(title, *figures, mark if one.uniques is not None else f"none: {one.reason}")
    table.caption = f"of {found.people:,} people, of whom {percent(found.fraction)} are in the table; {found.why}"
    return table


def _nulls(found: Nulls) -> Table:
    title = f"{plural(found.cells, 'missing value')} in {plural(found.rows, 'row')}"
    table = Table(title, "as a value", "as a wildcard")
    one, other = found.as_value, found.as_wildcard
    table.add_row("highest chance", _chance(one.highest), _chance(other.highest))
    table.add_row("average chance", _chance(one.average), _chance(other.average))
    alone = (_amount(round(way.uniques), way.unique_share) for way in (one, other))
    table.add_row(f"{found.counts} that are alone", *alone)
    table.caption = "as a value: NULL looks like NULL only; as a wildcard: it may be anything, in either row"
    if other.looked_at < one.looked_at:
        table.caption += f"; {other.looked_at:,} {found.counts} drawn at random stand for all"
    return table


def _sets(found: Sets) -> tuple[Table, Table | str]:
    """The sets that tell rows apart best, and those that are the first to find somebody."""
    told = Table("columns together", "distinction", "separation", caption=_limits(found))
    for one in found.sets[:_SHOWN]:
        told.add_row(", ".join(one.columns), percent(one.distinction), percent(one.separation))
    if not found.minimal:
        return told, f"No set of up to {plural(found.largest, 'column')} finds anybody."
    first = Table("columns that find somebody", "finds", "first")
    for one in found.minimal[:_SHOWN]:
        first.add_row(", ".join(one.columns), f"{one.finds:,}", f"{one.first:,}")
    more = len(found.minimal) - _SHOWN
    others = f"{plural(more, 'more set does', 'more sets do')}; " if more > 0 else ""
    by_any = plural(found.found, found.counts.removesuffix("s"))
    first.caption = f"{others}found by some set: {by_any}; first: no part of the set finds them"
    return told, first


def _limits(found: Sets) -> str:
    """Which sets were looked at."""
    every = f"{plural(len(found.sets), 'set')} of up to {plural(found.largest, 'column')}"
    few = f", larger ones of the {len(found.among)} columns that separate most, since there are too many of all"
    columns = sum(len(one.columns) == 1 for one in found.sets)
    left = few if len(found.among) < columns else ""
    return f"{every}{left}; distinction: different values by rows, separation: pairs of rows that differ"


def _above(found: Chances) -> str:
    return _amount(found.number, found.above)


def _amount(number: int, share: float) -> str:
    return f"{number:,} ({percent(share)})"


def _chance(chance: float) -> str:
    return f"{chance:.2g}" if 0 < chance < 0.0001 else f"{chance:.4f}"
