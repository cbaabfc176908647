"""The earlier releases in the accounts of a new one: which they were, and how their records are matched."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sfumato.hierarchy.hierarchy import Label
from sfumato.policy import ValueCondition
from sfumato.recode import Recoding
from sfumato.verifier import PriorRelease

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases
    from sfumato.previous.linked_releases import InconsistencyRule

EARLIER = (
    "Earlier or other releases about the same people were not taken into account. Two releases, each safe by "
    "itself, can expose people together: compare before you publish a second one, or keep a ledger."
)
Taxonomies = dict[str, list[list[Label]]]


def earlier_releases(star: "LinkedReleases | None") -> tuple[PriorRelease, ...]:
    """The earlier releases as the verifier takes them."""
    return () if star is None else tuple(_earlier(star, place) for place in range(len(star.earlier)))


def taxonomies(star: "LinkedReleases | None", recoding: Recoding) -> Taxonomies:
    """For every column with a hierarchy, the path of each label that is published now or was before.

    Other columns need none: a label stands below the root alone. So no value of a column that the current table does
    not publish gets into its accounts.
    """
    if star is None:
        return {}
    return {name: [_path(star, name, label) for label in _labels(star, recoding, name)] for name in star.declared}


def public(star: "LinkedReleases | None", recoding: Recoding) -> dict[str, Any]:
    """What the manifest says of earlier releases; nothing where there are none."""
    if star is None or not star.earlier:
        return {}
    return {"previous": [_entry(each) for each in earlier_releases(star)], "taxonomies": taxonomies(star, recoding)}


def private(star: "LinkedReleases | None") -> dict[str, Any]:
    """What the audit says of them: where their tables were found."""
    if star is None or not star.earlier:
        return {}
    return {"previous": [{"name": each.name, "path": str(each.path.resolve())} for each in star.earlier]}


def _earlier(star: "LinkedReleases", place: int) -> PriorRelease:
    one = star.earlier[place]
    rules = [rule for rule in star.rules if _last(star, rule) == one.name]
    written = tuple((_written(first), _written(second)) for first, second in rules)
    return PriorRelease(one.name, one.path, one.digest, one.rows, one.csv, star.join_columns[place], written)


def _written(condition: ValueCondition) -> str:
    return f"{condition.reference}={condition.value}"


def _last(star: "LinkedReleases", rule: "InconsistencyRule") -> str:
    """The release that a rule is told with: the later one of those it names."""
    tables: list[str] = [side.reference.table for side in rule if side.reference.table is not None]
    return max(tables, key=star.names.index)


def _entry(earlier: PriorRelease) -> dict[str, Any]:
    assert earlier.path is not None  # noqa: S101 - the maker has read it; this tells the type checker
    return {
        "name": earlier.name,
        "table": earlier.path.name,
        "sha256": earlier.sha256,
        "rows": earlier.rows,
        **({"csv": dict(earlier.csv)} if earlier.csv is not None else {}),
        "join": list(earlier.join),
        "inconsistent": [list(pair) for pair in earlier.inconsistent],
    }


def _labels(star: "LinkedReleases", recoding: Recoding, name: str) -> list[Label]:
    """The labels of a column in all tables, those of the current one as they are published."""
    found: dict[Label, None] = {}
    if name in recoding.labels:
        found |= dict.fromkeys(recoding.labels[name].texts)
    elif name in star.exact_columns:
        found |= dict.fromkeys(star.exact_columns[name].texts)
    for place, earlier in enumerate(star.earlier):
        if name in star.matched_columns_of(place):
            found |= dict.fromkeys(earlier.coded(name).texts)
    return list(found)


def _path(star: "LinkedReleases", name: str, label: Label) -> list[Label]:
    """The path of a label; one that stands at several levels of a branch is told once."""
    return list(dict.fromkeys(star.taxonomies[name].path(label)))


def limit(star: "LinkedReleases | None") -> str:
    """What the report says of other releases: which were looked at, and that others were not."""
    if star is None or not star.earlier:
        return EARLIER
    return (
        f"Taken into account, as far as the (X, Y)-requirements go: {', '.join(star.names)}. Records are matched by "
        "the columns that the tables share and by the rules of the policy; an adversary who can match them better, or "
        "who has other releases about the same people, was not looked at."
    )


def told(star: "LinkedReleases | None", unmatched: int, rows: int) -> Iterator[str]:
    """What the data holder should know of the match with earlier releases, a sentence each."""
    if star is None or not star.earlier:
        return
    for name in star.unmatched_columns:
        tables = [each.name for each in star.earlier if name in each.columns]
        yield (
            f"'{name}' stands in {', '.join(tables)} as well, but has no taxonomy here: records are not matched by it, "
            "and an adversary may; give it intervals in place of ranges to have it taken into account"
        )
    for place in range(len(star.earlier)):
        if not star.matched_columns_of(place):
            yield f"{star.names[place]} shares no column with the table: every record matches every record of it"
    if unmatched == rows:
        by = ", ".join(star.matched_columns)
        yield (
            f"no row matches any record of {', '.join(star.names)}, so that the (X, Y)-requirements say nothing; "
            f"compare how values are written there in {by}: spelling, encoding, missing values"
        )
    elif unmatched:
        yield (
            f"{unmatched:,} of {rows:,} rows match no record of {', '.join(star.names)}: they are not about the same "
            "people, as the (X, Y)-requirements assume, and no promise on the join covers these rows"
        )
