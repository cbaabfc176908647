"""What the earlier releases of a policy must have for its requirements to mean something."""

from collections.abc import Iterable, Mapping, Sequence

from sfumato.errors import PolicyError, did_you_mean, listing
from sfumato.hierarchy import Spec
from sfumato.models import ROW, Linkage, XYLinkability
from sfumato.policy import Policy
from sfumato.previous.read import Earlier
from sfumato.previous.star import Star
from sfumato.previous.taxonomy import Taxonomy


def check_star(star: Star, policy: Policy) -> None:
    """Columns that are there, shared ones on all sides, and no person tied to a row by a pseudonym."""
    _check_columns(star, policy)
    _check_individual(star, policy)


def check_rules(star: Star, taxonomies: Mapping[str, Taxonomy], specs: Mapping[str, Spec | None]) -> None:
    """Values of rules that there can be: a rule that never applies would let more records match than can."""
    for condition in (side for rule in star.rules for side in rule):
        column, value = condition.reference.column, condition.value
        known, spec = [label for label in taxonomies[column].number if label is not None], specs[column]
        if value in known or (spec is not None and spec.paths([value], column=column)[0] is not None):
            continue
        alike = [label for label in known if label.casefold().strip() == value.casefold().strip()]
        if spec is not None or alike:
            near = f"; did you mean {alike[0]}?" if alike else did_you_mean(value, known)
            hint = near or "; write it as the tables or the hierarchy do"
            raise PolicyError(f"{str(condition.reference)!r} never is {value!r}{hint}", key="previous.inconsistent")


def check_values(entry: XYLinkability, known: Iterable[Sequence[str | None]], key: str) -> None:
    """Object to a protected value that does not occur where another spelling of it does: it would protect nothing."""
    lines = {tuple(line) for line in known}
    folded = {tuple((cell or "").casefold().strip() for cell in line): line for line in lines}
    for line in entry.named_bounds:
        near = folded.get(tuple((cell or "").casefold().strip() for cell in line))
        if near is not None and line not in lines:
            raise PolicyError(f"{listing(line)} does not occur in y; did you mean {listing(near)}?", key=key)


def _check_columns(star: Star, policy: Policy) -> None:
    """Columns of earlier releases that are there, and shared ones in x on all sides."""
    for place, entry in enumerate(policy.requirements):
        for key in ("x", "y") if isinstance(entry, Linkage) else ():
            for found in star.references(getattr(entry, key)):
                if found.table is not None and found.column != ROW:
                    _check_has(star.earlier[star.names.index(found.table)], found.column, f"privacy[{place}].{key}")
        if isinstance(entry, Linkage):
            _check_sides(star.only(entry.releases), entry, f"privacy[{place}].x")
    for condition in (side for rule in star.rules for side in rule):
        if (table := condition.reference.table) is not None:
            at = star.names.index(table)
            _check_has(star.earlier[at], condition.reference.column, f"previous[{at}].inconsistent")


def _check_sides(star: Star, entry: Linkage, key: str) -> None:
    """A shared column stands in x as it is in every table, unless it is what y asks for: one side may tell more."""
    for found in star.references(entry.x):
        sides = [found.column] if found.column in star.matched else []
        places = [place for place in range(len(star.names)) if found.column in star.matched_of(place)]
        sides += [f"{star.names[place]}.{found.column}" for place in places]
        lacking = [side for side in sides if side not in {*entry.x, *entry.y}]
        if lacking and str(found) in sides:
            why = f"{str(found)!r} is shared, and one table may tell more of it than another"
            raise PolicyError(f"{why}; add {listing(lacking)}, or leave it out on all sides", key=key)


def _check_individual(star: Star, policy: Policy) -> None:
    """Pseudonyms under one key in two releases tie them together person by person: nothing is hidden by joining."""
    person = policy.individual
    for earlier in star.earlier:
        if person is not None and person.key is not None and person.name in earlier.columns:
            raise PolicyError(
                f"{person.name!r} has pseudonyms under a key, and {earlier.name} has a column of that name: whoever "
                "joins them has the same persons' rows; leave the key out",
                key=f"columns.{person.name}.key",
            )


def _check_has(earlier: Earlier, column: str, key: str) -> None:
    """Object where a policy names a column that the release does not have."""
    if column not in earlier.columns:
        hint = did_you_mean(column, earlier.columns) or f"; it has {listing(earlier.columns)}"
        raise PolicyError(f"{earlier.name} has no column {column!r}{hint}", key=key)
