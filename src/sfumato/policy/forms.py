"""What the forms of publication ask of the rest of a policy: two tables need a sensitive column to keep apart."""

from collections.abc import Mapping, Sequence

from sfumato.errors import PolicyError, listing
from sfumato.models import Model
from sfumato.policy.columns import Column, Role
from sfumato.policy.rules import table_of, with_role
from sfumato.policy.section import dotted


def check_form(columns: Mapping[str, Column], privacy: Sequence[Model], document: Mapping[str, object]) -> None:
    """Two tables with something to keep apart, Anatomy with one column to make buckets of, and no word in vain on how.

    >>> check_form({}, (), {"publish": {"form": "lossy-join"}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: publish.form: lossy-join puts sensitive values into a table of their own, and no
    column is sensitive; give one role = "sensitive", or publish generalized
    """
    publish, search = table_of(document, "publish"), table_of(document, "algorithm")
    form, sensitive = publish.get("form", "generalized"), with_role(columns, Role.SENSITIVE)
    _check_anatomy(form, search, document)
    if form == "generalized":
        _check_unsplit(publish)
        return
    if not sensitive:
        why = f"{form} puts sensitive values into a table of their own, and no column is sensitive"
        raise PolicyError(f'{why}; give one role = "sensitive", or publish generalized', key="publish.form")
    if "ranges" in publish:
        why = f"{form} publishes values as they are, not ranges; leave it out"
        raise PolicyError(why, key="publish.ranges")
    if "ss" in publish and len(sensitive) == 1:
        why = "there is one sensitive column, and nothing to put together or apart; leave it out"
        raise PolicyError(why, key="publish.ss")
    _check_least(form, columns)
    if form == "anatomy":
        anatomized(columns, privacy)


def _check_least(form: object, columns: Mapping[str, Column]) -> None:
    """Values as they are, where one must not be."""
    kept = next((column.name for column in with_role(columns, Role.QUASI) if column.least), None)
    if kept is not None:
        why = f"{form} publishes quasi-identifiers as they are; leave it out, or publish generalized"
        raise PolicyError(why, key=dotted("columns", kept, "least"))


def anatomized(columns: Mapping[str, Column], privacy: Sequence[Model]) -> str:
    """The one sensitive column that the requirements look at, or the only one there is."""
    asked = list(dict.fromkeys(name for model in privacy for name in model.looks_at))
    found = asked or [column.name for column in with_role(columns, Role.SENSITIVE)]
    if len(found) > 1:
        why = f"anatomy makes its buckets of one sensitive column, and here are {listing(found)}"
        raise PolicyError(f"{why}; let the requirements look at one, or choose lossy-join", key="publish.form")
    return found[0]


def _check_unsplit(publish: Mapping[str, object]) -> None:
    if "ss" in publish:
        why = "a generalized release is one table; leave it out, or choose form lossy-join or anatomy"
        raise PolicyError(why, key="publish.ss")


def _check_anatomy(form: object, search: Mapping[str, object], document: Mapping[str, object]) -> None:
    """The algorithm and the form of that name go together, and take no other key of the search."""
    name = search.get("name", "auto")
    if name == "anatomy" and form != "anatomy":
        why = 'anatomy publishes two tables; write [publish] form = "anatomy"'
        raise PolicyError(why, key="algorithm.name")
    if form != "anatomy":
        return
    if name not in {"auto", "anatomy"}:
        way = f'leave it out, or write [publish] form = "lossy-join" for the classes that {name} makes'
        raise PolicyError(f"the form anatomy makes buckets of its own; {way}", key="algorithm.name")
    idle = [key for key in ("metric", "improve") if key in table_of(document, "algorithm")]
    if idle:
        raise PolicyError(
            "anatomy minimizes no loss of the quasi-identifiers; leave it out", key=f"algorithm.{idle[0]}"
        )
