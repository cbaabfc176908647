"""Where a release comes from: the folder that anonymize wrote, a file of anybody's, or memory."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.encode import CodedColumn, EncodedTable, encode_column
from sfumato.errors import DataError
from sfumato.hierarchy import Ranges
from sfumato.labels.data_dictionary import Entry, entry_from_policy
from sfumato.matching.outside import Options, check_names, names_of, table_of
from sfumato.matching.released import Released, manifest_of, promised_k
from sfumato.matching.shown import Shown
from sfumato.policy import Policy, Role
from sfumato.queries.account import Account, read_account
from sfumato.recode import Recoding
from sfumato.split import tables_from_files, tables_from_recoding
from sfumato.split.two_tables import column_names_of_role, read_published_columns


def read_released(folder: Path) -> Released:
    """A release from its folder or from its public part, as lines of all its quasi-identifiers."""
    shown = read_shown(folder)
    return shown.released(shown.with_role("quasi"), shown.with_role("sensitive"))


def read_shown(folder: Path, others: Sequence[str] = ()) -> Shown:
    """A release from its folder or from its public part; `others` are columns that are neither quasi nor sensitive."""
    account = read_account(folder)
    manifest = manifest_of(account)
    quasi, sensitive, named = (column_names_of_role(manifest, role) for role in ("quasi", "sensitive", "individual"))
    if not quasi:
        raise DataError(f"manifest.json of {folder} has no quasi-identifier; it was changed after publication")
    promise = json.loads((account.folder / "manifest.json").read_bytes()).get("promise")
    first = [*quasi, *([account.class_id] if account.class_id else sensitive), *others, *named]
    columns = read_published_columns(account.paths[0], manifest, list(dict.fromkeys(first)))
    columns.pop(account.class_id or "", None)
    individual = columns.get(named[0]) if named else None
    shown = Shown(
        str(folder),
        account,
        promised_k(promise if isinstance(promise, list) else []),
        columns,
        individual=individual,
    )
    if not account.split:
        return shown
    tables = tables_from_files(account.folder, manifest)
    return replace(shown, class_of=tables.class_of, bags=tables.bags)


def file_shown(path: Path, wanted: Sequence[str], policy: Policy | None, options: Options) -> Shown:
    """Columns of a file, raw or published by somebody; with a policy its hierarchies say what labels stand for.

    Without one a label is a value, and ``*`` stands for all.
    """
    names = names_of(path, options)
    check_names(wanted, names, path.name)
    named = policy.individual.name if policy and policy.individual and policy.individual.name in names else None
    table = table_of(path, list(dict.fromkeys([*wanted, *([named] if named else [])])), options)
    columns = {name: encode_column(table, name) for name in wanted}
    entries = tuple(_entry(name, columns.get(name), policy) for name in names)
    account = Account(path.parent, "file", (path.name,), None, entries, "")
    return Shown(str(path), account, None, columns, individual=encode_column(table, named) if named else None)


def memory_shown(
    encoded: EncodedTable, recoding: Recoding, policy: Policy, plain: Mapping[str, CodedColumn] | None = None
) -> Shown:
    """A release before it is written: what its files will show, in the order of the original.

    `plain` are columns that are published as they are, where they are looked at.
    """
    split = recoding.group is not None
    rows = rows_of(recoding)
    entry = _plain if split else _Recoded(recoding).entry
    account = Account(Path(), policy.publish.form, (), None, tuple(entry(name, policy) for name in policy.columns), "")
    labels = {name: CodedColumn(name, one.codes.take(rows), one.texts, None) for name, one in recoding.labels.items()}
    others = {name: replace(one, codes=one.codes.take(rows)) for name, one in (plain or {}).items()}
    shown = Shown("release", account, promised_k(_rules(policy)), labels | others, individual=_named(encoded, rows))
    if split:
        tables = tables_from_recoding(encoded, recoding)
        columns = {one.name: one for one in tables.quasi}
        return replace(shown, columns=columns | others, class_of=tables.class_of, bags=tables.bags)
    sensitive = {name: replace(one, codes=one.codes.take(rows)) for name, one in encoded.sensitive.items()}
    return replace(shown, columns=labels | sensitive | others)


def rows_of(recoding: Recoding) -> IntArray:
    """The rows of the original that are published."""
    if recoding.group is not None:
        return np.flatnonzero(recoding.group >= 0)
    some = next(iter(recoding.labels.values())).codes
    return np.arange(len(some)) if recoding.published is None else np.flatnonzero(recoding.published)


def _named(encoded: EncodedTable, rows: IntArray) -> CodedColumn | None:
    one = encoded.individual
    return None if one is None else replace(one, codes=one.codes.take(rows))


def _rules(policy: Policy) -> list[Any]:
    rules = policy.document.get("privacy")
    return rules if isinstance(rules, list) else []


def _plain(name: str, policy: Policy) -> Entry:
    return {"name": name, "role": str(policy.columns[name].role)}


def _entry(name: str, column: CodedColumn | None, policy: Policy | None) -> Entry:
    """The entry of a column of a file: what the policy declares of a quasi-identifier, else nothing but its role."""
    if policy is None or name not in policy.columns:
        return {"name": name, "role": "plain"}
    told = column is not None and policy.columns[name].role is Role.QUASI
    return {**_plain(name, policy), **(entry_from_policy(policy, name, column.texts) if told and column else {})}


@dataclass(frozen=True, eq=False)
class _Recoded:
    """Entries of columns whose labels a recoding has."""

    recoding: Recoding

    def entry(self, name: str, policy: Policy) -> Entry:
        if name not in self.recoding.labels:
            return _plain(name, policy)
        labels = self.recoding.labels[name]
        means = isinstance(policy.columns[name].hierarchy, Ranges) and policy.publish.ranges == "means"
        form = {"form": "means"} if means and self.recoding.levels is None else {}
        return {**_plain(name, policy), **entry_from_policy(policy, name, labels.texts, level=labels.level), **form}
