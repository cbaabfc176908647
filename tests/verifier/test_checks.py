"""The verifier against each definition, written down naively, and against the library's own models."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato import models
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.models import Costs
from sfumato.verifier import Finding, InputDistribution, Promise, verify_table

SEEDS = range(16)
VALUES = ("7", "12", "3", "30", "", None)
LABELS = ("NULL", "*", "", None, "a'b")
TREE = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0), (5, 2, 0))
RANKS = (1, 2, 0, 5, 3, 4)
COSTS = {
    (one or "", other or ""): float(3 + (i * 7 + j * 5) % 4)
    for (i, one), (j, other) in itertools.combinations(enumerate(VALUES), 2)
    if (one or "") != (other or "")
}

Rows = list[dict[str, Any]]
Rule = dict[str, Any]


def random_rows(seed: int) -> Rows:
    """A published table: few labels, so that classes are large and small; NULLs and ties in both sensitive columns."""
    draw = random.Random(seed)
    some = draw.sample(VALUES, draw.randint(1, 6))
    return [
        {
            "q": draw.choice(LABELS),
            "Q": draw.choice("xy"),
            "s": draw.choice(some),
            "t": draw.choice(["a", "b", None]),
            "who": draw.choice("ABCDEF"),
        }
        for _ in range(draw.randint(1, 60))
    ]


def whole_of(rows: Rows, seed: int) -> list[int]:
    """The column in the whole input: what is published, and some suppressed rows of each value."""
    published = Counter(row["s"] for row in rows)
    return [published[value] + random.Random(f"{seed}{value}").randint(1, 5) for value in VALUES]


def classes_of(rows: Rows) -> list[Rows]:
    """Rows that share their labels."""
    found: dict[Any, Rows] = {}
    for row in rows:
        found.setdefault((row["q"], row["Q"]), []).append(row)
    return list(found.values())


def check(rows: Rows, rules: Sequence[Rule], totals: Sequence[int], *, persons: bool = False) -> Sequence[Finding]:
    """What the verifier says of each requirement."""
    table = pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in rows[0]]))
    needs = {"s": InputDistribution(VALUES, tuple(totals), RANKS, len(VALUES), TREE)}
    promise = Promise(("q", "Q"), ("s", "t"), "who" if persons else None, tuple(rules), needs, {"s": COSTS})
    return verify_table(table, promise).privacy


def library(rows: Rows, rule: Rule, totals: Sequence[int], *, persons: bool = False) -> tuple[bool, Any]:
    """What the library's own model says."""
    owner = np.array([i for i, part in enumerate(classes_of(rows)) for _ in part])
    ordered = [row for part in classes_of(rows) for row in part]
    domains = {
        "s": SensitiveDomain(VALUES, np.array(totals), np.array(RANKS), len(VALUES), np.array(TREE)),
        "t": SensitiveDomain(("a", "b", None), np.array([1, 1, 1])),
        "who": SensitiveDomain(tuple("ABCDEF"), np.ones(6, dtype=np.int64)),
    }

    def histogram(column: str) -> Histogram:
        codes = np.array([domains[column].values.index(row[column]) for row in ordered])
        return count_values(owner, codes, np.ones_like(codes), domains[column])

    people = histogram("who") if persons else None
    classes = EquivalenceClasses(np.bincount(owner), {"s": histogram("s"), "t": histogram("t")}, people)
    keys = {key: value for key, value in rule.items() if key != "model"}
    if rule.get("distance") == "emd":
        keys["costs"] = Costs(COSTS)
    model = models.MODELS[rule["model"]](**keys)
    return bool(model.holds(classes).all()), model.achieved(classes)


def agree(
    rows: Rows, rules: Sequence[Rule], totals: Sequence[int] = (1,) * 6, *, persons: bool = False
) -> Sequence[Finding]:
    """The verifier's findings, after the library has been found to say the same."""
    findings = check(rows, rules, totals, persons=persons)
    for rule, found in zip(rules, findings, strict=True):
        satisfied, achieved = library(rows, rule, totals, persons=persons)
        assert found.satisfied is satisfied
        assert dict(found.achieved) == pytest.approx(achieved, rel=1e-9, abs=1e-9)
        assert bool(found.failures) is not satisfied
    return findings


def counts(part: Rows, column: str = "s") -> list[int]:
    """How often each value of a class occurs, most frequent first."""
    return sorted(Counter(row[column] for row in part).values(), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("persons", [False, True])
def test_k_anonymity(seed: int, persons: bool) -> None:
    """The smallest class decides, by rows or by different persons, one more than it has fails."""
    rows = random_rows(seed)
    least = min(len({row["who"] for row in part}) if persons else len(part) for part in classes_of(rows))
    rules = [{"model": "k-anonymity", "k": k} for k in (least, least + 1)]
    findings = agree(rows, rules, persons=persons)
    assert [found.satisfied for found in findings] == [True, False]
    assert all(found.achieved == {"k": least} for found in findings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("protected", [None, ["7", ""], ["nowhere"]])
def test_alpha_over_several_columns(seed: int, protected: list[str] | None) -> None:
    """The largest share of a protected value decides, exactly; the refined bound is the next whole number."""
    rows, columns = random_rows(seed), ["s", "t"]

    def worst(part: Rows) -> int:
        found = [Counter(row[c] for row in part if protected is None or row[c] in protected) for c in columns]
        return max([0, *(count for each in found for count in each.values())])

    share = max(Fraction(worst(part), len(part)) for part in classes_of(rows))
    alphas = {max(float(share), 0.01): share, max(float(share) * 0.999, 0.01): None, 0.1: None, 1 / 3: Fraction(1, 3)}
    rule: Rule = {"model": "alpha-deassociation", "columns": columns} | ({"values": protected} if protected else {})
    rules = [{**rule, "alpha": alpha, "refined": refined} for alpha in alphas for refined in (False, True)]
    for given, found in zip(rules, agree(rows, rules), strict=True):
        exact = alphas[given["alpha"]] or Fraction(str(given["alpha"]))
        most = [exact * len(part) for part in classes_of(rows)]
        allowed: list[Any] = [math.ceil(each) for each in most] if given["refined"] else most
        assert found.satisfied is all(worst(part) <= n for part, n in zip(classes_of(rows), allowed, strict=True))
        assert found.achieved["alpha"] == pytest.approx(float(share))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_k_anonymity(seed: int) -> None:
    """Both of its parts must hold, and both figures are given."""
    rows = random_rows(seed)
    least = min(len(part) for part in classes_of(rows))
    share = max(counts(part)[0] / len(part) for part in classes_of(rows))
    cases = list(itertools.product((least, least + 1), (share, share * 0.99)))
    rules = [{"model": "alpha-k-anonymity", "k": k, "alpha": alpha, "column": "s"} for k, alpha in cases]
    assert [found.satisfied for found in agree(rows, rules)] == [True, False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("persons", [False, True])
def test_distinct_l_diversity(seed: int, persons: bool) -> None:
    """NULL is one of the values, and a class counts for no more than its persons."""
    rows = random_rows(seed)
    least = min(
        min(len(counts(part)), len({row["who"] for row in part}) if persons else len(part)) for part in classes_of(rows)
    )
    rules = [{"model": "distinct-l-diversity", "column": "s", "l": bound} for bound in (least, least + 1)]
    findings = agree(rows, rules, persons=persons)
    assert [found.satisfied for found in findings] == [True, False]
    assert all(found.achieved == {"l": least} for found in findings)


def people(part: Rows, persons: bool) -> int:
    """Different persons of a class, or its rows."""
    return len({row["who"] for row in part}) if persons else len(part)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("persons", [False, True])
def test_entropy_l_diversity(seed: int, persons: bool) -> None:
    """The exponential of the smallest entropy is reached and no more; a class counts for no more than its persons."""
    rows = random_rows(seed)
    least = min(
        min(math.exp(-sum(n / len(part) * math.log(n / len(part)) for n in counts(part))), people(part, persons))
        for part in classes_of(rows)
    )
    bounds = (1.0, max(least - 1e-6, 1.0), least + 1e-6)
    findings = agree(
        rows, [{"model": "entropy-l-diversity", "column": "s", "l": bound} for bound in bounds], persons=persons
    )
    assert [found.satisfied for found in findings] == [True, True, False]
    assert findings[0].achieved["l"] == pytest.approx(least)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("persons", [False, True])
def test_recursive_l_diversity(seed: int, place: int, persons: bool) -> None:
    """The top value is strictly below c times the tail; no c will do where there is no tail, or too few persons."""
    rows = random_rows(seed)
    pairs = [
        (counts(part)[0], sum(counts(part)[place - 1 :]) if people(part, persons) >= place else 0)
        for part in classes_of(rows)
    ]
    poor = min(min(len(counts(part)), people(part, persons)) for part in classes_of(rows))
    least = max((Fraction(top, tail) for top, tail in pairs if tail), default=Fraction(1))
    factors = (float(least), float(least) * 1.001, 0.5, 3)
    rules = [{"model": "recursive-l-diversity", "column": "s", "c": c, "l": place} for c in factors]
    for c, found in zip(factors, agree(rows, rules, persons=persons), strict=True):
        exact = least if c == float(least) else Fraction(str(c))
        assert found.satisfied is all(top < exact * tail for top, tail in pairs)
        expected = {"c": float(least), "l": place} if all(tail for _, tail in pairs) else {"l": poor}
        assert dict(found.achieved) == pytest.approx(expected)


def distributions(rows: Rows, totals: Sequence[int]) -> Iterable[tuple[list[float], list[float]]]:
    """Of each class and of the whole table, over all values."""
    whole = [total / sum(totals) for total in totals]
    for part in classes_of(rows):
        found = Counter(row["s"] for row in part)
        yield [found[value] / len(part) for value in VALUES], whole


def program(costs: list[list[float]], part: list[float], whole: list[float]) -> float:
    """The primal transport problem as it stands in the books: rows give, columns take."""
    from scipy.optimize import linprog

    number = len(part)
    flows = np.zeros((2 * number, number, number))
    for i in range(number):
        flows[i, i, :] = 1
        flows[number + i, :, i] = 1
    chains = np.array(costs)
    for middle in range(number):
        chains = np.minimum(chains, chains[:, middle, None] + chains[middle])
    goal: Any = linprog(chains.ravel(), A_eq=flows.reshape(2 * number, -1), b_eq=[*part, *whole])
    return float(goal.fun)


def cost(one: int, other: int) -> float:
    """What the costs of this file say; NULL and empty text are one to them."""
    a, b = VALUES[one] or "", VALUES[other] or ""
    return 0.0 if a == b else COSTS.get((a, b), COSTS.get((b, a), 0.0))


def distance(name: str, part: list[float], whole: list[float]) -> float:
    """Each distance by its definition."""
    number = range(len(part))
    if name == "kl":
        return sum(p * math.log(p / q) for p, q in zip(part, whole, strict=True) if p)
    if name in {"variational", "emd-equal"}:
        return sum(abs(p - q) for p, q in zip(part, whole, strict=True)) / 2
    if name == "emd-ordered":
        return program([[abs(RANKS[i] - RANKS[j]) / 5 for j in number] for i in number], part, whole)
    if name == "emd-hierarchical":
        above = [[sum(a != b for a, b in zip(TREE[i], TREE[j], strict=True)) / 2 for j in number] for i in number]
        return program(above, part, whole)
    return program([[cost(i, j) for j in number] for i in number], part, whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["variational", "kl", "emd-equal", "emd-ordered", "emd-hierarchical", "emd"])
@pytest.mark.parametrize("seed", SEEDS)
def test_t_closeness(seed: int, name: str) -> None:
    """Every distance is its definition, the farthest class decides, and just too little t fails."""
    rows = random_rows(seed)
    totals = whole_of(rows, seed)
    far = max(distance(name, *pair) for pair in distributions(rows, totals))
    limits = (far + 1e-7, max(far - 1e-7, 0.0), far / 2)
    rules = [{"model": "t-closeness", "column": "s", "t": t, "distance": name} for t in limits]
    for t, found in zip(limits, agree(rows, rules, totals), strict=True):
        assert found.satisfied is (far <= t + 1e-9)
        assert found.achieved["t"] == pytest.approx(far, abs=1e-8)


@pytest.mark.parametrize(("alpha", "holds"), [(1 / 3, True), (0.3333333333333333, True), (0.333333333, False)])
def test_alpha_is_read_from_its_digits(alpha: float, holds: bool) -> None:
    """A third is a third, and nine digits of it are a little less."""
    rows = [{"q": "x", "Q": "y", "s": value, "t": "a", "who": "A"} for value in ("7", "12", "3")]
    [found] = agree(rows, [{"model": "alpha-deassociation", "column": "s", "alpha": alpha}])
    assert found.satisfied is holds


@pytest.mark.parametrize("alpha", [0.09999999999, 0.1000000000000001, 1e-300, 0.1])
def test_alpha_has_more_than_nine_digits(alpha: float) -> None:
    """One row in ten passes at a tenth, and not at a hair below."""
    rows = [{"q": "x", "Q": "y", "s": "7" if i == 0 else "3", "t": "a", "who": "A"} for i in range(10)]
    rule = {"model": "alpha-deassociation", "column": "s", "alpha": alpha, "values": ["7"]}
    plain, refined = check(rows, [rule, {**rule, "refined": True}], (1,) * 6)
    assert (plain.satisfied, refined.satisfied) == (alpha >= 0.1, True)
