"""A release as its public files show it: lines that persons may fit, their classes, and the bag of each class."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.classes import Histogram, IntArray, tally
from sfumato.coding import Coded
from sfumato.encode import plain_domain
from sfumato.errors import DataError
from sfumato.keys import number, pack
from sfumato.queries.account import Account, read_account
from sfumato.queries.entry import Entry
from sfumato.split import TwoTables, of_files
from sfumato.split.tables import coded, columns_of


@dataclass(frozen=True, eq=False)
class Released:
    """One release: `quasi` has a code for each different line, `owner` its class; `lines` has the line of each row.

    Of one table a class is one line with labels; of two tables it may have many with values.
    """

    name: str
    account: Account
    k: int | None
    quasi: Mapping[str, Coded]
    lines: IntArray
    owner: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]

    @property
    def rows(self) -> int:
        """Rows, all in all."""
        return len(self.lines)

    def entry(self, column: str) -> Entry:
        """What the data dictionary has of a column."""
        return next(entry for entry in self.account.columns if entry["name"] == column)


def read_released(folder: Path) -> Released:
    """A release from its folder or from its public part."""
    account = read_account(folder)
    manifest = _manifest(account)
    if not columns_of(manifest, "quasi"):
        raise DataError(f"manifest.json of {folder} has no quasi-identifier; it was changed after publication")
    tables = of_files(account.folder, manifest) if account.split else _one_table(account, manifest)
    return _distinct(str(folder), account, tables)


def promised_k(rules: Iterable[Any]) -> int | None:
    """The largest number of rows or persons that some requirement asks of a class; none where none does.

    >>> promised_k([{"model": "k-anonymity", "k": 3}, {"model": "xy-anonymity", "k": 40}, {"model": "t-closeness"}])
    3
    """
    sound = [rule for rule in rules if isinstance(rule, dict) and not str(rule.get("model")).startswith("xy-")]
    asked = [rule["k"] for rule in sound if isinstance(rule.get("k"), int)]
    return max(asked, default=None)


def _manifest(account: Account) -> dict[str, Any]:
    """The parts of a manifest that a reader of the tables goes by, as the account has checked them."""
    first, *others = account.tables
    named = {"nss": first, "ss": others, "class_id": account.class_id} if account.split else {"table": first}
    csv = {"csv": {"null": account.null}} if first.endswith(".csv") else {}
    return {**named, **csv, "columns": [{"role": "plain", **entry} for entry in account.columns]}


def _one_table(account: Account, manifest: Mapping[str, Any]) -> TwoTables:
    quasi, sensitive = columns_of(manifest, "quasi"), columns_of(manifest, "sensitive")
    found = coded(account.paths[0], manifest, [*quasi, *sensitive])
    owner, _ = number(pack([found[one].codes for one in quasi], [found[one].width for one in quasi]))
    ones: IntArray = np.ones(len(owner), dtype=np.int64)
    bags = {one: tally(owner, found[one].codes.astype(np.int64), ones, plain_domain(found[one])) for one in sensitive}
    return TwoTables(tuple(found[one] for one in quasi), owner, np.bincount(owner), bags)


def _distinct(name: str, account: Account, tables: TwoTables) -> Released:
    """Equal lines of a class as one."""
    columns = [*(one.codes for one in tables.quasi), tables.owner]
    packed = pack(columns, [*(one.width for one in tables.quasi), len(tables.sizes)])
    _, first, lines = np.unique(packed.keys, return_index=True, return_inverse=True)
    quasi = {one.name: replace(one, codes=one.codes[first]) for one in tables.quasi}
    promise = json.loads((account.folder / "manifest.json").read_bytes()).get("promise")
    k = promised_k(promise if isinstance(promise, list) else [])
    return Released(name, account, k, quasi, lines, tables.owner[first], tables.sizes, tables.bags)
