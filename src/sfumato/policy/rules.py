"""What the parts of a policy ask of one another."""

from collections.abc import Mapping

from sfumato.errors import PolicyError
from sfumato.hierarchy import Ranges
from sfumato.policy.columns import Column, Role
from sfumato.policy.search import CUTS, FULL_DOMAIN, UNLEVELLED
from sfumato.policy.section import dotted

_SUCH_AS = 'as in { intervals = [5, 10, 20] }, a file or "suppress"'


def check_columns(columns: Mapping[str, Column]) -> None:
    """At least one quasi-identifier, of which one matters, and at most one column of individuals.

    >>> check_columns({"visits": Column("visits", Role.PLAIN)})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns: no quasi-identifier: give the columns that others may know
    role = "quasi" and a hierarchy
    """
    quasi = with_role(columns, Role.QUASI)
    if not quasi:
        way = 'give the columns that others may know role = "quasi" and a hierarchy'
        raise PolicyError(f"no quasi-identifier: {way}", key="columns")
    if not any(column.weight for column in quasi):
        weight = dotted("columns", quasi[0].name, "weight")
        raise PolicyError("every quasi-identifier has weight 0; give one of them more", key=weight)
    _check_individuals(with_role(columns, Role.INDIVIDUAL))


def check_levels(columns: Mapping[str, Column], algorithm: str) -> None:
    """Ranges and sets only with an algorithm that does without levels.

    >>> from sfumato.hierarchy import Sets
    >>> check_levels({"town": Column("town", Role.QUASI, Sets())}, "optimal")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: columns.town.hierarchy: has no levels, which optimal needs; choose auto or
    mondrian as the algorithm, or give levels, as in { intervals = [5, 10, 20] }, a file or "suppress"
    """
    if algorithm in UNLEVELLED:
        return
    for column in with_role(columns, Role.QUASI):
        if algorithm in CUTS and isinstance(column.hierarchy, Ranges):
            continue
        if column.hierarchy is not None and not column.hierarchy.levelled:
            why = f"has no levels, which {algorithm} needs; choose auto or mondrian as the algorithm, or give levels"
            raise PolicyError(f"{why}, {_SUCH_AS}", key=dotted("columns", column.name, "hierarchy"))


def check_meant(columns: Mapping[str, Column], algorithm: str, document: Mapping[str, object]) -> None:
    """Keys that would change nothing: on ranges or persons where there are none, on improving a full-domain result.

    >>> check_meant({}, "optimal", {"algorithm": {"improve": True}})
    Traceback (most recent call last):
    sfumato.errors.PolicyError: algorithm.improve: optimal is not improved, since all values of a column keep one level;
    leave it out, or choose auto
    """
    ranges = any(isinstance(column.hierarchy, Ranges) for column in columns.values())
    if "ranges" in table_of(document, "publish") and not ranges:
        way = "leave it out, or give a column hierarchy = { ranges = true }"
        raise PolicyError(f"no column is published as ranges; {way}", key="publish.ranges")
    if table_of(document, "algorithm").get("improve") is True and algorithm in {*FULL_DOMAIN, *CUTS}:
        kept = "one level" if algorithm in FULL_DOMAIN else "one cut"
        why = f"{algorithm} is not improved, since all values of a column keep {kept}"
        raise PolicyError(f"{why}; leave it out, or choose auto", key="algorithm.improve")
    _check_together(columns, algorithm, document)


def _check_together(columns: Mapping[str, Column], algorithm: str, document: Mapping[str, object]) -> None:
    """Keeping a person's rows together needs persons, and classes that could part them; Anatomy always may."""
    together, why = table_of(document, "algorithm").get("keep_together"), None
    if together is None:
        return
    if not with_role(columns, Role.INDIVIDUAL):
        why = 'it is about the rows of a person; leave it out, or give the column that names them role = "individual"'
    elif together is False and algorithm in {*FULL_DOMAIN, *CUTS}:
        why = f"{algorithm} keeps all rows with equal quasi-identifiers together; leave it out"
    elif together is True and table_of(document, "publish").get("form") == "anatomy":
        why = 'anatomy deals rows out one by one; leave it out, or write [publish] form = "lossy-join"'
    if why:
        raise PolicyError(why, key="algorithm.keep_together")


def table_of(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A table of the document as it was written, or an empty one."""
    table = document.get(name)
    return table if isinstance(table, Mapping) else {}


def with_role(columns: Mapping[str, Column], role: Role) -> tuple[Column, ...]:
    """The columns of this role, in their order.

    >>> with_role({"visits": Column("visits", Role.PLAIN)}, Role.QUASI)
    ()
    """
    return tuple(column for column in columns.values() if column.role == role)


def _check_individuals(individuals: tuple[Column, ...]) -> None:
    if len(individuals) > 1:
        first, second, *_ = individuals
        message = f"at most one column may be individual, and {first.name!r} is"
        raise PolicyError(message, key=dotted("columns", second.name, "role"))
