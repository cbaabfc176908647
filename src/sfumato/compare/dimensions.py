"""The curse of dimensionality: how risk and loss grow as quasi-identifiers are added one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.compare.outcome import Figures
from sfumato.compare.plan import Case, changed, planned
from sfumato.compare.run import Bench, Watch
from sfumato.compare.settings import settings_of
from sfumato.compare.stopping import until_stopped
from sfumato.encode import EncodedTable, QuasiIdentifier, count_distinct_tuples
from sfumato.errors import InputError, PolicyError, SfumatoError
from sfumato.policy import Policy, load
from sfumato.recode.frequency_sets import FrequencyCounter
from sfumato.risk import Risk, asked_k, risk_of

ORDERS = ("given", "distinction")


@dataclass(frozen=True)
class Reached:
    """What one requirement came to over so many quasi-identifiers: its figures, or the reason why there are none.

    `cube` is the share of each column's range that a cube of k of the rows covers, were they spread evenly;
    of the persons, where a column names them.
    """

    k: int | None
    cube: float | None
    figures: Figures | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"k": self.k, "cube": self.cube} | (self.figures.as_json() if self.figures else {"reason": self.reason})


@dataclass(frozen=True)
class Level:
    """The first `number` quasi-identifiers, the last of which is `column`: the raw risk, and what releases cost."""

    number: int
    column: str
    raw: Risk
    reached: tuple[Reached, ...]

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        releases = [each.as_json() for each in self.reached]
        return {"dimensions": self.number, "added": self.column, "raw": asdict(self.raw), "releases": releases}


@dataclass(frozen=True)
class Dimensions:
    """All levels that were done of those `planned`; `stopped` says that somebody stopped it."""

    levels: tuple[Level, ...]
    planned: int
    rows: int
    algorithm: str
    order: str
    stopped: bool = False

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self) | {"private": True, "levels": [each.as_json() for each in self.levels]}


def dimensions(
    policy: "str | Path | Mapping[str, Any] | Policy",
    data: Any = None,
    *,
    k: Sequence[int] | None = None,
    algorithm: str | None = None,
    order: str = "given",
    watch: Watch | None = None,
) -> Dimensions:
    """Publish with one quasi-identifier, with two and so on, the others left out, and measure each.

    `order` adds them as they are ``given``, or by ``distinction``: the column with the most different values first.
    `k` is tried in place of that of the policy's requirements. A KeyboardInterrupt ends it early: what was done until
    then is returned, and `stopped` is set.
    """
    if order not in ORDERS:
        raise InputError(f"the order {order!r} is not known; choose {' or '.join(ORDERS)}")
    rules = load(policy).replace(source=data if isinstance(data, str | Path) else None, algorithm=algorithm)
    cases = planned(rules, [rules.search.name], settings_of(rules, {"k": list(k)} if k else {}))
    for case in cases:
        if case.policy is None:
            raise PolicyError(case.reason)
    bench = Bench.of(data, rules)
    encoded = bench.under(rules)
    chosen = _ordered(encoded, [column.name for column in rules.quasi], order)
    steps = _levels(cases, bench, encoded, chosen, watch)
    levels, stopped = until_stopped(steps, sure=lambda each: all(one.figures for one in each.reached))
    return Dimensions(tuple(levels), len(chosen), encoded.rows, rules.search.name, order, stopped)


def cube(k: int, rows: int, number: int) -> float:
    """The share F of each range that a cube with k of the rows covers in so many dimensions: F ** number = k / rows.

    >>> cube(5, 50000, 1), round(cube(5, 50000, 8), 3)
    (0.0001, 0.316)
    """
    return min(1.0, float((k / rows) ** (1 / number)))


def _ordered(encoded: EncodedTable, names: Sequence[str], order: str) -> list[QuasiIdentifier]:
    """The quasi-identifiers in the order in which they are added."""
    by_name = {attribute.name: attribute for attribute in encoded.quasi}
    found = [by_name[name] for name in names]
    return found if order == "given" else sorted(found, key=lambda attribute: -attribute.column.width)


def _levels(
    cases: Sequence[Case], bench: Bench, encoded: EncodedTable, chosen: Sequence[QuasiIdentifier], watch: Watch | None
) -> Iterator[Level]:
    for number in range(1, len(chosen) + 1):
        below = _below(encoded, chosen[:number])
        roller = FrequencyCounter(below)
        raw = risk_of(roller.group(roller.at_bottom()).classes)
        inner = watch(number - 1, len(chosen), f"{number} columns") if watch else None
        out = [attribute.name for attribute in chosen[number:]]
        bare = replace(bench, table=replace(bench.table, arrow=bench.table.arrow.drop_columns(out)))
        found = [_reached(bare, case, below, out, inner) for case in cases]
        yield Level(number, chosen[number - 1].name, raw, tuple(found))


def _below(encoded: EncodedTable, chosen: Sequence[QuasiIdentifier]) -> EncodedTable:
    """The table with these quasi-identifiers alone, in its own order."""
    quasi = tuple(attribute for attribute in encoded.quasi if attribute in chosen)
    columns = dict(encoded.sensitive)
    if encoded.individual is not None:
        columns[encoded.individual.name] = encoded.individual
    others = {name: columns[name] for name in encoded.domains}
    return replace(encoded, quasi=quasi, tuples=count_distinct_tuples(quasi, others))


def _reached(bench: Bench, case: Case, encoded: EncodedTable, out: Sequence[str], progress: Any) -> Reached:
    assert case.policy is not None  # noqa: S101 - cases without one were refused at the start
    k = asked_k(case.policy.privacy)
    all_of_them = encoded.rows if encoded.individual is None else encoded.individual.width
    found = Reached(k, None if k is None else cube(k, all_of_them, len(encoded.quasi)))
    try:
        return replace(found, figures=bench.figures(_without(case.policy, out), encoded, progress))
    except SfumatoError as error:
        return replace(found, reason=str(error))


def _without(policy: Policy, names: Sequence[str]) -> Policy:
    """The policy with these columns left out."""
    document = changed(policy.document, {("columns", name): {"role": "identifier"} for name in names})
    return replace(Policy.read(document, folder=policy.folder, lenient=policy.lenient), source=policy.source)
