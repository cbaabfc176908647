"""Run the lines of a comparison, one after the other, each a verified release in memory; stopped, keep what is done."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sfumato.compare.comparison import RISKS, Comparison
from sfumato.compare.outcome import Figures, Outcome, figures_of
from sfumato.compare.plan import Case, planned
from sfumato.compare.settings import settings_of
from sfumato.compare.stopping import until_stopped
from sfumato.encode import EncodedTable, encode
from sfumato.errors import InputError, PolicyError, SfumatoError
from sfumato.policy import Policy, load
from sfumato.release import prepare
from sfumato.release.making import Progress
from sfumato.table import Table, from_frame, read_table

Watch = Callable[[int, int, str], Progress | None]
"""Told how many lines are done, how many there are and which comes next; may give what that one reports to."""


def compare(  # noqa: PLR0913 - as many as there are things to vary, by keyword
    policy: "str | Path | Mapping[str, Any] | Policy",
    data: Any = None,
    *,
    algorithms: Sequence[str] | None = None,
    settings: Mapping[str, Sequence[object]] | None = None,
    seed: int | None = None,
    risk: str = "highest",
    watch: Watch | None = None,
) -> Comparison:
    """Run a policy with every algorithm and every combination of settings, and measure each.

    `settings` are values by key, as in ``{"k": [2, 5, 10], "suppression": [0, 0.02]}``; without `algorithms` all that
    the policy can be met with are run. `data` is as for `anonymize`. What cannot be met, or does not go together, is a
    line with the reason. A KeyboardInterrupt ends it early: what was done until then is returned, and `stopped` is set.

    >>> import pyarrow
    >>> columns = {"zip": {"role": "quasi", "hierarchy": {"mask": "right"}}}
    >>> policy = {"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    >>> table = pyarrow.table({"zip": ["4350", "4351", "4352", "4353"]})
    >>> found = compare(policy, table, algorithms=["optimal"], settings={"k": [1, 2, 5]})
    >>> [each.figures.ncp if each.figures else each.reason for each in found.outcomes]
    [0.0, 1.0, 'k-anonymity (k = 5) cannot be met: k can be at most 4']
    """
    if risk not in RISKS:
        raise InputError(f"the risk {risk!r} is not measured; choose {' or '.join(RISKS)}")
    rules = load(policy).replace(source=data if isinstance(data, str | Path) else None, seed=seed)
    cases = planned(rules, algorithms, settings_of(rules, settings or {}))
    if all(case.policy is None for case in cases):
        raise PolicyError(f"no line of the comparison is a policy: {cases[0].reason}")
    bench = Bench.of(data, next(case.policy for case in cases if case.policy is not None))
    outcomes, stopped = until_stopped(_run(cases, bench, watch), sure=lambda each: each.figures is not None)
    return Comparison(rules, tuple(outcomes), len(cases), bench.table.rows, risk, bench.seconds, stopped)


@dataclass(frozen=True, eq=False)
class Bench:
    """The table, read once, and encoded once for all policies that see the same of it."""

    table: Table
    seconds: float
    encoded: dict[object, EncodedTable] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Any, policy: Policy) -> "Bench":
        """Read and encode, so that what is wrong with the table itself is said at once."""
        start = time.perf_counter()
        bench = cls(_table(data, policy), 0.0)
        bench.under(policy)
        return replace(bench, seconds=time.perf_counter() - start)

    def under(self, policy: Policy) -> EncodedTable:
        """The table encoded as this policy sees it."""
        looked_at = frozenset(name for model in policy.privacy for name in model.looks_at)
        what = (policy.publish.form == "anatomy", looked_at, policy.search.seed)
        if what not in self.encoded:
            self.encoded[what] = encode(self.table, policy)
        return self.encoded[what]

    def figures(self, policy: Policy, encoded: EncodedTable, progress: Progress | None = None) -> Figures:
        """Those of a release under the policy, once the verifier has passed it."""
        start = time.perf_counter()
        release = prepare(self.table, policy, progress=progress, encoded=encoded)
        release.verdict  # noqa: B018 - raises where the verifier does not pass it
        return figures_of(release, time.perf_counter() - start)


def _table(data: Any, policy: Policy) -> Table:
    """The table without its file: neither its hash nor its identifiers are of interest here."""
    if data is not None and not isinstance(data, str | Path):
        return from_frame(data, policy)
    if policy.source.path is None:
        raise PolicyError("is missing; say where the table is, here or with --data", key="data.source")
    return replace(read_table(policy.source.path, policy), path=None)


def _run(cases: Sequence[Case], bench: Bench, watch: Watch | None) -> Iterator[Outcome]:
    for place, case in enumerate(cases):
        yield _outcome(case, bench, watch(place, len(cases), case.algorithm) if watch else None)


def _outcome(case: Case, bench: Bench, progress: Progress | None) -> Outcome:
    line = Outcome(case.number, case.algorithm, case.settings, case.dropped, reason=case.reason)
    if case.policy is None:
        return line
    try:
        return replace(line, figures=bench.figures(case.policy, bench.under(case.policy), progress))
    except SfumatoError as error:
        return replace(line, reason=str(error))
    except MemoryError:
        return replace(line, reason="it does not fit into memory; run it on a larger machine")
