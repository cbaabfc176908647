"""The privacy models by their definitions, on plain rows, with whole numbers and fractions.

A class is a list of rows; a row is a dict of texts, ``None`` for NULL. What a model compares with besides, the whole
table and its columns' hierarchies, is in a `Context`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from scipy.optimize import linprog

from fuzz.case import FuzzCase, Row, Text, read_rows
from fuzz.generalizations import ROOT, Levels, Path, levels_of

Rule = Mapping[str, Any]
Shares = Mapping[Text, Fraction]
Costs = Mapping[tuple[str, str], Fraction]

CLOSE = 1e-9
"""How far an entropy or a distance may miss its bound, by the guide to models."""
XY = ("xy-anonymity", "xy-linkability")


@dataclass(frozen=True)
class Context:
    """What a definition looks at besides the class: the whole table, who the persons are, hierarchies and costs."""

    case: FuzzCase
    person: str | None

    @cached_property
    def trees(self) -> dict[str, Levels | None]:
        """The levels of every column that has some."""
        return {name: levels_of(self.case, name) for name in self.case.columns}

    def costs(self, rule: Rule) -> Costs:
        """The costs of a rule's file."""
        lines = [line.rsplit(",", 1) for line in self.case.files[rule["costs"]].splitlines()]
        return {tuple(pair.split(",")): Fraction(cost) for pair, cost in lines}  # type: ignore[misc] # pairs of texts


def broken_rules(classes: Iterable[Sequence[Row]], context: Context, rules: Sequence[Rule]) -> list[str]:
    """Name the requirements on classes that some class breaks, with the class's size."""
    groups = list(classes)
    broken = []
    for rule in rules:
        if rule["model"] in XY:
            continue
        for members in groups:
            if not _DEFINITIONS[rule["model"]](rule, members, context):
                broken.append(f"{rule} is broken by a class of {len(members)} rows")
                break
        if rule.get("linked_k", 1) > 1 and not shares_classes(groups, context, rule["linked_k"]):
            broken.append(f"{rule}: fewer than linked_k persons share somebody's classes")
    return broken


def shares_classes(groups: Sequence[Sequence[Row]], context: Context, least: int) -> bool:
    """Tell whether so many persons have rows in exactly the same classes, for everybody."""
    sets: dict[Text, set[int]] = {}
    for number, members in enumerate(groups):
        for row in members:
            sets.setdefault(row[str(context.person)], set()).add(number)
    return all(count >= least for count in Counter(frozenset(where) for where in sets.values()).values())


def achieved(rule: Rule, classes: Iterable[Sequence[Row]], context: Context) -> dict[str, float]:
    """Count what all classes have at least or at most, as far as it is a count or a share of rows."""
    groups, model, figures = list(classes), rule["model"], dict[str, float]()
    if "k" in rule and model not in XY:
        figures["k"] = min(_people(members, context) for members in groups)
    if "alpha" in rule and model != "identity-alpha-beta":
        shares = [
            rows / len(members)
            for members in groups
            for column in rule.get("columns") or [rule["column"]]
            for value, rows in _count(members, column).items()
            if "values" not in rule or value in rule["values"]
        ]
        figures["alpha"] = max(shares, default=0)
    if model == "distinct-l-diversity":
        figures["l"] = min(min(len(_count(members, rule["column"])), _people(members, context)) for members in groups)
    if model == "identity-kl-diversity":
        figures["l"] = min(len(_count(members, rule["column"])) for members in groups)
    if model == "identity-alpha-beta":
        for key, column in (("alpha", str(context.person)), ("beta", rule["column"])):
            figures[key] = max(max(_count(members, column).values()) / len(members) for members in groups)
    return figures


def exact(number: float) -> Fraction:
    """The number that the digits say; 0.3333333333333333 is a third.

    >>> exact(0.1), exact(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    return Fraction(str(number)).limit_denominator(10**9)


def _people(members: Sequence[Row], context: Context) -> int:
    return len({row[context.person] for row in members}) if context.person else len(members)


def _count(members: Sequence[Row], column: str) -> Counter[Text]:
    return Counter(row[column] for row in members)


def _has_k(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    return _people(members, context) >= int(max(rule.get("k", 1), rule.get("linked_k", 1)))


def _has_alpha(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    del context
    allowed = exact(rule["alpha"]) * len(members)
    most = math.ceil(allowed) if rule.get("refined") else allowed
    counts = [item for column in rule.get("columns") or [rule["column"]] for item in _count(members, column).items()]
    return all(rows <= most for value, rows in counts if "values" not in rule or value in rule["values"])


def _has_distinct_l(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    return min(len(_count(members, rule["column"])), _people(members, context)) >= int(rule["l"])


def _has_entropy_l(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    shares = [rows / len(members) for rows in _count(members, rule["column"]).values()]
    entropy = -sum(share * math.log(share) for share in shares)
    return min(entropy, math.log(_people(members, context))) >= math.log(rule["l"]) - CLOSE


def _has_recursive_l(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    counts = sorted(_count(members, rule["column"]).values(), reverse=True)
    return _people(members, context) >= rule["l"] and counts[0] < exact(rule["c"]) * sum(counts[rule["l"] - 1 :])


def _has_identity_kl(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    return _has_k(rule, members, context) and len(_count(members, rule["column"])) >= rule["l"]


def _has_alpha_beta(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    people, values = _count(members, str(context.person)), _count(members, rule["column"])
    few = max(people.values()) <= exact(rule["alpha"]) * len(members)
    return few and max(values.values()) <= exact(rule["beta"]) * len(members) and _has_k(rule, members, context)


def _is_close(rule: Rule, members: Sequence[Row], context: Context) -> bool:
    column = rule["column"]
    part, whole = _shares(members, column), _shares(context.case.rows, column)
    return float(_DISTANCES[rule["distance"]](part, whole, rule, context)) <= float(rule["t"]) + CLOSE


_DEFINITIONS: dict[str, Callable[[Rule, Sequence[Row], Context], bool]] = {
    "k-anonymity": _has_k,
    "alpha-deassociation": _has_alpha,
    "alpha-k-anonymity": lambda *given: _has_k(*given) and _has_alpha(*given),
    "distinct-l-diversity": _has_distinct_l,
    "entropy-l-diversity": _has_entropy_l,
    "recursive-l-diversity": _has_recursive_l,
    "t-closeness": _is_close,
    "identity-k-anonymity": _has_k,
    "identity-kl-diversity": _has_identity_kl,
    "identity-alpha-beta": _has_alpha_beta,
}


# Distances of t-closeness


def _shares(rows: Sequence[Row], column: str) -> Shares:
    return {value: Fraction(count, len(rows)) for value, count in _count(rows, column).items()}


def _variational(part: Shares, whole: Shares, rule: Rule, context: Context) -> Fraction:
    del rule, context
    return sum((abs(part.get(value, Fraction(0)) - share) for value, share in whole.items()), Fraction(0)) / 2


def _relative_entropy(part: Shares, whole: Shares, rule: Rule, context: Context) -> float:
    del rule, context
    return sum(float(share) * math.log(share / whole[value]) for value, share in part.items())


def _ordered(part: Shares, whole: Shares, rule: Rule, context: Context) -> Fraction:
    """Neighbours are equally far apart, the ends at distance 1."""
    tree = context.trees[rule["column"]]
    order = tree.leaves if tree is not None else sorted(whole, key=lambda value: Fraction(str(value)))
    moved, total = Fraction(0), Fraction(0)
    for value in order:
        moved += part.get(value, Fraction(0)) - whole.get(value, Fraction(0))
        total += abs(moved)
    return total / max(len(order) - 1, 1)


def _hierarchical(part: Shares, whole: Shares, rule: Rule, context: Context) -> Fraction:
    """Li et al., Section 5.2: below each node, what its children can exchange costs the node's height."""
    tree = context.trees[rule["column"]]
    assert tree is not None  # noqa: S101 - such rules are drawn for columns with a hierarchy alone
    extra = {value: part.get(value, Fraction(0)) - share for value, share in whole.items()}
    total = Fraction(0)
    for level in range(1, tree.height + 1):
        children: dict[tuple[Text, Text], Fraction] = {}
        for value, surplus in extra.items():
            path = tree.paths[value]
            edge = (path[level], path[level - 1])
            children[edge] = children.get(edge, Fraction(0)) + surplus
        for node in {parent for parent, _ in children}:
            flows = [flow for (parent, _), flow in children.items() if parent == node]
            gives, takes = sum(f for f in flows if f > 0), -sum(f for f in flows if f < 0)
            total += Fraction(level, tree.height) * min(gives, takes)
    return total


def _transported(part: Shares, whole: Shares, rule: Rule, context: Context) -> float:
    """The chapter's linear program: flows from the class's distribution to the table's, by way of third values too."""
    costs, values = context.costs(rule), list(whole)
    pairs = [(source or "", target or "") for source in values for target in values]
    prices = [0.0 if a == b else float(costs.get((a, b), costs.get((b, a), Fraction(0)))) for a, b in pairs]
    size = len(values)
    leaves = [[(i == at) - (j == at) for i in range(size) for j in range(size)] for at in range(size)]
    surplus = [float(part.get(value, Fraction(0)) - whole[value]) for value in values]
    plan = linprog(prices, A_eq=leaves, b_eq=surplus)
    return float(plan.fun or 0.0) - 1e-7  # the solver's own tolerance


_DISTANCES: dict[str, Callable[[Shares, Shares, Rule, Context], Fraction | float]] = {
    "variational": _variational,
    "emd-equal": _variational,
    "kl": _relative_entropy,
    "emd-ordered": _ordered,
    "emd-hierarchical": _hierarchical,
    "emd": _transported,
}


# (X, Y)-models: the join is written out, line by line


@dataclass(frozen=True)
class Joined:
    """The current table and earlier ones as rows, with the path of every label of the columns that have a taxonomy."""

    names: list[str]
    tables: list[list[Row]]
    matched: list[set[str]]
    paths: dict[str, dict[Text, Path]]
    excluded: list[tuple[tuple[int, str, str], tuple[int, str, str]]]

    def value(self, line: Sequence[int], column: str) -> Any:
        """What a line of the join has in a column."""
        table, name = self.place(column)
        return line[table] if name == "$row" else self.tables[table][line[table]][name]

    def place(self, column: str) -> tuple[int, str]:
        """The table that a column is of, and its name there."""
        release, dot, name = column.partition(".")
        return (self.names.index(release), name) if dot and release in self.names[1:] else (0, column)

    def path(self, column: str, label: Text) -> Path:
        """A label and those above it."""
        return self.paths.get(column, {}).get(label, (label, ROOT))

    def lines(self, tables: Sequence[int]) -> list[dict[int, int]]:
        """The join of some tables: a row of each, every two of which match."""
        lines: list[dict[int, int]] = [{}]
        for table in tables:
            lines = [
                {**line, table: row}
                for line in lines
                for row in range(len(self.tables[table]))
                if all(self._match(other, at, table, row) for other, at in line.items())
            ]
        return lines

    def _match(self, first: int, row: int, second: int, other: int) -> bool:
        one, two = self.tables[first][row], self.tables[second][other]
        for name in self.matched[first] & self.matched[second]:
            if one[name] not in self.path(name, two[name]) and two[name] not in self.path(name, one[name]):
                return False
        for sides in self.excluded:
            rows = {first: one, second: two}
            if {table for table, _, _ in sides} == {first, second} and all(
                value in self.path(name, rows[table][name]) for table, name, value in sides
            ):
                return False
        return True


def broken_links(published: list[Row], context: Context, rules: Sequence[Rule]) -> list[str]:
    """Name the requirements on the join with earlier releases that published rows break."""
    linked = [rule for rule in rules if rule["model"] in XY]
    if not linked:
        return []
    join = join_releases(published, context)
    broken = []
    for rule in linked:
        earlier = [join.names.index(name) for name in rule.get("releases", join.names[1:])]
        lines: dict[Any, Counter[Any]] = {}
        for line in join.lines([0, *earlier]):
            x, y = (tuple(join.value(line, column) for column in rule[side]) for side in "xy")  # type: ignore[arg-type] # a dict by table number does
            lines.setdefault(x, Counter())[y] += 1
        if rule["model"] == "xy-anonymity":
            if any(len(beside) < rule["k"] for beside in lines.values()):
                broken.append(f"{rule} is broken")
            continue
        for beside in lines.values():
            total = beside.total()
            if any(
                (bound := _largest_share(rule, y)) is not None and Fraction(count, total) > bound
                for y, count in beside.items()
            ):
                broken.append(f"{rule} is broken")
                break
    return broken


def _largest_share(rule: Rule, y: tuple[Text, ...]) -> Fraction | None:
    values = rule.get("values")
    if isinstance(values, Mapping):
        bound = values.get(y[0], rule.get("k")) if y[0] is not None else rule.get("k")
    else:
        named = None if values is None else [(v,) if isinstance(v, str) else tuple(v) for v in values]
        bound = rule["k"] if named is None or y in named else None
    return None if bound is None else exact(bound)


def join_releases(published: list[Row], context: Context) -> Joined:
    """Read the earlier releases of a case beside published rows."""
    case, previous = context.case, context.case.document.get("previous", [])
    apart = {*case.names("identifier"), *case.names("individual")}
    open_ended = {name for name in case.names("quasi") if context.trees[name] is None}
    names, tables = [""], [published]
    matched = [{*case.columns} - apart - open_ended]
    for release in previous:
        columns, rows = read_rows(case.files[release["table"]], release.get("null", case.nulls))
        names.append(release["name"])
        tables.append(rows)
        matched.append({*columns} - apart - open_ended)
    join = Joined(names, tables, matched, {}, [])
    for release in previous:
        for pair in release.get("inconsistent", []):
            sides = [(*join.place(side.partition("=")[0]), side.partition("=")[2]) for side in pair]
            join.excluded.append((sides[0], sides[1]))
    for name, tree in context.trees.items():
        if tree is not None and name not in apart:
            join.paths[name] = label_paths(case, name, tables)
    return join


def label_paths(case: FuzzCase, name: str, tables: Sequence[list[Row]]) -> dict[Text, Path]:
    """The path of every label of a column: that of the values that the table has or that earlier releases were made of.

    A text on several levels of a branch counts at the lowest.
    """
    known = [row[name] for rows in tables[1:] for row in rows if name in row]
    hierarchy = case.document["columns"][name]["hierarchy"]
    leaves = [*case.columns[name], *case.known.get(name, [])]
    if hierarchy == "suppress":
        leaves += [label for label in known if label != ROOT]
    if isinstance(hierarchy, str) and hierarchy != "suppress":
        tree = levels_of(case, name)
        leaves += tree.leaves if tree is not None else []
    values = list(dict.fromkeys(leaves))
    wider = FuzzCase(0, {name: values}, {}, case.document, case.files)
    tree = levels_of(wider, name)
    assert tree is not None  # noqa: S101 - columns without levels are not asked for
    paths: dict[Text, Path] = {}
    for level in range(tree.height + 1):
        for path in tree.paths.values():
            if path[level] not in paths or path[level] == ROOT:
                paths[path[level]] = (ROOT,) if path[level] == ROOT else path[level:]
    return paths
