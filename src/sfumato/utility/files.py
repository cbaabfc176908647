"""Measure a release from its files: what the published table lost against the original."""

from pathlib import Path
from typing import Any

from sfumato.encode import Attribute, Encoded, encode
from sfumato.errors import DataError, InputError, listing
from sfumato.policy import Policy, load
from sfumato.recode.frequencies import Roller
from sfumato.table import read
from sfumato.table.guard import guarded, unguarded
from sfumato.utility.meaning import Told, columns, meant
from sfumato.utility.measure import Shown, Utility, measured


def measure_files(table: Path, manifest: dict[str, Any], original: Path, policy: Policy) -> Utility:
    """The losses of a published table, from the file itself, against the original table."""
    _check_forms(manifest)
    before = encode(read(original, policy), policy)
    after = _published(table, manifest)
    levels = {column["name"]: column["level"] for column in manifest["columns"] if "level" in column}
    written, form = {attribute.name: attribute for attribute in after.quasi}, policy.publish.ranges
    shown = []
    for one in before.quasi:
        column = written[_written(one.name, manifest)]
        texts = _texts(column, csv="csv" in manifest)
        found = meant(one, texts, levels.get(one.name), form=form)
        _check(one.name, texts, found)
        shown.append(Shown(one, *columns(found), kept=column.frequencies))
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


def _texts(column: Attribute, *, csv: bool) -> list[str | None]:
    """The labels of a published column, the guard against formulas taken away."""
    return [unguarded(text) if csv and text is not None else text for text in column.column.texts]


def _check(name: str, texts: list[str | None], found: list[Told | None]) -> None:
    strange = [text for text, told in zip(texts, found, strict=True) if told is None]
    if strange:
        raise DataError(
            f"column '{name}' of the release holds labels that the original does not lead to: "
            f"{listing(strange)}; name the table that this release was made from"
        )


def _check_forms(manifest: dict[str, Any]) -> None:
    """Refuse means: a mean does not say which values it stands for."""
    means = [column["name"] for column in manifest["columns"] if column.get("form") == "means"]
    if means:
        raise InputError(
            f"means do not tell what they stand for, so the loss of {listing(means)} cannot be measured from the file; "
            "it was measured when the release was made: see utility in private/audit.json"
        )
