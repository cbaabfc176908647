"""A publication of records as densities, its manifest, and the true values that the verifier needs as evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._version import __version__
from sfumato.core.arrays import FloatArray, IntArray, narrow_codes
from sfumato.encode import encode_column
from sfumato.errors import quote
from sfumato.masking import MaskedTable
from sfumato.models import ExpectedAnonymity
from sfumato.policy import Policy
from sfumato.policy.column_masks import ColumnMasks, describe_masks
from sfumato.publish.manifest import GUARD, written_null
from sfumato.publish.promise import state_requirements
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable
from sfumato.table import Table
from sfumato.uncertain.uncertain_records import (
    UNCERTAIN,
    DrawnDensities,
    UncertainColumn,
    UncertainTable,
    publish_centers,
)

EXPECTED = (
    "Each row is a person's record, blurred: in place of each uncertain value there is a density, {kind}, with a "
    "centre that was drawn around the true value and a spread. The adversary is assumed to have all true records, "
    "and to match each density with the record that fits it best. On average over the draw, at least k true records "
    "fit a density as well as the own one does, among those that agree in all that is told exactly. That is an "
    "average: in a single draw fewer may fit, and it is not k-anonymity. Columns that are not uncertain are told as "
    "they are, so that whoever finds a record learns them. Not covered: {spread}; knowledge of values that are told "
    "as they are; whether a person is in the table; other releases about the same people. It is not differential "
    "privacy."
)
OWN_SPREAD = (
    "that each record has the spread it needs, which is wide where few are near and tells who has all true records "
    "whose spread it would be"
)
COMMON_SPREAD = "that all records have the spread that the neediest needs, which tells how far that one is from others"
KINDS = {
    "gaussian": "normal and independent in each column, whose standard deviation is the spread",
    "uniform": "even in a box, whose half-width in each column is the spread",
}
STRATA = " Records are matched within each combination of values of {columns}, which are told as they are."
HOW_TO_USE = (
    "A true value is distributed about as the density says: its centre, give or take the spread, if nothing else is "
    "known (a flat prior). Sums of such chances are expected values; they are smoother than the truth, the more so the "
    "narrower a question is."
)


@dataclass(frozen=True, eq=False, repr=False)
class UncertainPublication:
    """Densities that nobody has verified yet, and all that they came from.

    `records` are the uncertain columns, `densities` what was drawn for them and `order` the row of the table that each
    published row is. `source` is the table that they are of: where columns are masked, `masked` has the one that came
    in as well.
    """

    policy: Policy
    source: Table
    records: UncertainTable
    densities: DrawnDensities
    order: IntArray
    table: PublishedTable
    input_digest: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    repeated_identifiers: Mapping[str, float] = field(default_factory=dict)
    masked: MaskedTable | None = None

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<UncertainPublication of {self.rows:,} records as {self.densities.density.name} densities>"

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
        """The largest expected anonymity that the policy asks for."""
        return uncertain_k(self.policy)

    @property
    def rows(self) -> int:
        """Published rows."""
        return self.table.rows

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The published table by the name of its file."""
        return {self.policy.publish.form: self.table}

    @cached_property
    def truth(self) -> Any:
        """The true numbers of published rows, ``v<i>`` for column i, as an Arrow table: evidence, and private."""
        return pa.table(
            {f"v{i}": _nullable(column.numbers[self.order]) for i, column in enumerate(self.records.columns)}
        )

    @property
    def protects(self) -> str:
        """What is promised, against whom, and what is not."""
        options = self.policy.publish
        spread = OWN_SPREAD if options.spread == "record" else COMMON_SPREAD
        text = EXPECTED.format(kind=KINDS[options.density], spread=spread)
        if self.policy.search.strata:
            text += STRATA.format(columns=", ".join(self.policy.search.strata))
        if self.masks:
            named = ", ".join(f"{quote(name)} ({describe_masks(one)})" for name, one in self.masks.items())
            text += f" Masked before anything else: {named}; densities are around masked values."
        return text


def uncertain_k(policy: Policy) -> int:
    """The largest expected anonymity that a policy asks for."""
    return max(model.k for model in policy.requirements if isinstance(model, ExpectedAnonymity))


def _nullable(numbers: FloatArray) -> Any:
    return pa.array(np.nan_to_num(numbers), mask=np.isnan(numbers))


def publish_densities(
    source: Table, records: UncertainTable, densities: DrawnDensities, order: IntArray
) -> PublishedTable:
    """Put centres under the names of their columns, spreads beside them, and all other columns as they are."""
    columns: dict[str, Any] = {}
    types: dict[str, Any] = {}
    changed = set()
    place_of = {column.name: place for place, column in enumerate(records.columns)}
    for name in source.arrow.column_names:
        if name not in place_of:
            coded = encode_column(source, name)
            codes = narrow_codes(coded.codes[order].astype(np.int64), coded.width)
            columns[name], types[name] = PublishedColumn(codes, coded.values), source.type_of(name)
            continue
        place, column = place_of[name], records.columns[place_of[name]]
        columns[name] = publish_centers(column, densities.centers[place][order])
        columns[column.spread_name] = _nullable(densities.spreads[place][order])
        for one in (name, column.spread_name):
            types[one] = columns[one].type
            changed.add(one)
    return PublishedTable(source, order, columns, types, frozenset(changed))


def draft_uncertain_manifest(publication: UncertainPublication, files: Mapping[str, WrittenTable]) -> dict[str, Any]:
    """The manifest of densities before the verifier has spoken; `files` are the written tables."""
    policy = publication.policy
    content: dict[str, Any] = {
        "sfumato": __version__,
        "published": datetime.now(tz=UTC).date().isoformat(),
        **({"about": dict(policy.publish.about)} if policy.publish.about else {}),
        "form": policy.publish.form,
        "table": files[policy.publish.form].path.name,
        "remark": HOW_TO_USE,
        "rows": publication.rows,
        "classes": publication.records.count,
        "promise": state_requirements(policy),
        "protects": publication.protects,
        "algorithm": "densities",
        "density": policy.publish.density,
        "spread": policy.publish.spread,
        **({"strata": list(policy.search.strata)} if policy.search.strata else {}),
        "columns": describe_uncertain_columns(publication),
    }
    if policy.publish.format != "parquet":
        content["csv"] = {"null": written_null(policy), "guard": GUARD}
    content["files"] = {name: entry for file in files.values() for name, entry in file.entries().items()}
    return content


def describe_uncertain_columns(publication: UncertainPublication) -> list[dict[str, Any]]:
    """The data dictionary: what the centre of a density is of, which column has its spread, and its scale."""
    uncertain = {column.name: column for column in publication.records.columns}
    spreads = {column.spread_name: column for column in publication.records.columns}
    entries = []
    for name, kind in publication.table.types.items():
        stated = str(getattr(kind, "value_type", kind))
        if name in spreads:
            unit = {"unit": "days"} if spreads[name].kind == "date" else {}
            of = spreads[name].name
            entries.append(
                {"name": name, "role": "bound", "type": stated, "of": of, "bound": "spread", "integers": False, **unit}
            )
            continue
        entry: dict[str, Any] = {"name": name, "role": str(publication.policy.columns[name].role), "type": stated}
        if masks := publication.masks.get(name):
            entry["masked"] = masks.methods()
        entries.append(entry | (_describe_density(uncertain[name], publication) if name in uncertain else {}))
    return entries


def _share_of_ties(column: UncertainColumn) -> float:
    """The chance that two records which are densities hold the same value, to two decimals."""
    counts = np.unique(column.numbers[column.codes == UNCERTAIN], return_counts=True)[1]
    return round(float(((counts / max(counts.sum(), 1)) ** 2).sum()), 2)


def _describe_density(column: UncertainColumn, publication: UncertainPublication) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "kind": column.kind,
        "density": publication.policy.publish.density,
        "spread": column.spread_name,
        "scale": column.unit,
        "ties": _share_of_ties(column),
    }
    if column.step:
        entry["step"] = column.step
    if column.scale.date_format is not None:
        entry["date_format"] = column.scale.date_format
    if column.bounds is not None:
        entry["bounds"] = list(column.bounds)
    return entry | ({"exact": column.atoms.tolist()} if len(column.atoms) else {})
