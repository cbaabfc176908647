"""The attack on a release in memory, for the report: some rows of the original, some orders of columns, quickly."""

from dataclasses import replace

from sfumato.attack.known.attempt import Attempt
from sfumato.attack.known.found import Known
from sfumato.attack.known.walk import Effort
from sfumato.encode import EncodedTable
from sfumato.errors import listing
from sfumato.matching.sources import memory_shown, rows_of
from sfumato.policy import Policy
from sfumato.recode import Recoding

QUICK = Effort(targets=100, sets=128, orders=10, work=1 << 21)
"""For a report, that nobody should have to wait for."""

_MANY = 100_000
"""Of a table with more rows, columns that are published as they are take too long to look at for a report."""


def known_release(encoded: EncodedTable, recoding: Recoding, policy: Policy, *, effort: Effort = QUICK) -> Known:
    """Look for published rows of the original by values that are known of them."""
    many = encoded.rows > _MANY
    plain = {column.name: encoded.coded(column.name) for column in (() if many else policy.plain)}
    true = {one.name: one.column for one in encoded.quasi} | dict(encoded.sensitive) | plain
    shown = memory_shown(encoded, recoding, policy, plain)
    found = Attempt(shown, None, effort).of_original(true, rows_of(recoding))
    return replace(found, notes=(*found.notes, _left_out(policy))) if many and policy.plain else found


def _left_out(policy: Policy) -> str:
    names = listing([column.name for column in policy.plain])
    return f"Plain columns were left out, since the table is large: {names}; sfumato attack known looks at them."
