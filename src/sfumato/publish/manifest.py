"""The manifest: the public account of a release, with what was promised, what holds, and a data dictionary.

It derives from the policy and from what is published, and from nothing else. What knows of rows that were not published
(distributions, losses, counts of suppressed rows), of the seed or of the input file is in the audit.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sfumato._version import __version__
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.hierarchy import Label
from sfumato.labels.data_dictionary import describe_labels
from sfumato.masking.mask_promises import masking_statement
from sfumato.policy import Policy, Role
from sfumato.policy.class_aggregates import MICROAGGREGATION
from sfumato.policy.options import CUTS, UNLEVELLED
from sfumato.publish.extension import ALONE, TOGETHER
from sfumato.publish.numeric_columns import plan_numeric_columns
from sfumato.publish.promise import describe_earlier_releases, published_taxonomies, state_requirements
from sfumato.publish.pseudonyms import KEYED_WARNING, is_keyed
from sfumato.publish.publication import Publication
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable, class_id_column, togetherness_warning
from sfumato.publish.written_table import WrittenTable
from sfumato.recode import Recoding
from sfumato.table.formula_guard import guard_formula

_LISTED = 200
"""Columns with more labels than this are described by their number."""

PROTECTS = (
    "Each published row shares its quasi-identifier values with the other rows of its class, and each class meets "
    "every requirement under 'promise'. The adversary is assumed to know that a person is in the table and that "
    "person's quasi-identifiers. Not covered: columns of role plain, knowledge of sensitive values from elsewhere, "
    "other releases about the same people than those under 'previous'."
)

PSEUDONYMS = (
    " Rows carry pseudonyms: somebody who knows several rows of a person may find the one pseudonym that stands in all "
    "their classes; where 'promise' has a linked_k, so many have it."
)
"""What is added where a column names persons."""

SPLIT = (
    "Each line of the first table has a person's quasi-identifiers as they were, and the number of a class; each line "
    "of the other has sensitive values and the number of a class. Within a class nothing tells which lines belong "
    "together, and each class meets every requirement under 'promise'. The adversary is assumed to know that a person "
    "is in the table and that person's quasi-identifiers. Not covered: whether a person is in the table, which the "
    "first table shows; columns of role plain, which stand beside the quasi-identifiers; what a learner makes of how "
    "sensitive values go with quasi-identifiers across classes; knowledge of sensitive values from elsewhere; other "
    "releases about the same people."
)
"""The same of two tables."""

SPLIT_PSEUDONYMS = (
    " Lines carry pseudonyms: a person's lines lead to several classes, and a value that stays the same for the person "
    "is one that all their bags hold."
)
"""What is added to that where a column names persons."""

REMARK = (
    "Each line of each table stands for one record of the original table. Their join over the class number has every "
    "line of a class in one table beside every line of that class in the other: it is not the original table, and has "
    "more lines."
)
"""What goes with two tables, so that nobody takes their join for the data."""

MIXED = (
    " Labels of one column are of different levels here and may overlap: a class is the rows that agree in all their "
    "labels, letter by letter, and a person's values may fit the labels of several classes."
)
"""What is added where recoding is local."""


LINKED = (
    "The requirements under 'promise' are about the join of this table with those under 'previous': each value on x is "
    "linked to as many values on y, or to none with more confidence, as they say. The adversary is assumed to have all "
    "these tables, and to match records by the columns they share. Nothing is promised of this table by itself: of "
    "columns that stand in no x, of rows that agree with no other in their quasi-identifiers. Not covered: knowledge "
    "of y from elsewhere, other releases about the same people."
)
"""What is said where every requirement is about a join."""

CUT = (
    " Labels of one column may be of different levels here, but never one above another: each value of the column has "
    "exactly one label."
)
"""What is added where each column has a cut through its hierarchy."""

GUARD = (
    "A text that starts with = + - @, tab, CR or NUL, or with apostrophes before one of these, has one apostrophe "
    "more in front than the value (numbers excepted)."
)
"""How a CSV keeps spreadsheets from running a cell."""


def draft_manifest(publication: Publication, files: Mapping[str, WrittenTable]) -> dict[str, Any]:
    """The manifest before the verifier has spoken; `files` are the written tables, by the names of the tables."""
    policy, recoding = publication.policy, publication.recoding
    chosen_labels = find_chosen_labels(recoding, policy)
    linked = publication.linked_releases
    content: dict[str, Any] = {
        "sfumato": __version__,
        "published": datetime.now(tz=UTC).date().isoformat(),
        **({"about": dict(policy.publish.about)} if policy.publish.about else {}),
        "form": policy.publish.form,
        **_name_tables(policy, files),
        "rows": publication.rows,
        "classes": len(recoding.classes),
        "promise": state_requirements(policy),
        "protects": _protects(publication)
        + (f" {KEYED_WARNING}" if is_keyed(policy) else "")
        + (f" {stated}" if (stated := state_masking(publication)) else ""),
        "algorithm": recoding.algorithm,
        **describe_search(recoding, levels=False),
        "suppression_limit": float(policy.search.suppression),
        "columns": [
            entry | ({"table": files[file].path.name} if policy.publish.split else {})
            for file, table in publication.tables.items()
            for entry in describe_columns(table, publication)
        ],
    }
    if chosen_labels:
        content["chosen_labels"] = [asdict(labels) for labels in chosen_labels]
    if policy.publish.format != "parquet":
        content["csv"] = {"null": written_null(policy), "guard": GUARD}
    content["files"] = {name: entry for file in files.values() for name, entry in file.entries().items()}
    if linked is not None and linked.earlier:
        content["previous"] = describe_earlier_releases(linked)
        content["taxonomies"] = published_taxonomies(linked, recoding)
    if publication.extension is not None:
        content["extends"] = publication.extension.stated()
    return content


def _name_tables(policy: Policy, files: Mapping[str, WrittenTable]) -> dict[str, Any]:
    """Which file is which table, and what a reader of two has to know."""
    if not policy.publish.split:
        return {"table": files["table"].path.name}
    together = togetherness_warning(policy)
    return {
        "nss": files["nss"].path.name,
        "ss": [file.path.name for name, file in files.items() if name != "nss"],
        "class_id": class_id_column(policy),
        "remark": REMARK,
        **({"together": together} if together else {}),
    }


def _protects(publication: Publication) -> str:
    recoding, extension, policy = publication.recoding, publication.extension, publication.policy
    persons = policy.individual is not None
    if recoding.group is not None:
        return SPLIT + (SPLIT_PSEUDONYMS if persons else "")
    added = "" if extension is None else ALONE if extension.promise == "alone" else TOGETHER
    if not policy.privacy:
        return LINKED + CUT + added
    labels = MIXED if recoding.local else CUT if recoding.cut else ""
    return PROTECTS + (PSEUDONYMS if persons else "") + labels + added


def state_masking(publication: Publication) -> str:
    """What masked columns promise, from the policy and the published values alone; nothing where none is masked."""
    published = {}
    for name, masks in publication.masks.items():
        if masks.pram is not None and not masks.pram.invariant:
            published[name] = _count_published_values(publication, name)
    return masking_statement(publication.masks, published)


def _count_published_values(publication: Publication, name: str) -> int:
    """How many different values are published of a column; 0 where it is generalized, so that nobody sees."""
    for table in publication.tables.values():
        if name in table.columns and name not in table.recoded:
            column = table.columns[name]
            values = column.values if isinstance(column, PublishedColumn) else column.unique()
            return len(values) - (1 if values.null_count else 0)
    return 0


def describe_search(recoding: Recoding, *, levels: bool = True) -> dict[str, Any]:
    """How a search ended: its levels, or whether its classes were improved on."""
    if recoding.levels is not None:
        return {"levels": dict(recoding.levels)} if levels else {}
    return {"improved": recoding.improved} if recoding.local and recoding.algorithm != "anatomy" else {}


def written_null(policy: Policy) -> str:
    """How NULL is written in a CSV: the first text that the policy reads as missing and that needs no quotes or guard.

    >>> from types import SimpleNamespace as Some
    >>> written_null(Some(source=Some(null=("a,b", "=x", "?"))))
    '?'
    """
    fit = (
        text for text in policy.source.null if text == guard_formula(text) and not re.search(r'[",\r\n]|^\s|\s$', text)
    )
    return next(fit, "")


def public_findings(findings: Iterable[dict[str, Any]], publication: Publication) -> list[dict[str, Any]]:
    """What the verifier found, without figures that compare with rows that were suppressed, here or before."""
    compares = publication.suppressed or publication.extension is not None
    return [
        {key: value for key, value in finding.items() if key != "achieved"}
        if compares and finding["model"] == "t-closeness"
        else finding
        for finding in findings
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The data dictionary


def describe_columns(table: PublishedTable, publication: Publication) -> list[dict[str, Any]]:
    """The data dictionary of a table: an entry for each column, but for that of class numbers."""
    numeric = {column.name: column for column in plan_numeric_columns(publication.policy)}
    entries = []
    for name in table.columns:
        if name in publication.policy.columns:
            entries.append(_describe_column(name, table, publication))
        elif name in numeric:
            entries.append(numeric[name].as_json(str(table.types[name])))
    return entries


def _describe_column(name: str, table: PublishedTable, publication: Publication) -> dict[str, Any]:
    policy, recoding = publication.policy, publication.recoding
    spec, kind = policy.columns[name], table.types[name]
    entry: dict[str, Any] = {"name": name, "role": str(spec.role), "type": str(getattr(kind, "value_type", kind))}
    if spec.role is Role.SENSITIVE and spec.hierarchy is not None:
        entry["hierarchy"] = True  # its order is that of the hierarchy, which stays inside
    if spec.role is Role.INDIVIDUAL:
        entry["pseudonyms"] = "keyed" if is_keyed(policy) else "random"
    if spec.round is not None:
        entry["round"] = spec.round
    if spec.masks:
        entry["masked"] = spec.masks.methods()
        if name in table.recoded:
            entry["generalized"] = True  # so that no cell has to be a multiple, or within bounds
    if spec.role is not Role.QUASI:
        return entry
    if recoding.levels is not None and recoding.group is None:
        entry["level"] = recoding.levels[name]
    if spec.least:
        entry["least"] = spec.least
    for chosen in find_chosen_labels(recoding, policy):
        if name in chosen.columns:
            entry["form"] = chosen.form
    column = table.columns[name]
    assert isinstance(column, PublishedColumn)  # noqa: S101 - quasi-identifiers are coded; this tells the type checker
    labels = column.values.cast("string").to_pylist()
    if name in table.recoded:  # otherwise labels are the values themselves
        held = None if spec.public_domain else _published_values(publication, name)
        entry |= describe_labels(spec, labels, level=entry.get("level"), nulls=policy.source.null, held=held)
    return entry | ({"labels": labels} if len(labels) <= _LISTED else {"different_labels": len(labels)})


def _published_values(publication: Publication, name: str) -> set[Label]:
    """The values of a quasi-identifier that published rows have, as they came."""
    attribute = next(attribute for attribute in publication.encoded.quasi if attribute.name == name)
    rows = publication.recoding.count_published(attribute.column.codes, attribute.frequencies)
    return {attribute.column.texts[code] for code in rows.nonzero()[0].tolist()}


# ---------------------------------------------------------------------------------------------------------------------
# Labels that the algorithm chose itself. Fixed levels come from the policy, and a label of theirs is the same whatever
# rows there are. Ranges and sets are made from the rows of a class, so their form decides what they tell of these.

RANGES_TELL = {
    "partition": (
        "Ranges begin and end at cut points that were chosen once for the whole column, without regard to its lowest "
        "and its highest record: where the cuts lie tells roughly how the values of the table are spread, and not "
        "which values the rows of a class hold. A value that many rows share may stand by itself."
    ),
    "boxes": (
        "A range runs from the lowest to the highest value in its class: both ends are values that rows of the class "
        "hold, so the extremes of every class are published exactly."
    ),
    "means": (
        "A number is the mean of the values in its class, and may be the value of no row: whoever knows all values of "
        "a class but one can work out the last, and whoever knows a few is surer of the rest."
    ),
}
"""What each form of `[publish] ranges` tells of the rows of a class."""

AGGREGATES_TELL = {
    "means": RANGES_TELL["means"],
    "medians": (
        "A value is the median of its class: the value of a row of the class, or the middle between those of two rows. "
        "So it is told that somebody in the class has about this value."
    ),
    "modes": (
        "A value is the most frequent one of its class; of equally frequent ones, that of more rows of the table. At "
        "least one row of the class holds it; how many do is not told."
    ),
}
"""What each aggregate of microaggregation tells of the rows of a class."""

SETS_TELL = (
    "A set lists the values that occur in its class, and no others: each is the value of at least one row there."
)


@dataclass(frozen=True)
class ChosenLabels:
    """Columns that are published as ranges of a form, or as sets, and what that reveals of the rows of a class."""

    form: str
    columns: tuple[str, ...]
    reveals: str


def find_chosen_labels(recoding: Recoding, policy: Policy) -> list[ChosenLabels]:
    """Columns whose labels are made of the rows of a class; full-domain recodings and two tables have none."""
    if recoding.group is None and recoding.algorithm == MICROAGGREGATION:
        forms = {column.name: policy.aggregate_form(column.name) for column in policy.quasi}
        chosen = {form: tuple(name for name in forms if forms[name] == form) for form in AGGREGATES_TELL}
        return [ChosenLabels(form, names, AGGREGATES_TELL[form]) for form, names in chosen.items() if names]
    if recoding.levels is not None or recoding.group is not None or recoding.algorithm not in {*UNLEVELLED, *CUTS}:
        return []
    form = policy.publish.ranges
    ranges = tuple(column.name for column in policy.quasi if isinstance(column.hierarchy, Ranges))
    sets = tuple(column.name for column in policy.quasi if isinstance(column.hierarchy, Sets))
    both = [ChosenLabels(form, ranges, RANGES_TELL[form]), ChosenLabels("sets", sets, SETS_TELL)]
    return [labels for labels in both if labels.columns]
