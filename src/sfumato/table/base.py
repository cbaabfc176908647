"""Table: an Arrow table that remembers what kind of thing it came from."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import Policy, Role


@dataclass(frozen=True, eq=False)
class Table:
    """The columns a policy may use, as Arrow, and the object they came from.

    `kind` is ``file``, ``arrow``, ``pandas``, ``polars`` or ``duckdb``; `native` is what the caller
    handed in (``None`` for a file); `digest` is the SHA-256 of the input, for the private audit.
    """

    arrow: Any
    kind: str = "file"
    native: Any = None
    digest: str | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.arrow.num_rows)


def check_columns(names: list[str], policy: Policy) -> None:
    """Refuse a table whose columns are not exactly those the policy gives a role."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column names stand twice in the table: {listing(twice)}; rename one of each")
    missing = [name for name in policy.columns if name not in names]
    if missing:
        hint = did_you_mean(missing[0], names)
        raise DataError(f"columns of the policy are not in the table: {listing(missing)}{hint}")
    unlisted = [name for name in names if name not in policy.columns]
    if unlisted:
        raise DataError(
            f"columns without a role: {listing(unlisted)}; give each one in [columns], "
            'role = "identifier" to leave it out'
        )


def wanted(policy: Policy, names: list[str]) -> list[str]:
    """The columns that are read at all, in the table's order: identifiers never enter."""
    return [name for name in names if policy.columns[name].role is not Role.IDENTIFIER]


def check_types(table: Any) -> None:
    """Refuse nested and binary columns, of which nobody can say what they hold."""
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_nested(kind) or _is_binary(kind):
            raise DataError(
                f"column '{field.name}' holds {kind}, which cannot be published; "
                "turn it into text, numbers or dates, or give it the role identifier"
            )


def check_rows(table: Any) -> None:
    """Refuse a table with nothing to publish."""
    if table.num_rows == 0:
        raise DataError("the table has no rows; there is nothing to publish")


def dictionary_types(names: list[str], policy: Policy) -> dict[str, Any]:
    """Arrow types for text columns: few different values as a dictionary, anything else as text."""
    coded = {Role.QUASI, Role.SENSITIVE, Role.INDIVIDUAL}
    text, coded_text = pa.string(), pa.dictionary(pa.int32(), pa.string())
    return {name: coded_text if policy.columns[name].role in coded else text for name in names}


def _is_binary(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))
