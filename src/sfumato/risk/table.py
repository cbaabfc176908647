"""The risk of a file, raw or published."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.classes import Classes
from sfumato.encode import encode
from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import Policy, load
from sfumato.recode.frequencies import Roller
from sfumato.risk.persons import DEFAULT_K, Persons, asked_k, persons_of
from sfumato.risk.prosecutor import Risk, risk_of
from sfumato.table import column_names, read


@dataclass(frozen=True)
class TableRisk:
    """The risk of a table, by person besides where a column says whose a row is; `by` says where k is from."""

    risk: Risk
    persons: Persons | None = None
    by: str = ""

    def as_json(self) -> dict[str, float]:
        """For ``--json``: one object, with the figures by person only where there are any."""
        return self.risk.as_json() | (self.persons.as_json() if self.persons else {})


def risk_by_policy(path: Path, policy: Policy, *, k: int | None = None) -> TableRisk:
    """The risk over a policy's quasi-identifiers; by persons where it names an individual column.

    `k` is the policy's largest unless it is given, and a common one where the policy has none. The individual column
    may be missing, where somebody left it out: rows are counted then.
    """
    name = policy.individual.name if policy.individual else None
    quasi = [column.name for column in policy.quasi]
    classes = _classes(path, quasi, name, _options(policy))
    if k is not None and classes.individuals is None:
        has = "the policy has no individual column" if name is None else f"the table has no column '{name}'"
        raise DataError(f"k is counted in persons, and {has}; leave --k out, or name persons")
    return _found(classes, k, asked_k(policy.privacy))


def risk_by_columns(path: Path, quasi: list[str], *, individual: str | None = None, k: int | None = None) -> TableRisk:
    """The risk over the given columns; NULL is a value like any other. By persons where a column names them."""
    if individual in quasi:
        raise DataError(
            f"column '{individual}' cannot both name persons and be a quasi-identifier; leave it out of one of the two"
        )
    if k is not None and individual is None:
        raise DataError("k is counted in persons, and no column names them; add --individual COLUMN, or leave --k out")
    return _found(_classes(path, quasi, individual, {}, needed=individual), k, None)


def _found(classes: Classes, given: int | None, asked: int | None) -> TableRisk:
    if classes.individuals is None:
        return TableRisk(risk_of(classes))
    by = "as given" if given else "the policy's" if asked else "since none is named"
    return TableRisk(risk_of(classes), persons_of(classes, given or asked or DEFAULT_K), by)


def _classes(
    path: Path, quasi: list[str], individual: str | None, data: dict[str, Any], *, needed: str | None = None
) -> Classes:
    """Count the classes that the columns form, all others left out."""
    names = column_names(path, load(_document(quasi, quasi, None, data)).source)
    lacking = [name for name in [*quasi, *([] if needed is None else [needed])] if name not in names]
    if lacking:
        raise DataError(f"columns are not in the table: {listing(lacking)}{did_you_mean(lacking[0], names)}")
    rules = load(_document(names, quasi, individual if individual in names else None, data))
    roller = Roller(encode(read(path, rules), rules))
    return roller.group(roller.base()).classes


def _options(policy: Policy) -> dict[str, Any]:
    data = policy.document.get("data")
    return dict(data) if isinstance(data, dict) else {}


def _document(names: list[str], quasi: list[str], individual: str | None, data: dict[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: {"role": "identifier"} for name in names}
    columns |= {name: {"role": "quasi", "hierarchy": "suppress"} for name in quasi}
    if individual:
        columns[individual] = {"role": "individual"}
    options = {key: value for key, value in data.items() if key != "source"}
    return {"data": options, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]}
