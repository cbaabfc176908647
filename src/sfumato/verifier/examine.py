"""Check every requirement over the counted classes of a release."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.errors import InputError
from sfumato.verifier.check import Check
from sfumato.verifier.checks import CHECKS
from sfumato.verifier.counts import Counts
from sfumato.verifier.linkage.rules import is_xy
from sfumato.verifier.persons import linked
from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published
from sfumato.verifier.rules import objection
from sfumato.verifier.sql import name
from sfumato.verifier.verdict import Finding, Verdict

_SHOWN = 3


def check_rules(promise: Promise) -> None:
    """Refuse requirements that nobody can check."""
    persons = promise.individual is not None
    for rule in promise.requirements:
        if found := objection(rule, persons=persons):
            raise InputError(found)


def examine(counts: Counts, earlier: Sequence[Published] = ()) -> Verdict:
    """The verdict on every requirement, and on whether there are classes at all.

    `earlier` are the tables of the earlier releases, where a requirement is about the join with them.
    """
    rows, classes = counts.totals()
    joined = _joined(counts, earlier) if any(map(is_xy, counts.promise.requirements)) else None
    findings = tuple(
        joined(rule) if joined is not None and is_xy(rule) else _finding(counts, rule, i)
        for i, rule in enumerate(counts.promise.requirements)
    )
    return Verdict(rows, classes, findings, (*([] if rows else ["the table has no rows"]), *counts.problems()))


def _joined(counts: Counts, earlier: Sequence[Published]) -> Callable[[Mapping[str, Any]], Finding]:
    """What finds out about a requirement on the join with earlier releases."""
    from sfumato.verifier.linkage.links import Links  # noqa: PLC0415 - only where a requirement is about a join

    return Links(counts, earlier).finding


def _finding(counts: Counts, rule: Mapping[str, Any], place: int) -> Finding:
    achieved: dict[str, Any] = {}
    failures: list[str] = []
    for part, make in enumerate(CHECKS[rule["model"]]):
        check, table = make(counts, rule), f"found_{place}_{part}"
        counts.connection.execute(f"CREATE TABLE {table} AS {check.query}")
        achieved |= _achieved(counts, check, table)
        failures += _failures(counts, check, table)
    if rule.get("linked_k") is not None:
        achieved["linked_k"], words = linked(counts, rule["linked_k"])
        failures += words
    failures += counts.beyond(rule)
    required = {key: value for key, value in rule.items() if key != "model"}
    return Finding(
        rule["model"], required, achieved, not failures, tuple(f"{rule['model']}: {words}" for words in failures)
    )


def _achieved(counts: Counts, check: Check, table: str) -> dict[str, Any]:
    """What all classes reach; a key without a figure is one that nothing would meet."""
    figures = ", ".join(f"{aggregate} AS {name(key)}" for key, aggregate in check.achieved.items())
    line = counts.one(f"SELECT {figures} FROM {table}")
    return {key: _number(value) for key, value in zip(check.achieved, line, strict=True) if value is not None}


def _number(value: Any) -> Any:
    return value if isinstance(value, int) else round(float(value), 12)


def _failures(counts: Counts, check: Check, table: str) -> list[str]:
    """The worst classes in words, and how many more there are."""
    found = counts.connection.execute(
        f"SELECT f.id, {check.words} FROM {table} f JOIN classes c ON c.id = f.id WHERE NOT f.ok "
        f"ORDER BY {check.worst}, {counts.order} LIMIT {_SHOWN}"
    ).fetchall()
    failing = counts.one(f"SELECT count(*) FROM {table} WHERE NOT ok")[0]
    sentences = [f"{counts.describe(identifier)} {words}" for identifier, words in found]
    return sentences + ([f"{failing - _SHOWN:,} more classes fail"] if failing > _SHOWN else [])
