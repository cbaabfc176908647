"""Table: an Arrow table that remembers what kind of thing it came from."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import Policy, Role


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """The columns a policy may use, as Arrow, and the object they came from.

    `kind` is ``file``, ``arrow``, ``pandas``, ``polars`` or ``duckdb``; `native` is what the caller
    handed in (``None`` for a file); `path` is where the file is; `schema` has the
    types of the source where `arrow` holds its text coded.
    """

    arrow: Any
    kind: str = "file"
    native: Any = None
    path: Path | None = None
    schema: Any = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.arrow.num_rows)

    def type_of(self, name: str) -> Any:
        """The Arrow type that a column has in the source."""
        return (self.schema or self.arrow.schema).field(name).type


def check_columns(names: list[str], policy: Policy) -> None:
    """Refuse a table whose columns are not exactly those the policy gives a role."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column names stand twice in the table: {listing(twice)}; rename one of each")
    missing = [name for name in policy.columns if name not in names]
    if missing:
        hint = did_you_mean(missing[0], names) or "; name the table that the policy is for"
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


def check_types(schema: Any, columns: list[str]) -> None:
    """Refuse columns of a type of which nobody can say what it holds, or that cannot be written."""
    for name in columns:
        kind = schema.field(name).type
        if not _is_known(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise DataError(
                f"column '{name}' holds {kind}, which cannot be published; "
                "turn it into text, numbers or dates, or give it the role identifier"
            )


def plain_text(table: Any) -> Any:
    """The table with views of text as the text itself, which more of Arrow can work on."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def check_rows(table: Any) -> None:
    """Refuse a table with nothing to publish."""
    if table.num_rows == 0:
        raise no_rows()


def no_rows() -> DataError:
    """What is said of a table without rows."""
    return DataError("the table has no rows; there is nothing to publish")


def dictionary_types(names: list[str], policy: Policy) -> dict[str, Any]:
    """Arrow types for text columns: few different values as a dictionary, anything else as text."""
    coded = {Role.QUASI, Role.SENSITIVE, Role.INDIVIDUAL}
    text, coded_text = pa.string(), pa.dictionary(pa.int32(), pa.string())
    return {name: coded_text if policy.columns[name].role in coded else text for name in names}


def _is_known(kind: Any) -> bool:
    types = pa.types
    if types.is_float16(kind) or types.is_interval(kind):
        return False
    known = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_primitive,
        types.is_decimal,
        types.is_null,
    )
    return any(test(kind) for test in known)
