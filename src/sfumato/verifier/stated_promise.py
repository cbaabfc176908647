"""What a release promises, as plain data: all that the verifier knows besides the files.

A requirement is a mapping with a ``model`` and its keys, as in the policy's [[privacy]] tables. Manifests come from
outside, so `objection` checks every key of a requirement before it gets near a statement. A key that this version does
not know may make a requirement stricter, so it is an objection too, not something to pass over.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import quote

StatedRequirement = Mapping[str, Any]
"""A requirement as a policy or a manifest states it: ``model`` and the keys of that model."""

Taxonomies = Mapping[str, Sequence[Sequence[str | None]]]
"""By column: the path of each label, from itself to the root."""

MoveCosts = Mapping[tuple[str, str], float]
"""(value, value) to cost of a general earth mover's distance; one direction counts for both; NULL is empty text."""

TAXONOMY_ROOT = "*"
XY_ANONYMITY, XY_LINKABILITY = "xy-anonymity", "xy-linkability"
ROW_KEY = "$row"


@dataclass(frozen=True)
class PriorRelease:
    """An earlier release: its file, how to read it, and how it is joined with the current table.

    `path` is None where nobody has said where the file is, `sha256` and `rows` are None where any file will do.
    `csv` has the ``separator``, the texts that are ``null``, whether texts are ``guarded`` by the formula rule, and
    the ``encoding``; a file without it is Parquet. `join` are the columns that it shares with the current table, and
    `inconsistent` pairs of ``column=value`` that never match.
    """

    name: str
    path: Path | None = None
    sha256: str | None = None
    rows: int | None = None
    csv: Mapping[str, Any] | None = None
    join: tuple[str, ...] = ()
    inconsistent: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any], path: str | None) -> "PriorRelease":
        """Make it from an entry of the manifest that was checked, and the path in the audit."""
        pairs = tuple((first, second) for first, second in data.get("inconsistent", []))
        file = None if path is None else Path(path)
        return cls(data["name"], file, data["sha256"], data.get("rows"), data.get("csv"), tuple(data["join"]), pairs)


@dataclass(frozen=True)
class InputDistribution:
    """A sensitive column in the whole input table, for distances that compare with it.

    `values` are its different values and `totals` the rows of each. Where the column is ordered, `ranks` are the
    positions of the values among `places`; where it has a hierarchy, `ancestors` has a line for each value, from the
    value to the root. All this stays with the data holder: it counts rows that may not have been published.

    >>> flu = InputDistribution(("flu", None), (3, 1))
    >>> InputDistribution.from_json(flu.as_json()) == flu
    True
    """

    values: tuple[str | None, ...]
    totals: tuple[int, ...]
    ranks: tuple[int, ...] | None = None
    places: int = 0
    ancestors: tuple[tuple[int, ...], ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Write it for the private audit."""
        return {
            "values": list(self.values),
            "totals": list(self.totals),
            "ranks": None if self.ranks is None else list(self.ranks),
            "places": self.places,
            "ancestors": None if self.ancestors is None else [list(line) for line in self.ancestors],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "InputDistribution":
        """Read it from the private audit."""
        ranks, ancestors = data["ranks"], data["ancestors"]
        return cls(
            tuple(data["values"]),
            tuple(data["totals"]),
            None if ranks is None else tuple(ranks),
            data["places"],
            None if ancestors is None else tuple(tuple(line) for line in ancestors),
        )

    @property
    def sound(self) -> bool:
        """Whether it can be a column of a table: as many totals, ranks and lines of ancestors as values."""
        lengths = {len(part) for part in (self.values, self.totals, self.ranks, self.ancestors) if part is not None}
        lines = {len(line) for line in self.ancestors or ()}
        numbers = [self.places, *self.totals, *(self.ranks or ()), *(n for line in self.ancestors or () for n in line)]
        return (
            lengths == {len(set(self.values))}
            and len(lines) <= 1
            and _have_type(self.values, (str, type(None)))
            and _have_type(numbers, (int,))
            and all(0 <= number < 2**53 for number in numbers)
            and all(total > 0 for total in self.totals)
            and self.places > max(self.ranks or (-1,))
        )


def _have_type(values: Iterable[object], kinds: tuple[type, ...]) -> bool:
    """Whether all are of these types, whatever the annotations of JSON data hope for."""
    return all(type(value) in kinds for value in values)


@dataclass(frozen=True)
class StatedBound:
    """That a column has the low end, the high end or the middle of the labels of another, of whole numbers or not."""

    column: str
    of: str
    bound: str
    whole: bool


@dataclass(frozen=True)
class Promise:
    """Which columns are the quasi-identifier, and what must hold of the classes they form.

    `requirements` are the policy's [[privacy]] tables. `distributions` are those of sensitive columns in the whole
    input, and `costs` the ground distances of a general earth mover's distance, both by column. `complete` says that no
    row could be suppressed, so that the published table is the whole one; `ordered` names columns whose order is that
    of a hierarchy, which the published table does not tell. `previous` are the releases that this one is joined with,
    and `taxonomies` tell which labels match. `bounds` are the columns of numbers beside labels.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    individual: str | None
    requirements: tuple[StatedRequirement, ...]
    distributions: Mapping[str, InputDistribution] = field(default_factory=dict)
    costs: Mapping[str, MoveCosts] = field(default_factory=dict)
    complete: bool = False
    ordered: frozenset[str] = frozenset()
    previous: tuple[PriorRelease, ...] = ()
    taxonomies: Taxonomies = field(default_factory=dict)
    bounds: tuple[StatedBound, ...] = ()

    @property
    def joined_releases(self) -> tuple[PriorRelease, ...]:
        """The earlier releases, where a requirement is about the join with them."""
        return self.previous if any(map(is_xy, self.requirements)) else ()

    @property
    def join_columns(self) -> frozenset[str]:
        """The names that requirements about the join use, or that are joined on: columns of any of the tables."""
        rules = [rule for rule in self.requirements if is_xy(rule)]
        releases = self.joined_releases
        sides = (side.partition("=")[0] for release in releases for pair in release.inconsistent for side in pair)
        names = (name for rule in rules for key in ("x", "y") for name in rule[key])
        return frozenset([*names, *sides, *(name for release in releases for name in release.join)])

    @property
    def checked_columns(self) -> tuple[str, ...]:
        """The sensitive columns that the requirements are about, in the order of their first use."""
        return tuple(dict.fromkeys(column for rule in self.requirements for column in sensitive_columns(rule)))

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """The same with the quasi-identifiers and the individuals."""
        return (*self.quasi, *self.checked_columns, *([self.individual] if self.individual else []))

    @property
    def about_persons(self) -> bool:
        """Whether some requirement is about the rows of each person."""
        return any(map(is_about_persons, self.requirements))


@dataclass(frozen=True)
class RequestedPromise:
    """What somebody asks of a release in place of what its manifest promises: a policy, as plain data.

    `requirements` are its [[privacy]] tables, `roles` the role of each column, `costs` as in `Promise`. Where
    there are no `previous` releases or `taxonomies`, those of the manifest count; an earlier release without a path has
    the file that the manifest has under its name. `masks` are the methods by which each column is masked, in the form
    of a manifest; none where nobody asks for any.
    """

    requirements: Sequence[StatedRequirement]
    roles: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, MoveCosts] = field(default_factory=dict)
    previous: Sequence[PriorRelease] = ()
    taxonomies: Taxonomies = field(default_factory=dict)
    masks: Mapping[str, Sequence[Mapping[str, Any]]] | None = None

    def differing_columns(self, columns: Sequence[Mapping[str, Any]], *, drawn: bool = False) -> list[str]:
        """List published columns that have another role here, and columns of the policy that are not published.

        Where rows are `drawn`, none is anybody's, and no column says whose.
        """
        published = {column["name"]: column["role"] for column in columns if column["role"] != "bound"}
        left_out = {"identifier", "individual"} if drawn else {"identifier"}
        requested = {name: role for name, role in self.roles.items() if role not in left_out}
        return sorted(name for name in published | requested if published.get(name) != requested.get(name))


# What a requirement is about


def is_xy(rule: StatedRequirement) -> bool:
    """Whether a requirement is about the join with earlier releases."""
    return rule.get("model") in (XY_ANONYMITY, XY_LINKABILITY)


def is_row_key(reference: str) -> bool:
    """Whether a name means the rows of a table, each a value of its own.

    >>> is_row_key("$row"), is_row_key("immigration.$row"), is_row_key("row")
    (True, True, False)
    """
    return reference == ROW_KEY or reference.endswith(f".{ROW_KEY}")


def sensitive_columns(rule: StatedRequirement) -> tuple[str, ...]:
    """List the sensitive columns that a requirement is about.

    >>> sensitive_columns({"model": "alpha-deassociation", "alpha": 0.5, "columns": ["a", "b"]})
    ('a', 'b')
    """
    return tuple(rule.get("columns") or (() if rule.get("column") is None else (rule["column"],)))


def share_bound(rule: StatedRequirement) -> dict[str, Any]:
    """Write the bound on shares of sensitive values in the keys of alpha-deassociation; empty if there is none.

    >>> share_bound({"model": "identity-alpha-beta", "column": "illness", "alpha": 0.2, "beta": 0.5})
    {'column': 'illness', 'alpha': 0.5}
    """
    if rule.get("alpha") is None:
        return {}
    return dict(rule) if rule.get("beta") is None else {"column": rule["column"], "alpha": rule["beta"]}


def is_about_persons(rule: StatedRequirement) -> bool:
    """Whether a requirement is about the rows of each person, and not only about how many persons there are.

    >>> [is_about_persons({"model": "identity-k-anonymity", "k": 5, **more}) for more in ({}, {"linked_k": 2})]
    [False, True]
    """
    return rule["model"] == "identity-alpha-beta" or rule.get("linked_k") is not None


# What a requirement may say


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**62


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value <= 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(text, str) for text in value)


def _are_xy_values(value: Any) -> bool:
    """Texts, lists of texts, or a table of text to share."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) and _is_share(share) for key, share in value.items())
    return _are_texts(value) or (isinstance(value, list | tuple) and bool(value) and all(map(_are_texts, value)))


_Test = Callable[[Any], bool]
_DISTANCES = ("variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd")
_ALPHA: dict[str, _Test] = {
    "alpha": _is_share,
    "column": _is_text,
    "columns": _are_texts,
    "values": _are_texts,
    "refined": lambda value: isinstance(value, bool),
}
_LINKED: dict[str, _Test] = {"linked_k": _is_whole}
_XY: dict[str, _Test] = {"x": _are_texts, "y": _are_texts, "releases": _are_texts}
_MODEL_KEYS: dict[str, dict[str, _Test]] = {
    "k-anonymity": {"k": _is_whole},
    "alpha-deassociation": _ALPHA,
    "alpha-k-anonymity": {"k": _is_whole, **_ALPHA},
    "distinct-l-diversity": {"column": _is_text, "l": _is_whole},
    "entropy-l-diversity": {"column": _is_text, "l": lambda value: _is_number(value) and value >= 1},
    "recursive-l-diversity": {"column": _is_text, "l": _is_whole, "c": lambda value: _is_number(value) and value > 0},
    "t-closeness": {
        "column": _is_text,
        "t": lambda value: _is_number(value) and value >= 0,
        "distance": lambda value: value in _DISTANCES,
        "costs": _is_text,
    },
    "identity-k-anonymity": {"k": _is_whole, **_LINKED},
    "identity-kl-diversity": {"column": _is_text, "k": _is_whole, "l": _is_whole, **_LINKED},
    "identity-alpha-beta": {"column": _is_text, "alpha": _is_share, "beta": _is_share, **_LINKED},
    "expected-anonymity": {"k": _is_whole},
    XY_ANONYMITY: {**_XY, "k": _is_whole},
    XY_LINKABILITY: {**_XY, "k": _is_share, "values": _are_xy_values},
}
_OPTIONAL = {"column", "columns", "values", "refined", "costs", "linked_k", "releases"}


def objection(rule: Any, *, persons: bool = False) -> str | None:
    """Say what is wrong with a requirement on a release whose rows name `persons` or not; None if nothing is.

    >>> objection({"model": "k-anonymity", "k": 5})
    >>> objection({"model": "k-anonymity", "k": "5"})
    "k of k-anonymity cannot be '5'"
    >>> objection({"model": "identity-k-anonymity", "k": 5})
    'identity-k-anonymity counts individuals, and the release has no column of the role individual'
    """
    model = rule.get("model") if isinstance(rule, Mapping) else None
    if not isinstance(model, str) or model not in _MODEL_KEYS:
        return f"{quote(model)} is not a requirement that this version can verify"
    tests = _MODEL_KEYS[model]
    given = {key: value for key, value in rule.items() if key != "model" and value is not None}
    unknown = [str(key) for key in given if key not in tests]
    if unknown:
        return f"{quote(unknown[0])} is not a key of {model} that this version can verify"
    if "linked_k" in tests and not persons:
        return f"{model} counts individuals, and the release has no column of the role individual"
    optional = _OPTIONAL | ({"k"} if isinstance(given.get("values"), Mapping) else set())
    lacking = [key for key in tests if key not in given and key not in optional]
    if lacking:
        return f"{model} lacks its {lacking[0]}"
    if "column" in tests and not sensitive_columns(given):
        return f"{model} lacks its column"
    wrong = [key for key, value in given.items() if not tests[key](value)]
    if wrong:
        return f"{wrong[0]} of {model} cannot be {quote(given[wrong[0]])}"
    return xy_objection(model, given) if is_xy(rule) else None


def xy_objection(model: str, given: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a requirement on a join whose keys are each of the right kind; None if nothing is.

    >>> xy_objection("xy-anonymity", {"x": ["sex"], "y": ["sex"], "k": 2})
    "xy-anonymity has 'sex' in both x and y"
    >>> xy_objection("xy-linkability", {"x": ["sex"], "y": ["test"], "values": ["HIV"]})
    'xy-linkability lacks its k'
    """
    x, y = given["x"], given["y"]
    for key, names in (("x", x), ("y", y)):
        twice = [name for name in names if list(names).count(name) > 1]
        if twice:
            return f"{model} has {quote(twice[0])} twice in its {key}"
    both = [name for name in x if name in y]
    if both:
        return f"{model} has {quote(both[0])} in both x and y"
    keys = [name for name in x if is_row_key(name)]
    if keys:
        return f"{model} has {quote(keys[0])} in x, and a row key links each row to itself"
    return _values_objection(model, given, y)


def _values_objection(model: str, given: Mapping[str, Any], y: Sequence[str]) -> str | None:
    values = given.get("values")
    if "k" not in given and not isinstance(values, Mapping):
        return f"{model} lacks its k"
    if values is None:
        return None
    if any(map(is_row_key, y)):
        return f"{model} names values of a row key, which has none to name"
    if isinstance(values, Mapping):
        return None if len(y) == 1 else f"{model} has a threshold for each value, which needs one column in y"
    fits = all(
        isinstance(value, str) if len(y) == 1 else len(value) == len(y) and _are_texts(value) for value in values
    )
    return None if fits else f"values of {model} do not fit its y: give texts for one column, lists of texts for more"
