"""Measure a release from its files: what was lost against the original, and how far answers to queries are off."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from sfumato.encode import EncodedTable, encode
from sfumato.errors import DataError, InputError, did_you_mean, listing
from sfumato.labels.covered_values import unknown_labels
from sfumato.labels.label_loss import find_losses, loss_arrays
from sfumato.policy import Policy
from sfumato.split import TwoTables, tables_from_files
from sfumato.split.two_tables import NAME_THE_ORIGINAL, check_row_count, codes_in_original
from sfumato.table import read_table
from sfumato.utility.labelled import labels_of_file
from sfumato.utility.measure import Shown, Utility, measured
from sfumato.utility.queries import Answers, QueryErrors, Workload, draw, of_labels, of_two_tables, query_errors
from sfumato.utility.queries.drawing import Progress


@dataclass(frozen=True, eq=False)
class Compared:
    """A release as its files show it, beside the table that it was made from.

    `split` says that it is two tables; `levels` are the levels of columns whose labels are all of one, and `entries`
    what the data dictionary has of each column.
    """

    before: EncodedTable
    after: TwoTables
    policy: Policy
    levels: Mapping[str, int]
    entries: Mapping[str, Mapping[str, Any]]
    split: bool

    @classmethod
    def read(cls, public: Path, manifest: Mapping[str, Any], original: Path, *, policy: Policy) -> Self:
        """Read the files of a release, whose manifest was checked for form, and its original."""
        _check_columns(manifest, policy)
        before, split = encode(read_table(original, policy), policy), "nss" in manifest
        after = tables_from_files(public, manifest) if split else labels_of_file(public / manifest["table"], manifest)
        entries = {column["name"]: column for column in manifest["columns"]}
        levels = {name: entry["level"] for name, entry in entries.items() if "level" in entry}
        return cls(before, after, policy, dict.fromkeys(before.names, 0) if split else levels, entries, split)

    def utility(self) -> Utility:
        """The losses of the published table."""
        written, shown = {column.name: column for column in self.after.quasi}, []
        for one in self.before.quasi:
            column, level = written[one.name], self.levels.get(one.name)
            found = find_losses(one, column.texts, level, form=self.policy.publish.ranges)
            strange = [text for text, told in zip(column.texts, found, strict=True) if told is None]
            if strange:
                raise unknown_labels(one.name, strange)
            kept = np.bincount(column.codes, minlength=column.width)
            shown.append(Shown(one, *loss_arrays(found), kept=kept))
        _check_original(self.before, self.after)
        return measured(shown, self.after.sizes, self.before.rows)

    def queries(
        self, workload: Workload, sensitive: str | None = None, *, progress: Progress | None = None
    ) -> QueryErrors:
        """How far answers to a workload are off; `sensitive` is the column that is asked of, see `asked_of`."""
        _check_original(self.before, self.after)
        name = asked_of(self.policy, sensitive)
        drawn = draw(self.before, name, workload, progress=progress)
        return query_errors(drawn, self._answers(name), progress=progress)

    def _answers(self, name: str) -> Answers:
        if self.split:
            return of_two_tables(self.after, self.before, name)
        return of_labels(self.after, self.before, name, levels=self.levels, entries=self.entries)


def asked_of(policy: Policy, name: str | None = None) -> str:
    """The sensitive column that queries ask of: `name`, or the first that a requirement looks at, or the first."""
    known = [column.name for column in policy.sensitive]
    if not known:
        raise InputError("queries ask of a sensitive column, and the policy has none; leave queries out")
    if name is not None and name not in known:
        hint = did_you_mean(name, known)
        raise InputError(f"'{name}' is no sensitive column of the policy, which has {listing(known)}{hint}")
    looked_at = [column for model in policy.privacy for column in model.looks_at if column in known]
    return name or next(iter([*looked_at, *known]))


def _check_original(before: EncodedTable, after: TwoTables) -> None:
    """Refuse a table that the release was not made from, as far as rows and sensitive values tell."""
    check_row_count(after.rows, before.rows)
    for name, bag in after.bags.items():
        held = np.bincount(bag.value, weights=bag.count, minlength=len(bag.domain.values))
        there = before.sensitive[name]
        codes = codes_in_original(bag.domain.values, there)
        if (held > np.bincount(there.codes, minlength=there.width)[codes]).any():
            raise DataError(
                f"column '{name}' of the release holds a value more often than the original does; {NAME_THE_ORIGINAL}"
            )


def _check_columns(manifest: Mapping[str, Any], policy: Policy) -> None:
    """Refuse a policy of another release; and means, which do not say what values they stand for."""
    roles = {(column["name"], column["role"]) for column in manifest["columns"]}
    mine = [column for column in (*policy.quasi, *policy.sensitive) if (column.name, str(column.role)) not in roles]
    if mine:
        raise InputError(
            f"the release has no {mine[0].role} column '{mine[0].name}', which the policy has; give the policy that "
            "it was made with"
        )
    means = [column["name"] for column in manifest["columns"] if column.get("form") == "means"]
    if means:
        raise InputError(
            f"means do not tell what they stand for, so the loss of {listing(means)} cannot be measured from the file; "
            "it was measured when the release was made: see utility in private/audit.json"
        )
