"""Links: a release beside the earlier ones, for all requirements about their join."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.verifier.counts import Counts
from sfumato.verifier.linkage.earlier import are_taxonomies
from sfumato.verifier.linkage.finding import finding
from sfumato.verifier.linkage.groups import gathered
from sfumato.verifier.linkage.lines import run
from sfumato.verifier.linkage.matches import find_matches
from sfumato.verifier.linkage.plan import Plan, plan
from sfumato.verifier.linkage.rules import is_xy
from sfumato.verifier.one_table import OneTable
from sfumato.verifier.published import Published
from sfumato.verifier.verdict import Finding

_MADE = re.compile(r"(all|kinds|groups|xs|ys)_\d+|(paths|pairs)_\d+_\d+|matches|lines")
"""The tables that a plan leaves behind."""


class Links:
    """What matches what is found once for all requirements on the same earlier releases that follow one another."""

    def __init__(self, counts: Counts, earlier: Sequence[Published]) -> None:
        self.counts, self.earlier = counts, earlier
        self._made: tuple[tuple[str, ...], Plan] | None = None

    def finding(self, rule: Mapping[str, Any]) -> Finding:
        """What holds of a requirement."""
        names = self._joined(rule)
        if self._made is None or self._made[0] != names:
            self._clear()
            self._made = names, self._plan(names)
        return finding(self._made[1], rule)

    def _joined(self, rule: Mapping[str, Any]) -> tuple[str, ...]:
        """The earlier releases that a requirement is joined with, in their own order: those it names, or all."""
        known = [each.name for each in self.counts.promise.joined]
        wanted = rule.get("releases") or known
        strange = [name for name in wanted if name not in known]
        if strange:
            raise InputError(f"{rule['model']} is about the release {strange[0]!r}, which is none of the earlier ones")
        return tuple(name for name in known if name in wanted)

    def _plan(self, names: tuple[str, ...]) -> Plan:
        promise = self.counts.promise
        if not isinstance(self.counts, OneTable) or not are_taxonomies(promise.taxonomies):
            raise InputError("a join with earlier releases needs a generalized table, and taxonomies that are trees")
        chosen = [pair for pair in zip(promise.joined, self.earlier, strict=True) if pair[0].name in names]
        left = {each.name for each in promise.joined} - {*names}
        about = [replace(each, inconsistent=_among(each.inconsistent, left)) for each, _ in chosen]
        tables = [table for _, table in chosen]
        made = plan(self.counts.published, tables, about, promise.taxonomies, promise.individual)
        made = gathered(made, [rule for rule in promise.requirements if is_xy(rule) and self._joined(rule) == names])
        find_matches(made)
        for number, each in enumerate(about, 1):
            found = int(run(made.connection, f"SELECT coalesce(sum(n), 0) FROM kinds_{number}")[0][0])
            if each.rows not in {None, found}:
                raise NotVerified(
                    f"the earlier release '{each.name}' has {found:,} rows where {each.rows:,} are stated"
                )
        return made

    def _clear(self) -> None:
        """Forget what matched in another join."""
        connection = self.counts.connection
        for (name,) in run(connection, "SELECT table_name FROM duckdb_tables()"):
            if _MADE.fullmatch(name):
                run(connection, f"DROP TABLE {name}")


def _among(pairs: Sequence[tuple[str, str]], left: set[str]) -> tuple[tuple[str, str], ...]:
    """The rules that are not about a release that is left out."""
    return tuple(pair for pair in pairs if not any(side.partition(".")[0] in left for side in pair))
