"""The risk of a file, raw or published."""

from pathlib import Path
from typing import Any

from sfumato.encode import encode
from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import Policy, load
from sfumato.recode.frequencies import Roller
from sfumato.risk.prosecutor import Risk, risk_of
from sfumato.table import column_names, read


def risk_by_policy(path: Path, policy: Policy) -> Risk:
    """The risk over a policy's quasi-identifiers; by persons where it names an individual column."""
    individual = policy.individual.name if policy.individual else None
    quasi = [column.name for column in policy.quasi]
    return _risk(path, quasi, individual, _options(policy))


def risk_by_columns(path: Path, quasi: list[str]) -> Risk:
    """The risk over the given columns; NULL is a value like any other."""
    return _risk(path, quasi, None, {})


def _risk(path: Path, quasi: list[str], individual: str | None, data: dict[str, Any]) -> Risk:
    """Count the classes that the columns form, all others left out."""
    names = column_names(path, load(_document(quasi, quasi, None, data)).source)
    lacking = [name for name in quasi if name not in names]
    if lacking:
        raise DataError(f"columns are not in the table: {listing(lacking)}{did_you_mean(lacking[0], names)}")
    rules = load(_document(names, quasi, individual if individual in names else None, data))
    roller = Roller(encode(read(path, rules), rules))
    return risk_of(roller.group(roller.base()).classes)


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
