"""Check one requirement over the join with earlier releases."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.errors import NotVerified
from sfumato.verifier.linkage.anonymity import anonymity
from sfumato.verifier.linkage.groups import count_groups
from sfumato.verifier.linkage.joined import SHOWN, Joined, joined
from sfumato.verifier.linkage.lines import run
from sfumato.verifier.linkage.linkability import closest, linkability
from sfumato.verifier.linkage.plan import Plan
from sfumato.verifier.linkage.rules import ANONYMITY
from sfumato.verifier.linkage.thresholds import Thresholds, thresholds
from sfumato.verifier.linkage.words import Words
from sfumato.verifier.verdict import Finding

_LARGEST = 2**126
"""Numbers up to here fit into 128 bits, with their sign and one bit to spare."""

Said = Callable[[Any], str]
"""What is said of a line that fails."""


def finding(plan: Plan, rule: Mapping[str, Any]) -> Finding:
    """What holds of a requirement; the tables of `find_matches` must be there."""
    parts, distinct = count_groups(plan, rule), rule["model"] == ANONYMITY
    over = joined(plan, parts, distinct=distinct)
    words = Words(plan, parts, rule)
    if distinct:
        _check_size(plan, 1)
        figure, failures = _gathered(over, anonymity(over, rule["k"]), _few(over, words))
    else:
        known = thresholds(plan, parts, rule)
        _check_size(plan, known.largest)
        figure, failures = _gathered(over, linkability(over, known), _close(over, words, known))
    required = {key: value for key, value in rule.items() if key != "model"}
    said = tuple(f"{rule['model']}: {sentence}" for sentence in failures)
    return Finding(rule["model"], required, {"k": figure}, not failures, said)


def _check_size(plan: Plan, factor: int) -> None:
    """Refuse a join whose lines, times a factor, no number of 128 bits can count: no sum below goes beyond that."""
    rows = [int(run(plan.connection, f"SELECT sum(n) FROM groups_{i}")[0][0] or 0) for i in range(len(plan.tables))]
    if math.prod(rows) * factor >= _LARGEST:
        raise NotVerified(
            f"the join of tables with {', '.join(f'{each:,}' for each in rows)} rows may have more lines than can be "
            "counted exactly; nothing was proved: write k with fewer digits, or join earlier releases beforehand"
        )


def _gathered(over: Joined, queries: Iterable[str], said: Said) -> tuple[int | float, list[str]]:
    """The worst figure of all queries, and what fails: the worst in words, and how many more there are."""
    best, order = ("min", "ASC") if over.distinct else ("max", "DESC")
    figures, worst, failing = [], [], 0
    for query in queries:
        figure, number = run(
            over.plan.connection, f"SELECT {best}(figure), coalesce(sum(m) FILTER (NOT ok), 0) FROM ({query})"
        )[0]
        figures += [] if figure is None else [figure]
        if number:
            failing += int(number)
            some = f"SELECT * FROM ({query}) WHERE NOT ok ORDER BY figure {order}, who LIMIT {SHOWN}"
            select = f"SELECT * REPLACE (unnest(who) AS who) FROM ({some}) ORDER BY figure {order}, who LIMIT {SHOWN}"
            worst += [(each[1], each[0], said(each)) for each in run(over.plan.connection, select)]
    worst.sort(key=lambda each: (each[0] if over.distinct else -each[0], each[1]))
    sentences = [each[2] for each in worst[:SHOWN]]
    more = failing - len(sentences)
    figure = (min if over.distinct else max)(figures, default=0)
    return _number(figure), sentences + ([f"{more:,} more are linked too closely"] if more else [])


def _number(figure: Any) -> int | float:
    return figure if isinstance(figure, int) else round(float(figure), 12)


def _few(over: Joined, words: Words) -> Said:
    def said(found: Any) -> str:
        who, figure = found[0], found[1]
        return words.few(dict(zip(_tables(over), who, strict=True)), int(figure))

    return said


def _close(over: Joined, words: Words, known: Thresholds) -> Said:
    def said(found: Any) -> str:
        who, share, allowed = found[0], found[1], found[4] / found[5]
        others = len(over.others)
        if known.each:
            x, units = [who[0], *who[2 : 2 + others]], [who[1], *who[2 + others :]]
        else:
            x, units = who, closest(over, who)
        tables = _tables(over)
        return words.close(dict(zip(tables, x, strict=True)), dict(zip(tables, units, strict=True)), share, allowed)

    return said


def _tables(over: Joined) -> list[int]:
    """The tables in the order in which lines name them."""
    return [over.pivot, *over.others]
