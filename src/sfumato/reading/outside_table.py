"""Tables that somebody else has, such as a voter list: only the columns that are asked for are read.

A table is a file, a frame or a `Table`. Files are read as text, as the policy of the release would have them read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import Policy, load
from sfumato.policy.database_url import DatabaseUrl, find_place
from sfumato.policy.options import fitting_options, read_data_source
from sfumato.reading.release_reader import ReleaseManifest, read_audited_policy
from sfumato.table import Table, column_names, read_table
from sfumato.table.frames import frame_column_names, frame_kind, frame_to_arrow
from sfumato.table.table import cast_text_views, check_rows, check_types

ReadOptions = Mapping[str, Any]
"""How a file is read: keys of [data] in a policy, without the source."""


def outside_column_names(data: Any, options: ReadOptions) -> list[str]:
    """List the columns of a table: a `Table`, a path, the URL of a database, or a frame."""
    if isinstance(data, str | Path | DatabaseUrl):
        return column_names(find_place(data), read_data_source(fitting_options(options, data), folder=Path()))
    if isinstance(data, Table):
        return list(data.arrow.column_names)
    return frame_column_names(data)


def read_outside_table(data: Any, columns: Sequence[str], options: ReadOptions) -> Table:
    """Read these columns of a table, as text where it is a file; a `Table` is returned as it is.

    >>> import pyarrow
    >>> read_outside_table(pyarrow.table({"age": [37], "name": ["Ann"]}), ["age"], {}).arrow.column_names
    ['age']
    """
    if isinstance(data, Table):
        return data
    if not isinstance(data, str | Path | DatabaseUrl):
        arrow = frame_to_arrow(data, frame_kind(data), list(columns))
        check_rows(arrow)
        check_types(arrow.schema, list(columns))
        return Table(cast_text_views(arrow))
    # a policy in which all other columns are identifiers, which no reader looks at
    quasi: dict[str, dict[str, str]] = {name: {"role": "quasi", "hierarchy": "suppress"} for name in columns}
    roles = {name: quasi.get(name, {"role": "identifier"}) for name in outside_column_names(data, options)}
    rules = {"data": fitting_options(options, data), "columns": roles, "privacy": [{"model": "k-anonymity", "k": 1}]}
    return read_table(find_place(data), load(rules))


def check_column_names(columns: Sequence[str], names: Sequence[str], where: str) -> None:
    """Refuse columns that are not among the `names` of a table.

    >>> check_column_names(["agee"], ["age", "sex"], "voters.csv")
    Traceback (most recent call last):
    sfumato.errors.DataError: voters.csv has no column 'agee'; did you mean age?
    """
    missing = [name for name in columns if name not in names]
    if missing:
        hint = did_you_mean(missing[0], names) or f"; it has {listing(names)}"
        raise DataError(f"{where} has no column {listing(missing)}{hint}")


def original_read_options(policy: Policy | None, manifest: ReleaseManifest | None) -> dict[str, Any]:
    """Say how the original of a release is read: by the policy, or the one in its audit, or with its text for NULL."""
    data = read_audited_policy(manifest).get("data") if manifest is not None and policy is None else None
    if policy is not None:
        data = policy.document.get("data")
    if isinstance(data, Mapping):
        return {key: value for key, value in data.items() if key != "source"}
    return {} if manifest is None else {"null": list(dict.fromkeys([manifest.null, ""]))}


def outside_read_options(policy: Policy | None, manifest: ReleaseManifest) -> ReadOptions:
    """Say how a table from elsewhere is read: as the original, but its separator, query and sheet are its own."""
    options = original_read_options(policy, manifest)
    return {key: value for key, value in options.items() if key not in {"separator", "query", "table", "sheet"}}
