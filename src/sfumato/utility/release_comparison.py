"""A release beside its original: what its files lost, and how far answers to queries from them are off."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.core.sampling_weights import read_weights
from sfumato.encode import EncodedTable, encode
from sfumato.errors import DataError, InputError, did_you_mean, listing, quote
from sfumato.labels.covered_values import unknown_labels
from sfumato.labels.data_dictionary import is_aggregate
from sfumato.labels.label_loss import find_losses, loss_arrays
from sfumato.masking import remask_table
from sfumato.policy import Policy
from sfumato.policy.options import DRAWN_FORMS
from sfumato.split import TwoTables, tables_from_files
from sfumato.split.two_tables import (
    NAME_THE_ORIGINAL,
    check_row_count,
    codes_in_original,
    column_names_of_role,
    read_published_columns,
)
from sfumato.table import read_original
from sfumato.utility.information_loss import PublishedAttribute, Utility, total_losses, weigh_losses
from sfumato.utility.masked_values import PublishedChanges, compare_masked_columns
from sfumato.utility.query_error import (
    QueryErrors,
    QueryProgress,
    Workload,
    draw_queries,
    estimator_from_labels,
    estimator_from_tables,
    measure_query_errors,
    read_tables_of_labels,
)


@dataclass(frozen=True, eq=False)
class ReleaseComparison:
    """A release as its files have it (`after`), beside the table that it was made from (`before`).

    `split` says that it is two tables; `levels` are the levels of columns whose labels are all of one, and `entries`
    what the data dictionary has of each column. `weights` are the sampling weights of the published rows, where they
    have some, float[rows].

    Masked columns are `before` masked again, as far as that can be had; of those in `drawn` it cannot, since they were
    masked at random. `masked` compares their published values with the true ones. Columns that are `aggregated` do not
    say what values they cover; `aggregate_comparison` measures a release that has such.
    """

    before: EncodedTable
    after: TwoTables
    policy: Policy
    levels: Mapping[str, int]
    entries: Mapping[str, Mapping[str, Any]]
    split: bool
    weights: FloatArray | None = None
    drawn: frozenset[str] = frozenset()
    masked: Mapping[str, PublishedChanges] = field(default_factory=dict)

    @classmethod
    def read(cls, public: Path, manifest: Mapping[str, Any], original: Any, *, policy: Policy) -> Self:
        """Read the files of a release, whose manifest was checked for form, and its original, a path or a frame."""
        _check_columns(manifest, policy)
        table = read_original(original, policy)
        seen, drawn = remask_table(table, policy, first="extends" not in manifest)
        if not any(map(is_aggregate, manifest["columns"])):
            _check_noise(policy, drawn)
        before, split = encode(seen, policy), "nss" in manifest
        if split:
            after = tables_from_files(public, manifest)
        else:
            after = read_tables_of_labels(public / manifest["table"], manifest)
        entries = {column["name"]: column for column in manifest["columns"]}
        levels = {name: entry["level"] for name, entry in entries.items() if "level" in entry}
        levels = dict.fromkeys(before.names, 0) if split else levels
        weights = _read_published_weights(public / manifest["nss" if split else "table"], manifest, policy)
        masked = compare_masked_columns(public, manifest, table)
        return cls(before, after, policy, levels, entries, split, weights, drawn, masked)

    @property
    def aggregated(self) -> frozenset[str]:
        """The columns that are published by means, medians and modes of classes."""
        return frozenset(name for name, entry in self.entries.items() if is_aggregate(entry))

    def published_attributes(self, names: Collection[str]) -> list[PublishedAttribute]:
        """Find what the labels of these quasi-identifiers lost."""
        columns, published = {column.name: column for column in self.after.quasi}, []
        for attribute in self.before.quasi:
            if attribute.name not in names:
                continue
            column, level = columns[attribute.name], self.levels.get(attribute.name)
            losses = find_losses(attribute, column.texts, level, form=self.policy.publish.ranges)
            unknown = [text for text, loss in zip(column.texts, losses, strict=True) if loss is None]
            if unknown:
                raise unknown_labels(attribute.name, unknown)
            rows = np.bincount(column.codes, minlength=column.width)
            published.append(PublishedAttribute(attribute, *loss_arrays(losses), published_rows=rows))
        return published

    def utility(self) -> Utility:
        """Measure the losses of the published table, all of whose quasi-identifiers have labels."""
        columns = {column.name: column for column in self.after.quasi}
        published = self.published_attributes(self.before.names)
        self.check_original()
        total = total_losses(published, self.after.sizes, self.before.rows)
        if self.weights is None:
            return total
        lost = [one.loss.take(columns[one.attribute.name].codes) for one in published]
        return replace(total, weighted_ncp=weigh_losses(lost, self.weights, self.before))

    def queries(
        self, workload: Workload, sensitive: str | None = None, *, progress: QueryProgress | None = None
    ) -> QueryErrors:
        """Measure the errors of a workload; `sensitive` is the column asked of, see `queried_column`."""
        self.check_original()
        name = queried_column(self.policy, sensitive)
        sample = draw_queries(self.before, name, workload, progress=progress)
        if self.split:
            estimator = estimator_from_tables(self.after, self.before, name)
        else:
            estimator = estimator_from_labels(self.after, self.before, name, levels=self.levels, entries=self.entries)
        return measure_query_errors(sample, estimator, progress=progress)

    def check_original(self) -> None:
        """Refuse a table that the release was not made from, as far as rows and sensitive values tell."""
        check_row_count(self.after.rows, self.before.rows)
        changed = {column.name for column in self.policy.masked if column.masks.is_random}
        for name, bag in self.after.bags.items():
            if name in changed & self.drawn:  # it may hold any value any number of times
                continue
            published = np.bincount(bag.value, weights=bag.count, minlength=len(bag.domain.values))
            column = self.before.sensitive[name]
            codes = codes_in_original(bag.domain.values, column)
            if (published > np.bincount(column.codes, minlength=column.width)[codes]).any():
                raise DataError(
                    f"column {quote(name)} of the release holds a value more often than the original does; "
                    f"{NAME_THE_ORIGINAL}"
                )


def _read_published_weights(path: Path, manifest: Mapping[str, Any], policy: Policy) -> FloatArray | None:
    """Read the sampling weights of a published table, row by row; none where policy and release have no such column."""
    names = column_names_of_role(manifest, "weight")
    if not names or policy.sampling_weight is None:
        return None
    column = read_published_columns(path, manifest, names)[names[0]]
    return read_weights(arrow_texts(column.texts).take(arrow_numbers(column.codes)), names[0])


def queried_column(policy: Policy, name: str | None = None) -> str:
    """Choose the sensitive column that queries ask of: `name`, or the first that a requirement is about, or the first.

    A name that is no sensitive column is refused.
    """
    sensitive = [column.name for column in policy.sensitive]
    if not sensitive:
        raise InputError("queries ask of a sensitive column, and the policy has none; leave queries out")
    if name is not None and name not in sensitive:
        hint = did_you_mean(name, sensitive)
        raise InputError(f"{quote(name)} is no sensitive column of the policy, which has {listing(sensitive)}{hint}")
    noisy = [column.name for column in policy.sensitive if column.masks.noise is not None]
    if name in noisy or len(noisy) == len(sensitive):
        raise InputError(
            f"queries count values of a sensitive column, and noise makes other values of those of {listing(noisy)}; "
            "ask of a column without noise, or leave queries out"
        )
    looked_at = [column for model in policy.privacy for column in model.looks_at if column in sensitive]
    return name or next(column for column in [*looked_at, *sensitive] if column not in noisy)


def _check_noise(policy: Policy, drawn: frozenset[str]) -> None:
    """Refuse quasi-identifiers with noise: their labels are of values that the original does not have."""
    noisy = [column.name for column in policy.quasi if column.masks.noise is not None and column.name in drawn]
    if noisy:
        raise InputError(
            f"noise made other values of those of {listing(noisy)}, so that the loss cannot be measured from the file; "
            "it was measured when the release was made: see utility in private/audit.json"
        )


def _check_columns(manifest: Mapping[str, Any], policy: Policy) -> None:
    """Refuse a policy of another release, and rows that were drawn."""
    if manifest.get("form") in DRAWN_FORMS:
        raise InputError(
            "the rows of this release were drawn, so that there are no labels to tell a loss by; how like the original "
            "they are was measured when it was made: see utility in private/audit.json, and private/report.html"
        )
    roles = {(column["name"], column["role"]) for column in manifest["columns"]}
    mine = [column for column in (*policy.quasi, *policy.sensitive) if (column.name, str(column.role)) not in roles]
    if mine:
        raise InputError(
            f"the release has no {mine[0].role} column '{mine[0].name}', which the policy has; give the policy that "
            "it was made with"
        )
