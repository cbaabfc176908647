"""How ``sfumato query`` shows answers: a line per group, each figure with its standard error."""

from math import floor, log10
from typing import Any

from rich.table import Column, Table

from sfumato.cli.printing import console_of, print_json
from sfumato.queries import Answers, Estimate

_MEANS = {
    "expected": "expected values ± one standard error, all tables that fit the release being equally likely",
    "paper": "the paper's estimate, where every line counts that may be meant",
}


def show_answers(answers: Answers, *, explain: bool, as_json: bool) -> None:
    """A table for people, one JSON object for programs; what runs, where it is asked for."""
    if as_json:
        print_json(answers.as_json(explain=explain))
        return
    console = console_of()
    if explain:
        console.print(answers.sql, soft_wrap=True)
    if not answers:
        console.print("no group has a row that can meet the conditions", soft_wrap=True)
        return
    figures = [Column(name, justify="right") for name in answers[0].values]
    table = Table(*(Column(name, overflow="fold") for name in answers.columns), *figures)
    for answer in answers:
        table.add_row(*map(_cell, answer.group.values()), *map(_figure, answer.values.values()))
    console.print(table)
    console.print(_MEANS[answers.estimate], soft_wrap=True)


def _cell(value: Any) -> str:
    return "NULL" if value is None else str(value)


def _figure(value: Estimate) -> str:
    """A figure with two digits of its error, or with five of its own at most where it is exact.

    >>> _figure(Estimate(1234.5678, 0.0567)), _figure(Estimate(12.0, 0.0)), _figure(Estimate(None, None))
    ('1,234.568 ± 0.057', '12', '-')
    """
    if value.estimate is None:
        return "-"
    digits = _digits(value.estimate, value.standard_error)
    shown = f"{value.estimate:,.{digits}f}"
    if value.standard_error:
        return f"{shown} ± {value.standard_error:,.{digits}f}"
    return shown.rstrip("0").rstrip(".") if digits else shown


def _digits(value: float, error: float | None) -> int:
    """How many digits behind the point are worth showing."""
    if not error and value == round(value):
        return 0
    scale = error or abs(value) / 1000
    return min(max(1 - floor(log10(scale)), 0), 12)
