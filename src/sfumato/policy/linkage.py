"""What the (X, Y)-models ask of the rest of a policy: columns that are published, and an algorithm that can join."""

from collections.abc import Mapping, Sequence

from sfumato.errors import PolicyError, did_you_mean
from sfumato.models import ROW, Linkage, Model
from sfumato.policy.columns import Column, Role
from sfumato.policy.previous import Previous, Reference, reference
from sfumato.policy.rules import table_of

JOINING = ("auto", "tds")
"""The algorithms that can take a join with earlier releases into account; auto chooses tds then."""

_X = "name a column that is published, and not one that names persons"
_Y = "y is what x is measured against and stays as it is: name a sensitive or plain column, or $row"
_FIT = {"x": ({Role.QUASI, Role.SENSITIVE, Role.PLAIN}, _X), "y": ({Role.SENSITIVE, Role.PLAIN, Role.INDIVIDUAL}, _Y)}


def check_linkage(
    columns: Mapping[str, Column],
    stated: Sequence[Model | Linkage],
    previous: Sequence[Previous],
) -> None:
    """Columns that are there and may stand where they do, and no release that nothing looks at.

    >>> check_linkage({}, [], [])
    """
    linkage = {place: entry for place, entry in enumerate(stated) if isinstance(entry, Linkage)}
    names = [each.name for each in previous]
    for place, entry in linkage.items():
        _check_releases(entry, names, f"privacy[{place}]")
        for key in ("x", "y"):
            for name in getattr(entry, key):
                _check_column(reference(name, names), columns, key=f"privacy[{place}].{key}", names=names)
    if previous and not linkage:
        why = "no requirement looks at earlier releases"
        raise PolicyError(f"{why}; add one of xy-anonymity or xy-linkability, or leave it out", key="previous")
    for release in previous:
        for condition in (side for pair in release.inconsistent for side in pair):
            _check_ruled(condition.reference, columns, f"previous[{names.index(release.name)}].inconsistent", names)


def _check_releases(entry: Linkage, names: Sequence[str], key: str) -> None:
    """Releases that there are, and columns of those alone."""
    for name in entry.releases or ():
        if name not in names:
            hint = did_you_mean(name, names) or "; name those of [[previous]]"
            raise PolicyError(f"{name!r} is no earlier release{hint}", key=f"{key}.releases")
    for side in ("x", "y") if entry.releases is not None else ():
        for found in (reference(name, names) for name in getattr(entry, side)):
            if found.table is not None and found.table not in (entry.releases or ()):
                why = f"{str(found)!r} is of a release that is not joined; add {found.table!r} to releases"
                raise PolicyError(why, key=f"{key}.{side}")


def _check_column(found: Reference, columns: Mapping[str, Column], *, key: str, names: Sequence[str]) -> None:
    if found.table is not None or found.column == ROW:
        return
    _check_there(found, columns, key, names)
    roles, why = _FIT[key.rpartition(".")[2]]
    if (role := columns[found.column].role) not in roles:
        raise PolicyError(f"{found.column!r} is of role {role}; {why}", key=key)


def _check_ruled(found: Reference, columns: Mapping[str, Column], key: str, names: Sequence[str]) -> None:
    """A rule is about a column that is published, and whose values stand in a taxonomy."""
    _check_there(found, columns, key, names)
    if found.table is not None:
        return
    column = columns[found.column]
    if column.role not in _FIT["x"][0]:
        raise PolicyError(f"{found.column!r} is of role {column.role}; {_X}", key=key)
    if column.hierarchy is not None and not column.hierarchy.levelled:
        raise PolicyError(f"{found.column!r} is published as ranges or sets, which a rule cannot be about", key=key)


def _check_there(found: Reference, columns: Mapping[str, Column], key: str, names: Sequence[str]) -> None:
    if found.table is None and found.column not in columns:
        known = [*columns, *(f"{name}.{found.column.rpartition('.')[2]}" for name in names), ROW]
        hint = did_you_mean(found.column, known) or "; columns of an earlier release are written name.column"
        raise PolicyError(f"{found.column!r} is not one of [columns]{hint}", key=key)


def check_joining(document: Mapping[str, object]) -> None:
    """An algorithm, and a form, that can take a join into account.

    >>> check_joining({"algorithm": {"name": "mondrian"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.name: mondrian does not look at joins; write tds, or leave it out
    """
    search, publish = table_of(document, "algorithm"), table_of(document, "publish")
    if search.get("name", "auto") not in JOINING:
        why = f"{search['name']} does not look at joins; write tds, or leave it out"
        raise PolicyError(why, key="algorithm.name")
    if search.get("suppression"):
        why = "the (X, Y)-models are met by generalizing; leave it out, or take rows away before"
        raise PolicyError(why, key="algorithm.suppression")
    if publish.get("form", "generalized") != "generalized":
        why = f"{publish['form']} publishes values as they are, and an (X, Y)-model needs them generalized"
        raise PolicyError(f'{why}; write form = "generalized"', key="publish.form")
