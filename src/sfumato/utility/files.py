"""Measure a release from its files: what the published table lost against the original."""

from pathlib import Path
from typing import Any

import numpy as np

from sfumato.encode import Attribute, Encoded, encode
from sfumato.errors import DataError, listing
from sfumato.policy import Policy, load
from sfumato.recode.frequencies import Roller
from sfumato.table import read
from sfumato.table.guard import guarded, unguarded
from sfumato.utility.measure import Shown, Utility, measured


def measure_files(table: Path, manifest: dict[str, Any], original: Path, policy: Policy) -> Utility:
    """The losses of a published full-domain table, from the file itself, against the original table."""
    before = encode(read(original, policy), policy)
    after = _published(table, manifest)
    levels = {column["name"]: column["level"] for column in manifest["columns"] if "level" in column}
    columns = {attribute.name: attribute for attribute in after.quasi}
    shown = [
        _shown(one, columns[_written(one.name, manifest)], levels[one.name], csv="csv" in manifest)
        for one in before.quasi
    ]
    roller = Roller(after)
    return measured(shown, roller.group(roller.base()).classes.sizes, before.rows)


def _published(table: Path, manifest: dict[str, Any]) -> Encoded:
    """The published quasi-identifiers, each as text, under the names that stand in the file."""
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    columns = {
        _written(column["name"], manifest): quasi if column["role"] == "quasi" else {"role": "identifier"}
        for column in manifest["columns"]
    }
    data = {"null": [manifest["csv"]["null"]], "separator": ","} if "csv" in manifest else {}
    rules = load({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    return encode(read(table, rules), rules)


def _written(name: str, manifest: dict[str, Any]) -> str:
    return guarded(name) if "csv" in manifest else name


def _shown(before: Attribute, after: Attribute, level: int, *, csv: bool) -> Shown:
    """Count published rows per label of the hierarchy."""
    labels = before.hierarchy.labels[level]
    code = {label: i for i, label in enumerate(labels)}
    texts = [unguarded(text) if csv and text is not None else text for text in after.column.texts]
    strange = [text for text in texts if text not in code]
    if strange:
        raise DataError(
            f"column '{before.name}' of the release holds labels that the original does not lead to: "
            f"{listing(strange)}; name the table that this release was made from"
        )
    kept = np.zeros(len(labels), dtype=np.int64)
    kept[[code[text] for text in texts]] = after.frequencies
    every = np.bincount(before.hierarchy.matrix[:, level], weights=before.frequencies, minlength=len(labels))
    climbed = np.full(len(labels), float(level))
    return Shown(before, every.astype(np.int64), kept, before.hierarchy.loss[level], climbed)
