"""A release as somebody looks people up in it: lines that persons may fit, their classes, and the bag of each class."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram
from sfumato.encode import CodedColumn
from sfumato.labels.data_dictionary import Entry
from sfumato.queries.account import Account


@dataclass(frozen=True, eq=False)
class Released:
    """One release: `quasi` has a code for each different line, `owner` its class; `lines` has the line of each row.

    Of one table a class is one line with labels; of two tables it may have many with values. `persons` has a number
    for the person of each row, where rows carry pseudonyms.
    """

    name: str
    account: Account
    k: int | None
    quasi: Mapping[str, CodedColumn]
    lines: IntArray
    class_of: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]
    persons: IntArray | None = None

    @property
    def rows(self) -> int:
        """Rows, all in all."""
        return len(self.lines)

    def entry(self, column: str) -> Entry:
        """What the data dictionary has of a column."""
        return next(entry for entry in self.account.columns if entry["name"] == column)


def promised_k(rules: Iterable[Any]) -> int | None:
    """The largest number of rows or persons that some requirement asks of a class; none where none does.

    >>> promised_k([{"model": "k-anonymity", "k": 3}, {"model": "xy-anonymity", "k": 40}, {"model": "t-closeness"}])
    3
    """
    sound = [rule for rule in rules if isinstance(rule, dict) and not str(rule.get("model")).startswith("xy-")]
    asked = [rule["k"] for rule in sound if isinstance(rule.get("k"), int)]
    return max(asked, default=None)


def manifest_of(account: Account) -> dict[str, Any]:
    """The parts of a manifest that a reader of the tables goes by, as the account has checked them."""
    first, *others = account.tables
    named = {"nss": first, "ss": others, "class_id": account.class_id} if account.split else {"table": first}
    csv = {"csv": {"null": account.null}} if first.endswith(".csv") else {}
    return {**named, **csv, "columns": [{"role": "plain", **entry} for entry in account.columns]}
