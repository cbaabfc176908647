"""Tables and ledgers for the tests of the auditor."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.auditor.query_ledger import AuditSettings, QueryLedger

STAFF: dict[str, list[Any]] = {
    "age": ["30", "31", "30", "31", "45", "45", "45", "30", None],
    "dept": ["Sales", "Sales", "IT", "IT", "Sales", "IT", "IT", "Law", "Law"],
    "pay": [52, 48, 61, 59, 70, 80, 82, 90, -5],
    "illness": ["none", "flu", "none", "HIV", "flu", "none", "none", "flu", "none"],
}
"""Nine people. Their pay has a negative value, so that it is not taken to be bounded."""

Ledgers = Callable[..., QueryLedger]


@pytest.fixture
def ledgers(tmp_path: Path) -> Iterator[Ledgers]:
    """Begins ledgers, and closes them."""
    opened: list[QueryLedger] = []

    def begin(
        data: Any = STAFF, protect: str = "pay", on: str = "age,dept", name: str = "audit.db", **more: Any
    ) -> QueryLedger:
        table = pa.table(data) if isinstance(data, dict) else data
        settings = AuditSettings(tuple(protect.split(",")), tuple(on.split(",")), name="staff", **more)
        opened.append(QueryLedger.create(tmp_path / name, table, settings))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()
