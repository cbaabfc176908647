"""The account that goes with a release: what was promised, what holds, and a data dictionary.

It derives from the policy and from what is published, and from nothing else. What knows of rows that were not published
(distributions, losses, counts of suppressed rows), of the seed or of the input file stands in the audit.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato._version import __version__
from sfumato.labels.data_dictionary import describe_labels
from sfumato.policy import Policy, Role
from sfumato.recode import Recoding
from sfumato.release.audit import how_found
from sfumato.release.cells import Cells
from sfumato.release.key_file import JOINED, is_keyed
from sfumato.release.promised import requirements
from sfumato.release.published import Published
from sfumato.release.tables import class_id, reveals
from sfumato.release.telling import tellings
from sfumato.table.files import file_digest
from sfumato.table.formula_guard import guard_formula
from sfumato.verifier import Verdict

_LISTED = 200
"""Columns with more labels than this are described by their number."""

PROTECTS = (
    "Each published row shares its quasi-identifier values with the other rows of its class, and each class meets "
    "every requirement under 'promise'. The adversary is assumed to know that a person is in the table and that "
    "person's quasi-identifiers. Not covered: columns of role plain, knowledge of sensitive values from elsewhere, "
    "other releases about the same people than those under 'previous'. Where rows carry pseudonyms, somebody who knows "
    "several rows of a person may find the one pseudonym that stands in all their classes; where 'promise' has a "
    "linked_k, so many have it."
)

SPLIT = (
    "Each line of the first table has a person's quasi-identifiers as they were, and the number of a class; each line "
    "of the other has sensitive values and the number of a class. Within a class nothing tells which lines belong "
    "together, and each class meets every requirement under 'promise'. The adversary is assumed to know that a person "
    "is in the table and that person's quasi-identifiers. Not covered: whether a person is in the table, which the "
    "first table shows; columns of role plain, which stand beside the quasi-identifiers; what a learner makes of how "
    "sensitive values go with quasi-identifiers across classes; knowledge of sensitive values from elsewhere; other "
    "releases about the same people. Where lines carry pseudonyms, a person's lines lead to several classes, and a "
    "value that stays the same for the person is one that all their bags hold."
)
"""The same of two tables."""

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


def draft(
    tables: Mapping[str, Published], recoding: Recoding, policy: Policy, files: Mapping[str, Path]
) -> dict[str, Any]:
    """The manifest before the verifier has spoken; `tables` and `files` go together."""
    csv, told = {"null": written_null(policy), "guard": GUARD}, tellings(recoding, policy)
    return {
        "sfumato": __version__,
        "published": datetime.now(tz=UTC).date().isoformat(),
        "form": policy.publish.form,
        **_named(policy, files),
        "rows": next(iter(tables.values())).rows,
        "classes": len(recoding.classes),
        "promise": requirements(policy),
        "protects": _protects(recoding, policy) + (f" {JOINED}" if is_keyed(policy) else ""),
        "algorithm": recoding.algorithm,
        **how_found(recoding, levels=False),
        "suppression_limit": float(policy.search.suppression),
        "columns": [
            entry | ({"table": files[file].name} if policy.publish.split else {})
            for file, table in tables.items()
            for entry in dictionary(table, recoding, policy)
        ],
        **({"chosen_labels": [asdict(one) for one in told]} if told else {}),
        **({"csv": csv} if policy.publish.format == "csv" else {}),
        "files": {path.name: {"sha256": file_digest(path), "bytes": path.stat().st_size} for path in files.values()},
    }


def _named(policy: Policy, files: Mapping[str, Path]) -> dict[str, Any]:
    """Which file is which table, and what a reader of two has to know."""
    if not policy.publish.split:
        return {"table": files["table"].name}
    told = reveals(policy)
    return {
        "nss": files["nss"].name,
        "ss": [path.name for file, path in files.items() if file != "nss"],
        "class_id": class_id(policy),
        "remark": REMARK,
        **({"together": told} if told else {}),
    }


def _protects(recoding: Recoding, policy: Policy) -> str:
    if recoding.group is not None:
        return SPLIT
    if not policy.privacy:
        return LINKED + CUT
    return PROTECTS + (MIXED if recoding.local else CUT if recoding.cut else "")


GUARD = (
    "A text that starts with = + - @, tab, CR or NUL, or with apostrophes before one of these, has one apostrophe "
    "more in front than the value (numbers excepted)."
)


def written_null(policy: Policy) -> str:
    """How NULL stands in a CSV: as the first text that the policy reads as missing and that needs no quotes or guard.

    >>> from types import SimpleNamespace as Some
    >>> written_null(Some(source=Some(null=("a,b", "=x", "?"))))
    '?'
    """
    fit = (
        text for text in policy.source.null if text == guard_formula(text) and not re.search(r'[",\r\n]|^\s|\s$', text)
    )
    return next(fit, "")


def public_findings(verdict: Verdict, recoding: Recoding) -> list[dict[str, Any]]:
    """What holds, without figures that compare with rows that were suppressed."""
    findings = [finding.as_json() for finding in verdict.privacy]
    for finding in findings:
        if recoding.suppressed and finding["model"] == "t-closeness":
            del finding["achieved"]
    return findings


def dictionary(published: Published, recoding: Recoding, policy: Policy) -> list[dict[str, Any]]:
    """The data dictionary of a table: an entry for each column, but for that of class numbers."""
    return [_column(name, published, recoding, policy) for name in published.columns if name in policy.columns]


def _column(name: str, published: Published, recoding: Recoding, policy: Policy) -> dict[str, Any]:
    """One entry of the data dictionary."""
    role = policy.columns[name].role
    entry: dict[str, Any] = {"name": name, "role": str(role), "type": str(_plain_type(published.types[name]))}
    if role is Role.SENSITIVE and policy.columns[name].hierarchy is not None:
        entry["hierarchy"] = True  # its order is that of the hierarchy, which stays inside
    if role is Role.INDIVIDUAL:
        entry["pseudonyms"] = "keyed" if is_keyed(policy) else "random"
    if role is not Role.QUASI:
        return entry
    if recoding.levels is not None and recoding.group is None:
        entry["level"] = recoding.levels[name]
    if policy.columns[name].least:
        entry["least"] = policy.columns[name].least
    for told in tellings(recoding, policy):
        if name in told.columns:
            entry["form"] = told.form
    column = published.columns[name]
    assert isinstance(column, Cells)  # noqa: S101 - quasi-identifiers are always coded; this tells the type checker
    labels = column.values.cast("string").to_pylist()
    if name in published.recoded:  # otherwise labels are the values themselves
        entry |= describe_labels(policy.columns[name], labels, level=entry.get("level"), nulls=policy.source.null)
    return entry | ({"labels": labels} if len(labels) <= _LISTED else {"different_labels": len(labels)})


def _plain_type(kind: Any) -> Any:
    return getattr(kind, "value_type", kind)
