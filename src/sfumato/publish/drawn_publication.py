"""A publication of drawn rows, its manifest, and the evidence that the verifier needs of how they were drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._version import __version__
from sfumato.condense.condensation import Condensed
from sfumato.condense.mixed_columns import NUMBER, MixedColumn, MixedTable
from sfumato.core.arrow import arrow_numbers
from sfumato.core.segments import sort_by_group
from sfumato.masking import MaskedTable
from sfumato.masking.mask_promises import drawn_masking_statement
from sfumato.models import IdentityKAnonymity, KAnonymity
from sfumato.policy import Policy
from sfumato.policy.column_masks import ColumnMasks
from sfumato.publish.manifest import GUARD, written_null
from sfumato.publish.promise import state_requirements
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable
from sfumato.table import Table

SYNTHETIC = (
    "No row is anybody's. Rows of the original table were put into groups of at least k {unit} that are alike, and "
    "the rows here were drawn from the mean and the covariances of each group, over all columns, sensitive ones "
    "included. Whatever a row tells, it tells of a group: no figure that it was drawn from is of fewer than k {unit}, "
    "and no category stands here that fewer than k hold. The adversary may know any columns of a person. Not covered: "
    "what all of a group have in common is told of each of them; whoever knows all of a group but one can work out "
    "much of the last; whether a person is in the table; other releases about the same people. It is not differential "
    "privacy."
)
STRATA = (
    " Groups were formed within the values of {columns}: how many rows have each combination of these values is told "
    "as it is."
)
NOT_THE_DATA = (
    "Rows are drawn: analyze them as a sample like the original, not as the original. Means of groups and frequencies "
    "of categories are kept, covariances as expected values. What holds by definition between columns (a sum, an age "
    "and a date of birth) need not hold in a row."
)
_LISTED = 200


def drawn_k(policy: Policy) -> int:
    """The largest k that a policy of drawn rows asks for."""
    return max(model.k for model in policy.privacy if isinstance(model, KAnonymity | IdentityKAnonymity))


@dataclass(frozen=True, eq=False, repr=False)
class DrawnPublication:
    """Drawn rows that nobody has verified yet, and all that they came from.

    `table` is what is published, `mixed` the columns that were condensed and `condensed` the groups and what was drawn
    of them. `seconds` says how long each step took. `source` is the table that they were drawn from: where columns are
    masked, `masked` has the one that came in as well.
    """

    policy: Policy
    source: Table
    mixed: MixedTable
    condensed: Condensed
    table: PublishedTable
    input_digest: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    repeated_identifiers: Mapping[str, float] = field(default_factory=dict)
    masked: MaskedTable | None = None

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<DrawnPublication of {self.rows:,} rows from {len(self.condensed.sizes):,} groups>"

    @property
    def original(self) -> Table:
        """The table that came in, before any column was masked."""
        return self.source if self.masked is None else self.masked.original

    @property
    def masks(self) -> dict[str, ColumnMasks]:
        """The masks of columns, in the order of the policy; nothing where no column is masked."""
        return {column.name: column.masks for column in self.policy.masked}

    @property
    def k(self) -> int:
        """How many rows, or people, each drawn row stands for at least: the largest k of the policy."""
        return drawn_k(self.policy)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.table.rows

    @property
    def groups_made(self) -> int:
        """Number of groups that rows were drawn from."""
        return len(self.condensed.sizes)

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The published table by the name of its file."""
        return {self.policy.publish.form: self.table}

    @property
    def protected_unit(self) -> str:
        """What k counts: rows, or people where a column names them."""
        return "rows" if self.mixed.persons is None else "people"

    @cached_property
    def groups(self) -> Any:
        """The group of each published row, as an Arrow table: evidence for the verifier, and private."""
        return pa.table({"group": arrow_numbers(self.condensed.group_of.astype(np.int32))})

    @cached_property
    def statistics(self) -> Any:
        """Of each group its number, rows and persons, and the means of numbers: evidence for the verifier, and private.

        The mean of column number i is under ``m<i>``. Where not every row of the group holds a number in it, or the
        number is an atom, there is none. Of columns with such groups, ``p<i>`` has which groups had their numbers drawn
        from all of them together; -1 are those that were drawn from the whole column.
        """
        condensed = self.condensed
        groups = len(condensed.sizes)
        order, runs = sort_by_group(condensed.members, groups)
        columns: dict[str, Any] = {
            "group": arrow_numbers(np.arange(groups, dtype=np.int32)),
            "rows": arrow_numbers(condensed.sizes),
            "persons": arrow_numbers(condensed.persons),
        }
        for place, column in enumerate(self.mixed.columns):
            if column.numbers is None:
                continue
            plain = column.codes[order] == NUMBER
            every = np.minimum.reduceat(plain.view(np.int8), runs.starts).astype(bool)
            values = np.where(plain, np.nan_to_num(column.numbers[order]), 0.0)
            means = column.restore(runs.sum(values) / runs.lengths)
            columns[f"m{place}"] = pa.array(np.where(every, means, 0.0), mask=~every)
            if place in condensed.pools:
                columns[f"p{place}"] = arrow_numbers(condensed.pools[place])
        return pa.table(columns)


def draft_drawn_manifest(publication: DrawnPublication, files: Mapping[str, WrittenTable]) -> dict[str, Any]:
    """The manifest of drawn rows before the verifier has spoken; `files` are the written tables."""
    policy, search = publication.policy, publication.policy.search
    protects = SYNTHETIC.format(unit=publication.protected_unit)
    if search.strata:
        protects += STRATA.format(columns=", ".join(search.strata))
    if publication.masks:
        protects += f" {drawn_masking_statement(publication.masks)}"
    content: dict[str, Any] = {
        "sfumato": __version__,
        "published": datetime.now(tz=UTC).date().isoformat(),
        **({"about": dict(policy.publish.about)} if policy.publish.about else {}),
        "form": policy.publish.form,
        "table": files[policy.publish.form].path.name,
        "remark": NOT_THE_DATA,
        "rows": publication.rows,
        "classes": len(publication.condensed.sizes),
        "promise": state_requirements(policy),
        "protects": protects,
        "algorithm": "condensation",
        "clustering": search.clustering or "mdav",
        "multiple": search.multiple,
        "neighbours": search.neighbours,
        "noise": search.noise,
        **({"strata": list(search.strata)} if search.strata else {}),
        "columns": [describe_drawn_column(column, publication) for column in publication.mixed.columns],
    }
    if policy.publish.format != "parquet":
        content["csv"] = {"null": written_null(policy), "guard": GUARD}
    content["files"] = {name: entry for file in files.values() for name, entry in file.entries().items()}
    return content


def describe_drawn_column(column: MixedColumn, publication: DrawnPublication) -> dict[str, Any]:
    """The entry of a drawn column: its kind, the grid and the bounds of its numbers, its atoms or its categories."""
    kind = publication.table.types[column.name]
    entry: dict[str, Any] = {
        "name": column.name,
        "role": str(column.role),
        "type": str(getattr(kind, "value_type", kind)),
        "kind": column.kind,
    }
    if masks := publication.masks.get(column.name):
        entry["masked"] = masks.methods()
    labels = column.labels.cast(pa.string()).to_pylist()
    if column.scale is None:
        return entry | ({"labels": labels} if len(labels) <= _LISTED else {"different_labels": len(labels)})
    if column.scale.step:
        entry["step"] = column.scale.step
    if column.scale.date_format is not None:
        entry["date_format"] = column.scale.date_format
    limits = column.scale.limits
    if (column.low, column.high) != limits:
        entry["bounds"] = [column.low, column.high]
    atoms = [label for label in labels[1:] if label is not None]
    return entry | ({"atoms": atoms} if atoms else {})
