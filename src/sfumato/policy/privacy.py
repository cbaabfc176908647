"""What is promised: the [[privacy]] tables of a policy, all of which must hold."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sfumato import models
from sfumato.errors import PolicyError, did_you_mean
from sfumato.policy.columns import Column, Role
from sfumato.policy.section import as_table, given

_EXAMPLE = '[[privacy]] with model = "k-anonymity" and k = 5'


def read_privacy(value: object, *, folder: Path) -> tuple[models.Model | models.Linkage, ...]:
    """The models that must hold, in the order of the policy; files they name are sought from `folder`.

    >>> read_privacy([{"model": "k-anonymity", "k": 5}], folder=Path())[0].name
    'k-anonymity'
    """
    if value is None or value == []:
        raise PolicyError(f"no privacy model: write {_EXAMPLE} as the simplest", key="privacy")
    if not isinstance(value, list):
        raise PolicyError(f"must be a list of tables, as {_EXAMPLE}, not {given(value)}", key="privacy")
    return tuple(_model(table, f"privacy[{index}]", folder) for index, table in enumerate(value))


def check_privacy(
    columns: Mapping[str, Column], privacy: Sequence[models.Model | models.Linkage], tables: object
) -> None:
    """Every column that a model looks at is there and is sensitive, and persons are there where it counts them.

    `tables` are the [[privacy]] tables the models were read from, to find the key that names the column.

    >>> check_privacy({}, [], None)
    """
    written = tables if isinstance(tables, list) else [{}] * len(privacy)
    for index, (model, table) in enumerate(zip(privacy, written, strict=True)):
        if isinstance(model, models.Linkage):
            continue
        for name in model.looks_at:
            _check_sensitive(name, columns, f"privacy[{index}]{_naming(table, name)}")
        if model.identity and not any(column.role is Role.INDIVIDUAL for column in columns.values()):
            way = 'give the column that says whose row it is role = "individual"'
            raise PolicyError(
                f"{model.name} counts individuals, and no column names them: {way}", key=f"privacy[{index}].model"
            )
    _check_costs(written)


def _check_costs(tables: Sequence[Mapping[str, object]]) -> None:
    """One column has one file of costs: the audit keeps them by column."""
    files: dict[object, object] = {}
    for index, table in enumerate(tables):
        known = files.setdefault(table.get("column"), table["costs"]) if table.get("costs") else None
        if known is not None and known != table["costs"]:
            raise PolicyError(f"{table['column']!r} has the costs {known!r} already", key=f"privacy[{index}].costs")


def _model(value: object, key: str, folder: Path) -> models.Model | models.Linkage:
    return models.build(as_table(value, key), key=key, folder=folder)


def _check_sensitive(name: str, columns: Mapping[str, Column], key: str) -> None:
    if name not in columns:
        hint = did_you_mean(name, [other for other in columns if columns[other].role is Role.SENSITIVE])
        raise PolicyError(f"{name!r} is not one of [columns]{hint or '; list it there'}", key=key)
    if (role := columns[name].role) is not Role.SENSITIVE:
        way = 'name a sensitive column, or give it role = "sensitive"'
        raise PolicyError(f"{name!r} is of role {role}; {way}", key=key)


def _naming(table: Mapping[str, object], name: str) -> str:
    several = table.get("columns")
    if isinstance(several, list) and name in several:
        return f".columns[{several.index(name)}]"
    return ".column" if table.get("column") == name else ""
